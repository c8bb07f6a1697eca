"""Calendar as a system of record: the calendar of one person, and the primary one where events stray to."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from butlerctl.google.client import Account
from butlerctl.google.guards import event_refusals
from butlerctl.google.interface import PATIENCE, Sighting
from butlerctl.google.listed import ListedRecord
from butlerctl.ledger import Asked, Window

_PRIMARY = "primary"


class CalendarRecord(ListedRecord):
    """The calendar that the inventory names for a profile. Never `q=`: its rules are not specified."""

    domain = "calendar"
    api = "calendar.events"
    place_key = "calendarId"
    id_key = id_parameter = "eventId"
    texts = ("summary", "description", "location")
    link_key = "htmlLink"
    page_size = 2500
    delete_options = MappingProxyType({"sendUpdates": "none"})

    def __init__(self, account: Account, calendar_id: str, *, patience: float = PATIENCE) -> None:
        super().__init__(account, calendar_id, (calendar_id, _PRIMARY), patience=patience)

    def _resource(self) -> Any:
        return self._account.events()

    def _query(self, window: Window) -> dict[str, Any]:
        return {
            "timeMin": _text(window.start),
            "timeMax": _text(window.end),
            "singleEvents": True,
            "showDeleted": False,
        }

    def _is_gone(self, body: Mapping[str, Any]) -> bool:
        return body.get("status") == "cancelled"

    def _refusals(self, body: Mapping[str, Any], asked: Asked, container: str) -> tuple[str, ...]:
        return event_refusals(body, asked, container, self.container)

    def read(self, arguments: Mapping[str, Any], *, when: str) -> Sighting:
        """The events between `start` and `end`, in order of time, at most `limit` of them."""
        names = {"start": "timeMin", "end": "timeMax"}
        query = {names[key]: arguments[key] for key in names if key in arguments}
        query |= {"singleEvents": True, "orderBy": "startTime"}
        return self._read_list(self.container, query, arguments.get("limit"), when)


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").removesuffix("+00:00") + "Z"
