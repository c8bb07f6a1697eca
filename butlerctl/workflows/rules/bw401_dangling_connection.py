"""A connection to or from a node that does not exist.

n8n drops it at import, or refuses the file; either way a step is missing. Renaming a node in a text editor leaves
such connections.

Fix: correct the name, or remove the connection.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.walk import Path
from butlerctl.workflows.workflow import Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    del context
    sources: set[str] = set()
    spelled = {name.casefold(): name for name in workflow.by_name}
    for edge in workflow.edges:
        if edge.target not in workflow.by_name:
            yield _hit(f'"{edge.source}" leads to', edge.target, edge.path, spelled)
        if edge.source not in workflow.by_name and edge.source not in sources:
            sources.add(edge.source)
            yield _hit("a connection begins at", edge.source, ("connections", edge.source), spelled)


def _hit(what: str, name: str, path: Path, spelled: dict[str, str]) -> Hit:
    near = spelled.get(name.casefold())
    return Hit(
        f'{what} "{name}", and there is no such node',
        path,
        token=name,
        at_key=len(path) == 2,
        help=f'did you mean "{near}"?' if near else "correct the name, or remove the connection",
    )


RULE = Rule("BW401", "a connection to a missing node", Severity.ERROR, check=check)
