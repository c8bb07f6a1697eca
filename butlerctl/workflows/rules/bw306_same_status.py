"""Success and failure are both answered with 200, and no field of the answer tells them apart.

A caller that looks at the status alone believes every answer.

Fix: answer failures with 4xx or 5xx, or add `ok: true` and `ok: false`.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.walk import strings
from butlerctl.workflows.workflow import RESPOND, Node, Workflow

_TELLING = ("ok", "success", "status", "error")


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    responders = [node for node in workflow.nodes if node.type == RESPOND and not node.disabled]
    if len(responders) < 2 or context.routes.any is None:
        return
    if not any(_has_code(node) or _tells(node) for node in responders):
        yield Hit(
            "every answer is a 200, and none has a field that tells success from failure",
            responders[-1].path,
            node=responders[-1].name,
            help="give the failing answers a 4xx or 5xx code",
        )


def _has_code(node: Node) -> bool:
    options = node.parameters.get("options")
    return isinstance(options, dict) and str(options.get("responseCode", 200)) != "200"


def _tells(node: Node) -> bool:
    return any(
        word in text for _, text in strings(node.parameters.get("responseBody", "")) for word in _TELLING
    )


RULE = Rule("BW306", "success and failure look the same", Severity.INFO, check=check)
