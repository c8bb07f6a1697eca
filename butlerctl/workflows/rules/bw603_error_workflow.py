"""An active workflow without an error workflow: nobody hears of its failures. Off unless asked for.

Where the caller gets an honest error status, an error workflow is a matter of taste.

Fix: choose one in the workflow's settings.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.workflow import Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    del context
    settings = workflow.document.get("settings")
    has_one = isinstance(settings, dict) and settings.get("errorWorkflow")
    if workflow.document.get("active") is True and not has_one:
        yield Hit(
            "the workflow has no error workflow",
            ("active",),
            help="choose one in the settings of the workflow",
        )


RULE = Rule("BW603", "an active workflow without an error workflow", Severity.INFO, check=check, on=False)
