"""The whole value of a parameter is a placeholder: a spreadsheet, a calendar, a task list that is not there.

Known notations are `<UPPER_SNAKE>` and `<<…>>`, `<your …>`, `YOUR_X`, `REPLACE_…`, `[INSERT …]`, `xxxx`, `changeme`,
n8n's own `<__PLACEHOLDER_VALUE__hint__>` and others. A task list that is a placeholder activates and answers
an empty 200; a calendar or spreadsheet one is refused at activation, late and without a line number.

Outside a butler's workflow it is a warning where n8n never runs the node: it is disabled, no connection touches it,
or no trigger leads to it. So is a word such as `your-endpoint` as a trigger's path or `webhookId`, which n8n serves
as it is.

Fix: put the value here, or bind the token in the inventory and deploy with `butlerctl apply`.
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
        if item.place is Place.WHOLE:
            name = workflow.label_of(item.path)
            yield Hit(
                f'"{name}" is a placeholder: {item.token}{standing(item.name, context)}',
                item.path,
                token=item.token,
                node=item.node,
                help=advice(item.name, context, f'put the value of "{name}" here'),
                severity=context.severity_if(
                    not _is_served_as_it_is(item, workflow) and not workflow.is_idle(item.node)
                ),
            )


def _is_served_as_it_is(item: Placeholder, workflow: Workflow) -> bool:
    """Whether it is a trigger's own name in a URL, which n8n serves whatever it is, and no brackets are in it."""
    key = item.path[-1]
    is_own = key == "webhookId" or (key == "path" and workflow.node_at(item.path).is_trigger)
    return is_own and item.token.replace("-", "").replace("_", "").isalnum()


RULE = Rule("BW102", "a parameter's whole value is a placeholder", Severity.ERROR, check=check)
