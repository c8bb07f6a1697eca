"""Faults on the real n8n and in what its Google nodes meet: where each is planted and which link it breaks.

The faults that the lab plants by name come first (on the real n8n one person's credential serves both operations of
a domain, as it does in life); then what only a real server, or a broken export, can do.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from butlerctl.inventory.operations import OPERATIONS, Route
from butlerctl.lab.faults import Planted, plant
from butlerctl.lab.google import DROP, Answer, Fault, page, refuse
from butlerctl.lab.n8n import answers
from butlerctl.lab.n8n.workflows import Refused
from butlerctl.lab.stack import N8N_CLIENT
from tests.stack.n8n_house import House

Plant = Callable[[House, Route], None]
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


def _named(name: str, place: str, *, quick: bool = False) -> Planting:
    """One of the lab's own faults; its name begins with its link."""

    def plant_it(house: House, route: Route) -> None:
        plant(house.lab, Planted(name, route))

    return Planting(name, _route(place), name.partition(".")[0], plant_it, quick)


def _node(document: Document, name: str) -> Document:
    return next(node for node in document["nodes"] if node["name"] == name)


def _google_node(document: Document) -> Document:
    return next(node for node in document["nodes"] if "Google" in node["name"] and "credentials" in node)


def _edited_live(edit: Callable[[Document], None]) -> Plant:
    """Somebody edits the live workflow and publishes it; the export stays as it was."""

    def plant_it(house: House, route: Route) -> None:
        house.n8n.workflows.update(house.lab.workflow_id(route), house.edited(route, edit))

    return plant_it


def _exported(edit: Callable[[Document], None]) -> Plant:
    """The export itself is wrong, and was deployed so."""
    return lambda house, route: house.deploy_broken(route, edit)


def _set(node: str, **parameters: Any) -> Callable[[Document], None]:
    return lambda document: _node(document, node)["parameters"].update(parameters)


def _set_google(**parameters: Any) -> Callable[[Document], None]:
    return lambda document: _google_node(document)["parameters"].update(parameters)


def _options(**options: Any) -> Callable[[Document], None]:
    return lambda document: _node(document, "Webhook")["parameters"]["options"].update(options)


def _script(node: str, text: str) -> Callable[[Document], None]:
    return _set(node, jsCode=text)


def _in_front(answer: answers.Answer) -> Plant:
    def plant_it(house: House, route: Route) -> None:
        address = f"/webhook/{house.path(route)}"
        house.n8n.switches.in_front = lambda path: answer if path == address else None

    return plant_it


# --- n8n: registration, versions, the header -------------------------------------------------------------------------


def _moved(document: Document) -> None:
    _node(document, "Webhook")["parameters"]["path"] += "/moved"


def _impostor(house: House, route: Route) -> None:
    """The workflow is off, and another one serves its path."""
    house.n8n.workflows.unpublish(house.lab.workflow_id(route))

    def other(document: Document) -> None:
        document["name"] = "somebody else's"
        _node(document, "Format response")["parameters"]["jsCode"] = (
            "return [{ json: { data: { id: 'x' } } }];"
        )

    house.n8n.import_workflow(house.edited(route, other))


def _conflicting_update(house: House, route: Route) -> None:
    """A PUT to a path that another workflow holds: refused, stored all the same, and the old path is broken."""
    other = next(each for each in house.lab.plan.workflows if each != route)

    def onto_it(document: Document) -> None:
        _node(document, "Webhook")["parameters"]["path"] = house.path(other)

    with pytest.raises(Refused, match="conflict"):
        house.n8n.workflows.update(house.lab.workflow_id(route), house.edited(route, onto_it))


def _unpublished_beside(house: House, route: Route) -> None:
    house.n8n.workflows.unpublish_beside(house.lab.workflow_id(route))


def _header_credential(data: dict[str, str] | None) -> Plant:
    def plant_it(house: House, route: Route) -> None:
        house.n8n.spoil_credential(house.header_credential(), data, path="")

    return plant_it


# --- credentials -----------------------------------------------------------------------------------------------------


