"""Nothing can start this workflow: its only trigger is disabled, or the workflow is archived.

n8n refuses to activate it, or the path answers 404.

Fix: enable the trigger, or remove the file from the set.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.workflow import Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    del context
    if workflow.archived:
        yield Hit(
            "the workflow is archived: it cannot run", ("isArchived",), help="unarchive it, or drop the file"
        )
    triggers = [node for node in workflow.nodes if node.is_trigger]
    if triggers and all(node.disabled for node in triggers):
        yield Hit(
            "the only trigger is disabled" if len(triggers) == 1 else "all triggers are disabled",
            (*triggers[0].path, "disabled"),
            node=triggers[0].name,
            help="enable the trigger",
        )


RULE = Rule("BW205", "nothing can start the workflow", Severity.WARNING, check=check)
