"""A Google node does not say which calendar, list or spreadsheet it works on.

An empty resource locator means that the call goes nowhere, or to a default place that nobody chose.

Outside a butler's workflow it is a warning where no connection touches the node: n8n neither checks nor runs it.

Fix: choose the place in n8n, best by id, and export again.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.google import PLACES, google_nodes, place
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.workflow import Node, Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    for node in google_nodes(workflow):
        if node.disabled or node.parameters.get("resource") == "spreadsheet":
            continue
        for parameter in PLACES[node.type]:
            if _is_empty(node, parameter):
                _, path = place(node, parameter)
                yield Hit(
                    f'"{parameter}" is empty: the node does not know where to work',
                    path,
                    node=node.name,
                    help="choose the place in n8n and export again",
                    severity=context.severity_if(not workflow.is_unchecked(node.name)),
                )


def _is_empty(node: Node, parameter: str) -> bool:
    """Present and empty. An absent parameter may be one that this version of the node calls otherwise."""
    value, _ = place(node, parameter)
    return parameter in node.parameters and value in ("", None, "=", {})


RULE = Rule("BW109", "a Google node without a place to work on", Severity.ERROR, check=check)