def _credential(**changes: Any) -> Plant:
    """The route's Google credential holds other data."""

    def plant_it(house: House, route: Route) -> None:
        data = house.lab.grant_for_n8n(route.profile) | changes
        house.n8n.spoil_credential(house.credential(route), data, path="")
        house.lab.google.expire_access_tokens(house.lab.account(route.profile).email)

    return plant_it


def _named_credential(credential_id: str) -> Callable[[Document], None]:
    def edit(document: Document) -> None:
        for entry in _google_node(document)["credentials"].values():
            entry.update(id=credential_id, name="nobody's")

    return edit


# --- Google ----------------------------------------------------------------------------------------------------------

_METHODS = {
    "calendar_list": "calendar.events.list",
    "calendar_add": "calendar.events.insert",
    "tasks_list": "tasks.tasks.list",
    "tasks_add": "tasks.tasks.insert",
    "sheets_read": "sheets.spreadsheets.values.get",
    "sheets_append": "sheets.spreadsheets.values.update",
}


def _google(make: Callable[[str], Fault]) -> Plant:
    def plant_it(house: House, route: Route) -> None:
        fault = make(_METHODS[route.operation])
        fault.user, fault.client = house.lab.account(route.profile).email, N8N_CLIENT.id
        house.lab.google.faults.plant(fault)

    return plant_it


def _token(status: int, body: dict[str, Any]) -> Plant:
    """The token endpoint refuses to refresh n8n's token."""

    def plant_it(house: House, route: Route) -> None:
        house.n8n.spoil_credential(house.credential(route), house.lab.grant_for_n8n(route.profile), path="")
        answer = Answer(status, json.dumps(body).encode())
        house.lab.google.faults.plant(Fault("token", answer, work=0, client=N8N_CLIENT.id))
        _expire(house, route)

    return plant_it


def _expire(house: House, route: Route) -> None:
    house.lab.google.expire_access_tokens(house.lab.account(route.profile).email)


def _lost_field(*names: str) -> Callable[[str], Fault]:
    def without(body: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in body.items() if name not in names}

    return lambda method: Fault(method, rewrite=without)


# --- broken exports --------------------------------------------------------------------------------------------------


def _unlink(name: str) -> Callable[[Document], None]:
    return lambda document: document["connections"].pop(name, None)


def _no_authentication(document: Document) -> None:
    node = _node(document, "Webhook")
    node["parameters"]["authentication"] = "none"
    node.pop("credentials")


def _acknowledging(document: Document) -> None:
    _node(document, "Webhook")["parameters"]["responseMode"] = "onReceived"
    gone = {node["name"] for node in document["nodes"] if node["type"].endswith(".respondToWebhook")}
    document["nodes"] = [node for node in document["nodes"] if node["name"] not in gone]
    links = document["connections"]
    document["connections"] = {
        name: {"main": [[to for to in output if to["node"] not in gone] for output in link["main"]]}
        for name, link in links.items()
        if name not in gone
    }


def _disabled_google(document: Document) -> None:
    _google_node(document)["disabled"] = True


def _false_success(document: Document) -> None:
    """The Google node goes on after an error, and what follows does not look."""
    _google_node(document)["onError"] = "continueRegularOutput"
    _node(document, "Format response")["parameters"]["jsCode"] = (
        "return [{ json: { data: { id: 'made-up' } } }];"
    )
    _google_node(document)["parameters"]["calendar"] = {
        "__rl": True,
        "value": "nobody@example.test",
        "mode": "id",
    }


def _no_summary(document: Document) -> None:
    _google_node(document)["parameters"]["additionalFields"].pop("summary")


def _no_due(document: Document) -> None:
    _google_node(document)["parameters"]["additionalFields"].pop("dueDate")


def _swapped_columns(document: Document) -> None:
    values = _google_node(document)["parameters"]["columns"]["value"]
    values["item"], values["amount"] = values["amount"], values["item"]


def _calendar(value: str) -> Callable[[Document], None]:
    return _set_google(calendar={"__rl": True, "value": value, "mode": "id"})


def _sheet(name: str) -> Callable[[Document], None]:
    return _set_google(sheetName={"__rl": True, "value": name, "mode": "name"})


