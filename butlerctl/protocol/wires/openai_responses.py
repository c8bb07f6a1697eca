"""OpenAI Responses: `function_call` items. The id to echo is `call_id`, not `id`.

Fact: the streamed deltas and the text of the `.done` event may disagree when an event was lost; neither is
believed then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from butlerctl.protocol.observation import Observation
from butlerctl.protocol.tools import ToolSchema
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
from butlerctl.protocol.wires.turn import WireCall, WireTurn, arguments_of

# Items that the client is asked to run. What the vendor runs itself (web search, …) is no call of ours.
_CALL_TYPES = ("function_call", "custom_tool_call")
_TERMINAL = ("response.completed", "response.incomplete", "response.failed", "error")


def read(payload: Any) -> WireTurn:
    """The turn in a response or a list of stream events. Raises BadDocument for anything else."""
    response, events = response_or_stream(payload, "openai_responses")
    return _read_stream(events) if events else _read_response(response)


def tools(schemas: Sequence[ToolSchema]) -> list[dict[str, Any]]:
    return [
        {
            "type": "function",
            "name": schema.name,
            "description": schema.description,
            "parameters": schema.parameters,
        }
        for schema in schemas
    ]


def result(observation: Observation) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": observation.id, "output": observation.content}


def _read_response(response: dict[str, Any]) -> WireTurn:
    if not isinstance(response.get("output"), list):
        return WireTurn(notes=["no_completion"], cut_off=True)
    items = objects(response["output"])
    good = response.get("status") == "completed" and not response.get("error")
    calls = [
        _call(item, complete=good and item.get("status") in ("completed", None))
        for item in items
        if item.get("type") in _CALL_TYPES
    ]
    visible = "".join(
        content_text(item.get("content")) for item in items if item.get("type") in ("message", None)
    )
    return WireTurn(calls, visible, cut_off=not good)


def _call(item: dict[str, Any], *, complete: bool) -> WireCall:
    return WireCall(
        name_of(item.get("name")),
        id_of(item.get("call_id")),
        arguments_of(item.get("arguments")),
        complete=complete,
        is_function=item.get("type") == "function_call",
    )


@dataclass(slots=True)
class _Item:
    """One item of the output as its events tell it. `said`: the whole arguments, each time they were said."""

    opening: dict[str, Any]
    deltas: list[str] = field(default_factory=list)
    said: list[Any] = field(default_factory=list)
    arguments_done: bool = False
    closing: dict[str, Any] = field(default_factory=dict)

    @property
    def differs(self) -> bool:
        """The deltas and the whole texts are not all the same."""
        texts = [*self.said, "".join(self.deltas)] if self.deltas else self.said
        return any(other != texts[0] for other in texts[1:])

    def call(self, *, good: bool) -> WireCall:
        item = {**self.opening, **self.closing}
        item["arguments"] = self.said[-1] if self.said else "".join(self.deltas)
        done = self.closing.get("status") == "completed" and (
            self.arguments_done or item["type"] != "function_call"
        )
        return _call(item, complete=good and done and not self.differs)


class _Stream:
    def __init__(self) -> None:
        self.items: list[_Item] = []
        self._by_key: dict[int | str | None, _Item] = {}
        self.texts: list[str] = []
        self.end = ""
        self.broken = False

    def take(self, event: dict[str, Any]) -> None:
        kind = text(event.get("type"))
        if kind in _TERMINAL:
            self.broken = self.broken or kind != "response.completed"
            self.end = kind
        elif kind == "response.output_text.delta":
            self.texts.append(text(event.get("delta")))
        elif kind == "response.output_item.added":
            self._item(event, obj(event.get("item")))
        elif kind == "response.output_item.done":
            self._close(event, obj(event.get("item")))
        elif kind == "response.function_call_arguments.delta":
            self._item(event, {}).deltas.append(text(event.get("delta")))
        elif kind == "response.function_call_arguments.done":
            item = self._item(event, {})
            item.arguments_done = True
            item.said.append(event.get("arguments"))

    def _close(self, event: dict[str, Any], closing: dict[str, Any]) -> None:
        item = self._item(event, closing)
        item.closing = closing
        if closing.get("type") == "function_call" and "arguments" in closing:
            item.said.append(closing["arguments"])
        elif closing.get("type") == "message" and not self.texts:
            self.texts.append(content_text(closing.get("content")))

    def _item(self, event: dict[str, Any], opening: dict[str, Any]) -> _Item:
        """The item of an event: by its place in the output or by its id, as not every server sends both."""
        place, item_id = event.get("output_index"), id_of(event.get("item_id")) or id_of(opening.get("id"))
        keys = [place if isinstance(place, int) else None, item_id]
        item = next((self._by_key[key] for key in keys if key in self._by_key), None)
        if item is None:
            item = _Item(opening or {"type": "function_call"})
            self.items.append(item)
        self._by_key.update({key: item for key in keys if key is not None})
        return item

    @property
    def is_good(self) -> bool:
        return self.end == "response.completed" and not self.broken


def _read_stream(events: list[Any]) -> WireTurn:
    stream = _Stream()
    for event in chunks_of(events):
        stream.take(event or {"type": "error"})
    if not stream.items and not stream.texts and not stream.is_good:
        return WireTurn(notes=["no_completion"], cut_off=True)
    called = [item for item in stream.items if item.opening.get("type") in _CALL_TYPES]
    notes = ["delta_done_mismatch"] if any(item.differs for item in called) else []
    calls = [item.call(good=stream.is_good) for item in called]
    return WireTurn(calls, "".join(stream.texts), notes, cut_off=not stream.is_good)
