"""The canonical form of a workflow: everything that a person can change, each thing written in one way.

Two workflows are the same exactly when their forms are equal: the digest is made of it, and the differences that
people read are found in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from butlerctl.errors import BadDocument

DEFAULTS: Mapping[str, Any] = {
    "availableInMCP": False,
    "callerIds": "",
    "callerPolicy": "workflowsFromSameOwner",
    "customTelemetryTags": [],
    "errorWorkflow": "DEFAULT",
    "executionOrder": "v0",
    "executionTimeout": -1,
    "redactionPolicy": "none",
    "saveDataErrorExecution": "all",
    "saveDataSuccessExecution": "all",
    "saveExecutionProgress": False,
    "saveManualExecutions": True,
    "timeSavedPerExecution": 0,
    "timezone": "DEFAULT",
}
"""What n8n takes for a setting that a workflow does not have. Its API cannot remove a setting; it can write this."""

# Further values of that meaning: what n8n and its editor add by themselves (seen on 1.123.81 to 2.41.1).
_ALSO_NONE: Mapping[str, Any] = {
    "binaryMode": "separate",
    "credentialResolverId": "",
    "errorWorkflow": "",
    "saveDataErrorExecution": "DEFAULT",
    "saveDataSuccessExecution": "DEFAULT",
    "saveExecutionProgress": "DEFAULT",
    "saveManualExecutions": "DEFAULT",
    "timeSavedMode": "fixed",
}
# In a resource locator: the name and the link that the editor shows for the value.
_SHOWN_ONLY = frozenset({"cachedResultName", "cachedResultUrl"})
_ELSEWHERE = frozenset({"credentials", "id", "parameters", "position", "webhookId"})
_LARGEST = 2**53 - 1


def canonical_form(document: Mapping[str, Any]) -> dict[str, Any]:
    """Name, nodes, connections, order of branches and settings of a workflow.

    Gone are ids, versions, dates, owner, tags, `active`, `meta`, pinned and static data and node groups; of a node
    its id, its place on the canvas, what is switched off or empty, the webhook's own id where the path does not
    need it, and the names of credentials that have an id (n8n corrects those); of the settings what n8n takes
    for none. Connections are a list of edges. The places decide `order`: what runs first behind a node.

    Raises BadDocument for a document that is nested too deep.
    """
    try:
        return _form(document)
    except RecursionError as error:
        name = document.get("name")
        raise BadDocument(f"workflow {name!r} has no canonical form: it is nested too deep") from error


def _form(document: Mapping[str, Any]) -> dict[str, Any]:
    nodes = document.get("nodes")
    given = nodes if isinstance(nodes, list) else []
    settings = settings_of(document)
    places = {name_of(node): node.get("position") for node in given if isinstance(node, Mapping)}
    return {
        "name": _plain(document.get("name")),
        "nodes": sorted(map(_node, given), key=lambda node: (name_of(node), _text(node))),
        "connections": sorted(_edges(document), key=_text),
        "order": _order(document, places, by_place=settings.get("executionOrder") == "v1"),
        "settings": settings,
    }


def settings_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that say more than n8n's own defaults."""
    settings = document.get("settings")
    if not isinstance(settings, Mapping):
        return {}
    plain = {key: _plain(value) for key, value in settings.items()}
    return {key: value for key, value in plain.items() if not _is_none(key, value)}


def _is_none(key: str, value: Any) -> bool:
    return value is None or any(
        key in known and (type(value), value) == (type(known[key]), known[key])
        for known in (DEFAULTS, _ALSO_NONE)
    )


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def name_of(node: Any) -> str:
    return str(node.get("name", "")) if isinstance(node, Mapping) else ""


def _node(node: Any) -> Any:
    if not isinstance(node, Mapping):
        return _plain(node)
    parameters, credentials = node.get("parameters"), node.get("credentials")
    if isinstance(credentials, Mapping):
        credentials = {kind: _credential(entry) for kind, entry in credentials.items()}
    own = {key: _plain(node[key]) for key in node if key not in _ELSEWHERE}
    own |= {"parameters": _plain(parameters), "credentials": _plain(credentials), "webhookId": _hook(node)}
    return {key: value for key, value in own.items() if value and (key, value) != ("onError", "stopWorkflow")}


def _hook(node: Mapping[str, Any]) -> Any:
    """The webhook's own id where it is the path, or a part of it: n8n puts it before a path with `:names`."""
    parameters = node.get("parameters")
    path = str(parameters.get("path") or "") if isinstance(parameters, Mapping) else ""
    return _plain(node.get("webhookId")) if not path or ":" in path or path.startswith("=") else None


def _credential(entry: Any) -> Any:
    return _plain({"id": entry["id"]} if isinstance(entry, Mapping) and entry.get("id") else entry)


def _plain(value: Any) -> Any:
    """A copy without what the editor only shows, each number as n8n understands it."""
    if isinstance(value, Mapping):
        hidden = _SHOWN_ONLY if value.get("__rl") is True else ()
        return {key: _plain(item) for key, item in value.items() if key not in hidden}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return _number(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _number(value: Any) -> Any:
    """n8n knows doubles only, and writes a large one as an integer: 1e17 comes back with all its zeros."""
    if -_LARGEST <= value <= _LARGEST:
        return int(value) if value == int(value) else value
    try:
        double = float(value)
    except OverflowError:
        return value
    return double if isinstance(value, float) or Decimal(repr(double)) == value else value


def _edges(document: Mapping[str, Any]) -> list[list[Any]]:
    """[source, kind, output, target, kind of input, input] of every connection."""
    return [
        [source, kind, output, target.get("node"), target.get("type"), target.get("index")]
        for source, kind, output, target in _targets(document)
    ]


def _targets(document: Mapping[str, Any]) -> Iterator[tuple[str, str, int, Mapping[str, Any]]]:
    connections = document.get("connections")
    for source, kinds in connections.items() if isinstance(connections, Mapping) else ():
        for kind, outputs in kinds.items() if isinstance(kinds, Mapping) else ():
            for output, targets in enumerate(outputs if isinstance(outputs, list) else ()):
                for target in targets if isinstance(targets, list) else ():
                    if isinstance(target, Mapping):
                        yield source, kind, output, _plain(target)


def _order(
    document: Mapping[str, Any], places: Mapping[str, Any], *, by_place: bool
) -> dict[str, list[list[Any]]]:
    """[node, input] of what stands behind each node that leads to several, in the order in which n8n runs them.

    With `executionOrder` v1 that is from the top down, then from the left; of nodes at one place the last written
    comes first (n8n 2.30.8: `WorkflowExecute`). Without, it is the order in which they are written.
    """
    behind: dict[str, list[list[Any]]] = {}
    for source, kind, _, target in _targets(document):
        if kind == "main":
            behind.setdefault(source, []).append([target.get("node"), target.get("index")])
    if by_place:
        behind = {source: _sorted(found, places) for source, found in behind.items()}
    return {source: found for source, found in behind.items() if any(each != found[0] for each in found)}


def _sorted(found: list[list[Any]], places: Mapping[str, Any]) -> list[list[Any]]:
    ranks = {number: (*_height(places.get(str(each[0]))), -number) for number, each in enumerate(found)}
    return [found[number] for number in sorted(ranks, key=lambda number: ranks[number])]


def _height(place: Any) -> tuple[float, float]:
    fits = isinstance(place, list) and len(place) == 2 and all(isinstance(at, int | float) for at in place)
    return (place[1], place[0]) if fits else (0, 0)
