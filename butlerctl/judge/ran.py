"""What an execution ran, held against a version of its workflow. Pure.

n8n keeps with an execution the nodes as they ran: every parameter that is hidden in the editor is gone, and what the
version leaves out stands there with n8n's default (seen on 1.123.81 to 2.41.1). What one side does not have is
therefore no difference; what both have must be the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from butlerctl.redaction import MASK
from butlerctl.workflows.canonical import canonical_form, name_of


def contradictions(ran: Any, version: Any) -> tuple[str, ...]:
    """The names of nodes that ran otherwise than the version has them, then `connections`; empty without nodes."""
    if not _has_nodes(ran) or not _has_nodes(version):
        return ()
    ours, theirs = canonical_form(version), canonical_form(ran)
    nodes = {name_of(node): node for node in ours["nodes"]}
    others = {name_of(node): node for node in theirs["nodes"]}
    names = [
        name for name in dict.fromkeys((*nodes, *others)) if not _same_node(nodes.get(name), others.get(name))
    ]
    return (*names, *(["connections"] if ours["connections"] != theirs["connections"] else []))


def _has_nodes(workflow: Any) -> bool:
    return (
        isinstance(workflow, Mapping) and isinstance(workflow.get("nodes"), list) and bool(workflow["nodes"])
    )


def _same_node(node: Any, other: Any) -> bool:
    if not isinstance(node, Mapping) or not isinstance(other, Mapping):
        return bool(node == other)
    own, others = (
        {key: value for key, value in each.items() if key != "parameters"} for each in (node, other)
    )
    return own == others and _agree(node.get("parameters", {}), other.get("parameters", {}))


def _agree(value: Any, other: Any) -> bool:
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        return all(_agree(value[key], other[key]) for key in value if key in other)
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(_agree, value, other))
    if isinstance(value, str) and isinstance(other, str):
        return value == other or MASK in value or MASK in other
    return bool(value == other)
