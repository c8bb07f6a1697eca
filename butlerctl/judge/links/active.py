"""`active`: is the published version of the workflow the expected one, and does its webhook answer?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from butlerctl.evidence import Document
from butlerctl.judge import answer, ran, routes, versions
from butlerctl.judge.answer import Kind
from butlerctl.judge.case import Case
from butlerctl.judge.finding import Finding, broken, proven, unproven
from butlerctl.judge.requests import is_preflight, request_of, response_of
from butlerctl.judge.versions import held

_UNKNOWN_ROUTE = frozenset({Kind.NOT_REGISTERED, Kind.WRONG_METHOD})
_ANSWERS = frozenset({Kind.JSON, Kind.EMPTY, Kind.NOT_JSON, Kind.INVALID_ARGS, Kind.REFUSED, Kind.STATUS})


def judge(case: Case) -> Finding:
    return (
        _several_owners(case)
        or _ran_elsewhere(case)
        or _not_registered(case)
        or _sometimes(case)
        or _not_in_preflight(case)
        or _declared_off(case)
        or _other_version(case)
        or _ran_another_version(case)
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
    """What n8n's API says about a workflow whose webhook does not answer."""
    for document in case.live:
        workflow = held(document)
        if workflow.get("isArchived") is True:
            return f"The workflow of {case.route} is archived: restore it in n8n first."
        if workflow.get("active") is False:
            return f"n8n holds the workflow of {case.route} inactive."
        elsewhere = _elsewhere(case, document)
        if elsewhere:
            return elsewhere
        if document.get("digest_published"):
            return (
                "n8n's API says that it is published, and the running server does not serve it: it was published"
                " beside the server. Deactivate and activate it again, or restart n8n."
            )
    known = any(item["kind"] == "credentials_live" for item in case.others)
    if known and versions.expected_of(case) and not case.live:
        return f"n8n holds no workflow for {case.route}: import it (butlerctl plan, then apply)."
    return ""


def _elsewhere(case: Case, document: Document) -> str:
    """The published webhook has another path or method than the export's."""
    export = versions.expected_of(case)
    ours = _addresses(held(export)) if export else []
    theirs = _addresses(routes.served(held(document)))
    if not ours or not theirs or ours == theirs:
        return ""
    return f"The live webhook is {', '.join(theirs)}; the export's is {', '.join(ours)}: restore it."


def _addresses(workflow: Any) -> list[str]:
    parameters = [node["parameters"] for node in routes.webhook_nodes(workflow)]
    return [f"{each.get('httpMethod', 'GET')} {each.get('path')}" for each in parameters]


def _several_owners(case: Case) -> Finding | None:
    """Two workflows are published at one path: which of them answers, nobody can tell from their documents."""
    owners: dict[str, Document] = {}
    for document in case.live:
        published = held(document).get("active") is True and document.get("digest_published")
        path = next((path for path in routes.webhook_paths(routes.served(held(document)))), "")
        if published and routes.route_of_tail(path) == case.route:
            owners[str(held(document).get("id"))] = document
    if len(owners) < 2:
        return None
    names = ", ".join(f'"{held(document).get("name")}" ({owner})' for owner, document in owners.items())
    return broken(
        "active.single_owner",
        f"{len(owners)} workflows are published at the path of {case.route}: {names}",
        *owners.values(),
        expected="one workflow owns the path",
    )


