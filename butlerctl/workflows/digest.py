"""The canonical digest of a workflow: equal for an export, the saved and the published version of it.

What n8n adds or changes by itself is left out; everything that a person can change stays in, positions
included, because they decide which of several branches runs first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from butlerctl.errors import BadDocument

# n8n's API returns these settings, or adds them on create, whether or not anybody asked for them.
_VOLATILE_SETTINGS = frozenset(
    {
        "availableInMCP",
        "binaryMode",
        "callerPolicy",
        "credentialResolverId",
        "redactionPolicy",
        "timeSavedMode",
    }
)


def canonical_form(document: Mapping[str, Any]) -> dict[str, Any]:
    """Name, nodes, connections and settings of a workflow, without what n8n adds or rewrites by itself.

    Gone are ids, versions, dates, owner, tags, `active`, `meta`, pinned and static data and node groups of
    the workflow, the node ids, and the names of credentials that have an id (n8n corrects those).
    """
    settings = document.get("settings")
    nodes = document.get("nodes")
    return {
        "name": document.get("name"),
        "nodes": [_node(node) for node in sorted(nodes, key=_node_name)] if isinstance(nodes, list) else [],
        "connections": document.get("connections") or {},
        "settings": {key: settings[key] for key in settings if key not in _VOLATILE_SETTINGS}
        if isinstance(settings, Mapping)
        else {},
    }


def canonical_digest(document: Mapping[str, Any]) -> str:
    """The sha256 of the canonical form in RFC 8785, in lower-case hex.

    Raises BadDocument for what JSON cannot carry safely: NaN, integers that no double holds, lone surrogates.
    """
    import hashlib

    import rfc8785

    form = canonical_form(document)
    try:
        try:
            encoded = rfc8785.dumps(form)
        except rfc8785.IntegerDomainError:
            encoded = rfc8785.dumps(_with_doubles(form, rfc8785.dumps))
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError) as error:
        name = document.get("name")
        raise BadDocument(
            f"workflow {name!r} has no canonical form: {error}",
            hint="replace NaN, numbers beyond 2^53 and broken characters",
        ) from error
    return hashlib.sha256(encoded).hexdigest()


def _with_doubles(value: Any, dumps: Callable[[float], bytes]) -> Any:
    """A copy in which an integer that is written as n8n writes a large double is one: 1e17 comes back with all zeros."""
    if isinstance(value, Mapping):
        return {key: _with_doubles(item, dumps) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_doubles(item, dumps) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1e21:
        return float(value) if dumps(float(value)) == str(value).encode() else value
    return value


def published_version(live: Mapping[str, Any]) -> dict[str, Any] | None:
    """The workflow that n8n serves, from what `GET /workflows/{id}` returns; None when nothing is published.

    A version holds nodes and connections only: name and settings belong to the workflow as a whole.
    """
    version = live.get("activeVersion")
    if not isinstance(version, Mapping):
        return None
    return {**live, "nodes": version.get("nodes"), "connections": version.get("connections")}


def _node_name(node: Any) -> str:
    return str(node.get("name", "")) if isinstance(node, Mapping) else ""


def _node(node: Any) -> Any:
    if not isinstance(node, Mapping):
        return node
    kept = {key: value for key, value in node.items() if key != "id"}
    credentials = kept.get("credentials")
    if isinstance(credentials, Mapping):
        kept["credentials"] = {kind: _credential(entry) for kind, entry in credentials.items()}
    return kept


def _credential(entry: Any) -> Any:
    if isinstance(entry, Mapping) and entry.get("id"):
        return {"id": entry["id"]}
    return entry
