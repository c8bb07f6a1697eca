"""A run as an in-toto Statement v1 with a test-result predicate, and back.

The predicate has one field of ours, `butlerctl`; `statement.schema.json` beside this file describes it.
Everything that can be derived from the links (lists of tests, counts, verdicts) is written for readers
and recomputed by the verifier.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

from butlerctl.errors import Refused
from butlerctl.inventory.operations import Route
from butlerctl.judge.result import (
    ChainVerdict,
    Claim,
    FirstBroken,
    Judgement,
    LinkVerdict,
    Note,
    Turn,
    Verdict,
)
from butlerctl.redaction import redact
from butlerctl.report.run import CheckResult, Leftover, Outcome, Part, RouteResult, Run, Skipped
from butlerctl.report.strict import strict_json

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://in-toto.io/attestation/test-result/v0.1"

_OUTCOME_OF_LINK = {
    Verdict.PROVEN: Outcome.PASSED,
    Verdict.UNPROVEN: Outcome.WARNED,
    Verdict.BROKEN: Outcome.FAILED,
}


def payload_of(run: Run) -> bytes:
    """The bytes that are signed: the redacted statement as UTF-8 JSON."""
    text = json.dumps(redact(statement_of(run)), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", errors="replace")


def statement_of(run: Run) -> dict[str, Any]:
    """The statement about a run, not yet redacted."""
    return {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": name, "digest": {"sha256": sha256}} for name, sha256 in run.workflows.items()],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "result": result_of(run),
            "configuration": [{"name": "inventory.yaml", "digest": {"sha256": run.inventory_digest}}],
            "passedTests": _tests(run, Outcome.PASSED),
            "warnedTests": _tests(run, Outcome.WARNED),
            "failedTests": _tests(run, Outcome.FAILED),
            "butlerctl": _extension(run),
        },
    }


def run_of(payload: bytes) -> Run:
    """Read a statement back.

    Raises:
        Refused: the bytes are not such a statement.
    """
    document = strict_json(payload)
    _require_schema(document)
    predicate = document["predicate"]
    subjects = {subject["name"]: subject["digest"]["sha256"] for subject in document["subject"]}
    if len(subjects) != len(document["subject"]):
        raise Refused("invalid report: a workflow is named twice")
    run = _run(predicate["butlerctl"], subjects, predicate["configuration"][0]["digest"]["sha256"])
    if len({result.route for result in run.routes}) != len(run.routes):
        raise Refused("invalid report: a route is there twice")
    return run


def contradictions(payload: bytes, run: Run) -> list[str]:
    """What the statement says of itself that does not follow from its own links and checks."""
    said, derived = strict_json(payload)["predicate"], statement_of(run)["predicate"]
    found = [name for name in derived if name != "butlerctl" and said[name] != derived[name]]
    own, recomputed = said["butlerctl"], derived["butlerctl"]
    found += [name for name in ("verdict", "counts") if own[name] != recomputed[name]]
    for said_route, result in zip(own["routes"], run.routes, strict=True):
        if said_route["verdict"] != result.verdict:
            found.append(f"verdict of {result.route}")
    return found


def result_of(run: Run) -> str:
    """PASSED, WARNED or FAILED as the predicate's specification means them; nothing run is FAILED."""
    if run.verdict is ChainVerdict.FAIL or not _tests(run, Outcome.PASSED):
        return "FAILED"
    warned = _tests(run, Outcome.WARNED) or run.verdict is not ChainVerdict.PASS
    return "WARNED" if warned else "PASSED"


def _tests(run: Run, outcome: Outcome) -> list[str]:
    return [name for name, found in _all_tests(run) if found is outcome]


def _all_tests(run: Run) -> Iterator[tuple[str, Outcome]]:
    for check in run.checks:
        yield check.check, check.outcome
    for result in run.routes:
        for link in result.judgement.links:
            if link.verdict in _OUTCOME_OF_LINK:
                yield f"{link.check or link.link}[{result.route}]", _OUTCOME_OF_LINK[link.verdict]
        for check in result.checks:
            yield f"{check.check}[{result.route}]", check.outcome
    for leftover in run.leftovers:
        yield f"cleanup.leftover[{leftover.route}]", Outcome.WARNED


def _extension(run: Run) -> dict[str, Any]:
    counts = run.counts
    parts = [{"id": part.id, "sha256": part.sha256, "key": part.key_id} for part in run.parts]
    return {
        "id": run.id,
        "nonce": run.nonce,
        "target": run.target,
        "lab": run.lab,
        "startedOn": _timestamp(run.started),
        "finishedOn": _timestamp(run.finished),
        "verdict": str(run.verdict),
        "planDigest": run.plan_digest,
        "versions": dict(run.versions),
        "counts": {
            "routes": counts.routes,
            "links": {str(verdict): number for verdict, number in counts.links.items()},
            "checks": {str(outcome): number for outcome, number in counts.checks.items()},
            "skipped": counts.skipped,
            "leftovers": counts.leftovers,
        },
        "checks": _checks(run.checks),
        "routes": [_route(result) for result in run.routes],
        "skipped": [{"check": skipped.check, "reason": skipped.reason} for skipped in run.skipped],
        "leftovers": [_leftover(leftover) for leftover in run.leftovers],
        **({"parts": parts} if parts else {}),
    }


