"""Households that are not the shipped one: other people, prefix, places and names; exports from the same generator."""

from __future__ import annotations

from pathlib import Path

import yaml

from butlerctl.workflows.template import Household, exports
from butlerctl.workflows.template_nodes import Person

PREFIX = "casa/butler"
PEOPLE = (
    Person(
        name="anna-marie",
        calendar="family7f3k2@group.calendar.example.test",
        task_lists={"Einkauf": "list-anna-1", "Haus & Hof": "list-anna-2"},
        spreadsheet="sheet-anna",
        credentials={"calendar": "annaCal", "tasks": "annaTasks", "sheets": "annaSheets"},
        tabs=("Ausgaben 2026", "Prüfung"),
        columns=("Datum", "Posten"),
    ),
    Person(
        name="Bob_2",
        calendar="bob@example.test",
        task_lists={"Chores": "<BOBS_LIST>"},
        spreadsheet="<BOBS_SHEET>",
        credentials={"calendar": "<BOBS_CALENDAR_CRED>", "tasks": "bobTasks", "sheets": "bobSheets"},
        tabs=("Ledger", "checks"),
        columns=("when", "who", "what", "cost"),
    ),
    Person(
        name="kid",
        calendar="kid@example.test",
        task_lists={"Homework": "list-kid"},
        spreadsheet="sheet-kid",
        credentials={"calendar": "kidCal", "tasks": "kidTasks", "sheets": "kidSheets"},
        tabs=("Pocket money",),
        columns=("date", "item", "amount"),
    ),
)


def write_household(folder: Path, **changes: object) -> Path:
    """The inventory of three people and their eighteen exports in a folder; `changes` replace whole sections."""
    people = Household(PEOPLE, prefix=PREFIX, timezone="Europe/Berlin", header_credential="casaHeader")
    (folder / "flows").mkdir(parents=True)
    for name, text in exports(people).items():
        (folder / "flows" / name).write_text(text, encoding="utf-8")
    inventory = folder / "inventory.yaml"
    inventory.write_text(yaml.safe_dump(_inventory() | changes, allow_unicode=True), encoding="utf-8")
    return inventory


def _inventory() -> dict[str, object]:
    tokens = ("BOBS_LIST", "BOBS_SHEET", "BOBS_CALENDAR_CRED")
    return {
        "version": 1,
        "timezone": "Europe/Berlin",
        "gateway": {"url": "${CASA_GATEWAY}", "token": "${CASA_TOKEN}", "agent": "jeeves"},
        "n8n": {
            "url": "${CASA_N8N}",
            "api_key": "${CASA_KEY}",
            "webhook": {"prefix": PREFIX, "header": "X-Casa-Key", "secret": "${CASA_SECRET}"},
        },
        "google": {"url": "${CASA_GOOGLE:-}"},
        "operations": ["calendar_list", "calendar_add", "tasks_list", "tasks_add", "sheets_read", "sheets_append"],
        "profiles": {person.name: _profile(person) for person in PEOPLE},
        "workflows": {
            "directory": "flows",
            "placeholders": {token: {"is": f"{token} of Bob", "value": f"${{{token}}}"} for token in tokens},
        },
    }  # fmt: skip


def _profile(person: Person) -> dict[str, object]:
    return {
        "google_token": f"${{TOKEN_OF_{person.name.upper().replace('-', '_')}}}",
        "calendar": person.calendar,
        "task_lists": {name: _place(place) for name, place in person.task_lists.items()},
        "spreadsheet": {
            "id": _place(person.spreadsheet),
            "columns": list(person.columns),
            "tabs": list(person.tabs),
            "verify_tab": person.tabs[-1],
        },
    }


def _place(text: str) -> str:
    return f"${{{text.strip('<>')}}}" if text.startswith("<") else text
