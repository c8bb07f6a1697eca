"""`active`: is the published version of the workflow the expected one, and does its webhook answer?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from butlerctl.evidence import Document
from butlerctl.judge import answer
from butlerctl.judge.answer import Kind
from butlerctl.judge.case import Case
from butlerctl.judge.finding import Finding, broken, proven, unproven
from butlerctl.judge.requests import is_preflight, request_of, response_of

_UNKNOWN_ROUTE = frozenset({Kind.NOT_REGISTERED, Kind.WRONG_METHOD})
_ANSWERS = frozenset({Kind.JSON, Kind.EMPTY, Kind.NOT_JSON, Kind.INVALID_ARGS, Kind.REFUSED, Kind.STATUS})


def judge(case: Case) -> Finding:
    return (
        _not_registered(case)
        or _sometimes(case)
        or _not_in_preflight(case)
        or _declared_off(case)
        or _other_version(case)
        or _proof(case)
    )


def _not_registered(case: Case) -> Finding | None:
    found = case.answer
    if found is None or found.kind not in _UNKNOWN_ROUTE:
        last = [answer.of_exchange(item) for item in case.probes if not is_preflight(item)][-1:]
        found = last[0] if last and last[0].kind in _UNKNOWN_ROUTE and not case.good else None
    if found is None:
        return None
    return broken(
        "active.registered",
        found.words,
        found.document,
        expected="n8n knows the webhook",
        advice=_state(case),
    )


def _state(case: Case) -> str:
    inactive = any(_held(item).get("active") is False for item in case.live)
    return f"n8n holds the workflow of {case.route} inactive." if inactive else ""


def _sometimes(case: Case) -> Finding | None:
    """Known once and unknown later at the same address: several n8n processes, not all of them know the route."""
    posts = [item for item in case.probes if not is_preflight(item) and not item.get("skipped")]
    kinds = [(str(request_of(item).get("url")), answer.of_exchange(item).kind) for item in posts]
    for address in dict.fromkeys(url for url, _ in kinds):
        seen = [kind for url, kind in kinds if url == address]
        known = [kind in _ANSWERS for kind in seen]
        if True in known and False in known[known.index(True) :] and Kind.NOT_REGISTERED in seen:
            missed = seen.count(Kind.NOT_REGISTERED)
            return broken(
                "active.registered",
                f"{missed} of {len(seen)} probes found the webhook not registered",
                *posts,
                expected="every probe finds it",
                advice="Several n8n processes answer, and not all of them activated the workflow: restart them together.",
            )
    return None


def _not_in_preflight(case: Case) -> Finding | None:
    for document in case.probes:
        methods = _allowed_methods(document)
        if methods is not None and "POST" not in methods and not case.good:
            return broken(
                "active.registered",
                "OPTIONS does not list POST for the webhook",
                document,
                expected="POST is listed",
            )
    return None


def _allowed_methods(document: Document) -> str | None:
    """The methods that an OPTIONS with an Origin tells; without an Origin it tells nothing."""
    request, response = request_of(document), response_of(document)
    asked = is_preflight(document) and answer.header(request.get("headers"), "origin")
    if not asked or str(response.get("status")) not in {"200", "204"}:
        return None
    return answer.header(response.get("headers"), "access-control-allow-methods").upper() or None


def _declared_off(case: Case) -> Finding | None:
    for document in case.live:
        if _held(document).get("active") is not False:
            continue
        served = _wire_answer(case)
        seen = (
            "declared off in n8n, and still its webhook answers"
            if served
            else "the live workflow is inactive"
        )
        return broken(
            "active.registered", seen, document, *([served] if served else []), expected="an active workflow"
        )
    return None


def _other_version(case: Case) -> Finding | None:
    for document in case.live:
        held = _held(document)
        saved, published = document.get("digest_saved"), document.get("digest_published")
        expected = next((item.get("digest") for item in case.exports if item.get("digest")), None)
        versions = held.get("versionId"), held.get("activeVersionId")
        if saved and published:
            differ = saved != published or (expected is not None and expected != published)
        else:
            differ = all(versions) and versions[0] != versions[1]
        if differ:
            return broken(
                "active.published_version",
                f"published is version {versions[1] or 'unknown'}, saved is {versions[0] or 'unknown'}"
                + (", and they differ from the export" if expected and expected != published else ""),
                document,
                *case.exports[:1],
                expected="export, saved and published version are the same",
            )
    return None


def _proof(case: Case) -> Finding:
    """Export, saved and published version are the same, and the webhook answers."""
    wire = _wire_answer(case)
    for document in case.live:
        export = next((item for item in case.exports if item.get("digest")), None)
        same = export is not None and export["digest"] == document.get("digest_saved") == document.get(
            "digest_published"
        )
        if same and export is not None and wire is not None:
            return proven(
                "active.published_version",
                "export, saved and published version are the same, and the webhook answers",
                export,
                document,
                wire,
            )
    if wire is not None:
        return unproven("active.published_version", "the webhook answers; which version, nothing tells", wire)
    return unproven("active.registered", "no answer of the webhook")


def _wire_answer(case: Case) -> Document | None:
    """A document that shows the webhook answering, if only with a refusal."""
    for attempt in case.attempts:
        if attempt.answer and attempt.exchange and attempt.answer.kind in _ANSWERS:
            return attempt.exchange
    for document in case.probes:
        methods = _allowed_methods(document)
        if (methods and "POST" in methods) or (
            not is_preflight(document) and answer.of_exchange(document).kind in _ANSWERS
        ):
            return document
    return None


def _held(document: Document) -> Mapping[str, Any]:
    held = document.get("document")
    return held if isinstance(held, Mapping) else {}
