"""Two invented households, as a request describes them to the model."""

from __future__ import annotations

from typing import Any

from butlerctl.lab.model.household import Household, household_of
from butlerctl.protocol.tools import ProfileShape, ToolShape, household_tools

COUPLE: ToolShape = {
    name: ProfileShape(("Household",), ("Log", "butler verify"), ("date", "item", "amount"))
    for name in ("husband", "wife")
}
FAMILY: ToolShape = {
    "anna": ProfileShape(
        ("Zuhause", "Groceries"), ("Ausgaben 2026", "verify"), ("Datum", "Posten", "Betrag")
    ),
    "ben": ProfileShape(("Home",), ("Ledger",), ("when", "who", "what", "cost")),
    "kid_1": ProfileShape(("Chores",), ("Pocket money",), ("date", "item", "amount")),
    "mom": ProfileShape(("Home",), ("Ledger",), ("date", "item", "amount")),
}


def offered(shape: ToolShape) -> list[dict[str, Any]]:
    """The six tools as Chat Completions offers them."""
    return [
        {
            "type": "function",
            "function": {"name": t.name, "description": t.description, "parameters": t.parameters},
        }
        for t in household_tools(shape)
    ]


def rules(today: str, zone: str) -> dict[str, str]:
    return {"role": "system", "content": f"You are the butler. Today is {today}. Time zone: {zone}."}


def household(
    shape: ToolShape = COUPLE, today: str = "2026-07-08", zone: str = "America/New_York"
) -> Household:
    return household_of([rules(today, zone)], offered(shape))
