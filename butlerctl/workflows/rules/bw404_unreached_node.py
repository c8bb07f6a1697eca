"""A node that no enabled trigger reaches: it never runs.

Usually a connection was lost, or the beginning of an abandoned branch was left on the canvas.

Fix: connect the node, disable it, or remove it.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.placeholders import STICKY_NOTE
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.workflow import Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    del context
    triggers = [node.name for node in workflow.nodes if node.is_trigger and not node.disabled]
    if not triggers or workflow.is_torn:
        return
    reached = workflow.reached_from(triggers)
    fed = {edge.target for edge in workflow.edges if edge.kind == "main" and edge.source != edge.target}
    for node in workflow.nodes:
        if node.name in reached or node.name in fed or node.disabled or node.is_trigger:
            continue
        if node.type != STICKY_NOTE:
            yield Hit(
                "no trigger reaches this node: it never runs",
                node.path,
                node=node.name,
                help="connect it, disable it, or remove it",
            )


RULE = Rule("BW404", "a node that never runs", Severity.WARNING, check=check)
