"""What stands beside the verdict of a turn: traits of its calls and answers that break nothing by themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator

from butlerctl.judge.conversation import Call, Conversation
from butlerctl.judge.hints import step_for
from butlerctl.judge.result import Note


def flags(turn: Conversation) -> Iterator[Note]:
    """What the wire tells, and calls that cannot be one call."""
    if turn.wire is not None and any("finish_mismatch" in answer.notes for answer in turn.wire.turns):
        yield note("call.finish_mismatch", "an answer of the model has a finish reason that does not fit it")
    for made in turn.made:
        name = made.call.name
        if made.written:
            yield note("call.tool_name", f'a call of "{made.written}" that the gateway ran as {name}')
        else:
            yield note("call.promoted_text", f"a call of {name} that no answer of the provider holds")
    for call in turn.calls:
        if _is_merged(call):
            yield note("call.merged_calls", f"arguments of {call.name} that are those of several calls")


def note(check: str, seen: str) -> Note:
    return Note(check, f"{seen}. {step_for(check)}")


def _is_merged(call: Call) -> bool:
    """Do several JSON objects stand one behind the other?"""
    text, objects = call.raw.strip(), 0
    while text.startswith("{") and objects < 2:
        try:
            _, end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            return False
        text, objects = text[end:].lstrip(), objects + 1
    return objects == 2


_DECODER = json.JSONDecoder()
