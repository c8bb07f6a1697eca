"""The discovery documents that google-api-python-client ships: which methods there are, and what they take.

They are read as data files (the client itself is not imported), each once, when its API is first called.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import unquote

# The first part of a path tells the three APIs apart.
_DOCUMENTS = {"calendar": "calendar.v3", "tasks": "tasks.v1", "v4": "sheets.v4"}
_VARIABLE = re.compile(r"\{\+?(\w+)\}")


@dataclass(frozen=True, slots=True)
class Method:
    """One method of an API, as its document describes it."""

    id: str
    verb: str
    path: re.Pattern[str]
    literal_length: int
    parameters: Mapping[str, Mapping[str, Any]]
    request: str | None
    response: str | None
    scopes: frozenset[str]

    @property
    def api(self) -> str:
        return self.id.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Api:
    """One discovery document. `methods` has the most literal paths first: `{range}:append` before `{range}`."""

    methods: tuple[Method, ...]
    schemas: Mapping[str, Mapping[str, Any]]
    common_parameters: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Found:
    """The method that a request means, with the values of its path, percent-decoded."""

    api: Api
    method: Method
    path_values: Mapping[str, str]


def route(verb: str, raw_path: str) -> Found | None:
    """The method behind a request line; None when Google would answer with a page of HTML.

    `raw_path` is still percent-encoded, because a range or a calendar id may hold a slash.
    """
    name = _DOCUMENTS.get(raw_path.lstrip("/").split("/")[0])
    if name is None:
        return None
    api = load(name)
    for method in api.methods:
        match = method.path.fullmatch(raw_path) if method.verb == verb else None
        if match:
            return Found(api, method, {key: unquote(value) for key, value in match.groupdict().items()})
    return None


@cache
def load(name: str) -> Api:
    """The document `calendar.v3`, `tasks.v1` or `sheets.v4`."""
    folder = files("googleapiclient") / "discovery_cache" / "documents"
    document = json.loads((folder / f"{name}.json").read_bytes())
    methods = sorted(
        _methods(document, document["servicePath"]), key=lambda method: method.literal_length, reverse=True
    )
    return Api(tuple(methods), document["schemas"], document["parameters"])


def _methods(resource: Mapping[str, Any], service_path: str) -> Iterator[Method]:
    for described in resource.get("methods", {}).values():
        template = "/" + service_path + described["path"]
        literals = _VARIABLE.split(template)
        yield Method(
            id=described["id"],
            verb=described["httpMethod"],
            path=_pattern(literals),
            literal_length=sum(map(len, literals[::2])),
            parameters=described.get("parameters", {}),
            request=described.get("request", {}).get("$ref"),
            response=described.get("response", {}).get("$ref"),
            scopes=frozenset(described.get("scopes", ())),
        )
    for nested in resource.get("resources", {}).values():
        yield from _methods(nested, service_path)


def _pattern(parts: list[str]) -> re.Pattern[str]:
    """`parts` alternate between literal text and the name of a variable."""
    return re.compile(
        "".join(f"(?P<{part}>[^/]+)" if index % 2 else re.escape(part) for index, part in enumerate(parts))
    )
