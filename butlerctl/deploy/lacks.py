"""What n8n cannot give back to a workflow, whatever it is sent: credentials that are gone, settings of no return. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from butlerctl.deploy.preflight import credentials_of
from butlerctl.deploy.server import Credential, Document
from butlerctl.n8n.write import SETTINGS
from butlerctl.workflows.canonical import DEFAULTS, settings_of


def differing_settings(now: Document, then: Document) -> set[str]:
    has, had = settings_of(now), settings_of(then)
    return {key for key in has.keys() | had.keys() if has.get(key) != had.get(key)}


def lacking_settings(now: Document, then: Document) -> set[str]:
    """The settings that differ and that n8n's API does not take, or does not remove."""
    had = settings_of(then)
    return {key for key in differing_settings(now, then) if key not in (SETTINGS if key in had else DEFAULTS)}


def lacking_credentials(document: Document, known: Mapping[str, Credential]) -> Iterator[str]:
    """A line for each credential that the workflow names and n8n does not have, or has as another type."""
    for node, kind, entry in credentials_of(document):
        wanted = str(entry.get("id") or "")
        if not _exists(wanted, kind, known):
            yield f'the node "{node}" names the {kind} {wanted} ("{entry.get("name", "")}"), and n8n has none: its calls fail'


def unbindable(document: Document, known: Mapping[str, Credential]) -> Document:
    """The workflow, so that n8n leaves its credential ids alone.

    n8n replaces an id that it does not know by the only credential of the same type and name, without a word: an
    entry for which it would do so gets a name that no credential has. Without any name it would take the only
    credential of that type.
    """
    nodes = document.get("nodes") or []
    return {
        **document,
        "nodes": [_renamed(node, known) if isinstance(node, Mapping) else node for node in nodes],
    }


def _renamed(node: Mapping[str, Any], known: Mapping[str, Credential]) -> Mapping[str, Any]:
    entries = node.get("credentials")
    if not isinstance(entries, Mapping):
        return node
    return {**node, "credentials": {kind: _entry(kind, entry, known) for kind, entry in entries.items()}}


def _entry(kind: str, entry: Any, known: Mapping[str, Credential]) -> Any:
    if not isinstance(entry, Mapping) or _exists(str(entry.get("id") or ""), kind, known):
        return entry
    names = {each.name for each in known.values()}
    name = str(entry.get("name") or "")
    while name in names or not name:
        name = f"{name} (gone)"
    return {**entry, "name": name}


def _exists(credential_id: str, kind: str, known: Mapping[str, Credential]) -> bool:
    return credential_id in known and known[credential_id].type == kind
