"""Healthy households that are all different: zones, days, names, people, and lives of their own."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import yaml

from butlerctl.checks.canary import day_for_tests
from butlerctl.inventory.loader import load_inventory
from butlerctl.inventory.model import Inventory
from butlerctl.inventory.operations import OPERATIONS, Route
from butlerctl.lab.google.faults import Fault, refuse
from butlerctl.lab.stack import N8N_CLIENT, Lab
from butlerctl.workflows.template import Household, exports
from butlerctl.workflows.template_nodes import Person

ZONES = (
    "America/New_York", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe",
    "Pacific/Auckland", "America/St_Johns", "America/Sao_Paulo", "UTC",
)  # fmt: skip
PEOPLE = (
    ("husband", "wife"),
    ("wife", "husband"),
    ("husband", "wife", "grandma"),
    ("mia", "tom-2"),
    ("anna",),
)
PREFIXES = ("L4CK3Y", "home", "a/b", "")
LISTS = (
    ("Household",),
    ("Haushalt & Garten", "Work"),
    ("買い物",),
    ("A list with a name that goes on and on and on " * 3,),
)
TABS = (
    "butler verify",
    "Prüfblatt",
    "家計 テスト",
    "Anna's checks",
    "a tab whose name is as long as people make them",
)
COLUMNS = (
    ("date", "item", "amount"), ("Datum", "Was", "Betrag"), ("when", "who", "what", "how much"), ("note",),
)  # fmt: skip
TROUBLES = ("none", "none", "slow", "list lag", "small pages", "a first try that fails")
TITLES = (
    "Zahnarzt 🦷", "Dinner?", "No meeting today", "Call mum at 5pm", "Nothing to do", "Reset the wifi password", "買い物",
    "14 December", "Pay 64,30 €", "Not done: taxes", "Error in the heating", "x" * 300, "It's 10:30 already", "3 tasks",
    "I have added a row", '<b>bold</b> & "quoted"', "Café · José", "butler check", "Wife's birthday",
)  # fmt: skip
CELLS = (
    ("2026-07-14", "milk", 2.5), ("14.07.2026", "Brot – Körner", "1.200,50 €"), (46217, "a serial day", -3),
    ("'=SUM(A1:A9)", "a formula as text", "'+49 30 1234"), ("", "an empty cell before", ""), ("🦷", "x" * 200, "no"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """One household on one day. `disturb` gives it a life of its own, and the trouble of the day."""

    inventory: Inventory
    today: date
    traits: str
    disturb: Callable[[Lab], None]


def household(seed: int, folder: Path) -> Case:
    """The household of a seed, always the same one."""
    chance = random.Random(seed)  # noqa: S311 - variety, no secrets
    zone = chance.choice(ZONES)
    people = [_person(name, chance) for name in chance.choice(PEOPLE)]
    prefix = chance.choice(PREFIXES)
    written = Household(tuple(people), prefix=prefix, timezone=zone)
    (folder / "workflows").mkdir(parents=True)
    for name, text in exports(written).items():
        (folder / "workflows" / name).write_text(text, encoding="utf-8")
    (folder / "inventory.yaml").write_text(
        yaml.safe_dump(_inventory(written), allow_unicode=True), encoding="utf-8"
    )
    today, trouble, busy = _today(chance, ZoneInfo(zone)), chance.choice(TROUBLES), chance.random() < 0.8
    traits = (
        f"{zone}, {today}, {[person.name for person in people]}, prefix {prefix!r}, {trouble}, busy: {busy}"
    )

    def disturb(lab: Lab) -> None:
        if busy:
            for person in people:
                _live_there(lab, person, day_for_tests(today, ZoneInfo(zone)), ZoneInfo(zone), chance)
        _trouble(lab, trouble, chance)

    return Case(load_inventory(folder / "inventory.yaml", {}), today, traits, disturb)


def foreign_objects(lab: Lab) -> dict[str, list[Any]]:
    """All that lives in the emulated Google and is no test object of butlerctl."""
    store = lab.google.store
    held: dict[str, list[Any]] = {}
    with store.lock:
        for calendar in store.calendars.values():
            held[calendar.id] = [item.body for item in calendar.events.values()]
        for tasks in store.task_lists.values():
            held[tasks.id] = [item.body for item in tasks.tasks]
        for book in store.spreadsheets.values():
            held |= {f"{book.id}/{tab.title}": [row for _, row in tab.formatted_rows()] for tab in book.tabs}
        return {
            place: [each for each in each_of if "BTLR-" not in str(each)] for place, each_of in held.items()
        }


def _person(name: str, chance: random.Random) -> Person:
    lists = chance.choice(LISTS)
    return Person(
        name=name,
        calendar=f"{name}@example.test",
        task_lists={title: f"list{at}{name}0000000000" for at, title in enumerate(lists)},
        spreadsheet=f"1sheetOf{name}000000000000000000".replace("-", ""),
        credentials={
            domain: f"{domain[:3]}Cred{name}0000000000"[:16] for domain in ("calendar", "tasks", "sheets")
        },
        tabs=("Log", chance.choice(TABS)),
        columns=chance.choice(COLUMNS),
    )


def _inventory(written: Household) -> dict[str, Any]:
    return {
        "version": 1,
        "timezone": written.timezone,
        "gateway": {"url": "${GATEWAY_URL}", "token": "${GATEWAY_TOKEN}"},
        "n8n": {
            "url": "${N8N_URL}",
            "api_key": "${N8N_API_KEY}",
            "webhook": {"prefix": written.prefix, "secret": "${WEBHOOK_SECRET}"},
        },
        "operations": list(OPERATIONS),
        "profiles": {person.name: _profile(person) for person in written.people},
        "workflows": {"directory": "workflows"},
    }


def _profile(person: Person) -> dict[str, Any]:
    return {
        "google_token": f"${{TOKEN_OF_{person.name.upper().replace('-', '_')}}}",
        "calendar": person.calendar,
        "task_lists": dict(person.task_lists),
        "spreadsheet": {
            "id": person.spreadsheet,
            "columns": list(person.columns),
            "tabs": list(person.tabs),
            "verify_tab": person.tabs[1],
        },
    }


def _today(chance: random.Random, zone: ZoneInfo) -> date:
    """Half of the days lie so that the test day falls on, or beside, a change of the clocks."""
    start = datetime.now(UTC).date()
    changes = [day for day in (start + timedelta(days=n) for n in range(14, 420)) if _changes(day, zone)]
    if changes and chance.random() < 0.5:
        return chance.choice(changes) - timedelta(days=14 + chance.randint(-3, 3))
    return start + timedelta(days=chance.randint(0, 400))


def _changes(day: date, zone: ZoneInfo) -> bool:
    noon = datetime.combine(day, time(12), zone)
    return noon.utcoffset() != (noon + timedelta(days=1)).utcoffset()


def _live_there(lab: Lab, person: Person, day: date, zone: ZoneInfo, chance: random.Random) -> None:
    token = lab.google.access_token(lab.google.grant(person.calendar))
    with httpx.Client(
        base_url=lab.google_url, headers={"Authorization": f"Bearer {token}"}, trust_env=False
    ) as wire:
        for path, body in _things(person, day, zone, chance):
            answer = wire.post(path, json=body)
            assert answer.status_code == 200, answer.text


def _things(
    person: Person, day: date, zone: ZoneInfo, chance: random.Random
) -> Iterator[tuple[str, dict[str, Any]]]:
    for body in _events(day, zone, chance):
        yield f"/calendar/v3/calendars/{person.calendar}/events", body
    for list_id in person.task_lists.values():
        for body in _tasks(day, chance):
            yield f"/tasks/v1/lists/{list_id}/tasks", body
    rows = chance.sample(CELLS, chance.randint(0, 4))
    if rows:
        cells = [list(row[: len(person.columns)]) for row in rows]
        path = f"/v4/spreadsheets/{person.spreadsheet}/values/{person.tabs[1]}!A1:append?valueInputOption=USER_ENTERED"
        yield path, {"values": cells}


def _events(day: date, zone: ZoneInfo, chance: random.Random) -> Iterator[dict[str, Any]]:
    for title in chance.sample(TITLES, chance.randint(0, 5)):
        start = datetime.combine(day, time(chance.randint(8, 16), chance.choice((0, 15, 30))), zone)
        yield {"summary": title, **_span(start, start + timedelta(minutes=chance.choice((30, 60, 180))))}
    if chance.random() < 0.6:
        yield {
            "summary": chance.choice(TITLES),
            "start": {"date": str(day)},
            "end": {"date": str(day + timedelta(1))},
        }
    if chance.random() < 0.4:
        first, after = day - timedelta(days=chance.randint(0, 2)), day + timedelta(days=chance.randint(1, 3))
        yield {"summary": "Holiday", "start": {"date": str(first)}, "end": {"date": str(after)}}
    if chance.random() < 0.5:
        start = datetime.combine(day - timedelta(days=21), time(11), zone)
        series = {"recurrence": ["RRULE:FREQ=WEEKLY;COUNT=9"]}
        yield {"summary": "Choir", **_span(start, start + timedelta(hours=2), str(zone)), **series}
    if chance.random() < 0.2:
        start = datetime.combine(day, time(12), zone)
        yield _span(start, start + timedelta(hours=1))


def _span(start: datetime, end: datetime, zone: str = "") -> dict[str, Any]:
    named = {"timeZone": zone} if zone else {}
    return {"start": {"dateTime": start.isoformat(), **named}, "end": {"dateTime": end.isoformat(), **named}}


def _tasks(day: date, chance: random.Random) -> Iterator[dict[str, Any]]:
    for title in chance.choices(TITLES, k=chance.choice((0, 3, 6, 30))):
        due = (
            {"due": f"{day + timedelta(days=chance.randint(-30, 30))}T00:00:00.000Z"}
            if chance.random() < 0.5
            else {}
        )
        done = {"status": "completed"} if chance.random() < 0.3 else {}
        yield {"title": title, **due, **done}


def _trouble(lab: Lab, trouble: str, chance: random.Random) -> None:
    routes: Sequence[Route] = lab.inventory.routes
    if trouble == "slow":
        route = chance.choice(routes)
        lab.n8n.switches.slow[lab.webhook_path(route)] = 0.4
        lab.google.faults.plant(Fault("calendar.events.*", delay=0.1))
    elif trouble == "list lag":
        lab.google.knobs.list_lag = 0.5
    elif trouble == "small pages":
        lab.google.knobs.page_cap = 20  # more than a day has events: n8n asks for one page of them
    elif trouble == "a first try that fails":
        route = chance.choice([route for route in routes if OPERATIONS[route.operation].writes])
        method = {"calendar_add": "calendar.events.insert", "tasks_add": "tasks.tasks.insert"}.get(
            route.operation, "sheets.spreadsheets.values.update"
        )
        fault = refuse(method, 503, "backendError", times=1, client=N8N_CLIENT.id)
        fault.user = lab.account(route.profile).email
        lab.google.faults.plant(fault)
        lab.model.plant("repeats_call", route)
