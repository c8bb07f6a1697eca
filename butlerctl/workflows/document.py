"""Reading workflow exports as they really lie on disks: any encoding, wrapped, in arrays, or broken."""

from __future__ import annotations

import codecs
import json
from typing import Any, NamedTuple

from butlerctl.workflows.walk import Path

_MARKS = (
    (codecs.BOM_UTF8, "utf-8", "a UTF-8 byte order mark"),
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
)
_WRAPPERS = ("data", "workflow", "workflows")
_MAX_WRAPPING = 4
# Longer values are code or prose.
LONG = 400


class Problem(NamedTuple):
    """Why a file could not be read, and where (an offset into its text)."""

    message: str
    offset: int = 0


class Member(NamedTuple):
    """One workflow of a file, and the path that leads to it."""

    path: Path
    document: dict[str, Any]


class Reading(NamedTuple):
    """What was found in one file. Positions refer to `text`, which has no byte order mark.

    `values` are the string values of the file, each once and a line break between them, `long_values` those of
    more than LONG characters: what a value may hold is looked for there first, in a fraction of the text and
    without its escapes.
    """

    file: str
    text: str
    members: tuple[Member, ...] = ()
    problem: Problem | None = None
    encoding: str = ""
    repeated: tuple[Path, ...] = ()
    constants: tuple[str, ...] = ()
    big_integers: bool = False
    values: str = ""
    long_values: str = ""
    named: bool = False

    @property
    def stem(self) -> str:
        """The file's name without folder and ending."""
        return self.file.replace("\\", "/").rpartition("/")[2].removesuffix(".json")


def read(data: bytes, file: str, *, named: bool = True) -> Reading:
    """Decode, parse and unpack. Never raises: what is wrong with the file is part of the reading."""
    text, encoding = decode(data)
    seen = _Seen()
    value = None
    problem = None
    try:
        value = seen.decoder().decode(text)
    except json.JSONDecodeError as error:
        message = _why(text, error) if text.strip() else "the file is empty"
        problem = Problem(message, min(error.pos, len(text)))
    except RecursionError:
        problem = Problem("nested too deeply to be a workflow")
    long_strings = [item for item in seen.strings if len(item) > LONG]
    for item in long_strings:
        del seen.strings[item]
    return Reading(
        file,
        text,
        tuple(_unpack(value, (), 0)),
        problem,
        encoding,
        tuple(_paths_of(value, seen.repeated)) if seen.repeated else (),
        tuple(seen.constants),
        seen.big_integers,
        "\n".join(seen.strings),
        "\n".join(long_strings),
        named,
    )


def decode(data: bytes) -> tuple[str, str]:
    """The text of a file, and what is odd about its encoding (empty for plain UTF-8)."""
    for mark, codec, name in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(codec, "replace"), name
    if data[1:2] == b"\0":
        return data.decode("utf-16-le", "replace"), "UTF-16 without a mark"
    if data[:1] == b"\0":
        return data.decode("utf-16-be", "replace"), "UTF-16 without a mark"
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError:
        return data.decode("latin-1"), "bytes that are no UTF-8"


def is_workflow(value: Any) -> bool:
    """Whether a JSON value is one n8n workflow: it has nodes and their connections."""
    if not isinstance(value, dict) or not isinstance(value.get("nodes"), list):
        return False
    return "connections" in value or any(
        isinstance(node, dict) and isinstance(node.get("type"), str) and "parameters" in node
        for node in value["nodes"]
    )


class _Seen:
    """What the parser comes across and a plain `json.loads` would not tell."""

    def __init__(self) -> None:
        self.repeated: list[dict[str, Any]] = []
        self.constants: list[str] = []
        self.strings: dict[str, None] = {}
        self.big_integers = False

    def decoder(self) -> json.JSONDecoder:
        return json.JSONDecoder(
            object_pairs_hook=self._object, parse_constant=self._constant, parse_int=self._integer
        )

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            self.repeated.append(found)
        strings = self.strings
        for value in found.values():
            if value.__class__ is str:
                strings[value] = None
            elif value.__class__ is list:
                self._keep(value)
        return found

    def _keep(self, values: list[Any]) -> None:
        for value in values:
            if value.__class__ is str:
                self.strings[value] = None
            elif value.__class__ is list:
                self._keep(value)

    def _constant(self, name: str) -> float:
        self.constants.append(name)
        return float(name)

    def _integer(self, digits: str) -> int | float:
        if len(digits) < 16:
            return int(digits)
        self.big_integers = True
        return int(digits) if len(digits) < 1000 else float(digits)


def _unpack(value: Any, path: Path, depth: int) -> list[Member]:
    if is_workflow(value):
        return [Member(path, value)]
    if depth == _MAX_WRAPPING:
        return []
    if isinstance(value, list):
        inner = [((*path, index), item) for index, item in enumerate(value)]
    elif isinstance(value, dict):
        inner = [((*path, key), value[key]) for key in _WRAPPERS if key in value]
    else:
        return []
    return [member for where, item in inner for member in _unpack(item, where, depth + 1)]


def _paths_of(root: Any, wanted: list[dict[str, Any]]) -> list[Path]:
    """Where the objects with repeated keys stand. One inside an overwritten value stands nowhere."""
    ids = {id(item) for item in wanted}
    paths: list[Path] = []
    stack: list[tuple[Path, Any]] = [((), root)]
    while stack:
        path, value = stack.pop()
        if id(value) in ids:
            paths.append(path)
        if isinstance(value, dict):
            stack.extend(((*path, key), item) for key, item in value.items())
        elif isinstance(value, list):
            stack.extend(((*path, index), item) for index, item in enumerate(value))
    return paths[::-1]


def _why(text: str, error: json.JSONDecodeError) -> str:
    if any(line.startswith(("<<<<<<< ", ">>>>>>> ")) for line in text.splitlines()):
        return "the file holds the conflict markers of an unfinished merge"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
        return "the JSON ends too early: the file was cut off"
    return f"no JSON: {error.msg[:1].lower()}{error.msg[1:]}"
