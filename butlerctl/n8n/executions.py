"""Executions as evidence: found by the canary's nonce or by their id, without a secret in them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from butlerctl.errors import BadDocument
from butlerctl.n8n.api import PAGE_WITH_DATA
from butlerctl.n8n.execution_shape import is_execution
from butlerctl.n8n.runs import failure, google_runs, items_of
from butlerctl.redaction import MASK, redact

if TYPE_CHECKING:
    from butlerctl.n8n.api import N8nApi

LAG = 2.0
"""Seconds that n8n may take to show a finished execution."""

MOST = 200
"""Executions of one workflow, the newest first, that are searched for a nonce."""

SKEW = timedelta(minutes=5)
"""How far n8n's clock may be behind ours."""

_NEWEST = 5
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

    `ran` has the nodes and connections as they ran, n8n's defaults filled in.
    `node` and `error` are the first node that failed and what it said, also where another node behind it ended the
    run or a branch of the workflow took the failure up. `google` has the input and output of every Google node.
    `data` keeps n8n's `resultData`: the run of every node, the last one, the error. `data_missing` says why there is
    none.
    """
    result = (execution.get("data") or {}).get("resultData") or {}
    workflow = execution.get("workflowData") or {}
    document = {
        "kind": "execution",
        "seen_by": "n8n",
        "workflow": workflow.get("name", ""),
        "workflow_id": execution.get("workflowId"),
        "id": str(execution.get("id")),
        "version_id": execution.get("workflowVersionId"),
        "status": execution.get("status"),
        "started": execution.get("startedAt"),
        "stopped": execution.get("stoppedAt"),
        "mode": execution.get("mode"),
    }
    if workflow.get("nodes"):
        document["ran"] = {part: workflow.get(part) for part in ("nodes", "connections")}
    if missing := data_missing(execution):
        document["data_missing"] = missing
    if failed := failure(execution):
        document["node"] = failed.node
        document["error"] = _clean_error(failed.error)
    if google := [_clean_google(run) for run in google_runs(execution)]:
        document["google"] = google
    document["data"] = {"resultData": _clean_result(result)}
    redacted: dict[str, Any] = redact(document)
    return redacted


def data_missing(execution: Mapping[str, Any]) -> str:
    """Why an execution comes without what its nodes did, empty when it does not."""
    if execution.get("dataTooLargeToDisplay"):
        return "n8n holds it back: it is larger than n8n shows"
    data = execution.get("data") or {}
    if (data.get("redactionInfo") or {}).get("isRedacted"):
        return "n8n holds it back: its redaction policy hides it"
    return "" if (data.get("resultData") or {}).get("runData") else "n8n has none"


def find_by_id(api: N8nApi, execution_id: str, *, wait: float = LAG) -> dict[str, Any] | None:
    """The execution that an answer named, as evidence; None when n8n does not show it finished in `wait` seconds.

    Raises BadDocument, as all that look for one: it has not the shape of an execution.
    """

    def look() -> Mapping[str, Any] | None:
        found = api.execution(execution_id)
        return _sound(found) if found and found.get("status") not in ("new", "running") else None

    return _evidence(look, wait)


def find_by_nonce(
    api: N8nApi, workflow_id: str, nonce: str, *, since: datetime, wait: float = LAG
) -> dict[str, Any] | None:
    """The newest execution whose webhook body holds the nonce, as evidence; None after `wait` seconds without.

    Searched are the newest page and, beyond it, what began after `since`, at most MOST executions.
    """

    def look() -> Mapping[str, Any] | None:
        for number, listed in enumerate(api.executions(workflow_id, limit=MOST)):
            began = _began(listed)
            if number >= PAGE_WITH_DATA and began is not None and began < since - SKEW:
                return None
            found = _whole(api, listed)
            if found and _carries(found, nonce):
                return found
        return None

    return _evidence(look, wait)


def find_latest(
    api: N8nApi, workflow_id: str, *, since: datetime, wait: float = LAG
) -> dict[str, Any] | None:
    """The newest execution of a request that began after `since`, as evidence; None after `wait` seconds without.

    By n8n's own clock: one that is behind ours hides it, and then nothing is said. What somebody tries or repeats in
    the editor meanwhile is no request.
    """

    def look() -> Mapping[str, Any] | None:
        for listed in api.executions(workflow_id, limit=_NEWEST):
            began = _began(listed)
            if began is not None and began >= since and listed.get("mode") in (None, "webhook"):
                return _whole(api, listed)
        return None

    return _evidence(look, wait)


def _whole(api: N8nApi, listed: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What n8n held back in a list because it is large is asked for on its own."""
    found = api.execution(str(listed["id"])) if listed.get("dataTooLargeToDisplay") else listed
    return None if found is None else _sound(found)


def _sound(found: Mapping[str, Any]) -> Mapping[str, Any]:
    if not is_execution(found):
        raise BadDocument(f"what n8n shows as execution {found.get('id')} has not the shape of one")
    return found


def _began(execution: Mapping[str, Any]) -> datetime | None:
    """None for what is no date, or says no time zone."""
    try:
        moment = datetime.fromisoformat(str(execution.get("startedAt")))
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None


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


def _webhook_bodies(runs: Mapping[str, Any]) -> Iterator[Any]:
    """The bodies of the requests that started it: only a trigger's item has both headers and a body."""
    for found in runs.values():
        for run in found:
            for content in items_of(run):
                if "headers" in content and "body" in content:
                    yield content["body"]


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


def _clean_google(run: Mapping[str, Any]) -> dict[str, Any]:
    """The items of a Google node as its input and its outputs."""
    cleaned = {
        **run,
        "input": [_clean_content(content) for content in run["input"]],
        "output": [[_clean_content(content) for content in output] for output in run["output"]],
    }
    return cleaned | ({"error": _clean_error(run["error"])} if run.get("error") else {})


def _clean_error(error: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in error.items() if key not in ("node", "stack")}


def _clean_item(item: Mapping[str, Any]) -> dict[str, Any]:
    return {**item, "json": _clean_content(item["json"])} if "json" in item else dict(item)


def _clean_content(content: Any) -> Any:
    """What an item carries; where it is a whole request, only the values of harmless headers stay."""
    if not isinstance(content, Mapping) or not isinstance(content.get("headers"), Mapping):
        return content
    headers = {
        name: value if name.lower() in _HARMLESS_HEADERS else MASK
        for name, value in content["headers"].items()
    }
    return {**content, "headers": headers}
