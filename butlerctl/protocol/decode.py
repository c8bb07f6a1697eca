"""The one strict decode of arguments, and the reading of a provider's payload.

JSON as RFC 8259 has it and nothing else: no repeated keys, no NaN, no overflow to infinity, no lone
surrogates, bounded depth and size. Nothing is repaired: what only a looser parser can read is `invalid_json`.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from butlerctl.errors import BadDocument

MOST_CHARACTERS = 64 * 1024
MOST_LEVELS = 32

_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_BRACKET = re.compile(r"[{}\[\]]")


class NotStrictJson(BadDocument):
    """Why a text is not taken as JSON. For arguments it becomes `invalid_json`."""


class RepeatedKeys(dict[str, Any]):
    """An object of a payload that names a key twice; as arguments it is refused."""


def decode(text: str) -> Any:
    """The JSON value in `text`. Raises NotStrictJson."""
    if len(text) > MOST_CHARACTERS:
        raise NotStrictJson(f"longer than {MOST_CHARACTERS} characters")
    if nesting(text) > MOST_LEVELS:
        raise NotStrictJson(f"nested deeper than {MOST_LEVELS} levels")
    try:
        value = _STRICT.decode(text)
        _refuse_surrogates(text, value)
    except (ValueError, RecursionError) as error:
        raise NotStrictJson(str(error)) from error
    return value


def encode(value: Any) -> str:
    """Arguments that came as a value, as the text that `decode` judges. Raises NotStrictJson."""
    try:
        if _has_repeated_keys(value):
            raise NotStrictJson("a key stands twice in one object")
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise NotStrictJson(str(error)) from error


def read_payload(text: str) -> Any:
    """A provider's response as JSON. Raises NotStrictJson when it is none.

    The envelope is read as clients read it; faults inside arguments are kept, so that `encode` finds them.
    """
    try:
        return json.loads(text, object_pairs_hook=_keep_repeated)
    except (ValueError, RecursionError) as error:
        raise NotStrictJson(str(error)) from error


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise NotStrictJson("a key stands twice in one object")
    return value


def _keep_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    return value if len(value) == len(pairs) else RepeatedKeys(value)


def _refuse_constant(name: str) -> NoReturn:
    raise NotStrictJson(f"{name} is no JSON value")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise NotStrictJson(f"{text[:40]} is no finite number")
    return number


_STRICT = json.JSONDecoder(
    object_pairs_hook=_unique_pairs, parse_constant=_refuse_constant, parse_float=_finite
)


def nesting(text: str) -> int:
    """The deepest nesting of brackets outside of strings; 0 when there are too few brackets to matter."""
    if text.count("{") + text.count("[") <= MOST_LEVELS:
        return 0
    depth = deepest = 0
    for bracket in _BRACKET.findall(_STRING.sub("", text)):
        depth += 1 if bracket in "{[" else -1
        deepest = max(deepest, depth)
    return deepest


def _refuse_surrogates(text: str, value: Any) -> None:
    """A lone surrogate cannot be sent on as UTF-8: raises UnicodeEncodeError, a ValueError."""
    text.encode()
    if "\\u" in text:
        json.dumps(value, ensure_ascii=False).encode()


def _has_repeated_keys(value: Any) -> bool:
    if isinstance(value, RepeatedKeys):
        return True
    if isinstance(value, dict):
        return any(_has_repeated_keys(item) for item in value.values())
    return isinstance(value, list) and any(_has_repeated_keys(item) for item in value)
