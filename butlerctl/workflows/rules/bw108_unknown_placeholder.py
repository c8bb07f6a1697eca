"""A placeholder that neither the inventory nor the documentation names: nobody will know what belongs there.

A set of workflows is set up from its README. A token that only stands in a file is found when the call fails.

Fix: describe it under `workflows.placeholders` in the inventory, or in a file listed under `lint.documentation`.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.placeholders import Place
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.workflow import Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    if context.placeholders is None:
        return
    known = context.documented | context.placeholders.keys()
    for item in workflow.placeholders:
        if item.place not in (Place.CODE, Place.PROSE) and item.name not in known:
            yield Hit(
                f"nothing documents the placeholder {item.token}",
                item.path,
                token=item.token,
                node=item.node,
                help="describe it under workflows.placeholders in the inventory",
            )


RULE = Rule("BW108", "a placeholder that nothing documents", Severity.WARNING, check=check)
