"""The result of a verification, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from butlerctl.judge.result import LINKS, ChainVerdict, Verdict
from butlerctl.redaction import redact, redact_text
from butlerctl.report.run import Outcome, RouteResult
from butlerctl.report.saved import Saved
from butlerctl.report.words import to_do
from butlerctl.verify import Verification


def as_lines(result: Verification, saved: Saved | None) -> Iterator[str]:
    """The verdict first, then what breaks it, what is unproven, what was left behind, where the report is.

    Without `saved` there is no report.
    """
    yield from map(redact_text, _lines(result, saved))


def _lines(result: Verification, saved: Saved | None) -> Iterator[str]:
    run = result.run
    proven = run.counts.links[Verdict.PROVEN]
    yield (
        f"{run.verdict}: {proven} of {len(run.routes) * len(LINKS)} links proven on {_routes(len(run.routes))} "
        f"in {run.seconds:.1f} s"
    )
    for route in run.routes:
        yield from route_lines(route)
    for check in run.checks:
        if check.outcome is Outcome.FAILED:
            yield f"  {check.check}: {check.detail}"
    for problem in dict.fromkeys(problem.message for problem in result.problems):
        yield f"  butlerctl itself could not see everything: {problem}"
    for left in run.leftovers:
        yield f"LEFT BEHIND: {left.what} {left.id} in {left.where} ({left.route}): {left.reason}"
    if not run.leftovers:
        yield "nothing was left behind in Google"
    yield from report_lines(saved)


def as_json(result: Verification, saved: Saved | None) -> dict[str, Any]:
    document: dict[str, Any] = redact(_document(result, saved))
    return document


def _document(result: Verification, saved: Saved | None) -> dict[str, Any]:
    run = result.run
    routes = [route_json(route) for route in run.routes]
    return {
        "verdict": str(run.verdict),
        "first_broken": next((route["first_broken"] for route in routes if route["first_broken"]), None),
        "run": {
            "id": run.id,
            "target": run.target,
            "started": run.started.isoformat(),
            "finished": run.finished.isoformat(),
            "versions": dict(run.versions),
            "lab": run.lab,
        },
        "routes": routes,
        "checks": [
            {"check": check.check, "outcome": str(check.outcome), "detail": check.detail}
            for check in run.checks
        ],
        "skipped": [{"check": skipped.check, "reason": skipped.reason} for skipped in run.skipped],
        "problems": [problem.message for problem in result.problems],
        "leftovers": [
            {
                "route": str(left.route),
                "what": left.what,
                "where": left.where,
                "id": left.id,
                "reason": left.reason,
            }
            for left in run.leftovers
        ],
        "report": report_json(saved),
    }


def route_lines(result: RouteResult) -> Iterator[str]:
    """Nothing for a proven route; else the first broken link with what to do, or what is not proven."""
    first = result.judgement.first_broken
    if first is not None:
        yield f"  {result.route} is broken at {first.link} ({first.check})"
        yield f"    seen      {first.seen}"
        if first.expected:
            yield f"    expected  {first.expected}"
        yield f"    do        {to_do(first)}"
    elif result.verdict is not ChainVerdict.PASS:
        for link in result.judgement.links:
            if link.verdict is not Verdict.PROVEN:
                yield f"  {result.route} is not proven at {link.link}: {link.reason}"
        for note in result.judgement.notes:
            yield f"    {note.check}: {note.hint}"
    for check in result.checks:
        if check.outcome is Outcome.FAILED:
            yield f"  {result.route}: {check.check}: {check.detail}"


def route_json(result: RouteResult) -> dict[str, Any]:
    judged = result.judgement.as_json()
    return {
        "operation": result.route.operation,
        "profile": result.route.profile,
        "verdict": str(result.verdict),
        "links": judged["links"],
        "first_broken": judged["first_broken"],
        "turn": judged["turn"],
        "claim": judged["claim"],
        "notes": judged["notes"],
        "failed_checks": [check.check for check in result.checks if check.outcome is Outcome.FAILED],
    }


def _routes(number: int) -> str:
    return "1 route" if number == 1 else f"{number} routes"


def report_json(saved: Saved | None) -> dict[str, Any] | None:
    if saved is None:
        return None
    return {
        "path": str(saved.path),
        "key_id": saved.key_id or None,
        "public_key": str(saved.public_key) if saved.public_key else None,
    }


def report_lines(saved: Saved | None) -> Iterator[str]:
    """Where the report is and how to check it; nothing without one."""
    if saved is None:
        return
    if not saved.key_id:
        yield f"report {saved.path}, NOT SIGNED: `butlerctl keys new` makes a key, `--sign KEY` names one"
        return
    yield f"report {saved.path}, signed with key {saved.key_id[:16]}…"
    yield f"check it with: butlerctl report verify {saved.path} --key {saved.public_key or 'PUBLIC_KEY'}"
