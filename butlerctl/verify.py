"""One verification: collect at every boundary, judge each route, put the run together.

Data flows one way. The checks gather evidence, the judge decides over it, and what is returned here is what a
report is made of.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from threading import Event, Lock
from typing import Any
from zoneinfo import ZoneInfo

from butlerctl import __version__
from butlerctl.checks.canary import Canary, Request, new_canary
from butlerctl.checks.cleanup import Cleanup
from butlerctl.checks.connect import Clients, connect
from butlerctl.checks.lint import lint_exports
from butlerctl.checks.live import Live, read_live
from butlerctl.checks.pins import PinCheck, check_pins
from butlerctl.checks.probe import probe, subject_of, target_of
from butlerctl.checks.roundtrip import Parties, Trip, travel
from butlerctl.checks.sweep import sweep
from butlerctl.checks.wire_record import TapRecord
from butlerctl.errors import ButlerctlError, ExitCode, combine
from butlerctl.errors import Leftover as LeftoverError
from butlerctl.evidence import Bundle, Document, digest
from butlerctl.inventory.model import Inventory
from butlerctl.inventory.operations import OPERATIONS, Route
from butlerctl.judge import judge
from butlerctl.ledger import Ledger
from butlerctl.n8n.versions import limits_of
from butlerctl.progress import Watcher
from butlerctl.report.run import CheckResult, Leftover, Outcome, RouteResult, Run, Skipped, plan_digest
from butlerctl.workflows.digest import canonical_digest
from butlerctl.workflows.exports import as_evidence, rendered_exports
from butlerctl.workflows.findings import Finding

_AT_ONCE = 6
_WHAT = {"calendar": "calendar event", "tasks": "task", "sheets": "row"}


@dataclass(frozen=True, slots=True)
class Assignment:
    """What is to be proven, and how."""

    routes: tuple[Route, ...]
    state: Path
    """The folder of this inventory's ledger."""
    challenge: str = ""
    """The nonce of whoever asks for the proof."""
    lab: bool = False
    today: date | None = None
    """The household's day, from which the test objects are dated; the clock's without one."""
    probes: bool = True
    trips: bool = True
    tap_record: TapRecord | None = None
    """What passes between gateway and provider, where a tap stands between them."""


@dataclass(frozen=True, slots=True)
class Verification:
    """A run, the evidence that it was judged on, and what kept butlerctl's own means from working."""

    run: Run
    bundles: Mapping[Route, Bundle]
    problems: tuple[ButlerctlError, ...] = ()

    @property
    def own_codes(self) -> tuple[ExitCode, ...]:
        """What butlerctl's own means have to say: its credential was refused, its ledger is damaged.

        That something did not answer says `try again` only as long as the agent was asked for no object.
        """
        codes = (problem.exit_code for problem in self.problems)
        return tuple(code for code in codes if code is not ExitCode.TRY_AGAIN or not self._asked_for_objects)

    @property
    def _asked_for_objects(self) -> bool:
        writes = (bundle for route, bundle in self.bundles.items() if OPERATIONS[route.operation].writes)
        return any(document["kind"] == "transcript" for bundle in writes for document in bundle.evidence)

    @property
    def exit_code(self) -> ExitCode:
        return combine([self.run.exit_code, *self.own_codes])


def verify(inventory: Inventory, assignment: Assignment, watcher: Watcher) -> Verification:
    """Prove the routes of an assignment.

    Raises:
        Unreachable, NotPermitted: a party of the inventory does not answer, or refuses butlerctl; nothing was
            written.
        SecretMissing, BadDocument: the inventory or its exports do not hold what is needed.
    """
    exports = rendered_exports(inventory, assignment.routes)
    with ExitStack() as stack:
        ledger = stack.enter_context(Ledger(assignment.state))
        clients = stack.enter_context(connect(inventory))
        course = _Course(inventory, assignment, watcher, exports, clients)
        course.look_at_n8n()
        if assignment.probes:
            course.probe()
        if assignment.trips:
            course.travel(ledger)
            course.end_sessions()
        return course.conclude()


