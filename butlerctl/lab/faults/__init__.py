"""Faults that the lab plants by name, each on one route: for demonstration, and to prove the healthy path.

A fault's name begins with the link that it breaks; a bare link name is that link's first fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from butlerctl.errors import UsageProblem
from butlerctl.inventory.model import Inventory
from butlerctl.inventory.operations import OPERATIONS, Route
from butlerctl.lab.faults import active, call, credential, google, header, report, request, route, shape
from butlerctl.lab.faults.base import Fault, Faults
from butlerctl.lab.stack import Lab

_BY_LINK: Mapping[str, Faults] = {
    "call": call.FAULTS,
    "route": route.FAULTS,
    "request": request.FAULTS,
    "header": header.FAULTS,
    "active": active.FAULTS,
    "credential": credential.FAULTS,
    "google": google.FAULTS,
    "shape": shape.FAULTS,
    "report": report.FAULTS,
}
FAULTS: Mapping[str, Fault] = {
    f"{link}.{name}": fault for link, faults in _BY_LINK.items() for name, fault in faults.items()
}
_FIRST = {link: f"{link}.{next(iter(faults))}" for link, faults in _BY_LINK.items()}


@dataclass(frozen=True, slots=True)
class Planted:
    """`name` is one of `FAULTS`."""

    name: str
    route: Route


def link_of(name: str) -> str:
    """The link that the fault breaks first."""
    return name.partition(".")[0]


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
    found = next((each for each in inventory.routes if str(each) == place), None)
    if found is None:
        raise UsageProblem(
            f"no route is called {place}", hint=f"routes: {', '.join(map(str, inventory.routes))}"
        )
    if not fault.strikes(OPERATIONS[found.operation]):
        where = ", ".join(name for name, operation in OPERATIONS.items() if fault.strikes(operation))
        raise UsageProblem(f"{name} cannot strike {found}", hint=f"it can on {where}")
    return Planted(name, found)


def plant(lab: Lab, planted: Planted) -> None:
    FAULTS[planted.name].plant(lab, planted.route)
