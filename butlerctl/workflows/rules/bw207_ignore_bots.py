"""*Ignore Bots* on a webhook of the butler's contract: the butler itself counts as a bot.

n8n refuses callers whose user agent looks automatic with 403 and the very text of a wrong key, so the search
goes to the secret, which is right.

Fix: switch the option off; the header guards the webhook.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.workflow import Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    for node in workflow.webhooks:
        options = node.parameters.get("options")
        if isinstance(options, dict) and options.get("ignoreBots") is True and context.routes.any:
            yield Hit(
                "Ignore Bots refuses the butler's own calls with 403",
                (*node.path, "parameters", "options", "ignoreBots"),
                node=node.name,
                help="switch the option off; the header guards the webhook",
            )


RULE = Rule("BW207", "Ignore Bots on a webhook of the butler", Severity.WARNING, check=check)
