"""Faults that the lab plants by name, each on one route: for demonstration, and to prove the healthy path.

A fault's name begins with the link that it breaks; a bare link name is that link's first fault.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from butlerctl.errors import UsageProblem
from butlerctl.inventory.model import Inventory
from butlerctl.inventory.operations import OPERATIONS, Operation, Route
from butlerctl.judge.result import LINKS
from butlerctl.lab.google.emulator import READ_SCOPES
from butlerctl.lab.google.faults import Fault as GoogleFault
from butlerctl.lab.google.faults import refuse
from butlerctl.lab.n8n.answers import Answer, json_answer
from butlerctl.lab.stack import N8N_CLIENT, Lab

_METHODS = {
    "calendar_list": "calendar.events.list",
    "calendar_add": "calendar.events.insert",
    "tasks_list": "tasks.tasks.list",
    "tasks_add": "tasks.tasks.insert",
    "sheets_read": "sheets.spreadsheets.values.get",
    "sheets_append": "sheets.spreadsheets.values.update",
}
_CREDENTIAL_OF = {
    "calendar": "googleCalendarOAuth2Api",
    "tasks": "googleTasksOAuth2Api",
    "sheets": "googleSheetsOAuth2Api",
}
_LOGIN_PAGE = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please sign in</body></html>"


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to break one link of one route. `strikes` says on which operations it can."""

    link: str
    summary: str
    plant: Callable[[Lab, Route], None]
    strikes: Callable[[Operation], bool] = lambda _operation: True


@dataclass(frozen=True, slots=True)
class Planted:
    name: str
    route: Route


def read_fault(text: str, inventory: Inventory) -> Planted:
    """`NAME@operation/profile`.

    Raises:
        UsageProblem: no such fault or route, or the fault cannot strike there.
    """
    name, at, place = text.partition("@")
    name = _FIRST.get(name, name)
    fault = FAULTS.get(name)
    if fault is None or not at:
        raise UsageProblem(
            f"no fault is called {text}",
            hint="NAME@ROUTE, such as active@calendar_add/wife; see `butlerctl lab faults`",
        )
    route = next((route for route in inventory.routes if str(route) == place), None)
    if route is None:
        raise UsageProblem(
            f"no route is called {place}", hint=f"routes: {', '.join(map(str, inventory.routes))}"
        )
    if not fault.strikes(OPERATIONS[route.operation]):
        where = ", ".join(name for name, operation in OPERATIONS.items() if fault.strikes(operation))
        raise UsageProblem(f"{name} cannot strike {route}", hint=f"it can on {where}")
    return Planted(name, route)


def plant(lab: Lab, planted: Planted) -> None:
    FAULTS[planted.name].plant(lab, planted.route)


def _model(kind: str) -> Callable[[Lab, Route], None]:
    return lambda lab, route: lab.model.plant(kind, route)


def _plugin(kind: str) -> Callable[[Lab, Route], None]:
    return lambda lab, route: lab.gateway.plant(kind, route)


def _path(lab: Lab, route: Route) -> str:
    return route.webhook_path(lab.inventory.n8n.webhook.prefix)


def _in_front(answer: Answer) -> Callable[[Lab, Route], None]:
    """Something between the gateway and n8n answers in its place, on this route."""

    def plant_it(lab: Lab, route: Route) -> None:
        path = f"/webhook/{_path(lab, route)}"
        before = lab.n8n.switches.in_front
        lab.n8n.switches.in_front = lambda asked: answer if asked == path else before(asked)

    return plant_it


def _instead(answer: Answer) -> Callable[[Lab, Route], None]:
    """The workflow does its work, and this is what goes out."""

    def plant_it(lab: Lab, route: Route) -> None:
        lab.n8n.switches.instead[_path(lab, route)] = answer

    return plant_it


