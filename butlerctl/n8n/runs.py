"""What the nodes of one execution did, in order: which of them failed first, what the Google nodes took and gave. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Run = Mapping[str, Any]
_GOOGLE = "n8n-nodes-base.google"


@dataclass(frozen=True, slots=True)
class Failure:
    """A node that failed, and n8n's error, of which `message` is certain."""

    node: str
    error: Mapping[str, Any]


def failure(execution: Mapping[str, Any]) -> Failure | None:
    """The first node that failed, None when none did.

    A node fails with an error of its own; or its failure is an item with `error`: on its last output where it has an
    error output, among its ordinary items where it goes on as if nothing had happened. Without data, n8n's error of
    the whole run tells.
    """
    nodes = _nodes(execution)
    for name, run in _runs(execution):
        error = run.get("error") or _handed_on(run, nodes.get(name, {}))
        if error:
            return Failure(name, _as_error(error))
    result = _result(execution)
    if result.get("error"):
        error = _as_error(result["error"])
        node = error.get("node")
        told = node.get("name") if isinstance(node, Mapping) else None
        return Failure(str(told or result.get("lastNodeExecuted") or ""), error)
    return None


def google_runs(execution: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every run of a Google node: `node`, `input` (what its items carried), `output` (the same by output), `error`."""
    nodes, runs = _nodes(execution), _result(execution).get("runData") or {}
    for name, run in _runs(execution):
        if str(nodes.get(name, {}).get("type", "")).startswith(_GOOGLE):
            error = {"error": _as_error(run["error"])} if run.get("error") else {}
            output = [_contents(items) for items in _outputs(run)]
            yield {"node": name, "input": _input(run, runs), "output": output, **error}


def items_of(run: Run) -> Iterator[Mapping[str, Any]]:
    """What the items of a run carry, over all its outputs."""
    for items in _outputs(run):
        yield from (content for content in _contents(items) if isinstance(content, Mapping))


def _result(execution: Mapping[str, Any]) -> Mapping[str, Any]:
    return (execution.get("data") or {}).get("resultData") or {}


def _nodes(execution: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The nodes as they were when it ran, by name."""
    found = (execution.get("workflowData") or {}).get("nodes") or []
    return {str(node.get("name")): node for node in found if isinstance(node, Mapping)}


def _runs(execution: Mapping[str, Any]) -> list[tuple[str, Run]]:
    """Name and run of every node, in the order in which they ran."""
    found = [
        (name, run) for name, runs in (_result(execution).get("runData") or {}).items() for run in runs or []
    ]
    return sorted(found, key=lambda each: (each[1].get("executionIndex", 0), each[1].get("startTime", 0)))


def _handed_on(run: Run, node: Mapping[str, Any]) -> Any:
    """The error that a node did not stop for, as its item tells it."""
    outputs = _outputs(run)
    goes_on = node.get("onError") or ("continueRegularOutput" if node.get("continueOnFail") else "")
    if goes_on == "continueErrorOutput" and len(outputs) > 1:
        told = outputs[-1]
    elif goes_on == "continueRegularOutput":
        told = outputs[0] if outputs else []
    else:
        return None
    contents = [content for content in _contents(told) if isinstance(content, Mapping)]
    return next((content["error"] for content in contents if content.get("error")), None)


def _as_error(error: Any) -> Mapping[str, Any]:
    return error if isinstance(error, Mapping) else {"message": str(error)}


def _input(run: Run, runs: Mapping[str, Any]) -> list[Any]:
    """What the items carried that came in: those of the output that the run was reached from."""
    contents: list[Any] = []
    for source in run.get("source") or []:
        if not isinstance(source, Mapping):
            continue
        before: Sequence[Run] = runs.get(source.get("previousNode", "")) or []
        number, output = source.get("previousNodeRun") or 0, source.get("previousNodeOutput") or 0
        outputs = _outputs(before[number]) if number < len(before) else []
        contents += _contents(outputs[output]) if output < len(outputs) else []
    return contents


def _outputs(run: Run) -> list[list[Any]]:
    main = (run.get("data") or {}).get("main")
    return [items or [] for items in main] if isinstance(main, list) else []


def _contents(items: Sequence[Any]) -> list[Any]:
    return [item.get("json") for item in items if isinstance(item, Mapping)]
