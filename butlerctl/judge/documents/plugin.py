"""The plugin and the way to its tools: does it load, are its tools registered, does the transport hold?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from butlerctl.evidence import Document
from butlerctl.inventory.operations import OPERATION_OF_TOOL
from butlerctl.judge import answer, routes
from butlerctl.judge.documents.reading import held_by, lines_of, status_of
from butlerctl.judge.finding import Finding, broken
from butlerctl.judge.requests import request_of
from butlerctl.judge.run import Evidence

_LOAD_FAILURE = re.compile(
    r"(failed to load|could not load|cannot find (module|package)|load error)", re.IGNORECASE
)
_CRASH = re.compile(
    r"\b(ERROR|Exception|Traceback|TypeError|ClosedResourceError|closed by server|unhandled)\b"
    r"|(?i:\bstream\b.{0,40}\bclosed\b|\bclosed\b.{0,20}\bstream\b|(?:could not find|unknown|no such) session|session not found)"
)


def findings(evidence: Evidence) -> Iterator[Finding]:
    """The first reason why tools are not there, and streams that break."""
    reasons = (_not_loaded, _not_registered, _not_declared)
    found = (finding for reason in reasons for finding in reason(evidence))
    yield from [finding for finding in (next(found, None),) if finding]
    yield from _broken_streams(evidence)


def _not_loaded(evidence: Evidence) -> Iterator[Finding]:
    for document in evidence.of_kind("plugin_inspect"):
        held = held_by(document)
        status = str(held.get("status", "loaded"))
        if held.get("error") or status.lower() in {"error", "failed", "disabled"}:
            seen = f"the plugin did not load: {held.get('error') or status}"
            yield broken("call.plugin_loads", seen, document, expected="loaded")
    for document in evidence.of_kind("log"):
        for line in lines_of(document):
            if _LOAD_FAILURE.search(line) and "plugin" in line.lower():
                yield broken("call.plugin_loads", f"the log: {line[:200]}", document, expected="loaded")


def _not_registered(evidence: Evidence) -> Iterator[Finding]:
    manifests = evidence.of_kind("plugin_manifest")
    declared = {name for document in manifests for name in _declared(document)}
    for document in evidence.of_kind("plugin_inspect"):
        registered = set(_registered(document))
        due = declared or (set(OPERATION_OF_TOOL) if not registered else set())
        missing = ", ".join(sorted(due - registered))
        said = "; ".join(_diagnostics(document))
        if missing or said:
            yield broken(
                "call.tools_visible",
                f"the plugin registers {len(registered)} tools; {said or f'missing: {missing}'}",
                document,
                *manifests,
                expected="every tool of contracts.tools in the manifest is registered",
            )


def _not_declared(evidence: Evidence) -> Iterator[Finding]:
    if evidence.of_kind("plugin_inspect", "transcript"):
        return
    for document in evidence.of_kind("plugin_manifest"):
        if not _declared(document):
            seen = "the manifest declares no contracts.tools"
            yield broken("call.tools_visible", seen, document, expected="contracts.tools names every tool")


def _declared(document: Document) -> list[str]:
    contracts = held_by(document).get("contracts")
    tools = contracts.get("tools") if isinstance(contracts, Mapping) else None
    return [name for name in tools if isinstance(name, str)] if isinstance(tools, list) else []


def _registered(document: Document) -> Iterator[str]:
    tools = held_by(document).get("tools")
    for entry in tools if isinstance(tools, list) else []:
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, Mapping):
            names = entry.get("names")
            yield from (
                str(name) for name in (names if isinstance(names, list) else [entry.get("name")]) if name
            )


def _diagnostics(document: Document) -> Iterator[str]:
    entries = held_by(document).get("diagnostics")
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, Mapping) and entry.get("level") == "error":
            yield str(entry.get("message", "an error"))[:200]


def _broken_streams(evidence: Evidence) -> Iterator[Finding]:
    """An event stream that is refused, or that opens and breaks: the 200 of its beginning says nothing."""
    crashes = [
        (item, line) for item in evidence.of_kind("log") for line in lines_of(item) if _CRASH.search(line)
    ]
    for document in evidence.webhook_exchanges:
        address = routes.address_of(request_of(document).get("url"))
        status = status_of(document)
        refused = status is None or status >= 400
        if address.endpoint or not _is_stream(document) or not (refused or crashes):
            continue
        seen = f"HTTP {status}" if refused else f"opened and broke: {crashes[-1][1][:160]}"
        yield broken(
            "call.transport",
            f"the event stream (SSE) at {address.path}: {seen}",
            document,
            *(item for item, _ in crashes[-1:]),
            expected="a stream that stays open",
        )


def _is_stream(document: Document) -> bool:
    response = document.get("response")
    headers = response.get("headers") if isinstance(response, Mapping) else None
    wanted = answer.header(request_of(document).get("headers"), "accept")
    url = str(request_of(document).get("url", "")).partition("?")[0]
    return "event-stream" in answer.header(headers, "content-type") + wanted or url.endswith("/sse")
