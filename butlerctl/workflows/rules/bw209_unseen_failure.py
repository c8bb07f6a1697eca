"""A failure that the caller cannot see: the webhook answers 200 for what did not happen.

- *Continue* (regular output) and nothing behind it looks at the error: `ok: true` around an error item.
- *Continue (using error output)* with nothing connected there: the caller gets an empty 200.
- An error output that leads to an answer without a 4xx or 5xx code, or to no answer.
- *Always Output Data* together with the error output: a failure runs **both** branches, and the success branch
  may answer first. The node behind must ask `$('Node').all(1)` and stop when there is something.
- A disabled Google node: the webhook's item passes through, headers and all, and is answered as a success.

Fix: lead the error output to a Respond node with code 502, and guard the success branch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.google import CREDENTIALED
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.walk import strings
from butlerctl.workflows.workflow import BASE, CODE_TYPES, RESPOND, Node, Workflow

_BRANCHING = frozenset({BASE + "if", BASE + "switch", BASE + "filter"})
_READS_ERRORS = (".error", "['error']", '["error"]', "throw ")
_FAR = 500  # nodes: nobody follows an error branch further
_ERROR_BRANCH = "lead the error output to a Respond node with code 502"


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    answered = workflow.answered
    if not answered:
        return
    severity = Severity.ERROR if context.routes.any else Severity.WARNING
    lenient = [node for node in workflow.nodes if node.name in answered and node.on_error]
    looked_at = _looked_at(workflow, lenient)
    for node in lenient:
        for hit in _failures(workflow, node, looked_at):
            yield hit._replace(node=node.name, severity=severity)
    for node in workflow.nodes:
        if node.disabled and node.type in CREDENTIALED and _is_fed(workflow, node, answered):
            yield Hit(
                "a disabled Google node: the request itself is answered as a success",
                (*node.path, "disabled"),
                node=node.name,
                help="enable the node, or remove it",
                severity=severity,
            )


def _failures(workflow: Workflow, node: Node, looked_at: frozenset[str]) -> Iterator[Hit]:
    path = (*node.path, "onError")
    if node.on_error == "continueRegularOutput" and node.type in CREDENTIALED:
        if node.name not in looked_at:
            yield Hit(
                "nothing looks at the error of this node: it is answered as a success",
                path,
                help=_ERROR_BRANCH,
            )
    elif node.on_error == "continueErrorOutput":
        yield from _error_output(workflow, node)
        if node.raw.get("alwaysOutputData") is True and not _is_guarded(workflow, node):
            yield Hit(
                "Always Output Data with an error output: a failure also runs the success branch",
                (*node.path, "alwaysOutputData"),
                help=f"begin the node behind with: if ($('{node.name}').all(1).length) return [];",
            )


def _error_output(workflow: Workflow, node: Node) -> Iterator[Hit]:
    if node.type == BASE + "switch":
        return
    path = (*node.path, "onError")
    index = 2 if node.type == BASE + "if" else 1
    outputs = workflow.outputs(node.name)
    targets = outputs[index] if len(outputs) > index else []
    if not targets:
        yield Hit(
            "the error output leads nowhere: a failure is answered with an empty 200",
            path,
            help=_ERROR_BRANCH,
        )
        return
    responders = list(_first_responders(workflow, targets))
    if not responders and any(
        hook.parameters.get("responseMode") == "responseNode" for hook in workflow.answering
    ):
        yield Hit(
            "the error output reaches no Respond node: a failure is answered with an empty 200",
            path,
            help=_ERROR_BRANCH,
        )
    for responder in responders:
        if not _is_error_code(responder):
            yield Hit(
                f'a failure of this node is answered by "{responder.name}" without an error code',
                path,
                token=responder.name,
                help=f'give "{responder.name}" the response code 502',
            )


def _first_responders(workflow: Workflow, targets: list[str]) -> Iterator[Node]:
    """The Respond nodes that are reached before any other Respond node."""
    seen: set[str] = set()
    waiting = list(targets)
    while waiting and len(seen) < _FAR:
        name = waiting.pop(0)
        node = workflow.by_name.get(name)
        if node is None or name in seen:
            continue
        seen.add(name)
        if node.type == RESPOND and not node.disabled:
            yield node
        else:
            waiting.extend(target for output in workflow.outputs(name) for target in output)


def _is_error_code(responder: Node) -> bool:
    text = str(_response_code(responder))
    return text.startswith("=") or (text.isdigit() and int(text) >= 400)


def _response_code(responder: Node) -> object:
    options = responder.parameters.get("options")
    return options.get("responseCode") if isinstance(options, dict) else None


def _looked_at(workflow: Workflow, lenient: list[Node]) -> frozenset[str]:
    """The nodes whose errors something behind them looks at; worked out only where a node goes on regardless."""
    if not any(node.on_error == "continueRegularOutput" for node in lenient):
        return frozenset()
    return workflow.before(node.name for node in workflow.nodes if _looks_at_errors(node))


def _looks_at_errors(node: Node) -> bool:
    """Whether the node branches on an error, reads or throws one, or chooses its status code."""
    if node.disabled:
        return False
    if node.type in CODE_TYPES:
        return any(_mentions(node, words) for words in _READS_ERRORS)
    if node.type == RESPOND:
        return str(_response_code(node)).startswith("=")
    return node.type in _BRANCHING and _mentions(node, "error")


def _is_guarded(workflow: Workflow, node: Node) -> bool:
    outputs = workflow.outputs(node.name)
    behind = [workflow.by_name[name] for name in (outputs[0] if outputs else []) if name in workflow.by_name]
    return all(_mentions(target, ".all(1") for target in behind)


def _mentions(node: Node, words: str) -> bool:
    return any(words in text for _, text in strings(node.parameters))


def _is_fed(workflow: Workflow, node: Node, answered: frozenset[str]) -> bool:
    hooks = {hook.name for hook in workflow.answering}
    return any(
        edge.target == node.name and (edge.source in answered or edge.source in hooks)
        for edge in workflow.edges
    )


RULE = Rule("BW209", "a failure that the caller cannot see", Severity.ERROR, check=check)
