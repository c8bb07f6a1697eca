"""Harmony (GPT-OSS): messages of channels; a message with a recipient that ends in `<|call|>` is a call.

Facts: the recipient stands in the role part or in the channel part; a commentary without a recipient is a
preamble for the user; without `<|call|>` the call was cut off; a message to the assistant is a tool's answer.
"""

from __future__ import annotations

import re
from typing import Any

from butlerctl.protocol.wires.access import text_payload
from butlerctl.protocol.wires.turn import ArgumentText, WireCall, WireTurn

_MESSAGE = re.compile(
    r"(?P<header>(?:<\|(?:start|channel|constrain)\|>(?:(?!<\|).)*)*+)"
    r"<\|message\|>(?P<body>(?:(?!<\|(?:start|end|call|return|channel|message)\|>).)*)"
    r"(?P<end><\|(?:end|call|return)\|>)?",
    re.DOTALL,
)
_CUT_HEADER = re.compile(r"<\|(?:start|channel)\|>(?:(?!<\|message\|>).)*\Z", re.DOTALL)
_RECIPIENT = re.compile(r"\bto=([^\s<]+)")


def read(payload: Any) -> WireTurn:
    """The turn in a completion text. Raises BadDocument when the payload is no text."""
    text = text_payload(payload, "harmony_text")
    calls, visible, last = [], [], 0
    for message in _MESSAGE.finditer(text):
        visible.append(text[last : message.start()])
        last = message.end()
        recipient = _recipient(message["header"])
        if recipient is None:
            visible.append("" if "analysis" in message["header"] else message["body"])
        else:
            calls.append(_call(recipient, message["body"], complete=message["end"] == "<|call|>"))
    rest = text[last:]
    if cut := _CUT_HEADER.search(rest):
        rest = rest[: cut.start()]
        if recipient := _recipient(cut[0]):
            calls.append(_call(recipient, "", complete=False))
    return WireTurn(calls, "".join([*visible, rest]), cut_off=not all(call.complete for call in calls))


def _recipient(header: str) -> str | None:
    """To whom the assistant speaks; None for the user, and for what a tool said to the assistant."""
    found = _RECIPIENT.search(header)
    return found[1] if found and found[1] not in ("assistant", "user") else None


def _call(recipient: str, body: str, *, complete: bool) -> WireCall:
    """Only the name space `functions` holds the offered tools."""
    name = recipient.removeprefix("functions.")
    return WireCall(name, None, ArgumentText(body), complete=complete, is_function=name != recipient)