PLANTINGS: tuple[Planting, ...] = (
    _named("request.redirect", "calendar_add/wife", quick=True),
    _named("request.gateway", "tasks_add/husband"),
    _named("request.gate", "sheets_read/wife", quick=True),
    _named("header.changed", "calendar_add/husband", quick=True),
    _named("header.open", "tasks_add/wife"),
    _named("header.bots", "sheets_append/husband", quick=True),
    _named("active.inactive", "calendar_add/wife", quick=True),
    _named("active.draft", "calendar_add/husband", quick=True),
    _named("active.old_version", "tasks_list/wife", quick=True),
    _named("active.edited", "sheets_append/wife"),
    _named("active.archived", "tasks_add/husband", quick=True),
    _named("active.never_imported", "sheets_read/husband", quick=True),
    _named("active.unserved", "calendar_list/wife"),
    _named("credential.revoked", "calendar_add/wife", quick=True),
    _named("credential.revoked", "sheets_read/husband"),
    _named("credential.other_person", "tasks_add/husband", quick=True),
    _named("credential.scope", "calendar_add/husband"),
    _named("credential.deleted", "tasks_add/wife", quick=True),
    _named("credential.not_connected", "sheets_append/husband"),
    _named("google.rate_limit", "calendar_add/husband", quick=True),
    _named("google.server_error", "tasks_list/wife", quick=True),
    _named("google.forgotten", "calendar_add/wife", quick=True),
    _named("google.twice", "tasks_add/husband"),
    _named("google.later", "calendar_add/husband"),
    _named("shape.empty", "calendar_add/wife", quick=True),
    _named("shape.text", "tasks_add/husband"),
    _named("shape.started", "sheets_append/wife"),
    _named("shape.fields", "calendar_list/husband"),
    _named("shape.status", "tasks_add/wife"),
    Planting("a proxy in front says 504", _route("calendar_list/wife"), "request", _in_front(answers.gateway_page(504))),
    Planting("a gate in front says 401", _route("tasks_list/husband"), "request", _in_front(answers.page(401, "<html>Sign in</html>"))),
    Planting("a proxy in front redirects to https", _route("sheets_append/wife"), "request", _in_front(answers.redirect("https://n8n.example.test/"))),
    Planting("the editor's page answers", _route("tasks_add/wife"), "request", _in_front(answers.editor_page("2.30.8"))),
    Planting("the answer comes after the plugin gave up", _route("calendar_add/wife"), "request",
             lambda house, route: house.n8n.switches.slow.update({house.path(route): 16})),
    Planting("the header credential is gone", _route("calendar_add/wife"), "header", _header_credential(None), quick=True, everywhere=True),
    Planting("the header credential holds nothing", _route("tasks_add/husband"), "header", _header_credential({"name": "X-L4CK3Y-Auth", "value": ""}), everywhere=True),
    Planting("the header credential holds another value", _route("sheets_append/wife"), "header", _header_credential({"name": "X-L4CK3Y-Auth", "value": "another-secret"}), everywhere=True),
    Planting("the header credential names another header", _route("tasks_list/wife"), "header", _header_credential({"name": "X-Other", "value": "another-secret"}), everywhere=True),
    Planting("the webhook takes only other addresses", _route("calendar_add/husband"), "header", _edited_live(_options(ipWhitelist="10.0.0.1"))),
    Planting("the export's webhook wants no key", _route("tasks_add/wife"), "header", _exported(_no_authentication)),
    Planting("the export's webhook ignores bots", _route("tasks_list/husband"), "header", _exported(_options(ignoreBots=True))),
    Planting("the live workflow moved to another path", _route("calendar_add/wife"), "active", _edited_live(_moved), quick=True),
    Planting("the live webhook takes GET", _route("tasks_add/husband"), "active", _edited_live(_set("Webhook", httpMethod="GET"))),
    Planting("a second owner serves the path", _route("calendar_add/wife"), "active", _impostor, quick=True),
    Planting("a conflicting update broke the path", _route("sheets_append/husband"), "active", _conflicting_update, quick=True),
    Planting("unpublished beside the server", _route("tasks_list/wife"), "active", _unpublished_beside),
    Planting("the live calendar is another one", _route("calendar_add/husband"), "active", _edited_live(_calendar("wife@example.test"))),
    Planting("the live credential is another one", _route("tasks_add/wife"), "active", _edited_live(_named_credential("nobody0000000000"))),
    Planting("the OAuth client's secret is wrong", _route("calendar_list/husband"), "credential", _credential(clientSecret="wrong")),
    Planting("the refresh token is wrong", _route("tasks_add/husband"), "credential",
             _credential(oauthTokenData={"access_token": "gone", "refresh_token": "1//0wrong", "token_type": "Bearer"})),
    Planting("the token endpoint says invalid_grant", _route("sheets_append/wife"), "credential", _token(400, {"error": "invalid_grant"})),
    Planting("the token endpoint fails", _route("tasks_list/husband"), "google", _token(500, {})),
    Planting("the export names a credential that nobody has", _route("calendar_add/wife"), "credential", _exported(_named_credential("nobody0000000000"))),
    Planting("Google says 400", _route("tasks_add/wife"), "google", _google(lambda method: refuse(method, 400, "badRequest"))),
    Planting("Google says 503", _route("sheets_read/husband"), "google", _google(lambda method: refuse(method, 503, "backendError"))),
    Planting("Google hangs up before the work", _route("tasks_add/husband"), "google", _google(lambda method: Fault(method, DROP, work=0))),
    Planting("Google answers with a page", _route("calendar_list/wife"), "google", _google(page)),
    Planting("Google lists tasks with a page", _route("tasks_list/husband"), "google", _google(page), quick=True),
    Planting("Google answers with nothing", _route("calendar_add/husband"), "google", _google(lambda method: Fault(method, Answer(200), work=0))),
    Planting("Google drops the title", _route("tasks_add/wife"), "google", _google(_lost_field("title"))),
    Planting("Google drops the due date", _route("tasks_add/husband"), "google", _google(_lost_field("due"))),
    Planting("the export leaves the title out", _route("calendar_add/wife"), "google", _exported(_no_summary), quick=True),
    Planting("the export leaves the due date out", _route("tasks_add/husband"), "google", _exported(_no_due)),
    Planting("the export swaps two columns", _route("sheets_append/wife"), "google", _exported(_swapped_columns)),
    Planting("the export writes to another tab", _route("sheets_append/husband"), "credential", _exported(_sheet("Log"))),
    Planting("the export names a calendar that nobody has", _route("calendar_add/husband"), "google", _exported(_calendar("nobody@example.test")), quick=True),
    Planting("the export has the Google node switched off", _route("calendar_add/wife"), "google", _exported(_disabled_google)),
    Planting("the export says ok whatever happened", _route("calendar_add/husband"), "google", _exported(_false_success), quick=True),
    Planting("the export's format node breaks", _route("calendar_add/wife"), "shape", _exported(_script("Format response", "throw new Error('broken');")), quick=True),
    Planting("the export's respond node cannot be reached", _route("tasks_add/husband"), "shape", _exported(_unlink("Format response")), quick=True),
    Planting("the export answers with text", _route("sheets_append/wife"), "shape", _exported(_set("Respond ok", respondWith="text", responseBody="done"))),
    Planting("the export answers without data", _route("calendar_list/wife"), "shape",
             _exported(_set("Respond ok", responseBody="={{ JSON.stringify({ ok: true, execution: $execution.id }) }}"))),
    Planting("the export answers a success with 500", _route("tasks_list/husband"), "shape", _exported(_set("Respond ok", options={"responseCode": 500}))),
    Planting("the export acknowledges before it works", _route("calendar_add/husband"), "shape", _exported(_acknowledging), quick=True),
    Planting("the export's response mode does not fit its nodes", _route("tasks_add/wife"), "google", _exported(_set("Webhook", responseMode="onReceived"))),
)  # fmt: skip

assert len({str(each) for each in PLANTINGS}) == len(PLANTINGS)
assert {OPERATIONS[each.route.operation].name for each in PLANTINGS} == set(OPERATIONS)
