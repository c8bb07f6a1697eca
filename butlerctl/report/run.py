"""What one run of butlerctl found out. Counts and verdicts are derived here and nowhere stored."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from butlerctl.errors import ExitCode, combine
from butlerctl.inventory.operations import Route
from butlerctl.judge.result import LINKS, ChainVerdict, Judgement, Verdict

CODE_OF_VERDICT = {
    ChainVerdict.PASS: ExitCode.PROVEN,
    ChainVerdict.FAIL: ExitCode.BROKEN,
    ChainVerdict.UNKNOWN: ExitCode.NOT_PROVEN,
}


class Outcome(StrEnum):
    """What became of a check: the three lists of an in-toto test result."""

    PASSED = "passed"
    WARNED = "warned"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check beside the nine links: a pin, a finding of the linter."""

    check: str
    outcome: Outcome
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RouteResult:
    """One route: the judgement, further checks, and the sha256 of the evidence that was judged."""

    route: Route
    judgement: Judgement
    checks: tuple[CheckResult, ...] = ()
    evidence_digest: str = ""
    seconds: float = 0.0
    """How long collecting the evidence took."""

    @property
    def verdict(self) -> ChainVerdict:
        """PASS needs all nine links proven and no failed check: stricter than over recorded evidence."""
        links = self.judgement.links
        broken = any(link.verdict is Verdict.BROKEN for link in links)
        if broken or self.judgement.verdict is ChainVerdict.FAIL or _any_failed(self.checks):
            return ChainVerdict.FAIL
        complete = tuple(link.link for link in links) == LINKS
        proven = complete and all(link.verdict is Verdict.PROVEN for link in links)
        return ChainVerdict.PASS if proven else ChainVerdict.UNKNOWN


@dataclass(frozen=True, slots=True)
class Skipped:
    """A check that did not run, and why."""

    check: str
    reason: str


@dataclass(frozen=True, slots=True)
class Leftover:
    """A test object that is still there: a person must look at it."""

    route: Route
    what: str
    """`calendar event`, `task` or `row`."""
    where: str
    """The calendar, the task list, or the spreadsheet and tab."""
    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Part:
    """A report that was joined into this one: the run's id, the sha256 of the file, the id of the key that signed it."""

    id: str
    sha256: str
    key_id: str


@dataclass(frozen=True, slots=True)
class Counts:
    """How much was looked at, by result."""

    routes: int
    links: Mapping[Verdict, int]
    checks: Mapping[Outcome, int]
    skipped: int
    leftovers: int

    @property
    def links_in_all(self) -> int:
        return sum(self.links.values())


@dataclass(frozen=True, slots=True)
class Run:
    """One run: what it was asked, what it looked at, and what it saw.

    `target` is the URL of n8n, `started` and `finished` are aware datetimes, `workflows` maps the name of
    each workflow to the sha256 of its canonical form, `plan_digest` is `plan_digest(routes asked for)`,
    `nonce` is the challenger's, or the run's own. `parts` are the reports that were joined into this one.
    """

    id: str
    nonce: str
    target: str
    started: datetime
    finished: datetime
    inventory_digest: str
    plan_digest: str
    versions: Mapping[str, str]
    workflows: Mapping[str, str]
    routes: tuple[RouteResult, ...]
    checks: tuple[CheckResult, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    leftovers: tuple[Leftover, ...] = ()
    lab: bool = False
    parts: tuple[Part, ...] = ()

    @property
    def verdict(self) -> ChainVerdict:
        """FAIL if anything failed, PASS if every route asked for is proven, UNKNOWN otherwise.

        No route at all is UNKNOWN. A leftover does not change the verdict; it is reported on its own.
        """
        verdicts = {result.verdict for result in self.routes}
        if ChainVerdict.FAIL in verdicts or _any_failed(self.checks):
            return ChainVerdict.FAIL
        complete = plan_digest(result.route for result in self.routes) == self.plan_digest
        return ChainVerdict.PASS if complete and verdicts == {ChainVerdict.PASS} else ChainVerdict.UNKNOWN

    @property
    def exit_code(self) -> ExitCode:
        """Of the verdict, and of what a person must still look at."""
        left = [ExitCode.LEFTOVER] if self.leftovers else []
        return combine([CODE_OF_VERDICT[self.verdict], *left])

    @property
    def counts(self) -> Counts:
        links = Counter(link.verdict for result in self.routes for link in result.judgement.links)
        checks = Counter(check.outcome for check in self.all_checks)
        return Counts(
            routes=len(self.routes),
            links={verdict: links[verdict] for verdict in Verdict},
            checks={outcome: checks[outcome] for outcome in Outcome},
            skipped=len(self.skipped),
            leftovers=len(self.leftovers),
        )

    @property
    def all_checks(self) -> tuple[CheckResult, ...]:
        """The checks of the run and those of its routes."""
        return self.checks + tuple(check for result in self.routes for check in result.checks)

    @property
    def seconds(self) -> float:
        return (self.finished - self.started).total_seconds()


def plan_digest(routes: Iterable[Route]) -> str:
    """The sha256 of what was to be proven: each route with its nine links, in order."""
    plan = [[str(route), list(LINKS)] for route in sorted(routes)]
    return hashlib.sha256(json.dumps(plan, separators=(",", ":")).encode()).hexdigest()


def _any_failed(checks: Iterable[CheckResult]) -> bool:
    return any(check.outcome is Outcome.FAILED for check in checks)
