"""The id of a credential is a placeholder: no credential of the target n8n has it.

n8n imports and even activates such a workflow; the call then fails with "Credential with ID … does not exist",
and in the editor the node's selector can stay disabled. Worse: when exactly one credential of that type has
the same *name*, n8n silently binds the node to it, which may be another person's account. An id that n8n made
is 16 letters and digits, so a bare word, an expression or a run of x is a placeholder too.

Outside a butler's workflow it is a warning where n8n never runs the node: it is disabled, no connection touches it,
or no trigger leads to it.

Fix: create the credential in n8n and put its id here, or bind the token in the inventory and deploy with
`butlerctl apply`.
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
        if item.place is Place.CREDENTIAL:
            credential = (
                workflow.node_at(item.path).credentials[str(item.path[-2])].get("name") or item.path[-2]
            )
            yield Hit(
                f"credential id is a placeholder: {item.token}{standing(item.name, context)}",
                item.path,
                token=item.token,
                node=item.node,
                help=advice(
                    item.name, context, f'create "{credential}" in n8n, then put its 16-character id here'
                ),
                severity=context.severity_if(not workflow.is_idle(item.node)),
            )


RULE = Rule("BW101", "credential id is a placeholder", Severity.ERROR, check=check)
