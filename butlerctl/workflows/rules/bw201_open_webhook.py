"""A webhook without authentication: whoever knows or guesses the path can run the workflow.

n8n answers 403 on active paths that are guarded and 404 on the others, so paths can be found out. An error in
a workflow of the butler's contract, a warning elsewhere: some webhooks are public on purpose.

Fix: set Authentication to Header Auth and choose the credential that holds the shared header.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.workflow import Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    for node in workflow.webhooks:
        if not node.disabled and node.parameters.get("authentication", "none") in ("none", "", None):
            route = context.routes.any
            yield Hit(
                "the webhook has no authentication: anybody can run this workflow",
                (*node.path, "parameters", "authentication"),
                node=node.name,
                help="set Authentication to Header Auth and choose its credential",
                severity=Severity.ERROR if route else None,
            )


RULE = Rule("BW201", "a webhook without authentication", Severity.WARNING, check=check)