def _route(result: RouteResult) -> dict[str, Any]:
    judgement = result.judgement
    return {
        "operation": result.route.operation,
        "profile": result.route.profile,
        "verdict": str(result.verdict),
        "links": [_link(link) for link in judgement.links],
        "firstBroken": judgement.first_broken and _first_broken(judgement.first_broken),
        "turn": str(judgement.turn),
        "claim": str(judgement.claim),
        "notes": [{"check": note.check, "hint": note.hint} for note in judgement.notes],
        "checks": _checks(result.checks),
        "evidenceDigest": result.evidence_digest,
        "seconds": round(result.seconds, 3),
    }


def _link(link: LinkVerdict) -> dict[str, Any]:
    return {
        "link": link.link,
        "verdict": str(link.verdict),
        "check": link.check,
        "reason": link.reason,
        "evidence": list(link.rests_on),
    }


def _first_broken(broken: FirstBroken) -> dict[str, Any]:
    return {
        "link": broken.link,
        "check": broken.check,
        "hint": broken.hint,
        "expected": broken.expected,
        "seen": broken.seen,
    }


def _checks(checks: tuple[CheckResult, ...]) -> list[dict[str, Any]]:
    return [{"check": check.check, "outcome": str(check.outcome), "detail": check.detail} for check in checks]


def _leftover(leftover: Leftover) -> dict[str, Any]:
    return {
        "operation": leftover.route.operation,
        "profile": leftover.route.profile,
        "what": leftover.what,
        "where": leftover.where,
        "id": leftover.id,
        "reason": leftover.reason,
    }


def _timestamp(when: datetime) -> str:
    return when.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _require_schema(document: Any) -> None:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    schema = json.loads(files(__package__).joinpath("statement.schema.json").read_text(encoding="utf-8"))
    error = best_match(Draft202012Validator(schema).iter_errors(document))
    if error is not None:
        raise Refused(f"invalid report: {error.json_path} is not as a report of butlerctl has it")


def _run(own: Mapping[str, Any], workflows: Mapping[str, str], inventory_digest: str) -> Run:
    return Run(
        id=own["id"],
        nonce=own["nonce"],
        target=own["target"],
        started=_instant(own["startedOn"]),
        finished=_instant(own["finishedOn"]),
        inventory_digest=inventory_digest,
        plan_digest=own["planDigest"],
        versions=own["versions"],
        workflows=workflows,
        routes=tuple(_read_route(route) for route in own["routes"]),
        checks=_read_checks(own["checks"]),
        skipped=tuple(Skipped(skipped["check"], skipped["reason"]) for skipped in own["skipped"]),
        leftovers=tuple(_read_leftover(leftover) for leftover in own["leftovers"]),
        lab=own["lab"],
        parts=tuple(Part(part["id"], part["sha256"], part["key"]) for part in own.get("parts", ())),
    )


def _instant(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise Refused(f"invalid report: {text} is no date") from None


def _read_route(document: Mapping[str, Any]) -> RouteResult:
    route = Route(document["operation"], document["profile"])
    links = tuple(
        LinkVerdict(
            link["link"], Verdict(link["verdict"]), link["check"], link["reason"], tuple(link["evidence"])
        )
        for link in document["links"]
    )
    # The judge's own PASS rule is milder; a report carries the strict verdict.
    judgement = Judgement(
        verdict=ChainVerdict(document["verdict"]),
        first_broken=_read_first_broken(document["firstBroken"], route),
        links=links,
        turn=Turn(document["turn"]),
        claim=Claim(document["claim"]),
        notes=tuple(Note(note["check"], note["hint"]) for note in document["notes"]),
    )
    return RouteResult(
        route=route,
        judgement=judgement,
        checks=_read_checks(document["checks"]),
        evidence_digest=document["evidenceDigest"],
        seconds=document["seconds"],
    )


def _read_first_broken(document: Mapping[str, Any] | None, route: Route) -> FirstBroken | None:
    if document is None:
        return None
    return FirstBroken(route=route, **{name: document[name] for name in _FIRST_BROKEN_FIELDS})


_FIRST_BROKEN_FIELDS = ("link", "check", "hint", "expected", "seen")


def _read_checks(documents: list[Mapping[str, Any]]) -> tuple[CheckResult, ...]:
    return tuple(
        CheckResult(document["check"], Outcome(document["outcome"]), document["detail"])
        for document in documents
    )


def _read_leftover(document: Mapping[str, Any]) -> Leftover:
    return Leftover(
        route=Route(document["operation"], document["profile"]),
        what=document["what"],
        where=document["where"],
        id=document["id"],
        reason=document["reason"],
    )
