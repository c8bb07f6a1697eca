"""Google refuses, fails, or holds something else than it was asked for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

from butlerctl.inventory.operations import Route
from butlerctl.lab.faults.base import Fault, Faults, Plant, exported, google_node, only, plugin, reads, writes
from butlerctl.lab.google.errors import Answer
from butlerctl.lab.google.faults import DROP, page, refuse
from butlerctl.lab.google.faults import Fault as GoogleFault
from butlerctl.lab.google.tokens import OAuthClient
from butlerctl.lab.stack import N8N_CLIENT, Lab

Body = dict[str, Any]

_METHODS = {
    "calendar_list": "calendar.events.list",
    "calendar_add": "calendar.events.insert",
    "tasks_list": "tasks.tasks.list",
    "tasks_add": "tasks.tasks.insert",
    "sheets_read": "sheets.spreadsheets.values.get",
    "sheets_append": "sheets.spreadsheets.values.update",
}
_READER = OAuthClient("n8n-reader.lab.example", "lab-reader-client-secret")
_makes_an_item = only("calendar_add", "tasks_add")


def _google(make: Callable[[str], GoogleFault]) -> Plant:
    """Google goes wrong for n8n, with this person's account, in the call of this operation."""

    def plant_it(lab: Lab, route: Route) -> None:
        fault = make(_METHODS[route.operation])
        fault.user = lab.account(route.profile).email
        fault.client = _client_of(lab, route).id
        lab.google.faults.plant(fault)

    return plant_it


def _client_of(lab: Lab, route: Route) -> OAuthClient:
    """Whom Google sees. Rows are read by the append too: the workflow that reads gets a client of its own."""
    if route.operation != "sheets_read":
        return N8N_CLIENT
    credential = lab.google_credential(route)
    data = lab.grant_for_n8n(route.profile, client=_READER)
    lab.n8n.spoil_credential(credential.id, data, path=lab.webhook_path(route))
    return _READER


def _refusing(status: int, reason: str) -> Plant:
    return _google(lambda method: refuse(method, status, reason))


def _storing(rewrite: Callable[[Body], Body]) -> Plant:
    return _google(lambda method: GoogleFault(method, rewrite=rewrite))


def _later(body: Body) -> Body:
    """An event an hour later, a task a day later."""
    moved = dict(body)
    for name in ("start", "end"):
        if name in moved:
            moment = datetime.fromisoformat(moved[name]["dateTime"]) + timedelta(hours=1)
            moved[name] = {**moved[name], "dateTime": moment.isoformat()}
    if moved.get("due"):
        day = date.fromisoformat(moved["due"][:10]) + timedelta(days=1)
        moved["due"] = day.isoformat() + moved["due"][10:]
    return moved


def _all_day(body: Body) -> Body:
    day = date.fromisoformat(body["start"]["dateTime"][:10])
    days = {"start": {"date": day.isoformat()}, "end": {"date": (day + timedelta(days=1)).isoformat()}}
    return {**body, **days}


def _no_due(body: Body) -> Body:
    return {name: value for name, value in body.items() if name != "due"}


def _untitled(body: Body) -> Body:
    return {name: value for name, value in body.items() if name not in ("summary", "title")}


def _sent_twice(lab: Lab, route: Route) -> None:
    """The workflow writes a second time, as a retry after a lost answer does."""
    lab.n8n.switches.twice.add(lab.webhook_path(route))


def _columns_swapped(document: Body) -> None:
    cells = google_node(document)["parameters"]["columns"]["value"]
    names = list(cells)
    cells[names[0]], cells[names[-1]] = cells[names[-1]], cells[names[0]]


def _nothing_found(lab: Lab, route: Route) -> None:
    empty = b'{"values": []}' if route.operation == "sheets_read" else b'{"items": []}'
    _google(lambda method: GoogleFault(method, Answer(200, empty), work=0))(lab, route)


FAULTS: Faults = {
    "rate_limit": Fault("Google refuses for its rate limit", _refusing(429, "rateLimitExceeded")),
    "server_error": Fault("Google fails", _refusing(500, "backendError")),
    "unavailable": Fault("Google is not available", _refusing(503, "backendError")),
    "bad_request": Fault("Google refuses what was asked", _refusing(400, "badRequest")),
    "hangs_up": Fault("Google closes the connection", _google(lambda method: GoogleFault(method, DROP, work=0))),
    "page": Fault("a page of HTML answers in Google's place", _google(page)),
    "forgotten": Fault(
        "Google says yes and stores nothing", _google(lambda method: GoogleFault(method, forget=True)), writes
    ),
    "twice": Fault(
        "Google stores the object twice", _google(lambda method: GoogleFault(method, work=2)), _makes_an_item
    ),
    "written_twice": Fault("the workflow writes twice", _sent_twice, writes),
    "sent_twice": Fault("the plugin sends every request twice", plugin("sends_twice"), writes),
    "later": Fault("Google stores another time", _storing(_later), _makes_an_item),
    "all_day": Fault("Google stores an event of a whole day", _storing(_all_day), only("calendar_add")),
    "no_due": Fault("the due date is lost", _storing(_no_due), only("tasks_add")),
    "untitled": Fault("the title is lost", _storing(_untitled), _makes_an_item),
    "columns": Fault("the export fills the columns in another order", exported(_columns_swapped), only("sheets_append")),
    "hidden": Fault("Google answers as if there was nothing", _nothing_found, reads),
}  # fmt: skip
