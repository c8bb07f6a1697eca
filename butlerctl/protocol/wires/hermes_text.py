"""Hermes, Qwen 2.5/3 and Granite: `<tool_call>{"name": …, "arguments": …}</tool_call>` in the text.

Fact: Granite writes the arguments as text; they are decoded once, like everywhere else.
"""

from __future__ import annotations

from typing import Any

from butlerctl.protocol.decode import NotStrictJson, decode
from butlerctl.protocol.wires.access import name_of, text_payload
from butlerctl.protocol.wires.markup import Block, cut_blocks
from butlerctl.protocol.wires.turn import WireCall, WireTurn, arguments_of, unreadable


def read(payload: Any) -> WireTurn:
    """The turn in a completion text. Raises BadDocument when the payload is no text."""
    blocks, outside = cut_blocks(text_payload(payload, "hermes_text"), "<tool_call>", "</tool_call>")
    return WireTurn(
        [_call(block) for block in blocks], outside, cut_off=not all(block.closed for block in blocks)
    )


def _call(block: Block) -> WireCall:
    """A block that is not closed, or holds no object, is a call of which nothing can be seen."""
    call = call_object(block.body, "arguments") if block.closed else None
    return call or unreadable(block.body)


def call_object(text: str, arguments_key: str) -> WireCall | None:
    """The call in a JSON object with a `name`, or None when the text is no JSON object."""
    try:
        value = decode(text)
    except NotStrictJson:
        return None
    if not isinstance(value, dict):
        return None
    return WireCall(name_of(value.get("name")), None, arguments_of(value.get(arguments_key)))
