"""Ollama `/api/chat`: whole calls with an object as arguments and without an id; a stream is a list of lines.

Fact: `done_reason` stays `stop` when there are calls, so it promises nothing about them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from butlerctl.protocol.observation import Observation
from butlerctl.protocol.wires.access import chunks_of, id_of, name_of, obj, objects, response_or_stream, text
from butlerctl.protocol.wires.turn import WireCall, WireTurn, arguments_of


def read(payload: Any) -> WireTurn:
    """The turn in a response or a list of stream lines. Raises BadDocument for anything else."""
    response, lines = response_or_stream(payload, "ollama")
    parts = list(chunks_of(lines or [response]))
    messages = [obj(part.get("message")) for part in parts if part]
    if not any(messages):
        return WireTurn(notes=["no_completion"], cut_off=True)
    good = _ends_well(parts)
    calls = [
        _call(entry, complete=good) for message in messages for entry in objects(message.get("tool_calls"))
    ]
    return WireTurn(calls, "".join(text(message.get("content")) for message in messages), cut_off=not good)


def result(observation: Observation) -> dict[str, Any]:
    return {"role": "tool", "tool_name": observation.name, "content": observation.content}


def _ends_well(parts: Sequence[dict[str, Any] | None]) -> bool:
    if any(part is None or part.get("error") for part in parts):
        return False
    ends = [part for part in parts if part and part.get("done") is True]
    return bool(ends) and all(end.get("done_reason") != "length" for end in ends)


def _call(entry: dict[str, Any], *, complete: bool) -> WireCall:
    function = obj(entry.get("function"))
    return WireCall(
        name_of(function.get("name")),
        id_of(entry.get("id")),
        arguments_of(function.get("arguments")),
        complete=complete,
    )
