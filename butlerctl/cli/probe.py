"""`butlerctl probe`: each webhook registered, guarded, answering, in the right shape; nothing is written."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from butlerctl.cli.common import FORMAT, INVENTORY, ROUTES, Format, chosen_routes, find_and_load
from butlerctl.cli.documents import print_json, print_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from butlerctl.evidence import Document
    from butlerctl.inventory.model import Inventory
    from butlerctl.inventory.operations import Route
    from butlerctl.judge.result import ChainVerdict, Judgement

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)


@app.command()
def probe(
    routes: list[str] | None = ROUTES,
    inventory: Path | None = INVENTORY,
    audit: bool = typer.Option(
        False, "--audit", help="Let n8n audit itself too: open webhooks, newer versions, settings."
    ),
    output: Format = FORMAT,
) -> None:
    """Check each webhook without a side effect: registered, guarded, answering, right shape.

    Exit codes: 0 proven, 1 broken, 3 not proven, 75 try again, 77 not permitted, 78 bad input.
    """
    household = find_and_load(inventory)
    wanted = chosen_routes(household, routes)
    told = _audit(household) if audit else None
    evidence = _gather(household, wanted)
    results = [_Result(household, route, evidence[route]) for route in wanted]
    if output is Format.JSON:
        print_json(_as_json(results, told))
    else:
        lines = [line for result in results for line in result.lines(max(map(len, map(str, wanted))))]
        for line in (*lines, *(f"n8n's audit: {line}" for line in told or ())):
            print_line(line)
    raise typer.Exit(_exit_code(results))


def _audit(household: Inventory) -> tuple[str, ...]:
    from butlerctl.checks.audit import audit_lines
    from butlerctl.errors import InventoryError
    from butlerctl.n8n.api import N8nApi

    key = household.n8n.api_key
    if key is None:
        raise InventoryError(
            f"{household.path.name}: n8n.api_key is not set", hint="n8n's audit needs its API"
        )
    with N8nApi(household.n8n.url.get(), key.get()) as api:
        return audit_lines(api)


def _gather(household: Inventory, wanted: Sequence[Route]) -> Mapping[Route, Sequence[Document]]:
    """Exports, live workflows and the exchanges, by route; executions where an answer needs explaining."""
    from contextlib import nullcontext

    from butlerctl.checks.live import Live, read_live
    from butlerctl.checks.probe import failed_execution, subject_of, target_of
    from butlerctl.checks.probe import probe as probe_webhooks
    from butlerctl.n8n.api import N8nApi
    from butlerctl.workflows.exports import as_evidence, rendered_exports

    exports = rendered_exports(household, wanted)
    target = target_of(household)
    key = household.n8n.api_key
    if key is None:
        print("butlerctl: n8n.api_key is not set: which version n8n serves stays unknown", file=sys.stderr)
    if household.n8n.webhook.secret is None:
        print("butlerctl: n8n.webhook.secret is not set: no request carries the key", file=sys.stderr)
    with N8nApi(target.url, key.get()) if key else nullcontext() as api:
        live = read_live(api, exports, household.n8n.webhook.prefix) if api else Live()
        subjects = [
            subject_of(household, route, exports[route], live.workflows.get(route)) for route in wanted
        ]
        exchanges = probe_webhooks(target, subjects)
        failures = {route: failed_execution(api, exchanges[route]) for route in wanted} if api else {}
    return {
        route: [
            as_evidence(route, exports[route]),
            *live.evidence(route),
            *exchanges[route],
            *([found] if (found := failures.get(route)) else []),
        ]
        for route in wanted
    }


class _Result:
    """One route, judged. PASS needs every link that a probe can prove."""

    def __init__(self, household: Inventory, route: Route, evidence: Sequence[Document]) -> None:
        from zoneinfo import ZoneInfo

        from butlerctl.evidence import Bundle
        from butlerctl.inventory.operations import OPERATIONS
        from butlerctl.judge import judge

        self.route = route
        self.judgement: Judgement = judge(Bundle(evidence=tuple(evidence), zone=ZoneInfo(household.timezone)))
        self.skipped = {str(item["probe"]): str(item["skipped"]) for item in evidence if item.get("skipped")}
        # A write route is only refused by a probe: its answer has no shape yet.
        self.due = (
            "request",
            "header",
            "active",
            *(() if OPERATIONS[route.operation].writes else ("shape",)),
        )

    @property
    def verdict(self) -> ChainVerdict:
        from butlerctl.judge.result import ChainVerdict

        if self.judgement.verdict is ChainVerdict.FAIL:
            return ChainVerdict.FAIL
        return ChainVerdict.UNKNOWN if self.missing else ChainVerdict.PASS

    @property
    def missing(self) -> dict[str, str]:
        """The links that a probe can prove and this one did not, each with the reason."""
        return {
            link.link: link.reason
            for link in self.judgement.links
            if link.link in self.due and link.verdict != "proven"
        }

    def lines(self, width: int) -> list[str]:
        first = self.judgement.first_broken
        if first is not None:
            return [f"{self.route!s:<{width}}  broken at {first.link} ({first.check})", f"  {first.hint}"]
        found = f"not proven: {', '.join(self.missing)}" if self.missing else f"proven: {', '.join(self.due)}"
        unsent = [f"  {name} was not sent: {reason}" for name, reason in self.skipped.items()]
        reasons = [f"  {link}: {reason}" for link, reason in self.missing.items()]
        return [f"{self.route!s:<{width}}  {found}", *reasons, *(unsent if self.missing else [])]

    def as_json(self) -> dict[str, Any]:
        judged = self.judgement.as_json()
        return {
            "operation": self.route.operation,
            "profile": self.route.profile,
            "verdict": str(self.verdict),
            "links": judged["links"],
            "first_broken": judged["first_broken"],
            "skipped": self.skipped,
        }


def _as_json(results: Sequence[_Result], audit: Sequence[str] | None) -> dict[str, Any]:
    verdicts = [str(result.verdict) for result in results]
    worst = next(verdict for verdict in ("FAIL", "UNKNOWN", "PASS") if verdict in verdicts)
    document = {"verdict": worst, "routes": [result.as_json() for result in results]}
    return document if audit is None else {**document, "audit": list(audit)}


def _exit_code(results: Sequence[_Result]) -> int:
    from butlerctl.errors import ExitCode, combine
    from butlerctl.judge.result import ChainVerdict

    codes = {
        ChainVerdict.PASS: ExitCode.PROVEN,
        ChainVerdict.FAIL: ExitCode.BROKEN,
        ChainVerdict.UNKNOWN: ExitCode.NOT_PROVEN,
    }
    return int(combine(codes[result.verdict] for result in results))
