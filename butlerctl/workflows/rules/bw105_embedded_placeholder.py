"""A placeholder inside a longer value: `https://<your-host>/hook`, `Bearer <TOKEN_HERE>`.

In a URL, a header or an authentication field the request cannot work, so it is an error there; elsewhere it is
a warning. In a URL a whole path segment in angle brackets counts as well: `/<group>/<project>/issues`.

Fix: put the value in, or bind the token in the inventory.
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
        if item.place in (Place.ADDRESS, Place.EMBEDDED):
            name = workflow.label_of(item.path)
            yield Hit(
                f'"{name}" contains a placeholder: {item.token}{standing(item.name, context)}',
                item.path,
                token=item.token,
                node=item.node,
                help=advice(item.name, context, "put the value in its place"),
                severity=Severity.ERROR if item.place is Place.ADDRESS else None,
            )


RULE = Rule("BW105", "a placeholder inside a value", Severity.WARNING, check=check)
