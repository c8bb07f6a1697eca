"""A workflow of the contract lacks the node that does its work.

`calendar_add` needs a Google Calendar node that creates, `sheets_append` a Google Sheets node that appends, and so
on. A copied workflow whose operation was not changed answers well and does something else.

Fix: set the operation, or correct the misspelled node type.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.inventory.operations import OPERATIONS
from butlerctl.workflows.findings import Severity
from butlerctl.workflows.google import NODE_OF_DOMAIN, operation_of, serves
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.workflow import Node, Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    routes = context.routes
    route = routes.declared or routes.by_path
    if route is None:
        return
    if not workflow.webhooks:
        yield Hit(f"{route} has no Webhook node", ("nodes",), help="the plugin calls a webhook")
    operation = OPERATIONS[route.operation]
    if any(serves(node, operation) or _calls_google(node) for node in workflow.nodes):
        return
    wanted = NODE_OF_DOMAIN[operation.domain]
    candidate = next((node for node in workflow.nodes if node.type == wanted), None)
    if candidate:
        yield Hit(
            f'{route} needs another operation than "{operation_of(candidate)}"',
            (*candidate.path, "parameters", "operation"),
            node=candidate.name,
            help="set the operation that the route is named after",
        )
    else:
        yield Hit(
            f"{route} has no {wanted} node", ("nodes",), help=f"add a {wanted} node, or correct its type"
        )


def _calls_google(node: Node) -> bool:
    """An HTTP Request node may do the same with a Google credential."""
    return str(node.parameters.get("nodeCredentialType", "")).startswith("google")


RULE = Rule("BW303", "a contract workflow without its node or operation", Severity.ERROR, check=check)
