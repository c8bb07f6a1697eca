"""Placeholders in workflow exports, judged by where they stand.

The key above a value and the node around it decide together with its notation: `<USER_LINK>` waits for a
value in a parameter and is vocabulary in a prompt; a credential id needs no brackets to be a placeholder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from butlerctl.workflows.document import LONG
from butlerctl.workflows.notations import (
    EVERYTHING,
    N8N_MARK,
    IdShape,
    Live,
    bare_name,
    credential_id_shape,
    embedded,
    is_n8n_notation,
    whole,
    words,
)
from butlerctl.workflows.walk import Path, last_key, strings

STICKY_NOTE = "n8n-nodes-base.stickyNote"


class Place(StrEnum):
    """Where a placeholder stands, and so how much it breaks."""

    CREDENTIAL = "credential"  # the id of a credential
    WHOLE = "whole"  # the whole value of a parameter
    ADDRESS = "address"  # inside a URL, a header or an authentication field
    EMBEDDED = "embedded"  # inside any other parameter
    CODE = "code"
    PROSE = "prose"


class Placeholder(NamedTuple):
    """One place that waits for a value. `name` is the token without its brackets, `node` the node's name."""

    token: str
    name: str
    path: Path
    place: Place
    node: str


_CODE_KEYS = words(
    "jscode functioncode pythoncode code html css query sqlquery command script template javascript python "
    "xml markdown filterformula"
)
_PROSE_KEYS = words(
    "text systemmessage prompt content message description responsebody subject jsonschemaexample "
    "jsonexample inputschema jsonschema jsonoutput systemprompt usermessage instructions notes note "
    "emailbody htmlbody tooldescription initialmessages"
)
# What a form shows to its user: there "your-name" is meant for the reader.
_FORM_KEYS = words(
    "placeholder fieldlabel formtitle formdescription buttonlabel label hint displayname defaultvalue notice"
)
_PROSE_LINES = 3
_ADDRESS_PARTS = ("url", "uri", "host", "endpoint", "header", "auth", "token", "apikey", "secret")


def placeholders_of(
    document: Mapping[str, Any], *, everywhere: bool = False, live: Live = EVERYTHING
) -> tuple[Placeholder, ...]:
    """The places of a workflow that wait for a value, in document order.

    Code, prompts and notes are left out unless `everywhere`: there the same notations are often vocabulary.
    `live` is what a look at the raw text has left possible.
    """
    look = _Look(live, everywhere)
    return (*_in_nodes(document, look), *_in_strings(document.get("settings"), ("settings",), "", look))


class _Look(NamedTuple):
    live: Live
    everywhere: bool


def _nodes(document: Mapping[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    nodes = document.get("nodes")
    for index, node in enumerate(nodes if isinstance(nodes, list) else ()):
        if isinstance(node, dict):
            yield ("nodes", index), node


def _in_nodes(document: Mapping[str, Any], look: _Look) -> Iterator[Placeholder]:
    may_hold = any(look.live)
    for path, node in _nodes(document):
        name = str(node.get("name", ""))
        if may_hold:
            yield from _in_parameters(node, path, name, look)
        credentials = node.get("credentials")
        if credentials:
            yield from _in_credentials(credentials, (*path, "credentials"), name)


def _in_parameters(node: dict[str, Any], path: Path, name: str, look: _Look) -> Iterator[Placeholder]:
    is_note = node.get("type") == STICKY_NOTE
    if look.everywhere or not is_note:
        yield from _in_strings(node.get("parameters"), (*path, "parameters"), name, look, is_note=is_note)
    for key in ("webhookId", "notes"):
        yield from _in_strings(node.get(key), (*path, key), name, look)


def _in_strings(
    value: Any, path: Path, node: str, look: _Look, *, is_note: bool = False
) -> Iterator[Placeholder]:
    for where, text in strings(value, path):
        if len(text) > LONG and not look.everywhere and N8N_MARK not in text:
            continue
        live = look.live.within(text)
        if not any(live) or len(text) <= 3 or _is_skipped(where):
            continue
        place = Place.PROSE if is_note else _context(where, text)
        if look.everywhere or place is Place.EMBEDDED or N8N_MARK in text:
            for token, kind in _tokens(text, where, place, live):
                if look.everywhere or kind not in (Place.CODE, Place.PROSE):
                    yield Placeholder(token, bare_name(token), where, kind, node)


def _in_credentials(credentials: Any, path: Path, node: str) -> Iterator[Placeholder]:
    for kind, entry in credentials.items() if isinstance(credentials, dict) else ():
        value = entry.get("id") if isinstance(entry, dict) else None
        if credential_id_shape(value) is IdShape.PLACEHOLDER:
            where = (*path, kind, "id")
            yield Placeholder(str(value), bare_name(str(value)), where, Place.CREDENTIAL, node)


def _is_skipped(path: Path) -> bool:
    """Cached display texts, the names of Set fields, and what a form shows to its user."""
    key = last_key(path)
    if key.startswith("cached") or key.lower() in _FORM_KEYS:
        return True
    return (
        key == "name"
        and len(path) > 2
        and path[-3] in ("assignments", "string", "values", "number", "boolean")
    )


def _context(path: Path, text: str) -> Place:
    key = last_key(path).lower()
    if key in _CODE_KEYS:
        return Place.CODE
    if key in _PROSE_KEYS or len(text) > LONG or text.count("\n") >= _PROSE_LINES:
        return Place.PROSE
    return Place.EMBEDDED


def _tokens(text: str, path: Path, place: Place, live: Live) -> Iterator[tuple[str, Place]]:
    stripped = text.removeprefix("=").strip()
    token = whole(stripped, live)
    if token is not None:
        yield token, Place.WHOLE if place is Place.EMBEDDED or is_n8n_notation(token) else place
        return
    address = place is Place.EMBEDDED and _is_address(path, stripped)
    for token in embedded(text, live, address=address):
        if is_n8n_notation(token) and place in (Place.CODE, Place.PROSE):
            yield token, Place.EMBEDDED
        else:
            yield token, Place.ADDRESS if address else place


def _is_address(path: Path, text: str) -> bool:
    keys = (part.lower() for part in path[2:] if isinstance(part, str))
    return text.lstrip("{ \"'`").startswith(("http://", "https://")) or any(
        part in key for key in keys for part in _ADDRESS_PARTS
    )
