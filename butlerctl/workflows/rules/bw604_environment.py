"""`$env` in a workflow of the butler's contract: n8n 2 blocks it by default, and the run fails.

Earlier versions allow it, so the workflow breaks with an update of n8n.

Fix: write the value into the workflow through a placeholder and the inventory, or use a credential.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.notations import compiled
from butlerctl.workflows.placeholders import STICKY_NOTE
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.walk import strings
from butlerctl.workflows.workflow import Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    if context.routes.any is None:
        return
    for node in workflow.nodes:
        if node.type == STICKY_NOTE:
            continue
        for path, text in strings(node.parameters, (*node.path, "parameters")):
            match = compiled(r"\$env\b(?:\.\w+)?").search(text)
            if match:
                yield Hit(
                    f"{match[0]}: n8n blocks the environment by default",
                    path,
                    token=match[0],
                    node=node.name,
                    help="use a placeholder and the inventory, or a credential",
                )


RULE = Rule("BW604", "environment access that n8n blocks", Severity.WARNING, check=check, needles=("$env",))
