"""Executions as evidence: found by the canary's nonce or by their id, without a secret in them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from butlerctl.redaction import MASK, redact

if TYPE_CHECKING:
    from butlerctl.n8n.api import N8nApi

LAG = 2.0
"""Seconds that n8n may take to show a finished execution."""

_PAUSE = 0.05
# A webhook's key may stand under any name: every other header is masked.
_HARMLESS_HEADERS = frozenset(
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "host",
        "user-agent",
        "x-forwarded-host",
        "x-forwarded-proto",
    }
)


def as_evidence(execution: Mapping[str, Any]) -> dict[str, Any]:
    """An `execution` document from one item of `GET /executions?includeData=true`, redacted.

    `data` keeps n8n's `resultData`: the run of every node, the last one, the error.
    """
    result = (execution.get("data") or {}).get("resultData") or {}
    error = result.get("error") or {}
    document = {
        "kind": "execution",
        "seen_by": "n8n",
        "workflow": (execution.get("workflowData") or {}).get("name", ""),
        "workflow_id": execution.get("workflowId"),
        "id": str(execution.get("id")),
        "version_id": execution.get("workflowVersionId"),
        "status": execution.get("status"),
        "started": execution.get("startedAt"),
        "stopped": execution.get("stoppedAt"),
        "mode": execution.get("mode"),
    }
    if error:
        document["node"] = (error.get("node") or {}).get("name") or result.get("lastNodeExecuted")
        document["error"] = _clean_error(error)
    document["data"] = {"resultData": _clean_result(result)}
    redacted: dict[str, Any] = redact(document)
    return redacted


def find_by_id(api: N8nApi, execution_id: str, *, wait: float = LAG) -> dict[str, Any] | None:
    """The execution that an answer named, as evidence; None when n8n does not show it finished in `wait` seconds."""

    def look() -> Mapping[str, Any] | None:
        found = api.execution(execution_id)
        return found if found and found.get("status") not in ("new", "running") else None

    return _evidence(look, wait)


def find_by_nonce(api: N8nApi, workflow_id: str, nonce: str, *, wait: float = LAG) -> dict[str, Any] | None:
    """The newest execution whose webhook body holds the nonce, as evidence; None after `wait` seconds without."""

    def look() -> Mapping[str, Any] | None:
        return next((each for each in api.executions(workflow_id) if _carries(each, nonce)), None)

    return _evidence(look, wait)


def _evidence(look: Callable[[], Mapping[str, Any] | None], wait: float) -> dict[str, Any] | None:
    """Look until something is there, at least once. The pause grows, so that a long wait asks seldom."""
    deadline = time.monotonic() + wait
    pause = _PAUSE
    while (found := look()) is None:
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        time.sleep(min(pause, left))
        pause *= 1.5
    return as_evidence(found)


def _carries(execution: Mapping[str, Any], nonce: str) -> bool:
    runs = ((execution.get("data") or {}).get("resultData") or {}).get("runData") or {}
    return any(nonce in json.dumps(body, ensure_ascii=False) for body in _webhook_bodies(runs))


def _webhook_bodies(runs: Mapping[str, Any]) -> list[Any]:
    """The bodies of the requests that started it: only a trigger's item has both headers and a body."""
    items = [
        item.get("json") or {}
        for node in runs.values()
        for run in node
        for output in (run.get("data") or {}).get("main") or []
        for item in output or []
    ]
    return [
        item["body"] for item in items if isinstance(item, Mapping) and "headers" in item and "body" in item
    ]


def _clean_result(result: Mapping[str, Any]) -> dict[str, Any]:
    """n8n's `resultData` without stack traces, copies of nodes and the values of unknown headers."""
    runs = result.get("runData") or {}
    cleaned: dict[str, Any] = {
        "runData": {name: [_clean_run(run) for run in found] for name, found in runs.items()},
        "lastNodeExecuted": result.get("lastNodeExecuted"),
    }
    return cleaned | ({"error": _clean_error(result["error"])} if result.get("error") else {})


def _clean_run(run: Mapping[str, Any]) -> dict[str, Any]:
    cleaned = dict(run)
    if run.get("error"):
        cleaned["error"] = _clean_error(run["error"])
    main = (run.get("data") or {}).get("main")
    if main is None:
        return cleaned
    outputs = [[_clean_item(item) for item in output or []] for output in main]
    return {**cleaned, "data": {"main": outputs}}


def _clean_error(error: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in error.items() if key not in ("node", "stack")}


def _clean_item(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item; where it is a whole request, only the values of harmless headers stay."""
    content = item.get("json")
    if not isinstance(content, Mapping) or not isinstance(content.get("headers"), Mapping):
        return dict(item)
    headers = {
        name: value if name.lower() in _HARMLESS_HEADERS else MASK
        for name, value in content["headers"].items()
    }
    return {**item, "json": {**content, "headers": headers}}
