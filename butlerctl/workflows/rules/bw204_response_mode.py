"""The webhook's response mode and the Respond node do not fit together.

"Using Respond to Webhook node" without a Respond node that the webhook reaches: n8n answers 500 "No Respond to
Webhook node found". A Respond node under another mode: 500 "Unused Respond to Webhook node found", or the
caller gets something else than the node says.

Fix: connect a Respond node, or change the response mode.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.workflow import Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    del context
    for node in workflow.webhooks:
        if node.disabled:
            continue
        mode = node.parameters.get("responseMode", "onReceived")
        answers = node.name in workflow.before_respond
        if mode == "responseNode" and not answers and not _is_cut_off(workflow):
            yield Hit(
                "the webhook waits for a Respond node, and reaches none",
                (*node.path, "parameters", "responseMode"),
                node=node.name,
                help="connect a Respond to Webhook node, or choose another response mode",
            )
        if mode in ("onReceived", "lastNode") and answers:
            yield Hit(
                f"the workflow has a Respond node, and the webhook responds by {mode}",
                (*node.path, "parameters", "responseMode"),
                node=node.name,
                help='set the response mode to "Using Respond to Webhook node"',
                severity=Severity.WARNING,
            )


def _is_cut_off(workflow: Workflow) -> bool:
    """Whether there is a Respond node, and a torn connection that may be all that keeps it from the webhook."""
    return workflow.is_torn and bool(workflow.responders)


RULE = Rule("BW204", "response mode and Respond node do not fit", Severity.ERROR, check=check)
