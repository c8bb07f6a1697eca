"""MiniMax M2: `<invoke name="…">` with `<parameter name="…">` values inside `<minimax:tool_call>`."""

from __future__ import annotations

import re
from typing import Any

from butlerctl.protocol.wires.access import text_payload
from butlerctl.protocol.wires.markup import Block, cut_blocks, read_fields
from butlerctl.protocol.wires.turn import Field, WireCall, WireTurn, unreadable

_NAME = re.compile(r'\s*name="([^"]*)"\s*>')
_PARAMETER = re.compile(
    r'\s*<parameter name="([^"]*)"\s*>((?:(?!<parameter name=).)*?)</parameter>', re.DOTALL
)


def read(payload: Any) -> WireTurn:
    """The turn in a completion text. Raises BadDocument when the payload is no text."""
    text = text_payload(payload, "minimax_m2_text")
    sections, visible = cut_blocks(text, "<minimax:tool_call>", "</minimax:tool_call>")
    calls = [call for section in sections for call in _calls(section)]
    return WireTurn(calls, visible, cut_off=not all(section.closed for section in sections))


def _calls(section: Block) -> list[WireCall]:
    invokes, rest = cut_blocks(section.body, "<invoke ", "</invoke>")
    calls = [_call(invoke, section_closed=section.closed) for invoke in invokes]
    return [*calls, unreadable(rest)] if rest.strip() else calls


def _call(invoke: Block, *, section_closed: bool) -> WireCall:
    complete = invoke.closed and section_closed
    named = _NAME.match(invoke.body)
    if named is None:
        return unreadable(invoke.body, complete=complete)
    arguments = read_fields(invoke.body[named.end() :], _PARAMETER, lambda match: Field(match[1], match[2]))
    return WireCall(named[1], None, arguments, complete=complete)
