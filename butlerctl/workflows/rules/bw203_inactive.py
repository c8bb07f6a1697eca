"""The file says that the workflow is inactive: as it is, its webhook answers 404 "not registered".

The flag in a file is not the live state: every import switches a workflow off, whatever the file says, and a
running n8n may have been switched on by hand. So this is a warning by default; `workflows.expect_active` in the
inventory makes it an error or silences it.

Fix: activate after the import (`butlerctl apply` does), and let `butlerctl probe` ask the live server.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.walk import Path
from butlerctl.workflows.workflow import Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    active = workflow.document.get("active")
    if active is True or context.expect_active == "ignore" or workflow.archived:
        return
    trigger = next(
        (node for node in workflow.nodes if node.is_production_trigger and not node.disabled), None
    )
    if trigger is None:
        return
    path: Path = ("active",) if "active" in workflow.document else ()
    yield Hit(
        _message(active),
        path,
        node=trigger.name,
        help="activate it after the import; the flag is not the live state, `butlerctl probe` asks the server",
        severity=Severity.ERROR if context.expect_active == "error" else None,
    )


def _message(active: object) -> str:
    if active is False:
        return "the workflow is inactive: its trigger answers nobody"
    if active is None:
        return "nothing says that the workflow is active"
    return f"`active` is {active!r}, neither true nor false"


RULE = Rule("BW203", "the workflow is inactive in this file", Severity.WARNING, check=check)
