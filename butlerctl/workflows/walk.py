"""Walk the strings of a JSON document, iteratively: nesting costs no recursion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Path = tuple[str | int, ...]


def strings(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every string value below `value` with its path, in document order. Keys are not values."""
    return ((where, leaf) for where, leaf in leaves(value, path) if isinstance(leaf, str))


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value below `value` that is no object and no list, with its path, in document order."""
    stack: list[tuple[Path, Any]] = [(path, value)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, dict):
            stack.extend([((*path, key), item) for key, item in value.items()][::-1])
        elif isinstance(value, list):
            stack.extend([((*path, index), item) for index, item in enumerate(value)][::-1])
        else:
            yield path, value


def last_key(path: Path) -> str:
    """The nearest object key above a value, past any list indexes."""
    for part in reversed(path):
        if isinstance(part, str):
            return part
    return ""


def pointer(path: Path) -> str:
    """The path as an RFC 6901 JSON pointer."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)
