"""What the scripted model says, as an OpenAI-compatible provider would put it on the wire."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Delta = Mapping[str, Any]

_BEFORE_DYING = 0.2
"""Seconds: what was sent has arrived by then, so that the turn is the same each time."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A streamed answer. Without `finish` the stream ends with no finish reason; `dies` cuts the connection."""

    deltas: tuple[Delta, ...]
    finish: str | None
    dies: bool = False

    def events(self, model: str) -> Iterator[bytes]:
        yield _event(model, {"role": "assistant", "content": ""}, None)
        for delta in self.deltas:
            yield _event(model, delta, None)
        if self.dies:
            time.sleep(_BEFORE_DYING)
            raise ConnectionAbortedError
        if self.finish is not None:
            yield _event(model, {}, self.finish)
        yield _data({**_head(model), "choices": [], "usage": _USAGE})
        yield b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Failure:
    """An error of the provider."""

    status: int
    message: str


@dataclass(frozen=True, slots=True)
class Silence:
    """No answer for so many seconds."""

    seconds: float


Answer = Stream | Failure | Silence


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of a native tool call. `None` leaves a field out."""

    arguments: Any
    name: str | None = None
    id: str | None = None
    index: int | None = 0

    def delta(self) -> Delta:
        function = {"arguments": self.arguments, **({} if self.name is None else {"name": self.name})}
        call: dict[str, Any] = {"type": "function", "function": function}
        if self.id is not None:
            call["id"] = self.id
        if self.index is not None:
            call["index"] = self.index
        return {"tool_calls": [call]}


def native(*pieces: Piece, text: str = "", finish: str | None = "tool_calls", dies: bool = False) -> Stream:
    """An answer that holds native calls, after `text` where there is any."""
    spoken: tuple[Delta, ...] = ({"content": text},) if text else ()
    return Stream(spoken + tuple(piece.delta() for piece in pieces), finish, dies)


def words(text: str) -> Stream:
    return Stream(({"content": text},), "stop")


@dataclass(frozen=True, slots=True)
class Ask:
    """What the model is asked for, in words. `arguments` is the call that would be right, `done` what it says then."""

    prompt: str
    done: str
    tool: str
    arguments: Mapping[str, Any]
    text: str = field(init=False)
    """The right arguments as JSON text."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", json.dumps(self.arguments))

    def call(self, arguments: Any = None, *, name: str | None = None, id: str | None = "call_1") -> Piece:  # noqa: A002 - the wire's own word
        return Piece(self.text if arguments is None else arguments, name or self.tool, id)

    def changed(self, **changes: Any) -> str:
        """The right arguments with some of them changed."""
        return json.dumps({**self.arguments, **changes})


_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def _head(model: str) -> dict[str, Any]:
    return {"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 0, "model": model}


def _event(model: str, delta: Delta, finish: str | None) -> bytes:
    return _data({**_head(model), "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def _data(value: Any) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"
