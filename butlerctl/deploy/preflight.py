"""What speaks against deploying a workflow, found before the first write. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from butlerctl.deploy.server import Credential, Document, Held, Member, Server
from butlerctl.inventory.operations import Route
from butlerctl.n8n.hooks import hooks_of
from butlerctl.n8n.write import NODE_KEYS, SETTINGS
from butlerctl.workflows.canonical import DEFAULTS, settings_of
from butlerctl.workflows.placeholders import placeholders_of
from butlerctl.workflows.walk import strings
from butlerctl.workflows.workflow import BASE, WEBHOOK

_OF_GOOGLE = {f"{BASE}google{name}": f"google{name}OAuth2Api" for name in ("Calendar", "Tasks", "Sheets")}
_OF_WEBHOOKS = {"basicAuth": "httpBasicAuth", "headerAuth": "httpHeaderAuth", "jwtAuth": "jwtAuth"}


def objections(
    exports: Mapping[Route, Document],
    server: Server,
    members: Mapping[Route, Member],
    *,
    tokens: Sequence[str],
    prefix: str,
) -> dict[Route, tuple[str, ...]]:
    """By route, what speaks against it; an empty tuple where nothing does.

    `tokens` are the names of the inventory's placeholders, `prefix` is that of the webhook paths.
    """
    shared = _shared_credentials(exports)
    return {
        route: (
            *_placeholders(export, tokens),
            *_path(export, route.webhook_path(prefix)),
            *_not_taken(export, members[route].held),
            *_not_removable(export, members[route].held),
            *_credentials(export, server.credentials),
            *shared[route],
        )
        for route, export in exports.items()
    }


def _placeholders(export: Document, tokens: Sequence[str]) -> Iterator[str]:
    found = dict.fromkeys(each.token for each in placeholders_of(export))
    for _, text in strings({key: export.get(key) for key in ("nodes", "settings")}):
        found |= dict.fromkeys(f"<{token}>" for token in tokens if f"<{token}>" in text)
    for token in found:
        yield f"the placeholder {token} has no value: bind it under workflows.placeholders"


def _path(export: Document, path: str) -> Iterator[str]:
    if ("POST", path) not in hooks_of(export):
        yield f"it has no enabled webhook at POST {path}"


def _not_taken(export: Document, held: Held | None) -> Iterator[str]:
    """n8n's API refuses a whole body for one key that it does not know. A setting that is there already stays."""
    for node in _nodes(export):
        for key in node.keys() - NODE_KEYS:
            yield f'n8n\'s API does not take {key} of the node "{node.get("name")}"'
    there = settings_of(held.document) if held else {}
    for key, value in settings_of(export).items():
        if key not in SETTINGS and there.get(key) != value:
            yield f"n8n's API does not take settings.{key}: set it in n8n's editor, or leave it out of the file"


def _not_removable(export: Document, held: Held | None) -> Iterator[str]:
    extra = settings_of(held.document).keys() - settings_of(export).keys() if held else ()
    for key in sorted(extra - DEFAULTS.keys() if extra else ()):
        where = "write the wanted value into the file" if key in SETTINGS else "take it back in n8n's editor"
        yield f"n8n has settings.{key} and its API cannot remove it: {where}"


def _credentials(export: Document, known: Mapping[str, Credential]) -> Iterator[str]:
    unnamed = set()
    for node in _nodes(export):
        needed = "" if node.get("disabled") else _needed(node)
        if needed and not (node.get("credentials") or {}).get(needed):
            unnamed.add((str(node.get("name")), needed))
            yield f'the node "{node.get("name")}" has no {needed}: n8n does not publish it'
    for name, kind, entry in credentials_of(export):
        if (name, kind) in unnamed:
            continue
        wanted = entry.get("id")
        found = known.get(str(wanted))
        if found is None:
            yield _missing(name, kind, entry, known)
        elif found.type != kind:
            yield f'the node "{name}" wants a {kind}: {wanted} is a {found.type} ("{found.name}")'


def _needed(node: Mapping[str, Any]) -> str:
    """The type of credential without which n8n publishes no such node, empty where it needs none."""
    kind, parameters = str(node.get("type", "")), node.get("parameters") or {}
    mode = str(parameters.get("authentication", ""))
    if kind == WEBHOOK:
        return _OF_WEBHOOKS.get(mode, "")
    needed = _OF_GOOGLE.get(kind, "")
    return "googleApi" if needed and mode == "serviceAccount" else needed


def _missing(node: str, kind: str, entry: Mapping[str, Any], known: Mapping[str, Credential]) -> str:
    text = f'the node "{node}" wants the {kind} {entry.get("id") or "without an id"}: n8n has none'
    named = [each for each in known.values() if each.type == kind and each.name == entry.get("name")]
    if len(named) == 1:
        text += f'; it would silently take {named[0].id}, which has the same name "{named[0].name}"'
    return text


def _shared_credentials(exports: Mapping[Route, Document]) -> dict[Route, list[str]]:
    """A Google credential is a person's: two people with one means that one acts as the other."""
    users: dict[str, set[str]] = {}
    for route, export in exports.items():
        for credential_id in _google_ids(export):
            users.setdefault(credential_id, set()).add(route.profile)
    return {
        route: [
            f"the Google credential {credential_id} is used for {' and '.join(sorted(users[credential_id]))}"
            for credential_id in _google_ids(export)
            if len(users[credential_id]) > 1
        ]
        for route, export in exports.items()
    }


def _google_ids(export: Document) -> list[str]:
    found = [entry.get("id") for _, kind, entry in credentials_of(export) if kind.startswith("google")]
    return list(dict.fromkeys(str(each) for each in found if each))


def credentials_of(document: Document) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """(node, type, entry) of every credential of the enabled nodes: n8n looks at no others."""
    for node in _nodes(document):
        credentials = node.get("credentials")
        if isinstance(credentials, Mapping) and not node.get("disabled"):
            for kind, entry in credentials.items():
                yield str(node.get("name")), kind, entry if isinstance(entry, Mapping) else {}


def _nodes(document: Document) -> list[Mapping[str, Any]]:
    return [node for node in document.get("nodes") or [] if isinstance(node, Mapping)]
