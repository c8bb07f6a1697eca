"""`credential`: does the workflow act with a living credential of the right person?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from butlerctl.evidence import Document
from butlerctl.judge import payload, routes, versions
from butlerctl.judge.answer import Kind
from butlerctl.judge.case import Case
from butlerctl.judge.execution import Cause, cause_of_words
from butlerctl.judge.finding import Finding, broken, proven, unproven

_NOT_THERE = re.compile(r"could not be found|\bHTTP 404\b|not found", re.IGNORECASE)
_PLACES = ("calendar", "calendarId", "task", "taskList", "documentId", "sheetId", "spreadsheetId")


def judge(case: Case) -> Finding:
    rebound = _rebound(case)
    if rebound is not None:
        return rebound
    if case.effect.as_asked:
        return _proof(case)
    return (
        _anothers_place(case)
        or _failed(case)
        or _place_not_seen(case)
        or _other_account(case)
        or _proof(case)
    )


def _rebound(case: Case) -> Finding | None:
    """The live workflow works with another credential, or in another place, than its export says."""
    found = versions.rebinding(case)
    if found is None or not found.bindings:
        return None
    known = {str(entry.get("id")) for entry in live_credentials(case.others)}
    gone = [
        each for each in found.bindings if each.what == "credential" and known and each.served not in known
    ]
    worst = (gone or list(found.bindings))[0]
    return broken(
        "credential.exists" if gone else "credential.owner",
        f'the live node "{worst.node}" has the {worst.what} {worst.served}',
        found.live,
        found.export,
        expected=f"{worst.what} {worst.expected}, as in the export",
        advice="" if gone else "Only if the change is meant: export the workflow again.",
    )


def failure(case: Case) -> tuple[Cause, Document] | None:
    """What the workflow failed of, by its last execution or by its answer's own words."""
    for execution in case.executions[-1:]:
        cause = execution.cause
        if cause:
            return cause, execution.document
    found = case.answer
    if found and found.kind in {Kind.STATUS, Kind.JSON} and found.by_n8n and not case.usable(found):
        cause = cause_of_words(payload.error_inside(found.body) or found.words)
        if cause and (
            found.status == 200 or "google_error" in str(found.body) or cause.check.startswith("credential")
        ):
            return cause, found.document
    return None


def _failed(case: Case) -> Finding | None:
    found = failure(case)
    if found is None or not found[0].check.startswith("credential."):
        return None
    cause, document = found
    check = cause.check
    if check == "credential.exists" and _is_of_another_type(case, cause.words):
        check = "credential.type"
    return broken(
        check,
        f"the workflow of {case.route} failed: {cause.words}",
        document,
        expected=f"a living credential of {case.route.profile}",
        advice=_advice(case, check),
    )


def _advice(case: Case, check: str) -> str:
    testing = any(
        isinstance(item.get("document"), Mapping) and item["document"].get("oauth_app_status") == "testing"
        for item in case.others
        if item["kind"] == "state"
    )
    if check == "credential.token_valid" and testing:
        return "The OAuth application is in testing: its grants end after seven days. Publish the application first."
    return ""


def _is_of_another_type(case: Case, words: str) -> bool:
    """Is there a credential of the id that n8n names, and not of the type that it names?"""
    return any(
        entry.get("id") and str(entry["id"]) in words and str(entry.get("type")) not in words
        for entry in live_credentials(case.others)
    )


def _anothers_place(case: Case) -> Finding | None:
    """The workflow failed, and the place that it names is that of somebody else."""
    own, others = _places(case, own=True), _places(case, own=False)
    named = {place for item in case.live for place in _named_places(item.get("document"))}
    theirs = sorted((named & others) - own)
    found = failure(case)
    if found is None or not theirs:
        return None
    return broken(
        "credential.owner",
        f"the workflow of {case.route} works in {theirs[0]}, which is not {case.route.profile}'s: {found[0].words}",
        found[1],
        expected=f"the place of {case.route.profile}: {', '.join(sorted(own))}",
    )


def _places(case: Case, *, own: bool) -> set[str]:
    """The ids of the places that were read for this person, or for the others."""
    return {
        reading.place.partition("/")[0]
        for reading in case.readings
        if (reading.profile == case.route.profile) is own and reading.place
    }


def _place_not_seen(case: Case) -> Finding | None:
    """Google says that the place is not there, although butlerctl's own read of that very place went well."""
    found = failure(case)
    if found is None or not _NOT_THERE.search(found[0].words) or not _place_is_right(case):
        return None
    return broken(
        "credential.owner",
        f"Google does not show the workflow's credential the place of {case.route.profile}: {found[0].words}",
        found[1],
        expected=f"a credential that may use the place of {case.route.profile}, which butlerctl itself can read",
    )


def live_credentials(documents: tuple[Document, ...]) -> Iterator[Mapping[str, Any]]:
    """The credentials that n8n says it has."""
    for document in documents:
        held = document.get("document") if document["kind"] == "credentials_live" else None
        data = held.get("data") if isinstance(held, Mapping) else None
        entries = data if isinstance(data, list) else []
        yield from (entry for entry in entries if isinstance(entry, Mapping))


def _other_account(case: Case) -> Finding | None:
    effect = case.effect
    own = case.route.profile
    if effect.elsewhere and not effect.found:
        whose = effect.elsewhere[0][0] or "somebody else"
        seen = (
            f"the {case.noun} lies with {whose}"
            if whose != own
            else f"the {case.noun} lies in another place of {own}"
        )
        return broken(
            "credential.owner",
            seen,
            *effect.documents,
            expected=f"it lies in the place of {own}",
            advice="The path was right.",
        )
    if effect.like:
        return broken(
            "credential.owner",
            f"the answer is what {effect.like} has",
            *effect.documents,
            expected=f"what {own} has",
        )
    return None


def _proof(case: Case) -> Finding:
    """A Google answer through this workflow, in the right account."""
    effect = case.effect
    through = _through_workflow(case)
    if through is None:
        return unproven("credential.owner", "no answer of Google through this workflow was recorded")
    distinct = bool(effect.found or effect.items) and not effect.indistinct
    if effect.found or (effect.as_asked and (distinct or _place_is_right(case))):
        return proven(
            "credential.owner",
            f"Google answered through the workflow of {case.route}, in the right account",
            through,
            *effect.documents,
        )
    return unproven("credential.owner", "whose account answered, nothing tells", through)


def _through_workflow(case: Case) -> Document | None:
    for execution in reversed(case.executions):
        if execution.google_items is not None or execution.ended_well:
            return execution.document
    good = [attempt.answer.document for attempt in case.good if attempt.answer and attempt.exchange]
    return good[-1] if good else None


def _place_is_right(case: Case) -> bool:
    """Does the published workflow name the very place that was read back?"""
    places = {
        reading.place.partition("/")[0]
        for reading in case.readings
        if reading.profile == case.route.profile and reading.readable and reading.when == "after"
    }
    named = {place for item in case.live for place in _named_places(item.get("document"))}
    return bool(places & named)


def _named_places(document: Any) -> Iterator[str]:
    for node in routes.nodes_of(routes.served(document)):
        parameters = node.get("parameters")
        for key in _PLACES:
            value = parameters.get(key) if isinstance(parameters, Mapping) else None
            yield str(value.get("value") if isinstance(value, Mapping) else value)
