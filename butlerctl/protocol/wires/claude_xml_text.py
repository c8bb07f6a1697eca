"""Legacy Claude prompt format: `<invoke><tool_name>…</tool_name><parameters>…` inside `<function_calls>`."""

from __future__ import annotations

import re
from typing import Any

from butlerctl.protocol.wires.access import text_payload
from butlerctl.protocol.wires.markup import Block, cut_blocks, read_fields
from butlerctl.protocol.wires.turn import Field, WireCall, WireTurn, unreadable

_SHAPE = re.compile(r"\s*<tool_name>([^<]*)</tool_name>\s*(?:<parameters>(.*)</parameters>)?\s*", re.DOTALL)
_PARAMETER = re.compile(r"\s*<([A-Za-z_][\w.-]*)>(.*?)</\1>", re.DOTALL)


def read(payload: Any) -> WireTurn:
    """The turn in a completion text. Raises BadDocument when the payload is no text."""
    text = text_payload(payload, "claude_xml_text")
    sections, visible = cut_blocks(text, "<function_calls>", "</function_calls>")
    calls = [call for section in sections for call in _calls(section)]
    return WireTurn(calls, visible, cut_off=not all(section.closed for section in sections))


def _calls(section: Block) -> list[WireCall]:
    invokes, rest = cut_blocks(section.body, "<invoke>", "</invoke>")
    calls = [_call(invoke, section_closed=section.closed) for invoke in invokes]
    return [*calls, unreadable(rest)] if rest.strip() else calls


def _call(invoke: Block, *, section_closed: bool) -> WireCall:
    complete = invoke.closed and section_closed
    shape = _SHAPE.fullmatch(invoke.body)
    if shape is None:
        return unreadable(invoke.body, complete=complete)
    arguments = read_fields(shape[2] or "", _PARAMETER, lambda match: Field(match[1], match[2]))
    return WireCall(shape[1], None, arguments, complete=complete)
