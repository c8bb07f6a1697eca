"""The one internal shape of a tool call, and of a call that must not run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

ErrorCode = Literal["unknown_tool", "invalid_json", "invalid_args"]


@dataclass(frozen=True, slots=True)
class Call:
    """A call that may be dispatched: known name, decoded and validated arguments.

    `id` goes back on the observation; `wire_id` is the id as it was received, None when it was minted here.
    `origin` is `native`, or `text:<adapter>` for a call read out of text. `raw_args` is the text before decoding.
    """

    id: str
    name: str
    args: Mapping[str, Any]
    wire_id: str | None
    origin: str
    raw_args: str


@dataclass(frozen=True, slots=True)
class RejectedCall:
    """A call that is answered with an error observation instead of being run.

    `name` is what the model wrote, "" when it wrote none. `message` is meant for the model.
    """

    id: str
    name: str
    code: ErrorCode
    message: str
    wire_id: str | None
    origin: str
    raw_args: str
