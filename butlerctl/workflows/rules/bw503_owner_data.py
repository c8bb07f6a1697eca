"""Data of the instance in the file: the owner's e-mail address in `shared`, the state of triggers in `staticData`.

`n8n export:workflow` and the API write both. The address is personal data; old static data makes a polling trigger
skip or repeat items after an import.

Fix: remove both. `--fix` removes `shared`.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.walk import strings
from butlerctl.workflows.workflow import Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    del context
    shared = workflow.document.get("shared")
    if shared and any("@" in text for _, text in strings(shared)):
        yield Hit(
            "`shared` holds the owner's e-mail address", ("shared",), at_key=True, help="--fix removes it"
        )
    if workflow.document.get("staticData"):
        yield Hit(
            "`staticData` holds the state of a trigger",
            ("staticData",),
            at_key=True,
            help="set it to null, or a trigger may skip or repeat items",
        )


RULE = Rule(
    "BW503",
    "owner's address or trigger state",
    Severity.WARNING,
    check=check,
    fix="removes `shared`",
)
