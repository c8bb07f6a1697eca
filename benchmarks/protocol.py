"""How long a call takes to read and to check, and whether a long stream stays linear.

    python benchmarks/protocol.py

Bars: a call of 180 bytes within 60 µs; a stream of 64 KiB of arguments linear in its size.
"""

from __future__ import annotations

import json
import sys
import timeit
from time import process_time
from typing import Any

from butlerctl.protocol.normalize import normalize
from butlerctl.protocol.registry import Registry, Tool
from butlerctl.protocol.tools import ProfileShape, household_tools

MOST_MICROSECONDS = 60.0
# Twice the size may take twice as long, and a little more for a busy machine.
MOST_GROWTH = 2.6

PERSON = ProfileShape(task_lists=("Household",), tabs=("Log",), columns=("date", "item", "amount"))
REGISTRY = Registry(Tool(schema) for schema in household_tools({"husband": PERSON, "wife": PERSON}))
ARGUMENTS = {
    "profile": "wife",
    "category": "personal",
    "summary": "Dentist, second appointment of the year",
    "start": "2026-07-04T10:00:00-04:00",
    "end": "2026-07-04T11:00:00-04:00",
}


def response(arguments: str) -> dict[str, Any]:
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "add_calendar_event", "arguments": arguments},
    }
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}


def stream(size: int, piece: int = 8) -> list[dict[str, Any]]:
    """A call whose arguments have about `size` characters, in pieces of `piece`."""
    text = json.dumps({**ARGUMENTS, "summary": "x" * (size - 256)})
    deltas: list[dict[str, Any]] = [
        {"index": 0, "function": {"arguments": text[at : at + piece]}} for at in range(0, len(text), piece)
    ]
    deltas[0] |= {"id": "call_1"}
    deltas[0]["function"]["name"] = "add_calendar_event"
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": [delta]}}]} for delta in deltas]
    return [*chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}]


def seconds(payload: Any, number: int) -> float:
    """Processor time, the best of seven: what it costs when nothing else disturbs it."""
    assert normalize("openai_chat", payload, REGISTRY).is_clean  # noqa: S101 - rejections would be measured
    timer = timeit.Timer(lambda: normalize("openai_chat", payload, REGISTRY), timer=process_time)
    return min(timer.repeat(repeat=7, number=number)) / number


def main() -> int:
    text = json.dumps(ARGUMENTS)
    short = seconds(response(text), 2000) * 1e6
    print(f"one call of {len(text)} bytes: {short:.1f} µs (bar: {MOST_MICROSECONDS:.0f})")
    half, full = (seconds(stream(size), 5) for size in (32 * 1024, 64 * 1024))
    print(
        f"streamed calls of 32 and 64 KiB: {half * 1e3:.1f} and {full * 1e3:.1f} ms, growth {full / half:.2f}"
    )
    return 0 if short <= MOST_MICROSECONDS and full / half <= MOST_GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())