def _edited(lab: Lab, route: Route, edit: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    document = copy.deepcopy(lab.plan.workflows[route])
    edit(document)
    return document


def _webhook_node(document: dict[str, Any]) -> dict[str, Any]:
    node: dict[str, Any] = next(node for node in document["nodes"] if node["type"].endswith(".webhook"))
    return node


def _publish_edited(edit: Callable[[dict[str, Any]], None]) -> Callable[[Lab, Route], None]:
    """Somebody edited the live workflow by hand, and published it."""

    def plant_it(lab: Lab, route: Route) -> None:
        workflow_id = lab.workflow_id(route)
        lab.n8n.workflows.save(workflow_id, _edited(lab, route, edit))
        lab.n8n.workflows.publish(workflow_id)

    return plant_it


def _no_authentication(document: dict[str, Any]) -> None:
    node = _webhook_node(document)
    node["parameters"]["authentication"] = "none"
    node.pop("credentials", None)


def _ignore_bots(document: dict[str, Any]) -> None:
    _webhook_node(document)["parameters"]["options"] = {"ignoreBots": True}


def _other_limit(document: dict[str, Any]) -> None:
    document["settings"] = {**document["settings"], "executionTimeout": 7}


def _changed_header_credential(lab: Lab, route: Route) -> None:
    """n8n holds another secret for this webhook: a second header credential."""
    lab.n8n.add_credential(
        "LabOtherHeader01",
        "another webhook key",
        "httpHeaderAuth",
        {"name": lab.inventory.n8n.webhook.header, "value": "another-lab-secret"},
    )
    reference = {"httpHeaderAuth": {"id": "LabOtherHeader01", "name": "another webhook key"}}
    _publish_edited(lambda document: _webhook_node(document).update(credentials=reference))(lab, route)


def _inactive(lab: Lab, route: Route) -> None:
    lab.n8n.workflows.unpublish(lab.workflow_id(route))


def _archived(lab: Lab, route: Route) -> None:
    lab.n8n.workflows.archive(lab.workflow_id(route))


def _removed(lab: Lab, route: Route) -> None:
    lab.n8n.workflows.remove(lab.workflow_id(route))


def _unpublished_draft(lab: Lab, route: Route) -> None:
    lab.n8n.workflows.save(lab.workflow_id(route), _edited(lab, route, _other_limit_in_node))


def _other_limit_in_node(document: dict[str, Any]) -> None:
    code = next(node for node in document["nodes"] if node["name"] == "Check input")
    code["parameters"]["jsCode"] += "\n// edited by hand"


def _old_version_served(lab: Lab, route: Route) -> None:
    """What is saved equals the export, and n8n serves an older version."""
    workflow_id = lab.workflow_id(route)
    _publish_edited(_other_limit_in_node)(lab, route)
    lab.n8n.workflows.save(workflow_id, lab.plan.workflows[route])


def _published_beside(lab: Lab, route: Route) -> None:
    """n8n's command line published it beside the server: the API says active, the URL does not answer."""
    lab.n8n.workflows.publish_beside(lab.workflow_id(route))


def _with_credential(make: Callable[[Lab, Route], Mapping[str, Any] | None]) -> Callable[[Lab, Route], None]:
    """This route's Google credential holds other data, or (None) is not there."""

    def plant_it(lab: Lab, route: Route) -> None:
        kind = _CREDENTIAL_OF[OPERATIONS[route.operation].domain]
        credential = next(
            each for each in lab.plan.credentials if (each.type, each.profile) == (kind, route.profile)
        )
        lab.n8n.spoil_credential(credential.id, make(lab, route), path=_path(lab, route))

    return plant_it


def _revoked(lab: Lab, route: Route) -> Mapping[str, Any]:
    data = lab.grant_for_n8n(route.profile)
    lab.google.revoke(lab.google.tokens.grant_of(data["oauthTokenData"]["refresh_token"]))
    return data


def _others(lab: Lab, route: Route) -> Mapping[str, Any]:
    other = next(account.profile for account in lab.plan.accounts if account.profile != route.profile)
    return lab.grant_for_n8n(other)


def _not_connected(lab: Lab, route: Route) -> Mapping[str, Any]:
    return {**lab.grant_for_n8n(route.profile), "oauthTokenData": {}}


def _wrong_scope(lab: Lab, route: Route) -> Mapping[str, Any]:
    domain = OPERATIONS[route.operation].domain
    scopes = tuple(scope for scope in READ_SCOPES if domain not in scope and domain[:-1] not in scope)
    return lab.grant_for_n8n(route.profile, scopes)


def _google(make: Callable[[str], GoogleFault]) -> Callable[[Lab, Route], None]:
    """Google goes wrong for n8n, with this person's account, in the call of this operation."""

    def plant_it(lab: Lab, route: Route) -> None:
        fault = make(_METHODS[route.operation])
        fault.user = lab.account(route.profile).email
        fault.client = N8N_CLIENT.id
        lab.google.faults.plant(fault)

    return plant_it


def _later(body: dict[str, Any]) -> dict[str, Any]:
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


def _writes(operation: Operation) -> bool:
    return operation.writes


def _reads(operation: Operation) -> bool:
    return not operation.writes


def _has_times(operation: Operation) -> bool:
    return operation.domain == "calendar"


def _makes_one_object(operation: Operation) -> bool:
    return operation.writes and operation.domain != "sheets"


FAULTS: Mapping[str, Fault] = {
    "call.narrated": Fault("call", "the model says that it is done and makes no call", _model("narrates")),
    "call.promised": Fault("call", "the model promises and makes no call", _model("promises")),
    "call.text": Fault("call", "the model writes the call as a line of text", _model("convention_text")),
    "call.harmony": Fault("call", "the model writes the call as Harmony text", _model("harmony_text")),
    "call.dsml": Fault("call", "the model writes the call as DSML text", _model("dsml_text")),
    "call.unknown_tool": Fault("call", "the model calls a tool that nobody offered", _model("unknown_tool")),
    "call.wrong_profile": Fault("call", "the model calls for another person", _model("wrong_profile")),
    "call.wrong_hour": Fault("call", "the model asks an hour later", _model("wrong_hour"), _has_times),
    "call.wrong_text": Fault("call", "the model calls with another title or cell", _model("wrong_text"), _writes),
    "call.truncated": Fault("call", "the arguments break off in the middle", _model("truncated_arguments")),
    "call.provider": Fault("call", "the model's provider refuses for its rate limit", _model("provider_429")),
    "call.not_offered": Fault("call", "the model is not offered the tool", _plugin("not_offered")),
    "route.other_person": Fault("route", "the plugin sends to another person's webhook", _plugin("other_persons_path")),
    "route.misspelled": Fault("route", "the plugin sends to a path that no workflow has", _plugin("misspelled_path")),
    "route.test_url": Fault("route", "the plugin sends to n8n's test address", _plugin("test_url")),
    "request.nowhere": Fault("request", "the plugin sends where nothing listens", _plugin("wrong_base_url")),
    "request.redirect": Fault(
        "request", "something in front of n8n redirects",
        _in_front(Answer(302, b"", None, (("Location", "https://sign-in.example.test/"),))),
    ),
    "request.gateway": Fault(
        "request", "a proxy in front of n8n answers 502",
        _in_front(Answer(502, b"<html><body><h1>502 Bad Gateway</h1></body></html>", "text/html")),
    ),
    "request.gate": Fault(
        "request", "a sign-in page in front of n8n answers 200", _in_front(Answer(200, _LOGIN_PAGE, "text/html"))
    ),
    "request.argument_lost": Fault(
        "request", "the plugin leaves an argument out", _plugin("drops_argument"), _writes
    ),
    "request.argument_changed": Fault(
        "request", "the plugin changes an argument", _plugin("alters_argument"), _writes
    ),
    "request.timeout": Fault("request", "the answer does not come back in time", _plugin("lost_answer")),
    "header.missing": Fault("header", "the plugin does not send the key", _plugin("no_header")),
    "header.wrong": Fault("header", "the plugin sends another key", _plugin("wrong_header")),
    "header.changed": Fault("header", "n8n holds another key for this webhook", _changed_header_credential),
    "header.open": Fault("header", "the webhook wants no key at all", _publish_edited(_no_authentication)),
    "header.bots": Fault("header", "the webhook ignores bots, the plugin among them", _publish_edited(_ignore_bots)),
    "active.inactive": Fault("active", "the workflow is not active", _inactive),
    "active.draft": Fault("active", "an edit was saved and not published", _unpublished_draft),
    "active.old_version": Fault("active", "n8n serves an older version than the saved one", _old_version_served),
    "active.edited": Fault("active", "the live workflow was edited by hand", _publish_edited(_other_limit)),
    "active.archived": Fault("active", "the workflow is archived", _archived),
    "active.never_imported": Fault("active", "n8n has no such workflow", _removed),
    "active.unserved": Fault("active", "n8n says active, and its URL does not answer", _published_beside),
    "credential.revoked": Fault("credential", "the Google grant was revoked", _with_credential(_revoked)),
    "credential.other_person": Fault(
        "credential", "the workflow acts with another person's Google account", _with_credential(_others)
    ),
    "credential.scope": Fault("credential", "the Google grant lacks the scope", _with_credential(_wrong_scope)),
    "credential.deleted": Fault("credential", "the credential was deleted", _with_credential(lambda *_: None)),
    "credential.not_connected": Fault(
        "credential", "the credential was never connected", _with_credential(_not_connected)
    ),
    "google.rate_limit": Fault(
        "google", "Google refuses for its rate limit", _google(lambda method: refuse(method, 429, "rateLimitExceeded"))
    ),
    "google.server_error": Fault(
        "google", "Google fails", _google(lambda method: refuse(method, 500, "backendError"))
    ),
    "google.bad_request": Fault(
        "google", "Google refuses what was asked", _google(lambda method: refuse(method, 400, "badRequest"))
    ),
    "google.forgotten": Fault(
        "google", "Google says yes and stores nothing", _google(lambda method: GoogleFault(method, forget=True)),
        _makes_one_object,
    ),
    "google.twice": Fault(
        "google", "Google stores the object twice", _google(lambda method: GoogleFault(method, work=2)),
        _makes_one_object,
    ),
    "google.later": Fault(
        "google", "Google stores another time", _google(lambda method: GoogleFault(method, rewrite=_later)),
        _makes_one_object,
    ),
    "shape.empty": Fault("shape", "the answer is an empty 200", _instead(Answer(200, b"", "application/json; charset=utf-8"))),
    "shape.text": Fault("shape", "the answer is plain text", _instead(Answer(200, b"ok", "text/plain; charset=utf-8"))),
    "shape.started": Fault(
        "shape", "the answer is only an acknowledgement", _instead(json_answer(200, {"message": "Workflow was started"}))
    ),
    "shape.fields": Fault(
        "shape", "the answer has other fields than the contract's", _instead(json_answer(200, {"ok": True, "data": {}}))
    ),
    "shape.status": Fault(
        "shape", "the work is done and the answer is a 500", _instead(json_answer(500, {"message": "Error in workflow"}))
    ),
    "report.other_facts": Fault("report", "the agent reports other facts than the answer has", _model("wrong_claim")),
    "report.denied": Fault("report", "the agent says that it failed, although it worked", _model("denies_success")),
}  # fmt: skip

_FIRST = {link: next(name for name, fault in FAULTS.items() if fault.link == link) for link in LINKS}
