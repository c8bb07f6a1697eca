"""A list or read node that may find nothing, in front of a Respond node.

With no rows nothing behind the node runs, and n8n answers an empty 200, which no caller can tell from a failure.
A tasks list with a `limit` cuts the list, and on an empty one the node behind it dies.

Fix: *Always Output Data* on the node with a guard behind it, and `returnAll` for tasks.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.google import TASKS, google_nodes, lists
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.workflow import Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    del context
    for node in google_nodes(workflow):
        if not lists(node) or node.name not in workflow.answered or node.name not in workflow.before_respond:
            continue
        if node.raw.get("alwaysOutputData") is not True:
            yield Hit(
                "an empty result is answered with an empty 200",
                node.path,
                node=node.name,
                help="switch Always Output Data on, and build the empty list behind it",
            )
        elif node.type == TASKS and node.parameters.get("returnAll") is not True:
            yield Hit(
                "a limited task list breaks the node behind it when the list is empty",
                (*node.path, "parameters", "limit"),
                node=node.name,
                help="set returnAll and cut the list behind the node",
            )


RULE = Rule("BW212", "an empty result is answered with nothing", Severity.WARNING, check=check)
