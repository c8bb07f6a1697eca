"""A Webhook node without its `webhookId`, or with a path that is empty or an expression.

Without `webhookId` some ways of importing register the path with the workflow's id in front, so the URL that
everybody calls answers 404. A path that is an expression is different wherever it is evaluated.

Fix: open the node in n8n, save, and export again; write the path as plain text.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.contract import path_of
from butlerctl.workflows.findings import Severity
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.workflow import Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    del context
    for node in workflow.webhooks:
        if node.disabled:
            continue
        if not node.raw.get("webhookId"):
            yield Hit(
                "the webhook has no webhookId: an import may register it under another path",
                (*node.path, "webhookId"),
                node=node.name,
                help="open the node in n8n, save, and export again",
            )
        path = path_of(node)
        if not path or path.startswith("="):
            yield Hit(
                "the webhook's path is an expression" if path else "the webhook has no path",
                (*node.path, "parameters", "path"),
                node=node.name,
                help="write the path as plain text",
            )


RULE = Rule("BW206", "a webhook without a fixed identity", Severity.WARNING, check=check)
