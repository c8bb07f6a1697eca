"""Kimi K2: calls between special tokens, with ids `functions.NAME:N`. The name lives in the id.

An id without a name is an unknown tool; it is not completed from the arguments.
"""

from __future__ import annotations

import re
from typing import Any

from butlerctl.protocol.wires.access import id_of, text_payload
from butlerctl.protocol.wires.markup import Block, cut_blocks
from butlerctl.protocol.wires.turn import ArgumentText, WireCall, WireTurn

_SECTION_BEGIN, _SECTION_END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
_ID = re.compile(r"functions\.(.+):\d+")


def read(payload: Any) -> WireTurn:
    """The turn in a completion text. Raises BadDocument when the payload is no text."""
    text = text_payload(payload, "kimi_k2_text")
    closed = text.rfind(_SECTION_BEGIN) <= text.rfind(_SECTION_END)
    blocks, outside = cut_blocks(text, "<|tool_call_begin|>", "<|tool_call_end|>")
    visible = outside.replace(_SECTION_BEGIN, "").replace(_SECTION_END, "")
    return WireTurn([_call(block, section_closed=closed) for block in blocks], visible, cut_off=not closed)


def _call(block: Block, *, section_closed: bool) -> WireCall:
    head, _, arguments = block.body.partition("<|tool_call_argument_begin|>")
    wire_id = head.strip()
    named = _ID.fullmatch(wire_id)
    return WireCall(
        named[1] if named else None,
        id_of(wire_id),
        ArgumentText(arguments),
        complete=block.closed and section_closed,
    )
