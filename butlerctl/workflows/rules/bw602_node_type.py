"""A node type or version that the known n8n does not have, or one that it no longer offers.

The import succeeds, activation says "Unrecognized node type", or the node shows a question mark. Community nodes
are not judged: what is installed there is not known.

Fix: correct the spelling, update n8n, or replace the retired node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.node_types import NodeTypes, node_types
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.workflow import Node, Workflow


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    del context
    known = node_types()
    for node in workflow.nodes:
        for hit in _problems(node, known):
            yield hit._replace(node=node.name)


def _problems(node: Node, known: NodeTypes) -> Iterator[Hit]:
    path = (*node.path, "type")
    newest = known.newest(node.type)
    if newest is None:
        if known.is_covered(node.type):
            near = known.nearest(node.type)
            yield Hit(
                f"n8n {known.n8n} has no node type {node.type!r}",
                path,
                token=node.type,
                help=f"did you mean {near}?" if near else "correct the spelling, or update n8n",
            )
        return
    version = node.raw.get("typeVersion", 1)
    if isinstance(version, int | float) and version > newest:
        yield Hit(
            f"version {version} of {node.type} is newer than n8n {known.n8n} knows ({newest:g})",
            (*node.path, "typeVersion"),
            help="update n8n, or export from the version that is installed",
        )
    elif known.is_retired(node.type):
        yield Hit(
            f"{node.type} is retired: n8n no longer offers it", path, token=node.type, help="replace the node"
        )


RULE = Rule("BW602", "a node type or version that n8n does not know", Severity.INFO, check=check)
