"""Runs the nodes of a published workflow version, in n8n's order and with n8n's handling of failures.

Order (`executionOrder: v1`): a node's successors are entered from the top of the canvas down, each branch to
its end. A node without items in front of it does not run.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from butlerctl.lab.n8n.clock import now_millis
from butlerctl.lab.n8n.expressions import ExpressionError, Unsupported
from butlerctl.lab.n8n.google_nodes import EngineBreak, NodeFailure
from butlerctl.lab.n8n.nodes import RUNNERS, Context, Item, Node, Outputs
from butlerctl.workflows.google import SHEETS


@dataclass(slots=True)
class Result:
    """One execution as `GET /executions` shows its `resultData`."""

    run_data: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    error: dict[str, Any] | None = None
    last_node: str = ""
    last_items: list[Item] = field(default_factory=list)
    waiting: dict[str, Any] | None = None
    """The node that failed with its input, as n8n keeps them for a retry."""


@dataclass(frozen=True, slots=True)
class _Step:
    node: Node
    items: list[Item]
    source: tuple[str, int] | None = None


def execute(context: Context, connections: Mapping[str, Any], trigger: str, item: Item) -> Result:
    """From the trigger's item to the end. Never raises for what a node does."""
    result = Result()
    stack = [_Step(context.nodes[trigger], [item])]
    while stack and result.error is None:
        step = stack.pop()
        outputs = _execute(context, step, result)
        context.outputs[step.node["name"]] = outputs
        stack += _successors(context, connections, step.node["name"], outputs)
    return result


def _successors(context: Context, connections: Mapping[str, Any], name: str, outputs: Outputs) -> list[_Step]:
    """The steps behind a node, the topmost last: the stack gives it first."""
    targets = connections.get(name, {}).get("main", [])
    steps = [
        _Step(context.nodes[target["node"]], items, (name, index))
        for index, items in enumerate(outputs)
        if items and index < len(targets)
        for target in targets[index] or []
        if target["node"] in context.nodes
    ]
    return sorted(steps, key=_height, reverse=True)


def _height(step: _Step) -> tuple[float, float]:
    x, y = step.node.get("position", [0, 0])
    return y, x


def _execute(context: Context, step: _Step, result: Result) -> Outputs:
    started = now_millis()
    failure: NodeFailure | None = None
    outputs: Outputs = []
    try:
        outputs = _outputs_with_settings(context, step.node, step.items)
    except NodeFailure as error:
        failure = error
    _record(step, started, outputs, failure, result)
    return outputs


def _outputs_with_settings(context: Context, node: Node, items: list[Item]) -> Outputs:
    """The outputs after the node's settings for retries, errors and empty results. Raises NodeFailure."""
    try:
        outputs = _with_retries(context, node, items)
    except NodeFailure as failure:
        outputs = _after_failure(node, items, failure)
    if node.get("alwaysOutputData") and not any(outputs[:1]):
        outputs = [[{}], *outputs[1:]]
    return outputs


def _with_retries(context: Context, node: Node, items: list[Item]) -> Outputs:
    again = int(node.get("maxTries", 3)) - 1 if node.get("retryOnFail") else 0
    for _ in range(again):
        try:
            return _outputs(context, node, items)
        except NodeFailure:
            time.sleep(float(node.get("waitBetweenTries", 1000)) / 1000)
    return _outputs(context, node, items)


def _outputs(context: Context, node: Node, items: list[Item]) -> Outputs:
    runner = RUNNERS.get(node["type"])
    if runner is None or node.get("disabled"):
        return [items]
    try:
        outputs = runner(context, node, items)
    except (ExpressionError, Unsupported) as error:
        raise NodeFailure(str(error)) from error
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise NodeFailure(f"the parameters of this node cannot be read: {error!r}") from error
    except EngineBreak:
        if _on_error(node) == "stopWorkflow":
            raise NodeFailure("Cannot convert undefined or null to object") from None
        return [items]
    has_error_output = _on_error(node) == "continueErrorOutput" and len(outputs) == 1
    return [*outputs, []] if has_error_output else outputs


def _on_error(node: Node) -> str:
    return str(node.get("onError", "continueRegularOutput" if node.get("continueOnFail") else "stopWorkflow"))


def _after_failure(node: Node, items: list[Item], failure: NodeFailure) -> Outputs:
    """Where the failure of a node goes. Raises it where the workflow stops at an error."""
    shown: Item = {"error": failure.message}
    setting = _on_error(node)
    if setting == "continueRegularOutput":
        return [[shown]]
    if setting != "continueErrorOutput":
        raise failure
    keeps_input = node["type"] != SHEETS
    return [[], [{**items[0], **shown} if keeps_input else shown]]


def _record(step: _Step, started: int, outputs: Outputs, failure: NodeFailure | None, result: Result) -> None:
    entry: dict[str, Any] = {
        "startTime": started,
        "executionIndex": sum(len(runs) for runs in result.run_data.values()),
        "source": [_source(step.source)] if step.source else [],
        "hints": [],
        "executionTime": now_millis() - started,
        "executionStatus": "error" if failure else "success",
    }
    if failure is None:
        entry["data"] = {"main": [_wrapped(items) for items in outputs]}
    else:
        entry["error"] = result.error = _error_document(step.node, failure)
        result.waiting = {
            "node": step.node,
            "data": {"main": [_wrapped(step.items)]},
            "source": {"main": entry["source"]},
        }
    result.run_data.setdefault(step.node["name"], []).append(entry)
    result.last_node = step.node["name"]
    result.last_items = outputs[0] if outputs else []


def _source(source: tuple[str, int]) -> dict[str, Any]:
    return {"previousNode": source[0], "previousNodeOutput": source[1], "previousNodeRun": 0}


def _wrapped(items: list[Item]) -> list[dict[str, Any]]:
    return [{"json": item, "pairedItem": {"item": 0}} for item in items]


def _error_document(node: Node, failure: NodeFailure) -> dict[str, Any]:
    """As `resultData.error` holds it. Google's own words are in `messages[0]`."""
    name = "NodeApiError" if failure.http_code else "NodeOperationError"
    document: dict[str, Any] = {
        "level": "warning",
        "shouldReport": True,
        "description": failure.description,
        "tags": {},
        "timestamp": now_millis(),
        "context": {},
        "functionality": "regular",
        "name": name,
        "node": node,
        "messages": list(failure.messages),
        "httpCode": failure.http_code,
        "message": failure.message,
        "stack": f"{name}: {failure.message}\n    at ExecuteContext.execute (/usr/local/lib/node_modules/n8n/node.ts:1:1)",
    }
    return {key: value for key, value in document.items() if value is not None}
