"""JSON of a report, read strictly: what two readers could understand differently is refused."""

from __future__ import annotations

import json
from typing import Any

from butlerctl.errors import Refused


def strict_json(data: bytes) -> Any:
    """Parse UTF-8 JSON without duplicate keys, NaN or Infinity.

    Raises:
        Refused: it is no such JSON.
    """
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Refused(f"invalid report: not JSON that can be trusted ({_reason(error)})") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("a key occurs twice")
    return document


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno} column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)
