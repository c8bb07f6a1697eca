"""The workflow acts with a dead credential, with somebody else's, or in somebody else's place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from butlerctl.inventory.operations import OPERATIONS, Route
from butlerctl.lab.faults.base import Edit, Fault, Faults, Plant, exported, google_node, published, writes
from butlerctl.lab.google.emulator import READ_SCOPES
from butlerctl.lab.plan import Account
from butlerctl.lab.stack import Lab
from butlerctl.workflows.google import PLACES

_PLACE_OF: Mapping[str, Callable[[Account], str]] = {
    "calendar": lambda account: account.calendar,
    "tasks": lambda account: next(iter(account.task_lists.values())),
    "sheets": lambda account: account.spreadsheet,
}


def _domain(route: Route) -> str:
    return OPERATIONS[route.operation].domain


def _another(lab: Lab, route: Route) -> str:
    """Another person of the household."""
    return next(account.profile for account in lab.plan.accounts if account.profile != route.profile)


def _holding(make: Callable[[Lab, Route], Mapping[str, Any] | None]) -> Plant:
    """This route's Google credential holds other data, or (None) is not there."""

    def plant_it(lab: Lab, route: Route) -> None:
        data = make(lab, route)
        lab.n8n.spoil_credential(lab.google_credential(route).id, data, path=lab.webhook_path(route))

    return plant_it


def _revoked(lab: Lab, route: Route) -> Mapping[str, Any]:
    data = lab.grant_for_n8n(route.profile)
    lab.google.revoke(lab.google.tokens.grant_of(data["oauthTokenData"]["refresh_token"]))
    return data


def _of_another(lab: Lab, route: Route) -> Mapping[str, Any]:
    return lab.grant_for_n8n(_another(lab, route))


def _not_connected(lab: Lab, route: Route) -> Mapping[str, Any]:
    return {**lab.grant_for_n8n(route.profile), "oauthTokenData": {}}


def _wrong_secret(lab: Lab, route: Route) -> Mapping[str, Any]:
    """The OAuth client's secret was changed at Google; the access token is past."""
    data = lab.grant_for_n8n(route.profile)
    tokens = {**data["oauthTokenData"], "access_token": "past"}
    return {**data, "clientSecret": "no-longer-right", "oauthTokenData": tokens}


def _wrong_scope(lab: Lab, route: Route) -> Mapping[str, Any]:
    domain = _domain(route)
    scopes = tuple(scope for scope in READ_SCOPES if domain not in scope and domain[:-1] not in scope)
    return lab.grant_for_n8n(route.profile, scopes)


def _nothing(lab: Lab, route: Route) -> None:
    """The credential is gone."""


def _of_another_type(lab: Lab, route: Route) -> None:
    wrong = next(each for each in lab.plan.credentials if not each.profile)
    kind = lab.google_credential(route).type
    exported(_bind(kind, wrong.id, wrong.name))(lab, route)


def _bind(kind: str, credential_id: str, name: str) -> Edit:
    def edit(document: dict[str, Any]) -> None:
        for node in document["nodes"]:
            if node["type"] in PLACES:
                node["credentials"] = {kind: {"id": credential_id, "name": name}}

    return edit


def _rebound(find: Callable[[Lab, Route], tuple[str, str]]) -> Plant:
    """The live workflow names another credential (id, name) than the export."""

    def plant_it(lab: Lab, route: Route) -> None:
        credential_id, name = find(lab, route)
        published(_bind(lab.google_credential(route).type, credential_id, name))(lab, route)

    return plant_it


def _anothers_credential(lab: Lab, route: Route) -> tuple[str, str]:
    credential = lab.google_credential(Route(route.operation, _another(lab, route)))
    return credential.id, credential.name


def _in_place_of(edit_of: Callable[..., Plant]) -> Plant:
    """The workflow acts in another person's calendar, list or spreadsheet."""

    def plant_it(lab: Lab, route: Route) -> None:
        place = _PLACE_OF[_domain(route)](lab.account(_another(lab, route)))
        edit_of(_place(place))(lab, route)

    return plant_it


def _place(place: str) -> Callable[[dict[str, Any]], None]:
    def edit(document: dict[str, Any]) -> None:
        right = _place_in(google_node(document))
        for node in document["nodes"]:
            for parameter in PLACES.get(node["type"], ())[:1]:
                held = node["parameters"].get(parameter)
                if isinstance(held, dict) and held.get("value") == right:
                    held["value"] = place
                elif held == right:
                    node["parameters"][parameter] = place

    return edit


def _place_in(node: Mapping[str, Any]) -> Any:
    held = node["parameters"].get(PLACES[node["type"]][0])
    return held.get("value") if isinstance(held, dict) else held


FAULTS: Faults = {
    "revoked": Fault("the Google grant was revoked", _holding(_revoked)),
    "other_person": Fault("the workflow acts with another person's Google account", _holding(_of_another)),
    "scope": Fault("the Google grant lacks the scope", _holding(_wrong_scope)),
    "client": Fault("the secret of the OAuth client is no longer right", _holding(_wrong_secret)),
    "deleted": Fault("the credential was deleted", _holding(_nothing)),
    "not_connected": Fault("the credential was never connected", _holding(_not_connected)),
    "rebound": Fault("the live workflow names another person's credential", _rebound(_anothers_credential)),
    "unknown": Fault(
        "the live workflow names a credential that is not there",
        _rebound(lambda _lab, _route: ("LabNobodysCred01", "nobody's")),
    ),
    "type": Fault("the export names a credential of another type", _of_another_type),
    "place": Fault("the live workflow names another person's place", _in_place_of(published)),
    "place_export": Fault("the export names another person's place", _in_place_of(exported), writes),
}
