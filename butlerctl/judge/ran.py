"""What an execution ran, held against a version of its workflow. Pure.

n8n keeps with an execution the nodes as they ran: every parameter that is hidden in the editor is gone, and what the
version leaves out stands there with n8n's default (seen on 1.123.81 to 2.41.1). What one side does not have is
therefore no difference; what both have must be the same. n8n also writes some values in another way before it runs
them (`getNodeParameters` of n8n-workflow): a null becomes the default, a list or text where it expects an object
becomes an empty object, and a parameter that takes no expression loses a leading `=` each time it is read: twice.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from butlerctl.errors import BadDocument
from butlerctl.redaction import MASK
from butlerctl.workflows.canonical import canonical_form, name_of
from butlerctl.workflows.placeholders import STICKY_NOTE

# Beside the parameters: what is off, or not there, is left out, and then it is off.
_SWITCHES = frozenset(
    {
        "alwaysOutputData",
        "continueOnFail",
        "credentials",
        "disabled",
        "executeOnce",
        "onError",
        "retryOnFail",
        "type",
    }
)


def contradictions(ran: Any, version: Any) -> tuple[str, ...]:
    """The names of nodes that ran otherwise than the version has them, then `connections`; empty without nodes.

    Nothing is said of what is masked, of nodes that share a name, and of what is nested too deep to be compared.
    """
    if not _has_nodes(ran) or not _has_nodes(version):
        return ()
    try:
        ours, theirs = canonical_form(version), canonical_form(ran)
        names = _differing_nodes(ours["nodes"], theirs["nodes"])
        has_edges = all(isinstance(each.get("connections"), Mapping) for each in (ran, version))
        differs = has_edges and not _same_edges(ours["connections"], theirs["connections"])
    except (BadDocument, RecursionError):
        return ()
    return (*names, *(["connections"] if differs else []))


def _has_nodes(workflow: Any) -> bool:
    return (
        isinstance(workflow, Mapping) and isinstance(workflow.get("nodes"), list) and bool(workflow["nodes"])
    )


def _differing_nodes(ours: Iterable[Any], theirs: Iterable[Any]) -> list[str]:
    nodes, others = ([node for node in each if not _is_note(node)] for each in (ours, theirs))
    counts = [Counter(map(name_of, each)) for each in (nodes, others)]
    shared = {name for each in counts for name, number in each.items() if number > 1}
    is_blurred = any(MASK in name for each in counts for name in each)
    mine, yours = ({name_of(node): node for node in each} for each in (nodes, others))
    return [
        name or "a node without a name"
        for name in dict.fromkeys((*mine, *yours))
        if name not in shared
        and not (is_blurred and (name not in mine or name not in yours))
        and not _same_node(mine.get(name), yours.get(name))
    ]


def _is_note(node: Any) -> bool:
    return isinstance(node, Mapping) and node.get("type") == STICKY_NOTE


def _same_node(node: Any, other: Any) -> bool:
    if not isinstance(node, Mapping) or not isinstance(other, Mapping):
        return bool(node == other)
    if any((key in node) != (key in other) for key in _SWITCHES):
        return False
    return _agree(node, other)


def _same_edges(edges: list[Any], others: list[Any]) -> bool:
    return edges == others or any(MASK in json.dumps(each) for each in (edges, others))


def _agree(value: Any, other: Any) -> bool:
    if value is None or other is None or _is_masked(value) or _is_masked(other):
        return True
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        return all(_agree(value[key], other[key]) for key in value if key in other)
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(_agree, value, other))
    if isinstance(value, str) and isinstance(other, str):
        return value.lstrip("=") == other.lstrip("=")
    return bool(value == other) or any(each in ({}, []) for each in (value, other))


def _is_masked(value: Any) -> bool:
    return isinstance(value, str) and MASK in value
