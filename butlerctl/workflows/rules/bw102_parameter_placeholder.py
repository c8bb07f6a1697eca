"""The whole value of a parameter is a placeholder: a spreadsheet, a calendar, a task list that is not there.

Known notations are `<UPPER_SNAKE>` and `<<…>>`, `<your …>`, `YOUR_X`, `REPLACE_…`, `[INSERT …]`, `xxxx`, `changeme`,
n8n's own `<__PLACEHOLDER_VALUE__hint__>` and others. A task list that is a placeholder activates and answers
an empty 200; a calendar or spreadsheet one is refused at activation, late and without a line number.

A warning where n8n never runs the node: it is disabled, no connection touches it, or no trigger leads to it.

Fix: put the value here, or bind the token in the inventory and deploy with `butlerctl apply`.
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
        if item.place is Place.WHOLE:
            name = workflow.label_of(item.path)
            yield Hit(
                f'"{name}" is a placeholder: {item.token}{standing(item.name, context)}',
                item.path,
                token=item.token,
                node=item.node,
                help=advice(item.name, context, f'put the value of "{name}" here'),
                severity=context.severity_if(not workflow.is_idle(item.node)),
            )


RULE = Rule("BW102", "a parameter's whole value is a placeholder", Severity.ERROR, check=check)
