"""Evidence bundles: what was asked, when and where, and the documents that were collected. Format: docs/evidence.md."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from butlerctl.errors import BadDocument
from butlerctl.inventory.operations import OPERATIONS, Route

FORMAT = 1
Document = Mapping[str, Any]
"""One observation at one boundary; `kind` says which sort."""


@dataclass(frozen=True, slots=True)
class Intent:
    """What was asked. `arguments` holds the keys that matter; a call may carry more."""

    operation: str
    profile: str
    tool: str
    arguments: Mapping[str, Any]
    prompt: str = ""

    @property
    def route(self) -> Route:
        return Route(self.operation, self.profile)

    def as_json(self) -> dict[str, Any]:
        return {
            "operation": self.operation,
            "profile": self.profile,
            "tool": self.tool,
            "arguments": dict(self.arguments),
            "prompt": self.prompt,
        }


@dataclass(frozen=True, slots=True)
class Bundle:
    """One case. `clock` is the instant of the turn, `zone` the household's; `evidence` is in time order."""

    intent: Intent | None = None
    evidence: tuple[Document, ...] = ()
    clock: datetime | None = None
    zone: tzinfo = UTC
    name: str = field(default="", compare=False)

    def as_json(self) -> dict[str, Any]:
        """The bundle as `bundle.json` holds it."""
        return {
            "bundle": FORMAT,
            "clock": self.clock.isoformat() if self.clock else None,
            "timezone": str(self.zone),
            "intent": self.intent.as_json() if self.intent else None,
            "evidence": [dict(document) for document in self.evidence],
        }


def digest(document: Any) -> str:
    """The sha256 of a JSON document, written with sorted keys, no blanks and ASCII only, in lower-case hex."""
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def read_bundles(source: str | Path) -> tuple[Bundle, ...]:
    """The bundles of a file, of a folder, or of standard input (`-`).

    A folder is its `bundle.json`; without one, its `*.json` in order of name: each may be a whole bundle, and
    the loose documents among them make one bundle together. Raises BadDocument.
    """
    if str(source) == "-":
        return (bundle_of(_parse(sys.stdin.buffer.read(), "standard input"), "standard input"),)
    path = Path(source)
    if path.is_dir():
        return _read_folder(path)
    return (bundle_of(_read_json(path), str(path)),)


def bundle_of(value: Any, name: str = "bundle") -> Bundle:
    """A parsed `bundle.json` as a Bundle. Raises BadDocument when it is not what the format says."""
    if not isinstance(value, Mapping):
        raise BadDocument(f"{name}: a bundle is a JSON object, this is {_kind_of(value)}")
    if value.get("bundle") != FORMAT:
        raise BadDocument(
            f"{name}: not an evidence bundle of version {FORMAT}",
            hint="this is one document: name the folder, its documents are judged together"
            if "kind" in value
            else 'a bundle begins with {"bundle": 1, "clock": …, "timezone": …, "intent": …, "evidence": […]}',
        )
    evidence = value.get("evidence")
    if not isinstance(evidence, list):
        raise BadDocument(f"{name}: evidence must be a list of documents")
    return Bundle(
        intent=intent_of(value.get("intent"), name),
        evidence=tuple(_document(item, f"{name}: evidence[{at}]") for at, item in enumerate(evidence)),
        clock=_clock(value.get("clock"), name),
        zone=_zone(value.get("timezone"), name),
        name=name,
    )


def intent_of(value: Any, name: str = "intent") -> Intent | None:
    """The `intent` of a bundle; None stays None. Raises BadDocument."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise BadDocument(f"{name}: intent must be an object or null, this is {_kind_of(value)}")
    operation, profile = value.get("operation"), value.get("profile")
    if not isinstance(operation, str) or operation not in OPERATIONS:
        raise BadDocument(f"{name}: unknown operation in intent; known are {', '.join(OPERATIONS)}")
    if not isinstance(profile, str) or not profile:
        raise BadDocument(f"{name}: intent.profile must be a name")
    arguments, prompt, tool = value.get("arguments"), value.get("prompt"), value.get("tool")
    if not isinstance(arguments, Mapping):
        raise BadDocument(f"{name}: intent.arguments must be an object")
    return Intent(
        operation=operation,
        profile=profile,
        tool=tool if isinstance(tool, str) and tool else OPERATIONS[operation].tool,
        arguments=arguments,
        prompt=prompt if isinstance(prompt, str) else "",
    )


def read_intent(path: str | Path) -> Intent:
    """The intent in a file: a bundle's, or an `intent` object alone. Raises BadDocument."""
    value = _read_json(Path(path))
    if isinstance(value, Mapping) and "bundle" in value:
        value = value.get("intent")
    intent = intent_of(value, str(path))
    if intent is None:
        raise BadDocument(f"{path}: null is no intent")
    return intent


def _read_folder(folder: Path) -> tuple[Bundle, ...]:
    whole = folder / "bundle.json"
    if whole.is_file():
        return (bundle_of(_read_json(whole), str(whole)),)
    bundles: list[Bundle] = []
    header: dict[str, Any] = {}
    loose: list[Any] = []
    for path in sorted(folder.glob("*.json")):
        value = _read_json(path)
        if isinstance(value, Mapping) and "kind" in value:
            loose.append(value)
        elif isinstance(value, Mapping) and "bundle" not in value and "intent" in value:
            header.update(value)
        else:
            bundles.append(bundle_of(value, str(path)))
    if loose:
        bundles.append(bundle_of({**header, "bundle": FORMAT, "evidence": loose}, str(folder)))
    if not bundles:
        inside = any(folder.glob("*/*.json"))
        raise BadDocument(
            f"{folder}: no bundle.json and no *.json document in this folder",
            hint=f"name the folders in it: {folder}/*" if inside else "",
        )
    return tuple(bundles)


def _read_json(path: Path) -> Any:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadDocument(f"{path}: {error.strerror or 'cannot be read'}") from error
    return _parse(content, str(path))


def _parse(content: bytes, name: str) -> Any:
    try:
        return json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BadDocument(f"{name}: not UTF-8 text") from error
    except json.JSONDecodeError as error:
        raise BadDocument(
            f"{name}: not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise BadDocument(
            f"{name}: JSON that is nested too deep or holds a number that is too long"
        ) from error


def _document(value: Any, name: str) -> Document:
    if not isinstance(value, Mapping):
        raise BadDocument(f"{name}: a document is a JSON object, this is {_kind_of(value)}")
    if not isinstance(value.get("kind"), str):
        raise BadDocument(f"{name}: a document needs a kind")
    return value


def _clock(value: Any, name: str) -> datetime | None:
    if value is None:
        return None
    try:
        clock = datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise BadDocument(f"{name}: clock is no RFC 3339 instant") from error
    if clock.tzinfo is None:
        raise BadDocument(f"{name}: clock needs an offset, such as 2026-07-08T09:00:00-04:00")
    return clock


def _zone(value: Any, name: str) -> tzinfo:
    if value is None:
        return UTC
    try:
        return ZoneInfo(value)
    except (TypeError, ValueError, OSError, KeyError) as error:
        raise BadDocument(f"{name}: unknown time zone {value!r}") from error


def _kind_of(value: Any) -> str:
    names = {list: "a list", str: "a string", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "null" if value is None else "an object")
