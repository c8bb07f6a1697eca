"""DeepSeek DSML: `invoke` and `parameter` tags that carry the marker, typed by `string="true|false"`.

Three spellings are the format: `function_calls` (V3.2), `tool_calls` (V4), and ` calls` with a blank in every
tag (V4.1). Doubled bars, other bars and missing brackets are damage, and stay in the text as a leak.
"""

from __future__ import annotations

import re
from typing import Any

from butlerctl.protocol.wires.access import text_payload
from butlerctl.protocol.wires.markup import read_fields
from butlerctl.protocol.wires.turn import Field, WireCall, WireTurn, unreadable

_MARK = "\uff5cDSML\uff5c"
_SECTION = re.compile(
    rf"<{_MARK}(?P<blank> ?)(?P<kind>function_calls|tool_calls|calls)>(?P<body>.*?)"
    rf"(?:</{_MARK}(?P=blank)(?P=kind)>|(?P<cut>\Z))",
    re.DOTALL,
)
_INVOKE = re.compile(
    rf'\s*<{_MARK} ?invoke name="(?P<name>[^"]*)">(?P<body>.*?)(?:</{_MARK} ?invoke>|(?P<cut>\Z))', re.DOTALL
)
_PARAMETER = re.compile(
    rf'\s*<{_MARK} ?parameter name="([^"]*)" string="(true|false)">'
    rf"((?:(?!<{_MARK} ?parameter ).)*?)</{_MARK} ?parameter>",
    re.DOTALL,
)


def read(payload: Any) -> WireTurn:
    """The turn in a completion text. Raises BadDocument when the payload is no text."""
    text = text_payload(payload, "deepseek_dsml_text")
    calls = [call for section in _SECTION.finditer(text) for call in _calls(section)]
    return WireTurn(calls, _SECTION.sub("", text), cut_off=not all(call.complete for call in calls))


def _calls(section: re.Match[str]) -> list[WireCall]:
    closed = section["cut"] is None
    body = section["body"]
    calls = []
    position = 0
    while invoke := _INVOKE.match(body, position):
        calls.append(_call(invoke, section_closed=closed))
        position = invoke.end()
    rest = body[position:]
    return [*calls, unreadable(rest, complete=closed)] if rest.strip() else calls


def _call(invoke: re.Match[str], *, section_closed: bool) -> WireCall:
    arguments = read_fields(invoke["body"], _PARAMETER, _field)
    return WireCall(invoke["name"], None, arguments, complete=section_closed and invoke["cut"] is None)


def _field(match: re.Match[str]) -> Field:
    return Field(match[1], match[3], "text" if match[2] == "true" else "json")
