"""Which conversation an exchange with a provider belongs to: the wire names no session.

A request goes on from an earlier one when it begins with that one's messages and the answer to them. Two people may
use equal words, and a repeated job does: so equal words alone join nothing. OpenClaw 2026.6.11 sends a `traceparent`.
Requests of one turn have one trace id, and so may have all tries of a scheduled job: two ids are two turns, one id only
decides what a gateway's rewriting leaves open.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from butlerctl.errors import BadDocument
from butlerctl.protocol.decode import NotStrictJson, decode
from butlerctl.protocol.wires import openai_chat
from butlerctl.protocol.wires.access import content_text, objects
from butlerctl.protocol.wires.turn import WireCall, WireTurn

SETUP_ROLES = frozenset({"system", "developer"})
_TRACE = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-")

_NO, _PERHAPS, _SAME_WORDS, _SAME_CALLS, _SAME_IDS = range(5)
_SAME_TRACE = 10


def kinship(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> int:
    """How surely `later` is the next exchange of the conversation in which `earlier` was the last; 0: it is not."""
    traces = trace_of(earlier), trace_of(later)
    same_trace = traces[0] == traces[1] != ""
    before, after = asked(earlier), asked(later)
    if before == after:
        other_turn = all(traces) and not same_trace
        return _NO if other_turn or _was_used(earlier) else _PERHAPS + same_trace * _SAME_TRACE
    before, after = _without_setup(before), _without_setup(after)
    begins_with_it = len(before) < len(after) and all(
        _plain(old) == _plain(new) for old, new in zip(before, after, strict=False)
    )
    if not begins_with_it or role(after[len(before)]) != "assistant":
        return _NO
    answer = turn_of(earlier)
    likeness = _likeness(answer, _plain(after[len(before)])) if answer is not None else _NO
    return max(likeness, _PERHAPS) + _SAME_TRACE if same_trace else likeness


def trace_of(exchange: Mapping[str, Any]) -> str:
    """The id of the W3C trace that the request carries; empty without one."""
    headers = exchange["request"]["headers"]
    value = next((str(value) for name, value in headers.items() if name.lower() == "traceparent"), "")
    found = _TRACE.match(value)
    return found[1] if found else ""


def asked(exchange: Mapping[str, Any]) -> list[Any]:
    messages = exchange["request"]["body"].get("messages")
    return messages if isinstance(messages, list) else []


def turn_of(exchange: Mapping[str, Any]) -> WireTurn | None:
    """What the model answered; None where it gave no completion."""
    if exchange["response"]["status"] != 200:
        return None
    try:
        return openai_chat.read(exchange["response"]["body"])
    except BadDocument:
        return None


def strictness(call: WireCall) -> str:
    """A word for a person; what is no strict JSON begins with `arguments are no`."""
    try:
        decode(call.raw_arguments)
    except NotStrictJson as error:
        return f"arguments are no JSON: {error}"
    return "arguments are strict JSON" if call.complete else "cut off"


def role(message: Any) -> str:
    return str(message.get("role")) if isinstance(message, Mapping) else ""


def _was_used(exchange: Mapping[str, Any]) -> bool:
    """Could a gateway go on with this answer? If not, the same question once more is another try."""
    turn = turn_of(exchange)
    if turn is None or turn.cut_off or "error" in exchange["response"]:
        return False
    sound = all(strictness(call) == "arguments are strict JSON" for call in turn.calls)
    return sound and bool(turn.calls or turn.text.strip())


def _without_setup(messages: Sequence[Any]) -> list[Any]:
    """Without the gateway's own words, into which it may write the time."""
    return [message for message in messages if role(message) not in SETUP_ROLES]


def _plain(message: Any) -> Any:
    """What a gateway leaves as it is from one request to the next: no marks for caches, no arguments of calls."""
    if not isinstance(message, Mapping):
        return message
    calls = [(call.get("id"), _name_in(call)) for call in objects(message.get("tool_calls"))]
    return {
        "role": role(message),
        "text": content_text(message.get("content")),
        "result_of": message.get("tool_call_id"),
        "calls": calls,
    }


def _likeness(answer: WireTurn, message: Mapping[str, Any]) -> int:
    """How far the history shows this answer: by a call's id, by the names of the calls, by its words, or not."""
    calls = message["calls"]
    if {call.wire_id for call in answer.calls if call.wire_id} & {call_id for call_id, _ in calls}:
        return _SAME_IDS
    if answer.calls and [call.name for call in answer.calls] == [name for _, name in calls]:
        return _SAME_CALLS
    spoken = answer.text.strip()
    return _SAME_WORDS if spoken and spoken == message["text"].strip() else _NO


def _name_in(call: Mapping[str, Any]) -> Any:
    function = call.get("function")
    return function.get("name") if isinstance(function, Mapping) else None