def _ran_elsewhere(case: Case) -> Finding | None:
    """n8n ran another workflow for the request than the one that it shows for the route."""
    execution = case.own_execution.document if case.own_execution else {}
    shown = [document for document in case.live if held(document).get("id")]
    if not execution.get("workflow_id") or not shown:
        return None
    if any(held(document)["id"] == execution["workflow_id"] for document in shown):
        return None
    return broken(
        "active.single_owner",
        f'the request ran in the workflow "{execution.get("workflow")}" ({execution["workflow_id"]})',
        execution,
        *shown,
        expected=f'it runs in "{held(shown[0]).get("name")}" ({held(shown[0])["id"]})',
    )


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
        if held(document).get("active") is not False:
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
    if versions.rebinding(case):
        return None
    export = versions.expected_of(case)
    for document in case.live:
        saved, published = document.get("digest_saved"), document.get("digest_published")
        numbers = held(document).get("versionId"), held(document).get("activeVersionId")
        if saved and published:
            differ = saved != published or (export is not None and not versions.is_expected(export, document))
        else:
            differ = all(numbers) and numbers[0] != numbers[1]
        if differ:
            return broken(
                "active.published_version",
                _how_it_differs(document, export),
                document,
                *case.exports[:1],
                expected="export, saved and published version are the same",
                advice=_which_to_keep(document, export),
            )
    return None


def _ran_another_version(case: Case) -> Finding | None:
    """n8n ran neither what it calls published nor what it calls saved, or nodes that are not the published ones.

    Up to 2.30 it names the saved version always. What somebody tries in the editor, or runs again there, is the draft.
    """
    execution = case.own_execution.document if case.own_execution else {}
    if execution.get("mode") not in (None, "webhook"):
        return None
    for document in case.live:
        shown = held(document)
        seen = _another_version(execution, shown) if execution.get("workflow_id") == shown.get("id") else ""
        if seen:
            return broken(
                "active.executed_version",
                seen,
                execution,
                document,
                expected="what is published is what runs",
            )
    return None


def _another_version(execution: Document, shown: Mapping[str, Any]) -> str:
    ran_as, published = execution.get("version_id"), shown.get("activeVersionId")
    if ran_as and published and shown.get("versionId") and ran_as not in (shown["versionId"], published):
        return f"the request ran in version {ran_as}, n8n publishes {published}"
    parts = ran.contradictions(execution.get("ran"), routes.served(shown))
    return f"the request did not run what n8n publishes: it differs in {', '.join(parts)}" if parts else ""


def _which_to_keep(document: Document, export: Document | None) -> str:
    """The saved version may be the wrong one: somebody's draft, or what was rolled back."""
    saved, published = document.get("digest_saved"), document.get("digest_published")
    if export is None or saved == published:
        return ""
    if published == export["digest"]:
        return "What is served is right: do not publish what is saved."
    return "Publish the saved version." if saved == export["digest"] else ""


def _how_it_differs(document: Document, export: Document | None) -> str:
    saved, published = document.get("digest_saved"), document.get("digest_published")
    workflow = held(document)
    said = []
    if saved != published or not saved:
        numbers = workflow.get("versionId") or "unknown", workflow.get("activeVersionId") or "unknown"
        which = "saved" if export and saved == export["digest"] else "published"
        same = (
            f", and the {which} one is the export's"
            if export and export["digest"] in {saved, published}
            else ""
        )
        said.append(f"published is version {numbers[1]}, saved is {numbers[0]}{same}")
    if published and export is not None and export["digest"] != published:
        parts = ", ".join(versions.differing_parts(export, document))
        who = f'the published workflow "{workflow.get("name")}" ({workflow.get("id")})'
        said.append(f"{who} differs from the export" + (f" in {parts}" if parts else ""))
    return "; ".join(said)


def _proof(case: Case) -> Finding:
    """Export, saved and published version are the same, and the webhook answers."""
    wire = _wire_answer(case)
    export, rebound = versions.expected_of(case), versions.rebinding(case)
    for document in case.live:
        if export is not None and wire is not None and versions.is_expected(export, document):
            return proven(
                "active.published_version",
                "export, saved and published version are the same, and the webhook answers",
                export,
                document,
                wire,
            )
    if rebound is not None and wire is not None:
        return proven(
            "active.published_version",
            "what is published is the export but for a credential or a place, and the webhook answers",
            rebound.export,
            rebound.live,
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
