"""What n8n serves beside what ought to run: is it the same, and where does it differ?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from butlerctl.evidence import Document
from butlerctl.judge import routes
from butlerctl.judge.case import Case
from butlerctl.workflows.canonical import canonical_form
from butlerctl.workflows.google import PLACES

# The parts of a canonical form beside its nodes, in the judge's words.
_PARTS = {
    "connections": "connections",
    "order": "the order of the branches",
    "settings": "settings",
    "name": "name",
}


@dataclass(frozen=True, slots=True)
class Binding:
    """With which credential, or in which place, a Google node works; and what the export says."""

    node: str
    what: str
    served: str
    expected: str


@dataclass(frozen=True, slots=True)
class Rebinding:
    """n8n serves the export but for the credentials and places of its Google nodes."""

    export: Document
    live: Document
    bindings: tuple[Binding, ...]


def held(document: Document) -> Mapping[str, Any]:
    """The workflow in a document of evidence, empty when there is none."""
    inner = document.get("document")
    return inner if isinstance(inner, Mapping) else {}


def expected_of(case: Case) -> Document | None:
    """The export as it ought to be deployed; files without a digest may still hold placeholders."""
    return next((item for item in case.exports if item.get("digest")), None)


def is_expected(export: Document | None, live: Document) -> bool:
    """Are export, saved and published version the same?"""
    digests = live.get("digest_saved"), live.get("digest_published")
    return export is not None and digests == (export["digest"], export["digest"])


def rebinding(case: Case) -> Rebinding | None:
    """What was saved and published at once, and differs from the export in nothing but its bindings."""
    export = expected_of(case)
    for live in case.live:
        saved, published = live.get("digest_saved"), live.get("digest_published")
        if export is None or not saved or saved != published or saved == export["digest"]:
            continue
        if _unbound(held(export)) == _unbound(_served(live)):
            return Rebinding(export, live, tuple(_bindings(held(export), _served(live))))
    return None


def differing_parts(export: Document, live: Document) -> tuple[str, ...]:
    """The names of nodes that differ, are missing or are new; then what else does, in words."""
    ours, theirs = canonical_form(held(export)), canonical_form(_served(live))
    nodes = {_name(node): node for node in ours["nodes"]}
    others = {_name(node): node for node in theirs["nodes"]}
    names = [name for name in dict.fromkeys((*nodes, *others)) if nodes.get(name) != others.get(name)]
    return (*names, *(words for part, words in _PARTS.items() if ours[part] != theirs[part]))


def _served(live: Document) -> Mapping[str, Any]:
    """Name and settings belong to the workflow as a whole, nodes and connections to the version."""
    whole = held(live)
    version = routes.served(whole)
    return {**whole, "nodes": version.get("nodes"), "connections": version.get("connections")}


def _unbound(workflow: Mapping[str, Any]) -> dict[str, Any]:
    form = canonical_form(workflow)
    return {**form, "nodes": [_without_bindings(node) for node in form["nodes"]]}


def _without_bindings(node: Any) -> Any:
    place = _place_of(node)
    if place is None:
        return node
    parameters = {key: value for key, value in node["parameters"].items() if key != place}
    return {**node, "credentials": None, "parameters": parameters}


def _place_of(node: Any) -> str | None:
    """The parameter of a Google node that names its calendar, list or spreadsheet."""
    if not isinstance(node, Mapping) or not isinstance(node.get("parameters"), Mapping):
        return None
    return next(iter(PLACES.get(str(node.get("type")), ())), None)


def _bindings(export: Mapping[str, Any], served: Mapping[str, Any]) -> list[Binding]:
    found: list[Binding] = []
    theirs = {_name(node): node for node in routes.nodes_of(served)}
    for node in routes.nodes_of(export):
        place, other = _place_of(node), theirs.get(_name(node))
        if place is None or other is None:
            continue
        name = _name(node)
        values = (
            ("credential", _credential(other), _credential(node)),
            (place, _value(other["parameters"].get(place)), _value(node["parameters"].get(place))),
        )
        found += [Binding(name, what, seen, wanted) for what, seen, wanted in values if seen != wanted]
    return found


def _credential(node: Mapping[str, Any]) -> str:
    credentials = node.get("credentials")
    entries = credentials.values() if isinstance(credentials, Mapping) else ()
    return ", ".join(str(entry.get("id")) for entry in entries if isinstance(entry, Mapping)) or "none"


def _value(place: Any) -> str:
    return str(place.get("value") if isinstance(place, Mapping) else place)


def _name(node: Any) -> str:
    return str(node.get("name", "")) if isinstance(node, Mapping) else ""
