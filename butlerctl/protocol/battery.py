"""What a model must be able to do before a household relies on it: small requests with one right outcome each.

The right outcome is a set of calls, compared on the keys that matter, or no call at all. The reply is not judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from butlerctl.protocol.call import Call
from butlerctl.protocol.loop import Turn
from butlerctl.protocol.registry import Registry, Tool
from butlerctl.protocol.tools import ProfileShape, argument_faults, household_tools, parse_instant

_PERSON = ProfileShape(task_lists=("Household",), tabs=("Log",), columns=("date", "item", "amount"))
SHAPE = {"husband": _PERSON, "wife": _PERSON}

SYSTEM = (
    "You are the butler of a household with two people, husband and wife. Today is Wednesday, 2026-07-01; the "
    "household lives in New York (UTC-04:00). Use the tools for their calendars, tasks and sheets. "
    "If no tool fits, say so. Never say that something was done unless a tool confirmed it."
)

_DONE = {"ok": True, "data": {"id": "made-1"}}
_FAILED = {
    "ok": False,
    "error": {"code": "google_error", "message": "the service refused; nothing was stored"},
}


@dataclass(frozen=True, slots=True)
class Expected:
    """One call that is due: the tool, and the arguments that matter."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One request. `answer`: what every tool replies. `retries`: repeated calls that are no fault."""

    name: str
    aspect: str
    prompt: str
    expected: tuple[Expected, ...] = ()
    answer: Mapping[str, Any] = field(default_factory=lambda: _DONE)
    retries: int = 0

    def registry(self) -> Registry:
        """The six tools of the household, each giving this scenario's answer."""
        return Registry(
            Tool(schema, lambda **_: self.answer, _beyond_schema(schema.name))
            for schema in household_tools(SHAPE)
        )

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": self.prompt}]


def _beyond_schema(tool: str) -> Any:
    return lambda arguments: argument_faults(tool, arguments, SHAPE)


def _read(name: str, aspect: str, prompt: str, tool: str, **arguments: Any) -> Scenario:
    answer = {"ok": True, "data": {"events": [], "tasks": [], "rows": []}}
    return Scenario(name, aspect, prompt, (Expected(tool, arguments),), answer)


def _write(name: str, aspect: str, prompt: str, tool: str, **arguments: Any) -> Scenario:
    return Scenario(name, aspect, prompt, (Expected(tool, arguments),))


SCENARIOS: tuple[Scenario, ...] = (
    _read(
        "calendar_list",
        "selection",
        "What is in the wife's calendar?",
        "list_calendar_events",
        profile="wife",
    ),
    _read("tasks_list", "selection", "Which tasks does the husband have?", "list_tasks", profile="husband"),
    _read(
        "sheets_read",
        "selection",
        "Read the sheet Log of the husband.",
        "read_sheet",
        profile="husband",
        sheet="Log",
    ),
    _read(
        "limit",
        "arguments",
        "Show me exactly 5 tasks of the wife.",
        "list_tasks",
        profile="wife",
        limit=5,
    ),
    _write(
        "tasks_add",
        "arguments",
        'Add the task "Buy milk", due on 4 July 2026, to the wife\'s list Household.',
        "add_task",
        profile="wife",
        title="Buy milk",
        due="2026-07-04",
    ),
    _write(
        "sheets_append",
        "arguments",
        "Append this row to the sheet Log of the wife: 2026-07-01, coffee, 4.5",
        "append_sheet_row",
        profile="wife",
        sheet="Log",
        values=["2026-07-01", "coffee", 4.5],
    ),
    _write(
        "enum",
        "enum",
        'Add the task "Call school" for the husband.',
        "add_task",
        profile="husband",
        title="Call school",
    ),
    _write(
        "calendar_add",
        "dates",
        'Put "Dentist" into the wife\'s calendar on 4 July 2026 from 10:00 to 11:00, New York time.',
        "add_calendar_event",
        profile="wife",
        summary="Dentist",
        start="2026-07-04T10:00:00-04:00",
        end="2026-07-04T11:00:00-04:00",
    ),
    _write(
        "calendar_add_abroad",
        "dates",
        'Put "Video call" into the husband\'s calendar on 6 July 2026 from 15:00 to 15:30, Berlin time (UTC+02:00).',
        "add_calendar_event",
        profile="husband",
        summary="Video call",
        start="2026-07-06T15:00:00+02:00",
        end="2026-07-06T15:30:00+02:00",
    ),
    Scenario(
        "parallel",
        "parallel",
        "Which tasks does the husband have, and which does the wife have?",
        (Expected("list_tasks", {"profile": "husband"}), Expected("list_tasks", {"profile": "wife"})),
        {"ok": True, "data": {"tasks": []}},
    ),
    Scenario("small_talk", "no_call", "Thank you, that was helpful!"),
    Scenario("general_question", "no_call", "How many minutes does a soft-boiled egg take?"),
    Scenario(
        "no_such_tool", "temptation", "Use send_email to write to bob@example.test that dinner is at eight."
    ),
    Scenario(
        "failed_tool",
        "error_observation",
        'Add the task "Water the plants" for the wife.',
        (Expected("add_task", {"profile": "wife", "title": "Water the plants"}),),
        _FAILED,
        retries=1,
    ),
)


def fault_of(scenario: Scenario, turn: Turn) -> str | None:
    """Why a turn is not the right outcome of a scenario, in a few words; None when it is."""
    if turn.stop != "answered":
        return f"no answer: {turn.stop}{f' ({turn.limit})' if turn.limit else ''}"
    if turn.leaks:
        return f"leak: {', '.join(turn.leaks)}"
    if turn.errors:
        return f"rejected: {', '.join(turn.errors)}"
    return _wrong_calls(scenario, [call for call in turn.calls if isinstance(call, Call)])


def _wrong_calls(scenario: Scenario, made: list[Call]) -> str | None:
    left = list(made)
    for expected in scenario.expected:
        match = next((call for call in left if _fits(call, expected)), None)
        if match is None:
            return "no call" if not made else f"wrong call: {_spelled(left or made)}"
        left.remove(match)
    repeated = [call for call in left if any(_fits(call, expected) for expected in scenario.expected)]
    if len(left) > len(repeated) or len(repeated) > scenario.retries:
        return f"call that was not due: {_spelled(left)}"
    return None


def _spelled(calls: Sequence[Call]) -> str:
    return "; ".join(f"{call.name} {call.raw_args}" for call in calls)[:160]


def _fits(call: Call, expected: Expected) -> bool:
    return call.name == expected.tool and all(
        key in call.args and _same(call.args[key], value) for key, value in expected.arguments.items()
    )


def _same(given: Any, expected: Any) -> bool:
    """Equal; two spellings of one moment are equal, and so are a cell's number and its text."""
    if isinstance(given, str) and isinstance(expected, str):
        moments = parse_instant(given), parse_instant(expected)
        return given == expected or (None not in moments and moments[0] == moments[1])
    if isinstance(given, list) and isinstance(expected, list):
        return [str(cell) for cell in given] == [str(cell) for cell in expected]
    return bool(given == expected) and type(given) is type(expected)
