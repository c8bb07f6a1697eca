"""Which route an address, a workflow's name or a file's name stands for."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from butlerctl.inventory.operations import OPERATIONS, Route

_BY_PATH = {(operation.domain, operation.verb): operation.name for operation in OPERATIONS.values()}
_WORDS = re.compile(r"[^\W_]+", re.UNICODE)
_DOMAIN_OF_WORD = {"task": "tasks", "sheet": "sheets", "calendars": "calendar"}
PRODUCTION = "webhook"
_ENDPOINTS = ("webhook", "webhook-test", "webhook-waiting")


@dataclass(frozen=True, slots=True)
class Address:
    """A webhook's address as it was called. `tail` is what follows `/webhook/`."""

    path: str
    endpoint: str
    tail: str
    route: Route | None

    @property
    def malformed(self) -> bool:
        """Test address, no `/webhook/`, doubled parts or slashes: n8n's production webhooks are not there."""
        parts = self.path.strip("/").split("/")
        doubled = any(one == other for one, other in pairwise(parts)) or parts.count(PRODUCTION) > 1
        return self.endpoint != PRODUCTION or "//" in self.path or doubled


def address_of(url: Any) -> Address:
    """The address in a URL or in a path."""
    path = unquote(urlsplit(str(url or "")).path)
    parts = [part for part in path.split("/") if part]
    endpoints = [index for index, part in enumerate(parts) if part in _ENDPOINTS]
    tail = parts[endpoints[-1] + 1 :] if endpoints else parts
    return Address(
        path, parts[endpoints[0]] if endpoints else "", "/".join(tail), route_of_tail("/".join(tail))
    )


def route_of_tail(tail: str) -> Route | None:
    """The route of `…/calendar/add/wife`; None when domain and verb are not those of an operation."""
    parts = [part for part in tail.split("/") if part]
    operation = _BY_PATH.get((parts[-3], parts[-2])) if len(parts) >= 3 else None
    return Route(operation, parts[-1]) if operation else None


def route_of_name(name: Any, profiles: Collection[str]) -> Route | None:
    """The route that a workflow's or a file's name tells, such as `L4CK3Y calendar add wife`."""
    stem = PurePosixPath(str(name or "").removesuffix(".json")).name
    words = _WORDS.findall(stem)
    lower = [_DOMAIN_OF_WORD.get(word.lower(), word.lower()) for word in words]
    for at in range(len(lower) - 1):
        operation = _BY_PATH.get((lower[at], lower[at + 1]))
        if operation is None:
            continue
        profile = _profile_in(stem, profiles) or next(iter(words[at + 2 : at + 3]), "")
        return Route(operation, profile) if profile else None
    return _route_in_any_order(lower, _profile_in(stem, profiles))


def _route_in_any_order(words: Collection[str], profile: str) -> Route | None:
    """The route of a name such as `wife: list tasks`; None unless it names one operation and a known person."""
    named = {operation for (domain, verb), operation in _BY_PATH.items() if {domain, verb} <= set(words)}
    return Route(named.pop(), profile) if profile and len(named) == 1 else None


def _profile_in(text: str, profiles: Collection[str]) -> str:
    """The first of these names in a text, whole, the longest where several begin: `anna-marie` before `anna`."""
    longest_first = "|".join(map(re.escape, sorted(profiles, key=len, reverse=True)))
    pattern = rf"(?<![^\W_])(?:{longest_first})(?![^\W_])"
    found = re.search(pattern, text) or re.search(pattern, text, re.IGNORECASE) if profiles else None
    return next(name for name in profiles if name.casefold() == found[0].casefold()) if found else ""


def webhook_paths(document: Any) -> tuple[str, ...]:
    """The paths of the Webhook nodes of a workflow, without outer slashes."""
    return tuple(str(node["parameters"].get("path", "")).strip("/") for node in webhook_nodes(document))


def webhook_nodes(document: Any) -> tuple[Mapping[str, Any], ...]:
    """The enabled Webhook nodes of a workflow that have parameters."""
    return tuple(
        node
        for node in nodes_of(document)
        if str(node.get("type", "")).endswith(".webhook")
        and isinstance(node.get("parameters"), Mapping)
        and node.get("disabled") is not True
    )


def served(document: Any) -> Any:
    """The version of a live workflow that n8n serves; a file, or an older n8n, has only one."""
    version = document.get("activeVersion") if isinstance(document, Mapping) else None
    return version if isinstance(version, Mapping) and version.get("nodes") else document


def nodes_of(document: Any) -> tuple[Mapping[str, Any], ...]:
    nodes = document.get("nodes") if isinstance(document, Mapping) else None
    return tuple(node for node in nodes if isinstance(node, Mapping)) if isinstance(nodes, list) else ()


def route_of_workflow(document: Any, name: Any, profiles: Collection[str]) -> Route | None:
    """The route of a workflow: its file or name says which it should be, its webhook's path else."""
    if not isinstance(document, Mapping):
        return route_of_name(name, profiles)
    by_path = next((route_of_tail(path) for path in webhook_paths(document)), None)
    known = {*profiles, by_path.profile} if by_path else profiles
    return route_of_name(name, known) or route_of_name(document.get("name"), known) or by_path
