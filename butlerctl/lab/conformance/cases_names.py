"""The right arguments under a name that is not quite the tool's."""

from __future__ import annotations

from butlerctl.lab.conformance.case import Case, Right
from butlerctl.lab.conformance.questions import EVENT
from butlerctl.lab.conformance.script import Piece, native


def _name(case_id: str, title: str, name: str, call_id: str = "call_1") -> Case:
    return Case(
        case_id, "names", title, Right.REFUSED, EVENT, lambda it: [native(it.call(name=name, id=call_id))]
    )


NAME_CASES = (
    _name("unknown_tool", "a tool that is not there", "launch_nukes"),
    _name("core_tool", "a tool of the gateway that the agent may not use", "exec"),
    _name("capitals", "capital letters", "Add_Calendar_Event"),
    _name("prefix_functions", "the prefix functions.", "functions.add_calendar_event"),
    _name("suffix_number", "a number behind a colon", "add_calendar_event:0"),
    _name("prefix_path", "a path in front", "x/add_calendar_event"),
    _name("blank", "a blank at the end", "add_calendar_event "),
    _name("hyphens", "hyphens", "add-calendar-event"),
    _name("plural", "the plural", "add_calendar_events"),
    _name("prefix_mcp", "the prefix of an MCP server", "mcp__household__add_calendar_event"),
    _name("glued", "the name between toolcall and _1", "toolcalladd_calendar_event_1"),
    _name("harmony_name", "channel tokens in the name", "add_calendar_event<|channel|>commentary"),
    _name("proto_name", "the name __proto__", "__proto__"),
    Case(
        "name_in_id",
        "names",
        "no name, the tool in the id",
        Right.REFUSED,
        EVENT,
        lambda it: [native(Piece(it.text, "", "functions.add_calendar_event:0"))],
    ),
)
