"""A placeholder in code, a prompt or a note. Off unless asked for: prompts use `<UPPER_CASE>` on purpose.

Useful once, before a first import: `butlerctl lint-workflows --select BW106`.

Fix: look whether the text waits for a value.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.placeholders import Place
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.rules.bindings import advice, standing
from butlerctl.workflows.workflow import Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    for item in workflow.placeholders:
        if item.place in (Place.CODE, Place.PROSE):
            yield Hit(
                f"{item.place} holds what may be a placeholder: {item.token}{standing(item.name, context)}",
                item.path,
                token=item.token,
                node=item.node,
                help=advice(item.name, context, "see whether this text waits for a value"),
            )


RULE = Rule("BW106", "a placeholder in code, a prompt or a note", Severity.INFO, check=check, on=False)
