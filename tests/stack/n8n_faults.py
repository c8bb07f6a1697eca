"""Faults of n8n and Google on the real n8n: where each is planted and which link it breaks.

First the faults that the lab plants by name, then what only a real server or another kind of broken export can do.
On the real n8n one person's credential serves both operations of a domain, as it does in life.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from butlerctl.inventory.operations import OPERATIONS, Route
from butlerctl.lab.faults import FAULTS, Planted, plant
from butlerctl.lab.faults.base import Edit, edited, exported, google_node, node_named, set_on, webhook_node
from butlerctl.lab.google import Answer, Fault, page
from butlerctl.lab.n8n import answers
from butlerctl.lab.n8n.workflows import Refused
from butlerctl.lab.stack import N8N_CLIENT, Lab

Plant = Callable[[Lab, Route], None]
Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Planting:
    """A fault on one route. `link` is the first that it breaks; `quick` ones run in CI too."""

    name: str
    route: Route
    link: str
    plant: Plant
    quick: bool = False
    everywhere: bool = False
    """It strikes every route."""

    def __str__(self) -> str:
        return f"{self.name}@{self.route}"


def _route(text: str) -> Route:
    return Route(*text.split("/"))


def _in_front(answer: answers.Answer) -> Plant:
    def plant_it(lab: Lab, route: Route) -> None:
        address = f"/webhook/{lab.webhook_path(route)}"
        lab.n8n.switches.in_front = lambda path: answer if path == address else None

    return plant_it


def _too_late(lab: Lab, route: Route) -> None:
    lab.n8n.switches.slow[lab.webhook_path(route)] = lab.inventory.n8n.webhook.timeout + 1


def _conflicting_update(lab: Lab, route: Route) -> None:
    """A PUT to a path that another workflow holds: refused, stored all the same, and the old path is broken."""
    other = next(each for each in lab.plan.workflows if each != route)

    def onto_it(document: Document) -> None:
        webhook_node(document)["parameters"]["path"] = lab.webhook_path(other)

    with pytest.raises(Refused, match=r"conflict|already taken"):
        lab.n8n.workflows.update(lab.workflow_id(route), edited(lab, route, onto_it))


def _unpublished_beside(lab: Lab, route: Route) -> None:
    lab.n8n.workflows.unpublish_beside(lab.workflow_id(route))


def _header_credential(data: dict[str, str] | None) -> Plant:
    def plant_it(lab: Lab, route: Route) -> None:
        header = next(each for each in lab.plan.credentials if not each.profile)
        lab.n8n.spoil_credential(header.id, data, path=lab.webhook_path(route))

    return plant_it


def _wrong_refresh_token(lab: Lab, route: Route) -> None:
    tokens = {"access_token": "gone", "refresh_token": "1//0wrong", "token_type": "Bearer"}
    data = lab.grant_for_n8n(route.profile) | {"oauthTokenData": tokens}
    lab.n8n.spoil_credential(lab.google_credential(route).id, data, path=lab.webhook_path(route))


def _no_refresh(status: int, body: Document) -> Plant:
    """The access token has expired, and the token endpoint gives n8n no other."""

    def plant_it(lab: Lab, route: Route) -> None:
        answer = Answer(status, json.dumps(body).encode())
        lab.google.faults.plant(Fault("token", answer, work=0, client=N8N_CLIENT.id))
        lab.google.expire_access_tokens(lab.account(route.profile).email)

    return plant_it


def _google(fault: Fault) -> Plant:
    def plant_it(lab: Lab, route: Route) -> None:
        fault.user, fault.client = lab.account(route.profile).email, N8N_CLIENT.id
        lab.google.faults.plant(fault)

    return plant_it


def _nobodys_credential(document: Document) -> None:
    for entry in google_node(document)["credentials"].values():
        entry.update(id="nobody0000000000", name="nobody's")


def _nobodys_calendar(document: Document) -> None:
    google_node(document)["parameters"]["calendar"]["value"] = "nobody@example.test"


def _without(name: str) -> Edit:
    return lambda document: google_node(document)["parameters"]["additionalFields"].pop(name)


def _other_tab(document: Document) -> None:
    google_node(document)["parameters"]["sheetName"] = {"__rl": True, "value": "Log", "mode": "name"}


def _switched_off(document: Document) -> None:
    google_node(document)["disabled"] = True


def _false_success(document: Document) -> None:
    """The Google node goes on after an error, and what follows does not look."""
    _nobodys_calendar(document)
    google_node(document)["onError"] = "continueRegularOutput"
    made_up = "return [{ json: { data: { id: 'made-up' } } }];"
    node_named(document, "Format response")["parameters"]["jsCode"] = made_up


def _acknowledging(document: Document) -> None:
    """Answers before it works, and has no respond nodes."""
    webhook_node(document)["parameters"]["responseMode"] = "onReceived"
    gone = {node["name"] for node in document["nodes"] if node["type"].endswith(".respondToWebhook")}
    document["nodes"] = [node for node in document["nodes"] if node["name"] not in gone]
    document["connections"] = {
        name: {"main": [[to for to in output if to["node"] not in gone] for output in link["main"]]}
        for name, link in document["connections"].items()
        if name not in gone
    }


_KEY = {"name": "X-L4CK3Y-Auth", "value": "another-secret"}
_BROKEN = "throw new Error('broken');"
_WITHOUT_DATA = "={{ JSON.stringify({ ok: true, execution: $execution.id }) }}"
_SIGN_IN = answers.page(401, "<html>Sign in</html>")

_EXTRA: tuple[Planting, ...] = (
    Planting("a gate in front says 401", _route("tasks_list/husband"), "request", _in_front(_SIGN_IN)),
    Planting("the editor's page answers", _route("tasks_add/wife"), "request", _in_front(answers.editor_page("2.30.8"))),
    Planting("the answer comes after the plugin gave up", _route("calendar_add/wife"), "request", _too_late),
    Planting("the header credential is gone", _route("calendar_add/wife"), "header", _header_credential(None), quick=True, everywhere=True),
    Planting("the header credential holds nothing", _route("tasks_add/husband"), "header", _header_credential(_KEY | {"value": ""}), everywhere=True),
    Planting("the header credential holds another value", _route("sheets_append/wife"), "header", _header_credential(_KEY), everywhere=True),
    Planting("the header credential names another header", _route("tasks_list/wife"), "header", _header_credential(_KEY | {"name": "X-Other"}), everywhere=True),
    Planting("a conflicting update broke the path", _route("sheets_append/husband"), "active", _conflicting_update, quick=True),
    Planting("unpublished beside the server", _route("tasks_list/wife"), "active", _unpublished_beside),
    Planting("the refresh token is wrong", _route("tasks_add/husband"), "credential", _wrong_refresh_token),
    Planting("the token endpoint says invalid_grant", _route("sheets_append/wife"), "credential", _no_refresh(400, {"error": "invalid_grant"})),
    Planting("the token endpoint fails", _route("tasks_list/husband"), "google", _no_refresh(500, {})),
    Planting("the export names a credential that nobody has", _route("calendar_add/wife"), "credential", exported(_nobodys_credential)),
    Planting("Google lists tasks with a page", _route("tasks_list/husband"), "google", _google(page("tasks.tasks.list")), quick=True),
    Planting("Google answers with nothing", _route("calendar_add/husband"), "google", _google(Fault("calendar.events.insert", Answer(200), work=0))),
    Planting("the export leaves the title out", _route("calendar_add/wife"), "google", exported(_without("summary")), quick=True),
    Planting("the export leaves the due date out", _route("tasks_add/husband"), "google", exported(_without("dueDate"))),
    Planting("the export writes to another tab", _route("sheets_append/husband"), "credential", exported(_other_tab)),
    Planting("the export names a calendar that nobody has", _route("calendar_add/husband"), "google", exported(_nobodys_calendar), quick=True),
    Planting("the export has the Google node switched off", _route("calendar_add/wife"), "google", exported(_switched_off)),
    Planting("the export says ok whatever happened", _route("calendar_add/husband"), "google", exported(_false_success), quick=True),
    Planting("the export's format node breaks", _route("calendar_add/wife"), "shape", exported(set_on("Format response", jsCode=_BROKEN)), quick=True),
    Planting("the export answers without data", _route("calendar_list/wife"), "shape", exported(set_on("Respond ok", responseBody=_WITHOUT_DATA))),
    Planting("the export acknowledges before it works", _route("calendar_add/husband"), "shape", exported(_acknowledging), quick=True),
    Planting("the export's response mode does not fit its nodes", _route("tasks_add/wife"), "google", exported(set_on("Webhook", responseMode="onReceived"))),
)  # fmt: skip

_OF_THE_PLUGIN = frozenset({
    "request.nowhere", "request.argument_lost", "request.argument_changed", "request.body_lost", "request.timeout",
    "header.missing", "header.wrong", "google.sent_twice",
})  # fmt: skip
_OF_SEVERAL_PROCESSES = frozenset({"active.older_runs"})
# A hidden sheet hides its headers from the append too, and nothing is left that the read could miss.
_PLACES = {"google.hidden": Route("tasks_list", "wife")}
_LINKS = ("request", "header", "active", "credential", "google", "shape")
_ROUTES = tuple(Route(operation, profile) for operation in OPERATIONS for profile in ("husband", "wife"))


def _named() -> Iterator[Planting]:
    """The lab's own faults of n8n and Google, each on a route that it can strike; one in three is quick."""
    names = [
        name
        for name in FAULTS
        if name.split(".")[0] in _LINKS and name not in _OF_THE_PLUGIN | _OF_SEVERAL_PROCESSES
    ]
    for number, name in enumerate(names):
        possible = [route for route in _ROUTES if FAULTS[name].strikes(OPERATIONS[route.operation])]
        route = _PLACES.get(name) or possible[number % len(possible)]
        yield Planting(name, route, name.split(".")[0], partial(_plant_named, name), quick=number % 3 == 0)


def _plant_named(name: str, lab: Lab, route: Route) -> None:
    plant(lab, Planted(name, route))


PLANTINGS = (*_named(), *_EXTRA)
