"""Qwen3-Coder: `<function=NAME>` with `<parameter=KEY>` values, inside `<tool_call>` or without it.

Facts: values are bare text, so the schema says what they are; one newline on each side belongs to the markup.
"""

from __future__ import annotations

import re
from typing import Any

from butlerctl.protocol.wires.access import text_payload
from butlerctl.protocol.wires.markup import Block, cut_blocks, read_fields
from butlerctl.protocol.wires.turn import Field, WireCall, WireTurn, unreadable

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_PARAMETER = re.compile(r"\s*<parameter=([^<>\n]+)>\n?((?:(?!<parameter=).)*?)\n?</parameter>", re.DOTALL)


def read(payload: Any) -> WireTurn:
    """The turn in a completion text. Raises BadDocument when the payload is no text."""
    text = text_payload(payload, "qwen3_coder_text")
    functions, outside = cut_blocks(text, "<function=", "</function>")
    wrappers, visible = cut_blocks(outside, _OPEN, _CLOSE)
    left_open = len(text) if text.rfind(_OPEN) <= text.rfind(_CLOSE) else text.rfind(_OPEN)
    whole = len(functions) - text.count("<function=", left_open)
    calls = [_call(block, wrapped=number < whole) for number, block in enumerate(functions)]
    calls += [unreadable(wrapper.body) for wrapper in wrappers if wrapper.body.strip()]
    return WireTurn(calls, visible, cut_off=left_open < len(text))


def _call(block: Block, *, wrapped: bool) -> WireCall:
    name, _, body = block.body.partition(">")
    arguments = read_fields(body, _PARAMETER, lambda match: Field(match[1], match[2]))
    return WireCall(name, None, arguments, complete=block.closed and wrapped)