@dataclass(slots=True)
class _Course:
    """One verification under way: what it works with, and what it has gathered so far."""

    inventory: Inventory
    assignment: Assignment
    watcher: Watcher
    exports: Mapping[Route, Mapping[str, Any]]
    clients: Clients
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    live: Live = field(default_factory=Live)
    evidence: dict[Route, list[Document]] = field(default_factory=dict)
    requests: dict[Route, Request] = field(default_factory=dict)
    cleanups: list[Cleanup] = field(default_factory=list)
    problems: list[ButlerctlError] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    seconds: dict[Route, float] = field(default_factory=dict)
    stop: Event = field(default_factory=Event)
    rows: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.evidence = {route: [as_evidence(route, export)] for route, export in self.exports.items()}

    def look_at_n8n(self) -> None:
        """What n8n holds for every route."""
        if self.clients.api is None:
            self.skipped.append(Skipped("active.published_version", "the inventory has no n8n.api_key"))
            return
        self.live = read_live(self.clients.api, self.exports, self.inventory.n8n.webhook.prefix)
        open_ = {limit.check: limit.why for limit in limits_of(self.clients.versions.get("n8n"))}
        if self.live.unseen:
            open_.setdefault("credential.exists", self.live.unseen)
        self.skipped += [Skipped(check, why) for check, why in open_.items()]
        for route in self.exports:
            self.evidence[route] += self.live.evidence(route)

    def probe(self) -> None:
        """The four probes of every webhook."""
        subjects = [
            subject_of(self.inventory, route, export, self.live.workflows.get(route))
            for route, export in self.exports.items()
        ]
        for route, documents in probe(target_of(self.inventory), subjects).items():
            self.evidence[route] += documents
            self.skipped += [
                Skipped(f"probe.{document['probe']}[{route}]", str(document["skipped"]))
                for document in documents
                if "skipped" in document
            ]

    def travel(self, ledger: Ledger) -> None:
        """Leftovers of earlier runs first, then all round trips at once.

        Ctrl-C lets the trips under way finish their clean-up, asks for nothing more and starts no other.
        """
        swept = sweep(ledger, self.clients.systems)
        self.cleanups += swept.cleanups
        if swept.damaged_lines:
            lines = ", ".join(map(str, swept.damaged_lines))
            self.problems.append(
                LeftoverError(f"the ledger is damaged in line {lines}", hint="butlerctl sweep")
            )
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="round-trip") as pool:
            try:
                under_way = {
                    self._start(pool, ledger, domain, profile, routes): routes
                    for (domain, profile), routes in self._trips().items()
                }
                for done in as_completed(under_way):
                    self._arrive(done.result(), under_way[done])
            except KeyboardInterrupt:
                self.stop.set()
                self.watcher.interrupted()
                pool.shutdown(cancel_futures=True)
                raise

    def end_sessions(self) -> None:
        """The sessions of the trips were deleted one by one; those that could not be are told."""
        kept = self.clients.gateway.end_sessions()
        if kept:
            self.skipped.append(
                Skipped("cleanup.sessions", f"{len(kept)} sessions stay at the gateway: {', '.join(kept)}")
            )

    def conclude(self) -> Verification:
        """Judge every route on all its evidence."""
        bundles = {route: self._bundle(route) for route in self.assignment.routes}
        findings = lint_exports(self.inventory, self.exports)
        run = Run(
            id=secrets.token_hex(8),
            nonce=self.assignment.challenge or secrets.token_hex(16),
            target=self.inventory.n8n.url.get(),
            started=self.started,
            finished=datetime.now(UTC),
            inventory_digest=self.inventory.digest,
            plan_digest=plan_digest(self.assignment.routes),
            versions={"butlerctl": __version__, **self.clients.versions},
            workflows={
                route.workflow_name: canonical_digest(export) for route, export in self.exports.items()
            },
            routes=tuple(self._result(route, bundle, findings[route]) for route, bundle in bundles.items()),
            checks=tuple(_pin_result(pin) for pin in self._pins() if pin.seen is not None),
            skipped=(*self.skipped, *(_unseen(pin) for pin in self._pins() if pin.seen is None)),
            leftovers=tuple(self._leftovers()),
            lab=self.assignment.lab,
        )
        return Verification(run, bundles, tuple(self.problems))

    def _pins(self) -> tuple[PinCheck, ...]:
        return tuple(check_pins(self.inventory.pins, self.clients.versions))

    def _trips(self) -> dict[tuple[str, str], list[Route]]:
        """The routes by domain and profile: each pair is one round trip."""
        trips: dict[tuple[str, str], list[Route]] = {}
        for route in self.assignment.routes:
            trips.setdefault((OPERATIONS[route.operation].domain, route.profile), []).append(route)
        return trips

    def _start(
        self, pool: ThreadPoolExecutor, ledger: Ledger, domain: str, profile: str, routes: list[Route]
    ) -> Future[Trip]:
        zone = ZoneInfo(self.inventory.timezone)
        today = self.assignment.today or datetime.now(zone).date()
        canary = new_canary(domain, self.inventory.profiles[profile], zone, today)
        others = tuple(
            system
            for (other_domain, other), system in self.clients.systems.items()
            if other_domain == domain and other != profile
        )
        parties = Parties(
            gateway=self.clients.gateway,
            api=self.clients.api,
            workflow_ids=self.live.workflow_ids(),
            own=self.clients.systems[domain, profile],
            others=others,
            stop=self.stop,
        )
        return pool.submit(self._travel, parties, canary, routes, ledger)

    def _travel(self, parties: Parties, canary: Canary, routes: list[Route], ledger: Ledger) -> Trip:
        """Rows go one trip after the other: n8n reads a table and writes below it, and two at once may collide."""
        with self.rows if canary.domain == "sheets" else nullcontext():
            return travel(parties, canary, routes, ledger, self.watcher)

    def _arrive(self, trip: Trip, routes: list[Route]) -> None:
        self.requests |= trip.requests
        self.problems += trip.problems
        for route, documents in trip.evidence.items():
            self.evidence[route] += [*documents, *self._wire(route)]
        if trip.cleanup is not None:
            self.cleanups.append(trip.cleanup)
        for route in routes:
            self.seconds[route] = (datetime.now(UTC) - self.started).total_seconds()
            self.watcher.judged(route, judge(self._bundle(route)), final=True)

    def _wire(self, route: Route) -> tuple[Document, ...]:
        """What the tap recorded of the route's question. Of several records none speaks for the turn."""
        record, request = self.assignment.tap_record, self.requests.get(route)
        if record is None or request is None:
            return ()
        found = record.conversations(request.prompt, self.started)
        if len(found) != 1:
            seen = "no conversation" if not found else f"{len(found)} conversations"
            self.skipped.append(
                Skipped(
                    f"tap.record[{route}]", f"the tap recorded {seen} with this question: is it in between?"
                )
            )
            return ()
        return found

    def _bundle(self, route: Route) -> Bundle:
        request = self.requests.get(route)
        return Bundle(
            intent=request.as_intent() if request else None,
            evidence=tuple(self.evidence[route]),
            clock=self.started,
            zone=ZoneInfo(self.inventory.timezone),
            name=str(route),
        )

    def _result(self, route: Route, bundle: Bundle, findings: Sequence[Finding]) -> RouteResult:
        judgement = judge(bundle)
        if not self.assignment.trips:
            self.watcher.judged(route, judgement, final=True)
        return RouteResult(
            route,
            judgement,
            checks=_lint_results(findings),
            evidence_digest=digest(bundle.as_json()),
            seconds=self.seconds.get(route, 0.0),
        )

    def _leftovers(self) -> Iterator[Leftover]:
        for cleanup in self.cleanups:
            asked = cleanup.asked
            for refused in cleanup.refused:
                hit = refused.hit
                route = _route_that_made(hit.domain, hit.profile)
                reasons = "; ".join(refused.reasons)
                yield Leftover(route, _WHAT[hit.domain], hit.container, hit.object_id, reasons)
            if cleanup.problem and not cleanup.gone and not cleanup.refused:
                route = _route_that_made(asked.domain, asked.profile)
                reason = f"nobody could see whether it is gone ({cleanup.problem.message}): `butlerctl sweep`"
                yield Leftover(route, _WHAT[asked.domain], asked.container, asked.nonce, reason)


def _route_that_made(domain: str, profile: str) -> Route:
    """The route whose round trip makes objects in this domain."""
    operation = next(item for item in OPERATIONS.values() if item.domain == domain and item.writes)
    return Route(operation.name, profile)


def _lint_results(findings: Sequence[Finding]) -> tuple[CheckResult, ...]:
    if not findings:
        return (CheckResult("lint", Outcome.PASSED),)
    return tuple(
        CheckResult(finding.check, Outcome.FAILED, f"{finding.code}: {finding.message}")
        for finding in findings
    )


def _pin_result(pin: PinCheck) -> CheckResult:
    if pin.seen == pin.pinned:
        return CheckResult(f"pin.{pin.name}", Outcome.PASSED, pin.pinned)
    return CheckResult(f"pin.{pin.name}", Outcome.FAILED, f"pinned is {pin.pinned}, seen is {pin.seen}")


def _unseen(pin: PinCheck) -> Skipped:
    return Skipped(f"pin.{pin.name}", f"pinned is {pin.pinned}, and nobody tells what runs")
