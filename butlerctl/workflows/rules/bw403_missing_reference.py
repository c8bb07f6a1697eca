"""An expression or a Code node reads from a node that does not exist: `$('Old name')`.

n8n renames references when a node is renamed in the editor, but not inside code, and no import complains. The run
fails when it comes there.

Outside a butler's workflow it is a warning where code catches the failure (`try`, and a `catch` that does not throw
again), and in a node that n8n never runs. Code that only stands in a text (`"$('X')"`, `${name}`) is no reference.

Fix: write the node's present name.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.placeholders import STICKY_NOTE
from butlerctl.workflows.references import in_code, in_value
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.walk import Path, last_key, strings
from butlerctl.workflows.workflow import Workflow

_CODE_KEYS = ("jsCode", "functionCode", "code")


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    if workflow.source.references <= workflow.by_name.keys():
        return
    for node in workflow.nodes:
        if node.type == STICKY_NOTE or node.disabled:
            continue
        for path, text in strings(node.parameters, (*node.path, "parameters")):
            if "$" in text:
                references = in_code(text) if last_key(path) in _CODE_KEYS else in_value(text)
                for reference in references:
                    if reference.name not in workflow.by_name:
                        matters = not reference.tried and not workflow.is_idle(node.name)
                        hit = _hit(reference.name, path, workflow)
                        yield hit._replace(node=node.name, severity=context.severity_if(matters))


def _hit(name: str, path: Path, workflow: Workflow) -> Hit:
    whole = _cut_by_its_quote(name, workflow)
    if whole:
        message = f'the quote in "{whole}" ends the reference to this node'
        return Hit(message, path, token=name, help="put a backslash before the quote")
    message = f'reads from the node "{name}", and there is no such node'
    return Hit(message, path, token=name, help="write the present name of the node")


def _cut_by_its_quote(name: str, workflow: Workflow) -> str:
    """The node whose name goes on behind a quote (`$('Ada's step')`), which JavaScript cannot read."""
    return next((node for node in workflow.by_name if node.startswith((name + "'", name + '"'))), "")


RULE = Rule("BW403", "a reference to a missing node", Severity.ERROR, check=check)
