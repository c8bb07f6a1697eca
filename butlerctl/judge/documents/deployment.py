"""Calls of n8n's REST API: updates and activations that did not take, runs that are gone, a key that is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from butlerctl.evidence import Document
from butlerctl.judge import routes
from butlerctl.judge.documents.reading import held_by, object_in, response_body, status_of
from butlerctl.judge.execution import cause_of_words
from butlerctl.judge.finding import Finding, broken
from butlerctl.judge.hints import step_for
from butlerctl.judge.requests import is_api_call, request_of
from butlerctl.judge.result import Note
from butlerctl.judge.run import Evidence

_WORKFLOW_CALL = re.compile(
    r"/(?:api/v1|rest)/workflows(?:/(?P<id>[^/]+))?(?:/(?P<verb>activate|deactivate))?/?$"
)
_EXECUTION_CALL = re.compile(r"/(?:api/v1|rest)/executions(?:/(?P<id>[^/]+))?/?$")


def findings(evidence: Evidence) -> Iterator[Finding]:
    """Calls of n8n's API that should have changed something and did not. The last of each kind counts."""
    last: dict[tuple[str, str], Document] = {}
    for document in evidence.of_kind("exchange"):
        request = request_of(document)
        method = str(request.get("method", "")).upper()
        if is_api_call(document) and method in {"PUT", "POST", "PATCH"}:
            last[method, routes.address_of(request.get("url")).path] = document
    for (_, path), document in last.items():
        call = _WORKFLOW_CALL.search(path)
        if call and call["verb"] != "deactivate":
            yield from _deployment(evidence, document, call)


def _deployment(evidence: Evidence, document: Document, call: re.Match[str]) -> Iterator[Finding]:
    status, body = status_of(document), response_body(document)
    activation = call["verb"] == "activate"
    taken = status is not None and status < 300 and not (activation and body.get("active") is False)
    if taken:
        return
    said = str(body.get("message") or body.get("error") or f"HTTP {status}")
    cause = cause_of_words(said)
    check = "deploy.activated" if activation else "deploy.update"
    if cause and cause.check.startswith("credential."):
        check = cause.check
    verb = "activation" if activation else "update (active and all)"
    finding = broken(
        check, f"n8n answered HTTP {status} to the {verb}: {said[:200]}", document, expected="2xx"
    )
    yield _with_route(finding, evidence, call["id"], _request_name(document))


def _request_name(document: Document) -> Any:
    return object_in(request_of(document).get("body")).get("name")


def _with_route(finding: Finding, evidence: Evidence, workflow_id: str | None, name: Any) -> Finding:
    route = routes.route_of_name(name, evidence.profiles)
    for document in evidence.of_kind("workflow_live"):
        if workflow_id and held_by(document).get("id") == workflow_id:
            route = route or evidence.route_of(document)
    if route is None:
        exports = [evidence.route_of(item) for item in evidence.of_kind("workflow_export", "workflow_live")]
        route = exports[0] if len(exports) == 1 else None
    return replace(finding, route=route)


def notes(evidence: Evidence) -> Iterator[Note]:
    """What n8n no longer has, and what it did not let butlerctl see: nothing can be said about either."""
    for document in evidence.of_kind("exchange"):
        if not is_api_call(document) or str(request_of(document).get("method", "GET")).upper() != "GET":
            continue
        status = status_of(document)
        call = _EXECUTION_CALL.search(routes.address_of(request_of(document).get("url")).path)
        if status in {401, 403}:
            yield Note("harness.n8n_api", f"n8n's API answered HTTP {status}. {step_for('harness.n8n_api')}")
        elif call and (status == 404 or _is_sought_and_gone(evidence, document)):
            which = call["id"] or "the execution that was asked for"
            told = f"n8n no longer has {which}: whether and how it ran cannot be told any more"
            yield Note("report.history", f"{told}. {step_for('report.history')}")


def _is_sought_and_gone(evidence: Evidence, document: Document) -> bool:
    """An empty list, although an earlier report or state speaks of an execution."""
    known = str([held_by(item) for item in evidence.of_kind("report", "state")])
    return response_body(document).get("data") == [] and "execution" in known
