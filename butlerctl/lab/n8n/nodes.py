"""What each node type of the stand-in does with its items. One function a type, in one registry."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from butlerctl.inventory.operations import OPERATIONS
from butlerctl.lab.n8n import contract
from butlerctl.lab.n8n.answers import EMPTY, HTML, Answer, json_answer
from butlerctl.lab.n8n.credentials import Credentials, credential_of
from butlerctl.lab.n8n.expressions import ExpressionError, Unsupported, evaluate, read_script, resolve
from butlerctl.lab.n8n.google_nodes import (
    CREDENTIAL_TYPES,
    GoogleCalls,
    GoogleNode,
    NodeFailure,
    operation_of,
    run,
)
from butlerctl.workflows.workflow import BASE, RESPOND

Item = dict[str, Any]
Node = dict[str, Any]
Outputs = list[list[Item]]


@dataclass(slots=True)
class Context:
    """One execution as its nodes see it. `respond` gets every answer; only the first one counts."""

    execution_id: str
    nodes: Mapping[str, Node]
    credentials: Credentials
    google: GoogleCalls
    timezone: str
    respond: Callable[[Answer], None]
    write_twice: bool = False
    """Carry out a write twice, as a lost reply and a retry would."""
    outputs: dict[str, Outputs] = field(default_factory=dict)

    def scope(self, items: list[Item]) -> dict[str, Any]:
        """The names that an expression or a Code node sees."""
        ran = {name: outputs[0][0] for name, outputs in self.outputs.items() if any(outputs[:1])}
        return {
            "$json": items[0] if items else {},
            "$input": _proxy([items]),
            "$execution": {"id": self.execution_id},
            "$node": {name: {"json": item} for name, item in ran.items()},
            "$": self._named,
        }

    def _named(self, name: str) -> dict[str, Any]:
        if name not in self.outputs:
            raise ExpressionError(f"Node '{name}' hasn't been executed")
        return _proxy(self.outputs[name])


def run_code(context: Context, node: Node, items: list[Item]) -> Outputs:
    """A script in the supported part of JavaScript is run; any other is taken for what the contract asks."""
    text = node["parameters"].get("jsCode", "")
    try:
        script = read_script(text)
    except Unsupported:
        return [_run_contract(context, text, items)]
    try:
        returned = script.run(context.scope(items))
    except ExpressionError as error:
        raise _thrown(text, str(error)) from error
    return [[dict(item.get("json", {})) for item in returned]]


def _run_contract(context: Context, text: str, items: list[Item]) -> list[Item]:
    """Which of the two Code nodes it is, its constants say: *Check input* begins with `ALLOWED`."""
    operations = [name for node in context.nodes.values() if (name := operation_of(node))]
    if not operations:
        raise NodeFailure("the stand-in runs no JavaScript outside of the contract")
    operation = next((name for name in operations if OPERATIONS[name].writes), operations[0])
    constants = contract.constants_of(text)
    if "ALLOWED" in constants:
        return [contract.check_input(operation, items[0].get("body"), constants)]
    args = context.outputs.get("Check input", [[{}]])[0][0].get("args", {})
    front = context.outputs.get(constants.get("SOURCE", ""), [])
    failed = front[1] if len(front) > 1 else None
    try:
        return contract.format_response(operation, items, failed, args, constants.get("COLUMNS", ()))
    except contract.ScriptError as error:
        raise _thrown(text, str(error)) from error


def _thrown(text: str, message: str) -> NodeFailure:
    """n8n adds the line to what a Code node throws."""
    line = 1 + text[: max(0, text.find(message))].count("\n")
    return NodeFailure(f"{message} [line {line}]")


def run_if(context: Context, node: Node, items: list[Item]) -> Outputs:
    wanted = node["parameters"]["conditions"]
    scope = context.scope(items)
    results = [_holds(condition, scope) for condition in wanted["conditions"]]
    passed = any(results) if wanted.get("combinator") == "or" else all(results)
    return [items, []] if passed else [[], items]


def _holds(condition: Mapping[str, Any], scope: Mapping[str, Any]) -> bool:
    left = evaluate(str(condition["leftValue"]), scope)
    operation = condition["operator"]["operation"]
    if operation not in ("true", "false"):
        raise NodeFailure(f"the stand-in does not know the condition {operation!r}")
    return left is (operation == "true")


def run_google(context: Context, node: Node, items: list[Item]) -> Outputs:
    kind = CREDENTIAL_TYPES[node["type"]]
    operation = operation_of(node)
    entry = credential_of(node, kind)
    credential = context.credentials.get(entry.get("id"), kind)
    if credential is None:
        raise NodeFailure(f'Credential with ID "{entry.get("id")}" does not exist for type "{kind}".')
    if operation is None:
        raise NodeFailure("the stand-in does not know this operation")
    parameters = resolve(node["parameters"], context.scope(items))
    work = GoogleNode(parameters, credential, context.google, context.timezone)
    if context.write_twice and OPERATIONS[operation].writes:
        run(operation, work)
    return [run(operation, work)]


def run_respond(context: Context, node: Node, items: list[Item]) -> Outputs:
    context.respond(_answer(node["parameters"], items, context.scope(items)))
    return [items]


def _answer(parameters: Mapping[str, Any], items: list[Item], scope: Mapping[str, Any]) -> Answer:
    status = int(parameters.get("options", {}).get("responseCode", 200))
    kind = parameters.get("respondWith", "firstIncomingItem")
    if kind == "json":
        return json_answer(status, _json_body(evaluate(parameters.get("responseBody", ""), scope)))
    if kind == "text":
        return Answer(status, str(evaluate(parameters.get("responseBody", ""), scope)).encode(), HTML)
    if kind == "noData":
        return Answer(status, content_type=EMPTY.content_type, sized=False)
    return json_answer(status, items if kind == "allIncomingItems" else items[0])


def _json_body(body: Any) -> Any:
    if not isinstance(body, str):
        return body
    try:
        return json.loads(body)
    except ValueError as error:
        raise NodeFailure("Invalid JSON in 'Response Body' field") from error


def run_stop(context: Context, node: Node, items: list[Item]) -> Outputs:
    raise NodeFailure(str(evaluate(node["parameters"].get("errorMessage", ""), context.scope(items))))


def _proxy(outputs: Outputs) -> dict[str, Any]:
    """What `$input` and `$('name')` offer."""

    def every(output: int = 0) -> list[dict[str, Any]]:
        if output >= len(outputs):
            raise ExpressionError("no such output")
        return [{"json": item} for item in outputs[output]]

    def first(output: int = 0) -> Any:
        return next(iter(every(output)), None)

    return {"all": every, "first": first, "item": first()}


RUNNERS: Mapping[str, Callable[[Context, Node, list[Item]], Outputs]] = {
    BASE + "code": run_code,
    BASE + "if": run_if,
    **dict.fromkeys(CREDENTIAL_TYPES, run_google),
    RESPOND: run_respond,
    BASE + "stopAndError": run_stop,
}
"""Node types that are not here hand their items on."""
