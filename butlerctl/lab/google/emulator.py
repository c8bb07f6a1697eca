"""The emulated Google as the lab sees it: fill it, hand out credentials, plant faults, look inside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from butlerctl.lab.google.app import Application, Logged
from butlerctl.lab.google.cells import enter
from butlerctl.lab.google.faults import Faults
from butlerctl.lab.google.grid import Spreadsheet, Tab
from butlerctl.lab.google.store import Calendar, Store, Stored, TaskList
from butlerctl.lab.google.switches import Knobs, Switches
from butlerctl.lab.google.tokens import Grant, OAuthClient, Tokens

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

_AUTH = "https://www.googleapis.com/auth/"
READ_SCOPES = (
    _AUTH + "calendar.events.owned.readonly",
    _AUTH + "tasks.readonly",
    _AUTH + "spreadsheets.readonly",
)
WRITE_SCOPES = (_AUTH + "calendar.events.owned", _AUTH + "tasks", _AUTH + "spreadsheets")


def _now() -> datetime:
    return datetime.now(UTC)


class GoogleEmulator:
    """Calendar v3, Tasks v1, Sheets v4 and the token endpoint, in memory. Serve it with LoopbackServer."""

    def __init__(self, *, switches: Switches | None = None, now: Callable[[], datetime] = _now) -> None:
        self.switches = switches or Switches()
        self.knobs = Knobs()
        self.store = Store(now)
        self._app = Application(self.store, self.switches, self.knobs)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return self._app(environ, start_response)

    @property
    def faults(self) -> Faults:
        return self._app.faults

    @property
    def tokens(self) -> Tokens:
        return self._app.tokens

    @property
    def log(self) -> Sequence[Logged]:
        """The requests so far (the last ten thousand), in the order of the answers."""
        return list(self._app.log)

    @property
    def own_faults(self) -> Sequence[str]:
        """Answers that do not fit Google's schemas: a fault of the emulator."""
        return self._app.own_faults

    def add_user(self, email: str, *, timezone: str = "America/New_York") -> str:
        """A user with the calendar that everybody has; its id is the address."""
        self.add_calendar(email, owner=email, timezone=timezone, summary=email)
        return email

    def add_calendar(
        self,
        calendar_id: str,
        *,
        owner: str,
        timezone: str = "America/New_York",
        summary: str = "",
        acl: Mapping[str, str] | None = None,
    ) -> Calendar:
        roles = {**(acl or {}), owner: "owner"}
        calendar = Calendar(calendar_id, summary or calendar_id, timezone, roles)
        with self.store.lock:
            self.store.calendars[calendar_id] = calendar
        return calendar

    def add_task_list(self, list_id: str, title: str, *, owner: str) -> TaskList:
        task_list = TaskList(list_id, title, owner)
        with self.store.lock:
            self.store.task_lists[list_id] = task_list
        return task_list

    def add_spreadsheet(
        self,
        spreadsheet_id: str,
        *,
        owner: str,
        tabs: Mapping[str, Sequence[Sequence[str | float]]],
        title: str = "Household",
        acl: Mapping[str, str] | None = None,
    ) -> Spreadsheet:
        """`tabs` maps a title to its rows (the first is usually the header), entered as if typed."""
        roles = {**(acl or {}), owner: "owner"}
        book = Spreadsheet(spreadsheet_id, title, roles, [])
        for number, (name, rows) in enumerate(tabs.items()):
            tab = Tab(number, name)
            for row, values in enumerate(rows):
                for column, value in enumerate(values):
                    tab.set(row, column, enter(value, "USER_ENTERED"))
            book.tabs.append(tab)
        with self.store.lock:
            self.store.spreadsheets[spreadsheet_id] = book
        return book

    def grant(
        self, user: str, *, client: OAuthClient | None = None, scopes: Iterable[str] = WRITE_SCOPES
    ) -> Grant:
        """Let a client act for a user: a refresh token."""
        with self.store.lock:
            return self.tokens.grant(user, client or OAuthClient(), scopes)

    def access_token(self, grant: Grant) -> str:
        """A fresh access token of a grant, without the way over the token endpoint."""
        with self.store.lock:
            return self.tokens.issue(grant.user, grant.scopes, grant)

    def revoke(self, grant: Grant) -> None:
        """The user takes the permission back: refresh gives invalid_grant, access tokens 401."""
        with self.store.lock:
            grant.revoked = True

    def expire_access_tokens(self, user: str | None = None) -> None:
        """All access tokens (of a user) are refused from now on; refreshing works."""
        with self.store.lock:
            self.tokens.expire_access(user)

    def objects_with(self, text: str) -> list[Stored]:
        """Every event, task and row with the text in any field, in all accounts, deleted ones included."""
        return self.store.objects_with(text)
