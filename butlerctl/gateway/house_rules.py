"""What an agent must be told about the household before it can serve it."""

from __future__ import annotations

from datetime import date

from butlerctl.protocol.tools import ToolShape


def house_rules(shape: ToolShape, timezone: str, today: date) -> str:
    """The system message: the day, the zone, who lives here, and that only a tool's answer counts."""
    people = "\n".join(
        f"- {name}: task lists {_names(person.task_lists)}; sheets {_names(person.tabs)} "
        f"with the columns {_names(person.columns)}"
        for name, person in shape.items()
    )
    return (
        f"You are the butler of a household. Today is {today:%A}, {today.isoformat()}. "
        f"The household's time zone is {timezone}: give every time with the offset that holds there on that day.\n"
        f"The people, by the profile that the tools want:\n{people}\n"
        "Use the tools for every calendar, task list and sheet. Say that something is done only when the tool's answer "
        "says ok, name the id that it gives, and tell failures as they are. Ask when something is missing."
    )


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none"
