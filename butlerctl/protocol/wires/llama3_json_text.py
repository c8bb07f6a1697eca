"""Llama 3: `<|python_tag|>{"name": …, "parameters": …}`, several calls separated by `;`, the tag often missing.

The whole text is the call: with prose around it nothing is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from butlerctl.protocol.wires.access import text_payload
from butlerctl.protocol.wires.hermes_text import call_object
from butlerctl.protocol.wires.turn import WireCall, WireTurn, unreadable

_TAG = "<|python_tag|>"
_SEPARATOR_OR_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|;', re.DOTALL)
_LOOKS_LIKE_CALL = re.compile(r'\{\s*"(?:name|parameters)"\s*:')


def read(payload: Any) -> WireTurn:
    """The turn in a completion text. Raises BadDocument when the payload is no text."""
    text = text_payload(payload, "llama3_json_text")
    if _TAG not in text and not _LOOKS_LIKE_CALL.search(text):
        return WireTurn(text=text)
    body = text.strip().removeprefix(_TAG).removesuffix("<|eom_id|>").removesuffix("<|eot_id|>")
    return WireTurn([_call(part) for part in _parts(body) if part.strip()])


def _call(text: str) -> WireCall:
    return call_object(text.strip(), "parameters") or unreadable(text)


def _parts(body: str) -> Iterator[str]:
    """The text between semicolons that stand outside of strings."""
    start = 0
    for match in _SEPARATOR_OR_STRING.finditer(body):
        if match[0] == ";":
            yield body[start : match.start()]
            start = match.end()
    yield body[start:]
