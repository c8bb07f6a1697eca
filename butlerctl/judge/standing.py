"""What documents show by themselves, without a turn: the plugin, the transport, deployments, keys, leftovers, files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from butlerctl.evidence import Document
from butlerctl.inventory.operations import OPERATION_OF_TOOL
from butlerctl.judge import answer, routes
from butlerctl.judge.case import Evidence, is_api_call, request_of
from butlerctl.judge.execution import cause_of_words
from butlerctl.judge.finding import Finding, broken
from butlerctl.judge.links.credential import live_credentials
from butlerctl.judge.result import Note

_LOAD_FAILURE = re.compile(
    r"(failed to load|could not load|cannot find (module|package)|load error)", re.IGNORECASE
)
_CRASH = re.compile(r"\b(ERROR|Exception|Traceback|TypeError|closed by server|unhandled)\b")
_KEY_MISMATCH = re.compile(
    r"mismatching encryption keys|encryption key.{0,60}(does not match|differ)", re.IGNORECASE
)
_KEY_NAME = re.compile(r"encryption_?key(?!_file)", re.IGNORECASE)
_KEY_FILE = "N8N_ENCRYPTION_KEY_FILE"
_WORKFLOW_CALL = re.compile(r"/api/v1/workflows(?:/(?P<id>[^/]+))?(?:/(?P<verb>activate|deactivate))?/?$")
_EXECUTION_CALL = re.compile(r"/api/v1/executions/(?P<id>[^/]+)/?$")


def findings(evidence: Evidence) -> Iterator[Finding]:
    """Breaks that documents show; each names its check, which names the link."""
    yield from _plugin(evidence)
    yield from _transport(evidence)
    yield from _deployments(evidence)
    yield from _named_credentials(evidence)
    yield from _encryption_keys(evidence)
    yield from _cleanup(evidence)


def history_notes(evidence: Evidence) -> Iterator[Note]:
    """Runs that n8n no longer has: nothing can be said about them."""
    for document in evidence.of_kind("exchange"):
        call = _EXECUTION_CALL.search(routes.address_of(request_of(document).get("url")).path)
        if call and _status(document) == 404:
            yield Note(
                "report.history",
                f"n8n no longer has execution {call['id']}; whether and how it ran cannot be told any more."
                " Keep executions longer (pruning), or save the evidence at the time of the run.",
            )


def _plugin(evidence: Evidence) -> Iterator[Finding]:
    manifests, inspects = evidence.of_kind("plugin_manifest"), evidence.of_kind("plugin_inspect")
    logs = [(document, line) for document in evidence.of_kind("log") for line in _lines(document)]
    for document in inspects:
        held = _held(document)
        if held.get("error") or str(held.get("status", "loaded")).lower() in {"error", "failed", "disabled"}:
            yield broken(
                "call.plugin_loads",
                f"the plugin did not load: {held.get('error') or held.get('status')}",
                document,
                expected="loaded",
            )
            return
    for document, line in logs:
        if _LOAD_FAILURE.search(line) and "plugin" in line.lower():
            yield broken("call.plugin_loads", f"the gateway's log: {line[:200]}", document, expected="loaded")
            return
    declared = {name for document in manifests for name in _declared(document)}
    for document in inspects:
        registered = set(_registered(document))
        said = "; ".join(_diagnostics(document))
        missing = (
            sorted((declared or set(OPERATION_OF_TOOL)) - registered) if not registered or declared else []
        )
        if missing or said:
            yield broken(
                "call.tools_visible",
                f"the plugin registers {len(registered)} tools"
                + (f": {said}" if said else f", {', '.join(missing)} are missing"),
                document,
                *manifests,
                expected="all tools of contracts.tools in the manifest are registered",
            )
            return


def _declared(document: Document) -> list[str]:
    contracts = _held(document).get("contracts")
    tools = contracts.get("tools") if isinstance(contracts, Mapping) else None
    return [name for name in tools if isinstance(name, str)] if isinstance(tools, list) else []


def _registered(document: Document) -> Iterator[str]:
    tools = _held(document).get("tools")
    for entry in tools if isinstance(tools, list) else []:
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, Mapping):
            names = entry.get("names")
            yield from (
                str(name) for name in (names if isinstance(names, list) else [entry.get("name")]) if name
            )


def _diagnostics(document: Document) -> Iterator[str]:
    entries = _held(document).get("diagnostics")
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, Mapping) and entry.get("level") == "error":
            yield str(entry.get("message", "an error"))[:200]


def _transport(evidence: Evidence) -> Iterator[Finding]:
    """An event stream that opens and breaks: the 200 of its beginning says nothing."""
    for document in evidence.webhook_exchanges:
        address = routes.address_of(request_of(document).get("url"))
        response = document.get("response")
        headers = response.get("headers") if isinstance(response, Mapping) else None
        if address.endpoint or "event-stream" not in answer.header(headers, "content-type"):
            continue
        crashes = [
            (item, line) for item in evidence.of_kind("log") for line in _lines(item) if _CRASH.search(line)
        ]
        if crashes:
            yield broken(
                "call.transport",
                f"the event stream (SSE) at {address.path} opened and broke: {crashes[-1][1][:160]}",
                document,
                crashes[-1][0],
                expected="a stream that stays open",
            )


def _deployments(evidence: Evidence) -> Iterator[Finding]:
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
    status, body = _status(document), _response_body(document)
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
    body = request_of(document).get("body")
    return body.get("name") if isinstance(body, Mapping) else None


def _with_route(finding: Finding, evidence: Evidence, workflow_id: str | None, name: Any) -> Finding:
    from dataclasses import replace

    route = routes.route_of_name(name, evidence.profiles)
    for document in evidence.of_kind("workflow_live"):
        if workflow_id and _held(document).get("id") == workflow_id:
            route = route or evidence.route_of(document)
    if route is None:
        exports = [evidence.route_of(item) for item in evidence.of_kind("workflow_export", "workflow_live")]
        route = exports[0] if len(exports) == 1 else None
    return replace(finding, route=route)


def _named_credentials(evidence: Evidence) -> Iterator[Finding]:
    """Credentials that workflows name, held against those that n8n has."""
    from dataclasses import replace

    known = {str(entry.get("id")): str(entry.get("type")) for entry in live_credentials(evidence.documents)}
    for document in evidence.of_kind("workflow_live", "workflow_export") if known else ():
        for kind, entry in _credentials_of(document):
            credential_id = str(entry.get("id") or "")
            if not credential_id or known.get(credential_id) == kind:
                continue
            check = "credential.type" if credential_id in known else "credential.exists"
            seen = f'the workflow names credential "{credential_id}" ({kind}), which is ' + (
                f"of type {known[credential_id]}" if credential_id in known else "not in n8n"
            )
            finding = broken(
                check,
                seen,
                document,
                *evidence.of_kind("credentials_live"),
                expected=f"a credential of type {kind}",
            )
            yield replace(finding, route=evidence.route_of(document))


def _credentials_of(document: Document) -> Iterator[tuple[str, Mapping[str, Any]]]:
    held = _held(document)
    version = held.get("activeVersion")
    for node in routes.nodes_of(version if isinstance(version, Mapping) else held):
        credentials = node.get("credentials")
        for kind, entry in credentials.items() if isinstance(credentials, Mapping) else ():
            if isinstance(entry, Mapping):
                yield str(kind), entry


def _encryption_keys(evidence: Evidence) -> Iterator[Finding]:
    """One fixed key for every n8n process. Keys are compared, never shown."""
    documents = [item for item in evidence.of_kind("settings") if list(_keys_in(item.get("values")))]
    keys = [key for item in documents for key in _keys_in(item.get("values"))]
    if keys and not all(keys) and not any(_holds(item.get("values"), _KEY_FILE) for item in documents):
        yield broken(
            "credential.key_pinned",
            "the encryption key (N8N_ENCRYPTION_KEY) is not set",
            *documents,
            expected="one fixed encryption key",
        )
    elif len(set(keys)) > 1:
        yield broken(
            "credential.key_pinned",
            f"{len(set(keys))} different encryption keys",
            *documents,
            expected="one fixed encryption key",
        )
    for document in evidence.of_kind("log"):
        for line in _lines(document):
            if _KEY_MISMATCH.search(line):
                yield broken(
                    "credential.key_pinned",
                    "n8n's log tells of mismatching encryption keys",
                    document,
                    expected="one fixed encryption key",
                )
                return


def _keys_in(settings: Any) -> Iterator[str]:
    """The values of encryption keys in settings; empty for one that is known to be unset."""
    if isinstance(settings, Mapping):
        for name, value in settings.items():
            if _KEY_NAME.search(str(name)) and (value is None or isinstance(value, str)):
                yield value or ""
            else:
                yield from _keys_in(value)
    elif isinstance(settings, list):
        for item in settings:
            yield from _keys_in(item)


def _holds(settings: Any, name: str) -> bool:
    return isinstance(settings, Mapping) and bool(settings.get(name))


def _cleanup(evidence: Evidence) -> Iterator[Finding]:
    """After the deletion: is the test object gone, and nothing else of the test left?"""
    reads = [reading for reading in evidence.readings if reading.when == "after_delete" and reading.readable]
    before = {
        stored.id for reading in evidence.readings if reading.when == "before" for stored in reading.objects
    }
    deletions = [
        item for item in evidence.of_kind("readback") if str(item.get("api", "")).endswith(".delete")
    ]
    deleted = {str(item.get("eventId") or item.get("taskId") or "") for item in deletions}
    titles = {
        stored.title for reading in evidence.readings for stored in reading.objects if stored.id in deleted
    } - {""}
    for reading in reads:
        for stored in reading.objects:
            if stored.id in deleted or (reading.by_id and reading.document.get("when") == "after_delete"):
                yield broken(
                    "cleanup.deleted",
                    "the deleted test object is still there",
                    reading.document,
                    expected="gone, or cancelled",
                )
                return
            if stored.id not in before and stored.title in titles:
                yield broken(
                    "cleanup.leftover",
                    f'another "{stored.title}" was left behind',
                    reading.document,
                    expected="nothing of the test is left",
                )
                return
    for document in deletions:
        status = document.get("status")
        if not reads and isinstance(status, int) and status >= 400 and status not in {404, 410}:
            yield broken(
                "cleanup.deleted", f"Google refused the deletion with HTTP {status}", document, expected="204"
            )


def _lines(document: Document) -> list[str]:
    lines = document.get("lines")
    return [str(line) for line in lines] if isinstance(lines, list) else []


def _held(document: Document) -> Mapping[str, Any]:
    held = document.get("document")
    return held if isinstance(held, Mapping) else {}


def _status(document: Document) -> int | None:
    response = document.get("response")
    status = response.get("status") if isinstance(response, Mapping) else None
    return status if isinstance(status, int) else None


def _response_body(document: Document) -> Mapping[str, Any]:
    response = document.get("response")
    body = response.get("body") if isinstance(response, Mapping) else None
    return body if isinstance(body, Mapping) else {}
