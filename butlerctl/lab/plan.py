"""What the lab invents for an inventory: accounts, credentials, and a value for every reference.

The lab stands in for the household of any inventory: places that are written out are taken as they are, places
and placeholders that are references get an invented value, the same for the same variable everywhere.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from butlerctl.inventory.loader import load_inventory
from butlerctl.inventory.model import Inventory, Profile
from butlerctl.inventory.operations import Route
from butlerctl.inventory.values import Value
from butlerctl.workflows.exports import bindings_of, read_export
from butlerctl.workflows.render import render

Document = dict[str, Any]

_TOKEN = re.compile(r"<+([A-Z][A-Z0-9_]*)>+")


@dataclass(frozen=True, slots=True)
class Account:
    """One person's places in the lab's Google."""

    profile: str
    email: str
    calendar: str
    task_lists: Mapping[str, str]
    spreadsheet: str
    tabs: tuple[str, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Credential:
    """A credential that the exports ask n8n for. `profile` is empty for the webhook's header."""

    id: str
    name: str
    type: str
    profile: str


@dataclass(frozen=True, slots=True)
class Plan:
    """`environ` holds an invented value for every variable that the inventory reads for a place or placeholder."""

    accounts: tuple[Account, ...]
    credentials: tuple[Credential, ...]
    workflows: Mapping[Route, Document]
    environ: Mapping[str, str]


def plan_lab(inventory: Inventory) -> Plan:
    """
    Raises:
        BadDocument: an export of a route is missing, or is no JSON.
        InventoryError: a placeholder of the exports has no value in the inventory.
    """
    exports = {route: read_export(inventory, route) for route in inventory.routes}
    environ = _places(inventory)
    environ |= _placeholders(inventory, exports, environ)
    household = load_inventory(inventory.path, environ)
    bindings = bindings_of(household)
    workflows = {route: render(document, bindings) for route, document in exports.items()}
    return Plan(
        accounts=tuple(_account(person) for person in household.profiles.values()),
        credentials=tuple(_credentials(workflows)),
        workflows=workflows,
        environ=environ,
    )


def point_at(inventory: Inventory, plan: Plan, reached: Mapping[str, str]) -> Inventory:
    """The inventory with every place and secret replaced by the lab's. `reached` maps a key such as `n8n.url`
    to its value; nothing of the real environment is left to be read.
    """
    household = load_inventory(inventory.path, plan.environ)
    literal = _literals(reached)
    n8n, gateway = household.n8n, household.gateway
    return replace(
        household,
        gateway=replace(gateway, kind="openclaw", url=literal["gateway.url"], token=literal["gateway.token"]),
        n8n=replace(
            n8n,
            url=literal["n8n.url"],
            api_key=literal["n8n.api_key"],
            webhook=replace(n8n.webhook, secret=literal["n8n.webhook.secret"]),
        ),
        google_url=literal["google.url"],
        profiles={
            name: replace(person, google_token=literal[f"profiles.{name}.google_token"])
            for name, person in household.profiles.items()
        },
    )


def environment_for(inventory: Inventory, plan: Plan, reached: Mapping[str, str]) -> dict[str, str]:
    """What another process needs in its environment to reach the lab through the same inventory."""
    asked = {key: value for key, value in _addresses(inventory) if value and value.variable}
    return dict(plan.environ) | {
        value.variable: reached[key] for key, value in asked.items() if value.variable and key in reached
    }


def out_of_reach(inventory: Inventory) -> list[str]:
    """Places in the inventory where another process cannot be led to the lab: literals, files, keyrings."""
    return [value.where for _, value in _addresses(inventory) if value and not value.variable]


def _places(inventory: Inventory) -> dict[str, str]:
    invented: dict[str, str] = {}
    for person in inventory.profiles.values():
        places = {
            "calendar": person.calendar,
            "spreadsheet": person.spreadsheet.id,
            **{f"list {name}": value for name, value in person.task_lists.items()},
        }
        for what, value in places.items():
            if value.variable:
                invented.setdefault(value.variable, _invent(f"{person.name} {what}"))
    return invented


def _placeholders(
    inventory: Inventory, exports: Mapping[Route, Document], known: Mapping[str, str]
) -> dict[str, str]:
    """A variable of a placeholder that is no place yet: where it stands in the exports tells what it is."""
    found: dict[str, str] = {}
    household = load_inventory(inventory.path, known)
    for route, document in exports.items():
        for token, role in _tokens(document):
            placeholder = inventory.workflows.placeholders.get(token)
            variable = placeholder and placeholder.value and placeholder.value.variable
            if variable and variable not in known:
                place = _place_of(household.profiles[route.profile], role)
                found.setdefault(variable, place or _invent(f"credential {token}"))
    for token, placeholder in inventory.workflows.placeholders.items():
        variable = placeholder.value and placeholder.value.variable
        if variable and variable not in known:
            found.setdefault(variable, _invent(f"unused {token}"))
    return found


def _tokens(document: Document) -> Iterator[tuple[str, str]]:
    """(token, role) of every placeholder: the node parameter in which it stands, or `credential`."""
    for node in document.get("nodes", []):
        for text in _texts(node.get("credentials", {})):
            yield from ((token, "credential") for token in _TOKEN.findall(text))
        for name, parameter in node.get("parameters", {}).items():
            for text in _texts(parameter):
                yield from ((token, name) for token in _TOKEN.findall(text))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _place_of(person: Profile, role: str) -> str:
    places = {
        "calendar": person.calendar,
        "documentId": person.spreadsheet.id,
        "task": next(iter(person.task_lists.values())),
    }
    return places[role].get() if role in places else ""


def _account(person: Profile) -> Account:
    calendar = person.calendar.get()
    return Account(
        profile=person.name,
        email=calendar if "@" in calendar else f"{person.name}@lab.example",
        calendar=calendar,
        task_lists={name: value.get() for name, value in person.task_lists.items()},
        spreadsheet=person.spreadsheet.id.get(),
        tabs=person.spreadsheet.tabs,
        columns=person.spreadsheet.columns,
    )


def _credentials(workflows: Mapping[Route, Document]) -> Iterator[Credential]:
    seen: set[str] = set()
    for route, document in workflows.items():
        for node in document["nodes"]:
            for kind, reference in node.get("credentials", {}).items():
                if reference["id"] not in seen:
                    seen.add(reference["id"])
                    profile = "" if kind == "httpHeaderAuth" else route.profile
                    yield Credential(reference["id"], reference["name"], kind, profile)


def _addresses(inventory: Inventory) -> Iterator[tuple[str, Value | None]]:
    yield "gateway.url", inventory.gateway.url
    yield "gateway.token", inventory.gateway.token
    yield "n8n.url", inventory.n8n.url
    yield "n8n.api_key", inventory.n8n.api_key
    yield "n8n.webhook.secret", inventory.n8n.webhook.secret
    yield "google.url", inventory.google_url
    for name, person in inventory.profiles.items():
        yield f"profiles.{name}.google_token", person.google_token


def _literals(reached: Mapping[str, str]) -> dict[str, Value]:
    secret_ends = ("token", "api_key", "secret")
    return {
        key: Value(text, f"lab: {key}", Path(), {}, secret=key.endswith(secret_ends))
        for key, text in reached.items()
    }


def _invent(what: str) -> str:
    """An id in the shape of n8n's own: sixteen letters and digits, the same for the same thing."""
    return hashlib.sha256(f"butlerctl lab {what}".encode()).hexdigest()[:16]
