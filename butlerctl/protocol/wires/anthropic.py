"""Anthropic Messages: `tool_use` blocks, whole or streamed as `input_json_delta`.

Facts: a tool without arguments sends no delta; fine-grained streaming may end in invalid JSON; pings lie in between.
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
from butlerctl.protocol.wires.turn import Arguments, ArgumentText, WireCall, WireTurn, arguments_of

_BAD_STOP = frozenset({"max_tokens", "refusal", "pause_turn", "model_context_window_exceeded"})


def read(payload: Any) -> WireTurn:
    """The turn in a message or a list of stream events. Raises BadDocument for anything else."""
    message, events = response_or_stream(payload, "anthropic")
    return _read_stream(events) if events else _read_message(message)


def tools(schemas: Sequence[ToolSchema]) -> list[dict[str, Any]]:
    return [
        {"name": schema.name, "description": schema.description, "input_schema": schema.parameters}
        for schema in schemas
    ]


def result(observation: Observation) -> dict[str, Any]:
    block = {
        "type": "tool_result",
        "tool_use_id": observation.id,
        "content": observation.content,
        "is_error": observation.code is not None,
    }
    return {"role": "user", "content": [block]}


def _read_message(message: dict[str, Any]) -> WireTurn:
    if "content" not in message:
        return WireTurn(notes=["no_completion"], cut_off=True)
    blocks = objects(message["content"])
    reason = text(message.get("stop_reason"))
    calls = [
        WireCall(
            name_of(block.get("name")),
            id_of(block.get("id")),
            arguments_of(block.get("input")),
            complete=_is_good(reason),
        )
        for block in blocks
        if block.get("type") == "tool_use"
    ]
    return _turn(calls, content_text(message["content"]), reason, good=_is_good(reason))


@dataclass(slots=True)
class _Block:
    """One content block of a stream."""

    opening: dict[str, Any]
    pieces: list[str] = field(default_factory=list)
    stopped: bool = False

    def arguments(self) -> Arguments:
        """The streamed text; without any, what the block was opened with unless that is the empty default."""
        if any(self.pieces) or not self.opening.get("input"):
            return ArgumentText("".join(self.pieces))
        return arguments_of(self.opening["input"])


class _Stream:
    """The turn as its events tell it. An error event, or an event that could not be read, leaves it broken."""

    def __init__(self) -> None:
        self.blocks: dict[Any, _Block] = {}
        self.texts: list[str] = []
        self.reason = ""
        self.ended = False
        self.broken = False

    def take(self, event: dict[str, Any]) -> None:
        match event.get("type"):
            case "content_block_start":
                block = _Block(obj(event.get("content_block")))
                self.blocks[_key(event)] = block
                self.texts.append(text(block.opening.get("text")))
            case "content_block_delta":
                self._add(self.blocks.get(_key(event)), obj(event.get("delta")))
            case "content_block_stop" if block_or_none := self.blocks.get(_key(event)):
                block_or_none.stopped = True
            case "message_delta":
                self.reason = text(obj(event.get("delta")).get("stop_reason")) or self.reason
            case "message_stop":
                self.ended = True
            case "error":
                self.broken = True

    def _add(self, block: _Block | None, delta: dict[str, Any]) -> None:
        self.texts.append(text(delta.get("text")))
        if block is not None:
            block.pieces.append(text(delta.get("partial_json")))

    @property
    def is_good(self) -> bool:
        return self.ended and not self.broken and _is_good(self.reason)

    def calls(self) -> list[WireCall]:
        return [
            WireCall(
                name_of(block.opening.get("name")),
                id_of(block.opening.get("id")),
                block.arguments(),
                complete=self.is_good and block.stopped,
            )
            for block in self.blocks.values()
            if block.opening.get("type") == "tool_use"
        ]


def _read_stream(events: list[Any]) -> WireTurn:
    stream = _Stream()
    for event in chunks_of(events):
        stream.take(event or {"type": "error"})
    if not stream.blocks and not stream.ended:
        return WireTurn(notes=["no_completion"], cut_off=True)
    return _turn(stream.calls(), "".join(stream.texts), stream.reason, good=stream.is_good)


def _key(event: dict[str, Any]) -> Any:
    index = event.get("index")
    return index if isinstance(index, int) else None


def _is_good(reason: str) -> bool:
    return bool(reason) and reason not in _BAD_STOP


def _turn(calls: list[WireCall], visible: str, reason: str, *, good: bool) -> WireTurn:
    mismatch = good and (reason == "tool_use") != bool(calls)
    return WireTurn(calls, visible, ["finish_mismatch"] if mismatch else [], cut_off=not good)
