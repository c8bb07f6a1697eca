"""Does a workflow look at its input before anything acts? Only such a webhook may be probed with the key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from butlerctl.workflows.workflow import BASE, CODE_TYPES, RESPOND, WEBHOOK, Node, Workflow

_IF = BASE + "if"
# What cannot change anything outside of the execution.
_PASSIVE = CODE_TYPES | {
    _IF,
    RESPOND,
    WEBHOOK,
    *(BASE + name for name in ("filter", "merge", "noOp", "set", "stickyNote", "stopAndError", "switch")),
}


def acts_only_on_checked_input(document: Mapping[str, Any]) -> bool:
    """Whether every node that acts stands behind `Webhook -> Code -> If (true)`, on every way to it.

    What the Code node refuses is not read: that is what the workflow's author vouches for.
    """
    workflow = Workflow(dict(document))
    webhooks = [node for node in workflow.webhooks if not node.disabled]
    return bool(webhooks) and all(_is_guarded(workflow, webhook) for webhook in webhooks)


def _is_guarded(workflow: Workflow, webhook: Node) -> bool:
    gates = _gates(workflow, webhook)
    if not gates:
        return False
    reached = {webhook.name}
    waiting = [webhook.name]
    while waiting:
        name = waiting.pop()
        for output, targets in enumerate(workflow.outputs(name)):
            if name in gates and output == 0:
                continue
            fresh = [target for target in targets if target in workflow.by_name and target not in reached]
            reached.update(fresh)
            waiting += fresh
    return all(workflow.by_name[name].type in _PASSIVE for name in reached)


def _gates(workflow: Workflow, webhook: Node) -> frozenset[str]:
    """The If nodes right behind a Code node right behind the webhook that decide on what that node says."""
    checks = [node for node in _next(workflow, webhook) if node.type in CODE_TYPES and not node.disabled]
    gates = [node for check in checks for node in _next(workflow, check)]
    return frozenset(node.name for node in gates if node.type == _IF and not node.disabled and _decides(node))


def _next(workflow: Workflow, node: Node) -> list[Node]:
    """The nodes behind a node's first output."""
    first = workflow.outputs(node.name)[:1]
    return [workflow.by_name[name] for targets in first for name in targets if name in workflow.by_name]


def _decides(node: Node) -> bool:
    conditions = node.parameters.get("conditions")
    found = conditions.get("conditions") if isinstance(conditions, dict) else None
    return (
        isinstance(found, list)
        and bool(found)
        and all("$json" in str(item.get("leftValue")) for item in found)
    )
