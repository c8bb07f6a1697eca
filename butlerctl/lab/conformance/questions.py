"""What the butler is asked for in the conformance run. Invented, in a far year, and never sent to Google."""

from __future__ import annotations

from butlerctl.lab.conformance.script import Ask

# `summary` stands last: arguments that are cut off then still have every required key.
EVENT = Ask(
    "Add the event butlerctl conformance for wife on 14 July 2031 from 10 to 11.",
    "Done — I added it to your calendar.",
    "add_calendar_event",
    {
        "profile": "wife",
        "start": "2031-07-14T10:00:00-04:00",
        "end": "2031-07-14T11:00:00-04:00",
        "summary": "butlerctl conformance",
    },
)
TASKS = Ask(
    "List five open tasks of wife.",
    "There are no open tasks.",
    "list_tasks",
    {"profile": "wife", "limit": 5},
)
ROW = Ask(
    "Append the row 2031-07-14, milk, 2.5 to the sheet butler verify of wife.",
    "Done — I appended the row.",
    "append_sheet_row",
    {"profile": "wife", "sheet": "butler verify", "values": ["2031-07-14", "milk", 2.5]},
)
TASK = Ask(
    "Add the task butlerctl conformance for wife.",
    "Done — I added the task.",
    "add_task",
    {"profile": "wife", "title": "butlerctl conformance"},
)
