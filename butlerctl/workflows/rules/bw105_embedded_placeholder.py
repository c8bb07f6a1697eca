"""A placeholder inside a longer value: `https://<your-host>/hook`, `Bearer <TOKEN_HERE>`.

In a URL, a header or an authentication field the request cannot work, so it is an error there; elsewhere it is
a warning. In a URL a whole path segment in angle brackets counts as well: `/<group>/<project>/issues`.
Outside a butler's workflow it is a warning, too, in a node that n8n never runs: disabled, without a connection, or
with no trigger before it.

Fix: put the value in, or bind the token in the inventory.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.placeholders import Place, Placeholder
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
                severity=_severity(item, workflow, context),
            )


def _severity(item: Placeholder, workflow: Workflow, context: Context) -> Severity:
    if item.place is not Place.ADDRESS:
        return Severity.WARNING
    return context.severity_if(not workflow.is_idle(item.node)) or Severity.ERROR


RULE = Rule("BW105", "a placeholder inside a value", Severity.WARNING, check=check)
