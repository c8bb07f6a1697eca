"""An expression or a Code node reads from a node that does not exist: `$('Old name')`.

n8n renames references when a node is renamed in the editor, but not inside code, and no import complains. The run
fails when it comes there.

Fix: write the node's present name.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.placeholders import STICKY_NOTE
from butlerctl.workflows.references import names_in_code, names_in_value
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.walk import last_key, strings
from butlerctl.workflows.workflow import Workflow

_CODE_KEYS = ("jsCode", "functionCode", "code")


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    del context
    if workflow.source.references <= workflow.by_name.keys():
        return
    for node in workflow.nodes:
        if node.type == STICKY_NOTE or node.disabled:
            continue
        for path, text in strings(node.parameters, (*node.path, "parameters")):
            if "$" in text:
                names = names_in_code(text) if last_key(path) in _CODE_KEYS else names_in_value(text)
                for name in names:
                    if name not in workflow.by_name:
                        yield Hit(
                            f'reads from the node "{name}", and there is no such node',
                            path,
                            token=name,
                            node=node.name,
                            help="write the present name of the node",
                        )


RULE = Rule("BW403", "a reference to a missing node", Severity.ERROR, check=check)
