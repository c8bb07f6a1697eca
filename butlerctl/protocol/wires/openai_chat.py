"""OpenAI Chat Completions and what speaks it: OpenRouter, DeepSeek, Mistral, and the legacy `function_call`.

Facts: `finish_reason` may be `stop` although calls are present (forced choice); only choice 0 is the turn;
OpenRouter answers HTTP 200 with an error envelope or `choices: null`, and puts errors into the middle of a stream.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from butlerctl.protocol.wires.assembler import Assembler
from butlerctl.protocol.wires.turn import WireCall, WireTurn, arguments_of

# Reasons of the family that say: the turn was cut off or refused. Every other reason is a good end.
_BAD_FINISH = frozenset(
    {
        "length",
        "content_filter",
        "error",
        "refusal",
        "max_tokens",
        "model_length",  # Mistral
        "insufficient_system_resource",  # DeepSeek
        "abort",
        "cancelled",
    }
)
_CALL_FINISH = frozenset({"tool_calls", "function_call"})
# DeepSeek refuses a request whose history has lost the reasoning of a turn with calls.
_ECHOED = ("reasoning_content", "reasoning_details")
# The key under which the assembler holds the one legacy call of a turn.
_LEGACY_INDEX = -1


def read(payload: Any) -> WireTurn:
    """The turn in a response object or a list of stream chunks. Raises BadDocument for anything else."""
    return _read(payload, no_id=None)


def read_mistral(payload: Any) -> WireTurn:
    """As `read`, but the text "null" as an id is the SDK's stand-in for none."""
    return _read(payload, no_id="null")


def tools(schemas: Sequence[ToolSchema]) -> list[dict[str, Any]]:
    """Also how Mistral, Cohere and Ollama are offered tools."""
    return [{"type": "function", "function": function} for function in legacy_tools(schemas)]


def legacy_tools(schemas: Sequence[ToolSchema]) -> list[dict[str, Any]]:
    """The list for the deprecated `functions` field."""
    return [
        {"name": schema.name, "description": schema.description, "parameters": schema.parameters}
        for schema in schemas
    ]


def result(observation: Observation) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": observation.id, "content": observation.content}


def legacy_result(observation: Observation) -> dict[str, Any]:
    return {"role": "function", "name": observation.name, "content": observation.content}


def mistral_result(observation: Observation) -> dict[str, Any]:
    return {**result(observation), "name": observation.name}


def _read(payload: Any, no_id: str | None) -> WireTurn:
    response, chunks = response_or_stream(payload, "openai_chat")
    choice = _choice_zero(response)
    if chunks or "delta" in choice:
        return _read_stream(chunks or [response], no_id)
    if not choice:
        return WireTurn(notes=["no_completion"], cut_off=True)
    message = obj(choice.get("message"))
    end = _End()
    end.see(response, choice)
    calls = [_whole_call(entry, end, no_id) for entry in objects(message.get("tool_calls"))]
    if legacy := obj(message.get("function_call")):
        calls.append(_whole_call({"function": legacy}, end, no_id))
    turn = end.turn(calls, content_text(message.get("content")))
    turn.echo = {key: message[key] for key in _ECHOED if message.get(key)}
    return turn


def _read_stream(chunks: list[Any], no_id: str | None) -> WireTurn:
    end, assembler, texts, thoughts = _End(), Assembler(), [], []
    for chunk in chunks_of(chunks):
        choice = _choice_zero(chunk or {})
        end.see(chunk, choice)
        delta = obj(choice.get("delta"))
        texts.append(content_text(delta.get("content")))
        thoughts.append(text(delta.get("reasoning_content")))
        for entry in objects(delta.get("tool_calls")):
            _add_piece(assembler, entry, no_id)
        if legacy := obj(delta.get("function_call")):
            _add_piece(assembler, {"index": _LEGACY_INDEX, "function": legacy}, no_id)
    if not end.seen_choice:
        return WireTurn(notes=["no_completion"], cut_off=True)
    turn = end.turn(assembler.calls(complete=end.is_good), "".join(texts))
    turn.echo = {"reasoning_content": "".join(thoughts)} if any(thoughts) else {}
    return turn


class _End:
    """How the turn ended. Two finishes are fine; a bad one wins over a good one."""

    def __init__(self) -> None:
        self.reasons: list[str] = []
        self.broken = False
        self.seen_choice = False

    def see(self, chunk: dict[str, Any] | None, choice: dict[str, Any]) -> None:
        self.seen_choice = self.seen_choice or bool(choice)
        self.broken = self.broken or chunk is None or bool(chunk.get("error") or choice.get("error"))
        if reason := text(choice.get("finish_reason")):
            self.reasons.append(reason.lower())

    @property
    def is_good(self) -> bool:
        return bool(self.reasons) and not self.broken and _BAD_FINISH.isdisjoint(self.reasons)

    def turn(self, calls: list[WireCall], visible: str) -> WireTurn:
        promised = not _CALL_FINISH.isdisjoint(self.reasons)
        mismatch = self.is_good and promised != bool(calls)
        return WireTurn(calls, visible, ["finish_mismatch"] if mismatch else [], cut_off=not self.is_good)


def _choice_zero(chunk: dict[str, Any]) -> dict[str, Any]:
    choices = objects(chunk.get("choices"))
    return next((choice for choice in choices if choice.get("index") in (0, None)), {})


def _whole_call(entry: dict[str, Any], end: _End, no_id: str | None) -> WireCall:
    function = obj(entry.get("function")) or obj(entry.get("custom"))
    return WireCall(
        name_of(function.get("name")),
        _wire_id(entry, no_id),
        arguments_of(function.get("arguments")),
        complete=end.is_good,
        is_function=_is_function(entry),
    )


def _add_piece(assembler: Assembler, entry: dict[str, Any], no_id: str | None) -> None:
    function = obj(entry.get("function"))
    assembler.add(
        index=entry.get("index"),
        wire_id=_wire_id(entry, no_id),
        name=function.get("name"),
        arguments=function.get("arguments"),
        is_function=_is_function(entry),
    )


def _is_function(entry: dict[str, Any]) -> bool:
    return entry.get("type") in (None, "", "function")


def _wire_id(entry: dict[str, Any], no_id: str | None) -> str | None:
    wire_id = id_of(entry.get("id"))
    return None if wire_id == no_id else wire_id
