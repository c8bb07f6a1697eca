"""GLM 4.5: `<tool_call>NAME` with pairs of `<arg_key>` and `<arg_value>`. Values are bare text."""

from __future__ import annotations

import re
from typing import Any

from butlerctl.protocol.wires.access import text_payload
from butlerctl.protocol.wires.markup import Block, cut_blocks, read_fields
from butlerctl.protocol.wires.turn import Field, WireCall, WireTurn

_PAIR = re.compile(
    r"\s*<arg_key>([^<]*)</arg_key>\s*<arg_value>((?:(?!<arg_value>).)*?)</arg_value>", re.DOTALL
)


def read(payload: Any) -> WireTurn:
    """The turn in a completion text. Raises BadDocument when the payload is no text."""
    blocks, outside = cut_blocks(text_payload(payload, "glm45_text"), "<tool_call>", "</tool_call>")
    return WireTurn(
        [_call(block) for block in blocks], outside, cut_off=not all(block.closed for block in blocks)
    )


def _call(block: Block) -> WireCall:
    name, key, pairs = block.body.partition("<arg_key>")
    arguments = read_fields(key + pairs, _PAIR, lambda match: Field(match[1].strip(), match[2]))
    return WireCall(name.strip(), None, arguments, complete=block.closed)
