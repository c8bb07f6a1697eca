"""DeepSeek V3.1: `NAME<sep>{…}` between special tokens. A section without call markers holds no call."""

from __future__ import annotations

from typing import Any

from butlerctl.protocol.wires.access import text_payload
from butlerctl.protocol.wires.markup import Block, cut_blocks
from butlerctl.protocol.wires.turn import ArgumentText, WireCall, WireTurn


def _token(*words: str) -> str:
    """A special token: full-width bars outside, U+2581 between the words."""
    return "<\uff5c" + "\u2581".join(words) + "\uff5c>"


_SECTION_BEGIN, _SECTION_END = _token("tool", "calls", "begin"), _token("tool", "calls", "end")
_CALL_BEGIN, _SEPARATOR, _CALL_END = (
    _token("tool", "call", "begin"),
    _token("tool", "sep"),
    _token("tool", "call", "end"),
)


def read(payload: Any) -> WireTurn:
    """The turn in a completion text. Raises BadDocument when the payload is no text."""
    text = text_payload(payload, "deepseek_v31_text")
    closed = text.rfind(_SECTION_BEGIN) <= text.rfind(_SECTION_END)
    blocks, outside = cut_blocks(text, _CALL_BEGIN, _CALL_END)
    return WireTurn([_call(block, section_closed=closed) for block in blocks], outside, cut_off=not closed)


def _call(block: Block, *, section_closed: bool) -> WireCall:
    name, _, arguments = block.body.partition(_SEPARATOR)
    return WireCall(name, None, ArgumentText(arguments), complete=block.closed and section_closed)
