"""Cohere Chat v2: `message.tool_calls`, or `tool-call-start`, `-delta` and `-end` events.

Facts: `tool_plan` is prose; in the stream `tool_calls` is one object, not a list; a good end is `TOOL_CALL`,
`COMPLETE` or `STOP_SEQUENCE`.
"""

from __future__ import annotations

from typing import Any

from butlerctl.protocol.observation import Observation
from butlerctl.protocol.wires.access import (
    chunks_of,
    content_text,
    id_of,
    name_of,
    obj,
    objects,
    response_or_stream,
    text,
)
from butlerctl.protocol.wires.assembler import Assembler
from butlerctl.protocol.wires.turn import WireCall, WireTurn, arguments_of

_GOOD_FINISH = frozenset({"TOOL_CALL", "COMPLETE", "STOP_SEQUENCE"})


def read(payload: Any) -> WireTurn:
    """The turn in a response or a list of stream events. Raises BadDocument for anything else."""
    response, events = response_or_stream(payload, "cohere_v2")
    return _read_stream(events) if events else _read_response(response)


def result(observation: Observation) -> dict[str, Any]:
    document = {"type": "document", "document": {"data": observation.content}}
    return {"role": "tool", "tool_call_id": observation.id, "content": [document]}


def _read_response(response: dict[str, Any]) -> WireTurn:
    message = obj(response.get("message"))
    if not message:
        return WireTurn(notes=["no_completion"], cut_off=True)
    reason = text(response.get("finish_reason"))
    calls = [_call(entry, complete=reason in _GOOD_FINISH) for entry in objects(message.get("tool_calls"))]
    return _turn(calls, text(message.get("tool_plan")), content_text(message.get("content")), reason)


def _call(entry: dict[str, Any], *, complete: bool) -> WireCall:
    function = obj(entry.get("function"))
    return WireCall(
        name_of(function.get("name")),
        id_of(entry.get("id")),
        arguments_of(function.get("arguments")),
        complete=complete,
        is_function=_is_function(entry),
    )


class _Stream:
    def __init__(self) -> None:
        self.assembler = Assembler()
        self.plan: list[str] = []
        self.texts: list[str] = []
        self.ended: set[int] = set()
        self.reason = ""
        self.broken = False

    def take(self, event: dict[str, Any]) -> None:
        delta = obj(event.get("delta"))
        message = obj(delta.get("message"))
        match event.get("type"):
            case "tool-plan-delta":
                self.plan.append(text(message.get("tool_plan")))
            case "content-delta":
                self.texts.append(text(obj(message.get("content")).get("text")))
            case "tool-call-start" | "tool-call-delta":
                self._add(event.get("index"), obj(message.get("tool_calls")))
            case "tool-call-end" if isinstance(event.get("index"), int):
                self.ended.add(event["index"])
            case "message-end":
                self.reason = text(delta.get("finish_reason"))

    def _add(self, index: Any, entry: dict[str, Any]) -> None:
        function = obj(entry.get("function"))
        self.assembler.add(
            index=index,
            wire_id=id_of(entry.get("id")),
            name=function.get("name"),
            arguments=function.get("arguments"),
            is_function=_is_function(entry),
        )


def _read_stream(events: list[Any]) -> WireTurn:
    stream = _Stream()
    for event in chunks_of(events):
        stream.broken = stream.broken or event is None
        stream.take(event or {})
    reason = "" if stream.broken else stream.reason
    calls = stream.assembler.calls(complete=reason in _GOOD_FINISH, ended=stream.ended)
    if not reason and not calls and not stream.texts and not stream.plan:
        return WireTurn(notes=["no_completion"], cut_off=True)
    return _turn(calls, "".join(stream.plan), "".join(stream.texts), reason)


def _turn(calls: list[WireCall], plan: str, content: str, reason: str) -> WireTurn:
    good = reason in _GOOD_FINISH
    mismatch = good and (reason == "TOOL_CALL") != bool(calls)
    visible = "\n".join(part for part in (plan, content) if part)
    return WireTurn(calls, visible, ["finish_mismatch"] if mismatch else [], cut_off=not good)


def _is_function(entry: dict[str, Any]) -> bool:
    return entry.get("type") in (None, "", "function")
