"""Runs to report on: invented, but complete."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from butlerctl.inventory.operations import OPERATIONS, Route
from butlerctl.judge.result import (
    LINKS,
    ChainVerdict,
    Claim,
    FirstBroken,
    Judgement,
    LinkVerdict,
    Note,
    Turn,
    Verdict,
)
from butlerctl.report.run import CheckResult, Leftover, Outcome, RouteResult, Run, Skipped, plan_digest

STARTED = datetime(2026, 11, 30, 14, 0, 1, 250000, tzinfo=UTC)
NOW = STARTED + timedelta(minutes=5)
ROUTES = tuple(Route(operation, profile) for operation in OPERATIONS for profile in ("husband", "wife"))
WORKFLOWS = {f"{route.operation}_{route.profile}": f"{number:064x}" for number, route in enumerate(ROUTES)}


def proven_route(route):
    links = tuple(LinkVerdict(link, Verdict.PROVEN, f"{link}.seen", "", ("ab" * 32,)) for link in LINKS)
    judgement = Judgement(ChainVerdict.PASS, None, links, Turn.CONFIRMED, Claim.SUPPORTED)
    return RouteResult(route, judgement, (), "cd" * 32, 0.25)


def broken_route(route, link="active", seen='404 {"message":"not registered"}'):
    at = LINKS.index(link)
    verdicts = [Verdict.PROVEN] * at + [Verdict.BROKEN] + [Verdict.NOT_REACHED] * (len(LINKS) - at - 1)
    links = tuple(
        LinkVerdict(name, verdict, f"{name}.seen") for name, verdict in zip(LINKS, verdicts, strict=True)
    )
    broken = FirstBroken(link, f"{link}.seen", route, "publish the workflow in n8n", "a 403 of n8n", seen)
    note = Note("active.flag", "`active: true` is a claim, not proof")
    judgement = Judgement(ChainVerdict.FAIL, broken, links, Turn.FAILED_HONEST, Claim.SUPPORTED, (note,))
    return RouteResult(route, judgement, (), "cd" * 32, 0.25)


def unproven_route(route, link="credential"):
    links = tuple(
        LinkVerdict(name, Verdict.UNPROVEN, f"{name}.seen", "no read-back")
        if name == link
        else LinkVerdict(name, Verdict.PROVEN, f"{name}.seen")
        for name in LINKS
    )
    judgement = Judgement(ChainVerdict.UNKNOWN, None, links, Turn.UNVERIFIED, Claim.SUPPORTED)
    return RouteResult(route, judgement, (), "cd" * 32, 0.25)


def run_of_routes(*results, **changes):
    run = Run(
        id="01JDZ0-RUN",
        nonce="BTLR-7Q2M4X9KPA",
        target="https://n8n.example.test",
        started=STARTED,
        finished=STARTED + timedelta(seconds=3.5),
        inventory_digest="ef" * 32,
        plan_digest=plan_digest(result.route for result in results),
        versions={"butlerctl": "0.1.0", "n8n": "2.30.8", "openclaw": "2026.6.11"},
        workflows=WORKFLOWS,
        routes=results,
        skipped=(Skipped("active.credentials", "the API key may not list credentials"),),
    )
    return replace(run, **changes)


def good_run(**changes):
    return run_of_routes(*map(proven_route, ROUTES), **changes)


def failed_run(**changes):
    results = (*map(proven_route, ROUTES[:3]), broken_route(ROUTES[3]), *map(proven_route, ROUTES[4:]))
    return run_of_routes(*results, **changes)


def unknown_run(**changes):
    return run_of_routes(*map(proven_route, ROUTES[:11]), unproven_route(ROUTES[11]), **changes)


def leftover_run(**changes):
    leftover = Leftover(ROUTES[3], "calendar event", "wife@example.test", "evt-1", "Google answered 503")
    return good_run(leftovers=(leftover,), **changes)


def pinned_run(**changes):
    pin = CheckResult("pin.n8n", Outcome.FAILED, "2.30.8 is pinned, 2.41.1 runs")
    return good_run(checks=(pin,), **changes)


ALL_RUNS = (good_run, failed_run, unknown_run, leftover_run, pinned_run)
