"""What the faults of all links are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from butlerctl.inventory.operations import Operation, Route
from butlerctl.lab.stack import Lab
from butlerctl.workflows.google import PLACES

Plant = Callable[[Lab, Route], None]
Node = dict[str, Any]
Edit = Callable[[dict[str, Any]], None]
"""Changes a workflow document in place."""


def anywhere(operation: Operation) -> bool:
    del operation
    return True


def writes(operation: Operation) -> bool:
    return operation.writes


def reads(operation: Operation) -> bool:
    return not operation.writes


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to break one link of one route. `strikes` says on which operations it can."""

    summary: str
    plant: Plant
    strikes: Callable[[Operation], bool] = anywhere


Faults = Mapping[str, Fault]


def only(*names: str) -> Callable[[Operation], bool]:
    return lambda operation: operation.name in names


def model(kind: str) -> Plant:
    """The model goes wrong in one of its ways."""
    return lambda lab, route: lab.model.plant(kind, route)


def plugin(kind: str) -> Plant:
    """The plugin goes wrong in one of its ways."""
    return lambda lab, route: lab.gateway.plant(kind, route)


def edited(lab: Lab, route: Route, *edits: Edit) -> dict[str, Any]:
    """What ought to run, with changes."""
    document = deepcopy(dict(lab.plan.workflows[route]))
    for edit in edits:
        edit(document)
    return document


def published(*edits: Edit) -> Plant:
    """Somebody edited the live workflow by hand, and published it."""

    def plant_it(lab: Lab, route: Route) -> None:
        workflow_id = lab.workflow_id(route)
        lab.n8n.workflows.save(workflow_id, edited(lab, route, *edits))
        lab.n8n.workflows.publish(workflow_id)

    return plant_it


def exported(*edits: Edit) -> Plant:
    """The export is wrong, and it was deployed so: what ought to run is what runs."""

    def plant_it(lab: Lab, route: Route) -> None:
        lab.replace_export(route, edited(lab, route, *edits))
        published(*edits)(lab, route)

    return plant_it


def node_named(document: Mapping[str, Any], name: str) -> Node:
    node: Node = next(node for node in document["nodes"] if node["name"] == name)
    return node


def webhook_node(document: Mapping[str, Any]) -> Node:
    return node_named(document, "Webhook")


def google_node(document: Mapping[str, Any]) -> Node:
    """The node that does the operation: the one with a place, not the read-back of a written row."""
    nodes = [node for node in document["nodes"] if node["type"] in PLACES]
    node: Node = next((node for node in nodes if node["parameters"].get("operation") == "append"), nodes[0])
    return node


def set_on(name: str, **parameters: Any) -> Edit:
    """These parameters of the node with this name are others."""
    return lambda document: node_named(document, name)["parameters"].update(parameters)
