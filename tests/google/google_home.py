"""A household of two on the emulated Google, over a real socket, and butlerctl's own accounts in it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from butlerctl.google.calendar import CalendarRecord
from butlerctl.google.client import Account
from butlerctl.google.sheets import SheetsRecord
from butlerctl.google.tasks import TasksRecord
from butlerctl.lab.google import WRITE_SCOPES, GoogleEmulator, Grant, OAuthClient
from butlerctl.lab.server import LoopbackServer
from butlerctl.ledger import Window

WIFE, HUSBAND = "wife@example.test", "husband@example.test"
NONCE = "BTLR-7K2MXW4QRT"
FULL_ACCESS = tuple(
    f"https://www.googleapis.com/auth/{name}" for name in ("calendar", "tasks", "spreadsheets")
)
HEADER = ["date", "item", "amount"]
START = datetime(2026, 12, 14, 15, 0, tzinfo=UTC)
WINDOW = Window(START, START + timedelta(hours=1))


@dataclass
class Home:
    """The emulator, where it listens, and ways to act in it as n8n or as butlerctl."""

    emulator: GoogleEmulator
    url: str
    stack: ExitStack = field(repr=False)
    wire: httpx.Client = field(repr=False)

    def account(self, user: str = WIFE, scopes: tuple[str, ...] = WRITE_SCOPES, **options: Any) -> Account:
        grant = self.emulator.grant(user, client=OAuthClient("butlerctl", "own-client-secret"), scopes=scopes)
        return self.account_of(grant, **options)

    def account_of(self, grant: Grant, **options: Any) -> Account:
        settings = {"url": self.url, "retries": 0} | options
        name = grant.user.partition("@")[0]
        return self.stack.enter_context(Account(name, grant.authorized_user(), **settings))

    def calendar(self, user: str = WIFE, **options: Any) -> CalendarRecord:
        return CalendarRecord(self.account(user, **options), user, patience=0.0)

    def tasks(self, user: str = WIFE, **options: Any) -> TasksRecord:
        lists = {"Household": f"list-{user}", "Garden": f"garden-{user}"}
        return TasksRecord(self.account(user, **options), lists, patience=0.0)

    def sheets(self, user: str = WIFE, **options: Any) -> SheetsRecord:
        account = self.account(user, **options)
        return SheetsRecord(account, f"sheet-{user}", ["Log", "butler verify"], "butler verify", patience=0.0)

    def call(self, verb: str, path: str, *, user: str = WIFE, **options: Any) -> httpx.Response:
        """A request as n8n would make it: another client, full access."""
        token = self.emulator.access_token(self.emulator.grant(user, scopes=FULL_ACCESS))
        headers = {"Authorization": f"Bearer {token}"} | options.pop("headers", {})
        return self.wire.request(verb, path, headers=headers, **options)

    def add_event(self, summary: str, *, user: str = WIFE, **more: Any) -> dict[str, Any]:
        body = {"summary": summary, "start": at(START), "end": at(START + timedelta(hours=1))} | more
        calendar = body.pop("calendar", user)
        answer = self.call("POST", f"/calendar/v3/calendars/{calendar}/events", user=user, json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def add_task(self, title: str, *, user: str = WIFE, tasklist: str = "", **more: Any) -> dict[str, Any]:
        path = f"/tasks/v1/lists/{tasklist or f'list-{user}'}/tasks"
        answer = self.call("POST", path, user=user, json={"title": title, **more})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def add_row(self, *cells: Any, user: str = WIFE, tab: str = "butler verify") -> dict[str, Any]:
        path = f"/v4/spreadsheets/sheet-{user}/values/{tab}:append?valueInputOption=USER_ENTERED"
        answer = self.call("POST", path, user=user, json={"values": [list(cells)]})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def rows(self, tab: str = "butler verify", user: str = WIFE) -> list[list[Any]]:
        answer = self.call("GET", f"/v4/spreadsheets/sheet-{user}/values/{tab}", user=user)
        return answer.json().get("values", [])

    def methods(self) -> list[str]:
        return [entry.method for entry in self.emulator.log]


def at(moment: datetime) -> dict[str, str]:
    return {"dateTime": moment.isoformat()}


def new_home(stack: ExitStack) -> Home:
    emulator = GoogleEmulator()
    for user in (WIFE, HUSBAND):
        emulator.add_user(user)
        emulator.add_task_list(f"list-{user}", "Household", owner=user)
        emulator.add_task_list(f"garden-{user}", "Garden", owner=user)
        emulator.add_spreadsheet(
            f"sheet-{user}", owner=user, tabs={"Log": [HEADER], "butler verify": [HEADER]}
        )
    server = stack.enter_context(LoopbackServer(emulator))
    client = httpx.Client(base_url=server.url, trust_env=False, verify=False)  # noqa: S501 - plain HTTP, no certificates to load
    wire = stack.enter_context(client)
    return Home(emulator, server.url, stack, wire)
