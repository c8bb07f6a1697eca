"""What a gateway reported of a turn while it ran, as messages: evidence where the transcript itself is not to be had."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from butlerctl.gateway.rows import Message, call_message, result_message, text_of

_Part = tuple[str, str]
"""`start` or `result`, and the id of the call."""


def with_events(
    messages: Sequence[Message], events: Iterable[Mapping[str, Any]], prompt: str
) -> list[Message]:
    """The messages, and behind them each call and result of the events that they lack; each bears `source: event`.

    Where there are no messages at all, what was asked comes first. An event has the arguments that were run, not the
    text that the model wrote.
    """
    known = {part for message in messages for part in _parts(message)}
    found = ((_part(event), event.get("data")) for event in events if event.get("stream") == "tool")
    told = [{**_message(data), "source": "event"} for part, data in found if part and part not in known]
    asked: list[Message] = [] if messages or not told else [{"role": "user", "content": prompt}]
    return [*messages, *asked, *told]


def _parts(message: Message) -> list[_Part]:
    """The calls that a message makes, or the result that it is."""
    if message["role"] == "tool":
        return [("result", str(message["tool_call_id"]))]
    return [("start", str(call["id"])) for call in message.get("tool_calls", ())]


def _part(event: Mapping[str, Any]) -> _Part | None:
    """The call or the result that an event tells of; None for what lies between them."""
    data = event.get("data")
    if not isinstance(data, Mapping) or data.get("phase") not in ("start", "result"):
        return None
    return str(data["phase"]), str(data.get("toolCallId"))


def _message(data: Any) -> Message:
    if data["phase"] == "result":
        return _result(data)
    return call_message(
        [{"id": data.get("toolCallId"), "name": data.get("name"), "arguments": data.get("args")}]
    )


def _result(data: Mapping[str, Any]) -> Message:
    result = data.get("result")
    text = text_of(result) if isinstance(result, Mapping) else json.dumps(result, ensure_ascii=False)
    return result_message(data.get("toolCallId"), data.get("name"), text, failed=data.get("isError") is True)
