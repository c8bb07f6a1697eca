"""The exports as they would be deployed: placeholders bound by the inventory. What ought to run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from butlerctl.errors import BadDocument
from butlerctl.inventory.model import Inventory
from butlerctl.inventory.operations import Route
from butlerctl.workflows.digest import canonical_digest
from butlerctl.workflows.render import render

Export = dict[str, Any]
TOO_DEEP = "is no workflow: it is nested too deep"


def bindings_of(inventory: Inventory) -> dict[str, str]:
    """Token -> value for every placeholder that the inventory binds.

    Raises:
        SecretMissing: a bound placeholder's reference leads nowhere.
    """
    return {
        token: placeholder.value.get()
        for token, placeholder in inventory.workflows.placeholders.items()
        if placeholder.value is not None
    }


def rendered_exports(inventory: Inventory, routes: Iterable[Route]) -> dict[Route, Export]:
    """
    Raises:
        BadDocument: a route has no export, or it is no JSON object.
        SecretMissing: as `bindings_of`.
    """
    bindings = bindings_of(inventory)
    return {route: _rendered(inventory, route, bindings) for route in routes}


def _rendered(inventory: Inventory, route: Route, bindings: Mapping[str, str]) -> Export:
    try:
        return render(read_export(inventory, route), bindings)
    except RecursionError as error:
        raise BadDocument(f"{inventory.workflows.directory / route.workflow_file}: {TOO_DEEP}") from error


def as_evidence(route: Route, export: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "kind": "workflow_export",
        "file": route.workflow_file,
        "document": export,
        "digest": canonical_digest(export),
    }


def read_export(inventory: Inventory, route: Route) -> Export:
    """The export of a route as it lies in the inventory's folder. Raises BadDocument."""
    path = inventory.workflows.directory / route.workflow_file
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BadDocument(
            f"{path}: {error.strerror}; the route {route} has no workflow",
            hint="`butlerctl lint-workflows` lists what the inventory expects",
        ) from error
    except ValueError as error:
        raise BadDocument(f"{path}: is no JSON: {error}") from error
    except RecursionError as error:
        raise BadDocument(f"{path}: {TOO_DEEP}") from error
    if not isinstance(document, dict):
        raise BadDocument(f"{path}: is no workflow: a JSON object is expected")
    return document
