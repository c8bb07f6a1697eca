"""What an OpenClaw gateway's answers must look like before anything is read from them. Seen on 2026.6.11."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from butlerctl.errors import BadInput


@dataclass(frozen=True, slots=True)
class Maybe:
    """What may also be null, or not there at all."""

    shape: Any


@dataclass(frozen=True, slots=True)
class Milliseconds:
    """An instant, counted from 1970."""


# By method: a type, a list of one shape, or an object's fields; an object may have more. A method that is not
# named may answer anything.
_TRACE = {"winnerProvider": Maybe(str), "winnerModel": Maybe(str)}
_PROMPT_REPORT = {"tools": Maybe({"entries": Maybe([{"name": str, "schemaHash": str}])})}
_SHAPES: Mapping[str, Any] = {
    "connect": {"server": Maybe({"version": Maybe(str)}), "snapshot": Maybe({})},
    "agent": {
        "status": Maybe(str),
        "result": Maybe(
            {
                "payloads": Maybe([{"text": Maybe(str)}]),
                "meta": Maybe({"executionTrace": Maybe(_TRACE), "systemPromptReport": Maybe(_PROMPT_REPORT)}),
            }
        ),
    },
    "sessions.create": {"sessionId": str, "entry": {}},
    "sessions.delete": {},
    "sessions.get": {"messages": [{}]},
    "tools.effective": {"groups": [{"tools": [{"id": str}]}]},
    "sessions.usage": {"sessions": [{"contextWeight": Maybe(_PROMPT_REPORT)}]},
    "tools.invoke": {"output": Maybe({}), "error": Maybe({})},
    "agents.list": {"defaultId": str, "agents": [{"id": str}]},
    "config.get": {"config": Maybe({})},
    "config.schema.lookup": {"hint": Maybe({}), "children": Maybe([{"key": str}])},
    "health": {},
    "cron.status": {},
    "cron.list": {
        "jobs": [
            {
                "id": str,
                "schedule": Maybe({}),
                "payload": Maybe({"fallbacks": Maybe([str]), "toolsAllow": Maybe([str])}),
            }
        ],
        "nextOffset": Maybe(int),
    },
    "cron.runs": {"entries": [{"ts": Milliseconds(), "runAtMs": Maybe(Milliseconds())}]},
    "cron.add": {"id": str},
}


def require_shape(method: str, payload: Any) -> None:
    """
    Raises:
        BadInput: the method answered in another shape; the message says where.
    """
    wrong = _first_wrong(payload, _SHAPES[method], "the answer") if method in _SHAPES else ""
    if wrong:
        raise BadInput(
            f"the gateway answered {method} in a shape that butlerctl does not know: {wrong}",
            hint="is it the pinned version of OpenClaw?",
        )


def _first_wrong(value: Any, shape: Any, at: str) -> str:
    """Where the value is otherwise than the shape says, in words; empty where it fits."""
    if isinstance(shape, Maybe):
        return "" if value is None else _first_wrong(value, shape.shape, at)
    if isinstance(shape, Milliseconds):
        fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _END_OF_TIME_MS
        return "" if fits else f"{at} is no instant"
    if isinstance(shape, list):
        if not isinstance(value, list):
            return f"{at} is no list"
        faults = (_first_wrong(item, shape[0], f"{at}[{number}]") for number, item in enumerate(value))
    elif isinstance(shape, Mapping):
        if not isinstance(value, Mapping):
            return f"{at} is no object"
        faults = (_first_wrong(value.get(name), inner, f"{at}.{name}") for name, inner in shape.items())
    else:
        fits = isinstance(value, shape) and not isinstance(value, bool)
        return "" if fits else f"{at} is no {_NAMES[shape]}"
    return next(filter(None, faults), "")


_END_OF_TIME_MS = 253_402_300_800_000  # the year 10000
_NAMES: Mapping[type, str] = {str: "text", int: "whole number"}
