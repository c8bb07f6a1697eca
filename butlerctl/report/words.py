"""What the renderers for people have in common: the same run in the same words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from butlerctl.judge.result import ChainVerdict, Claim, Verdict

if TYPE_CHECKING:
    from butlerctl.judge.result import FirstBroken
    from butlerctl.report.run import CheckResult, RouteResult, Run

MARKS = {Verdict.PROVEN: "✓", Verdict.BROKEN: "✗", Verdict.UNPROVEN: "?", Verdict.NOT_REACHED: "·"}
NOT_CHECKED = "not checked here; butlerctl report verify FILE --key PUB checks it"


_CLAIMS = {
    Claim.SUPPORTED: "what it says of the turn is supported by the evidence",
    Claim.UNSUPPORTED: "what it says of the turn is not supported by the evidence",
    Claim.NONE: "it claims nothing",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A report to render: its run, the statement's own bytes, and the key that it names."""

    run: Run
    payload: bytes
    key_id: str | None
    colour: bool = False
    """ANSI colours, for a terminal."""

    @property
    def signature(self) -> str:
        if self.key_id is None:
            return "UNSIGNED: nothing but its own word speaks for this report"
        return f"by key {self.key_id[:16]}… ({NOT_CHECKED})"


def headline(run: Run) -> str:
    """The run in one sentence: `PASS: 108 of 108 links proven on 12 routes`."""
    if not run.routes:
        return f"{run.verdict}: nothing was checked"
    broken = [result for result in run.routes if result.verdict is ChainVerdict.FAIL]
    if len(broken) == 1:
        return f"FAIL: {broken[0].route} is broken{_where(broken[0])}"
    if broken:
        first = broken[0]
        return f"FAIL: {len(broken)} of {len(run.routes)} routes are broken, the first is {first.route}{_where(first)}"
    counts = run.counts
    routes = "1 route" if counts.routes == 1 else f"{counts.routes} routes"
    proven = f"{counts.links[Verdict.PROVEN]} of {counts.links_in_all} links proven on {routes}"
    failed = next(failed_checks(run), None)
    return f"{run.verdict}: {proven}" + (f", but {failed[0]} failed" if failed else "")


def failed_checks(run: Run) -> Iterator[tuple[str, CheckResult]]:
    """The checks beside the links that did not pass, each with its name: `check` or `check[route]`."""
    for check in run.checks:
        if check.outcome != "passed":
            yield check.check, check
    for result in run.routes:
        for check in result.checks:
            if check.outcome != "passed":
                yield f"{check.check}[{result.route}]", check


def unproven_reasons(result: RouteResult) -> list[str]:
    """Why links of a route are not proven: `google: no read-back`."""
    return [
        f"{link.link}: {link.reason or link.check or 'no evidence'}"
        for link in result.judgement.links
        if link.verdict is Verdict.UNPROVEN
    ]


def words_of_agent(result: RouteResult) -> str:
    """The turn, and what to think of the agent's own words about it."""
    return f"{str(result.judgement.turn).replace('_', ' ')}; {_CLAIMS[result.judgement.claim]}"


def to_do(first: FirstBroken) -> str:
    """The last part of the hint, where the rest of it stands beside it. A statement keeps the hint as a whole."""
    expected = f"; expected: {first.expected}" if first.expected else ""
    return first.next_step or first.hint.removeprefix(f"{first.route}: {first.seen}{expected}. ")


def moment(when: datetime) -> str:
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def parts_of(run: Run) -> str:
    """The runs whose reports were joined into this one; empty for a run of its own."""
    number = "1 report" if len(run.parts) == 1 else f"{len(run.parts)} reports"
    return f"{number}: {', '.join(part.id for part in run.parts)}" if run.parts else ""


def target(run: Run) -> str:
    return f"{run.target} (the lab, not a household)" if run.lab else run.target


def _where(result: RouteResult) -> str:
    first = result.judgement.first_broken
    if first is None:
        return ""
    return f" at {first.link}" + (f" ({first.check})" if first.check else "")
