"""What remains of a workflow for the rules that compare files: small, so that thousands fit in memory."""

from __future__ import annotations

from typing import NamedTuple

from butlerctl.workflows import google
from butlerctl.workflows.contract import Routes, methods_of, path_of
from butlerctl.workflows.notations import IdShape, credential_id_shape
from butlerctl.workflows.walk import Path
from butlerctl.workflows.workflow import Node, Workflow


class Hook(NamedTuple):
    """An enabled webhook: one method at one path."""

    method: str
    path: str
    node: str
    at: Path


class Use(NamedTuple):
    """A Google credential (`kind` is its type) or a place (`kind` is the node's parameter) in use."""

    kind: str
    value: str
    label: str
    node: str
    at: Path


class Summary(NamedTuple):
    """One workflow among the others. `given` is False for one that was only read for comparison."""

    file: str
    prefix: Path
    given: bool
    configured: bool
    id: str
    name: str
    archived: bool
    routes: Routes
    hooks: tuple[Hook, ...]
    uses: tuple[Use, ...]
    header_credentials: tuple[Use, ...]


def summarize(workflow: Workflow, routes: Routes, *, given: bool, configured: bool) -> Summary:
    identifier = workflow.document.get("id")
    return Summary(
        file=workflow.file,
        prefix=workflow.prefix,
        given=given,
        configured=configured,
        id=identifier if isinstance(identifier, str) else "",
        name=workflow.name,
        archived=workflow.archived,
        routes=routes,
        hooks=tuple(
            Hook(method, path_of(node), node.name, ("nodes", node.index, "parameters", "path"))
            for node in workflow.webhooks
            if not node.disabled
            for method in methods_of(node)
        ),
        uses=tuple(use for node in google.google_nodes(workflow) for use in _uses(node))
        if routes.any
        else (),
        header_credentials=tuple(
            use for node in workflow.webhooks for use in _credentials(node) if use.kind == "httpHeaderAuth"
        ),
    )


def summarize_unreadable(file: str, routes: Routes, *, configured: bool) -> Summary:
    """A file that is there and cannot be read: its route is not missing, its content is."""
    return Summary(file, (), False, configured, "", "", False, routes, (), (), ())


def _uses(node: Node) -> list[Use]:
    found = _credentials(node)
    for parameter in google.PLACES[node.type][:1]:
        value, at = google.place(node, parameter)
        if isinstance(value, str) and value not in ("", "primary") and not value.startswith("="):
            found.append(Use(parameter, value, "", node.name, at))
    return found


def _credentials(node: Node) -> list[Use]:
    found = []
    for kind, entry in node.credentials.items():
        if isinstance(entry, dict) and credential_id_shape(entry.get("id")) is not IdShape.MISSING:
            at = ("nodes", node.index, "credentials", kind, "id")
            found.append(Use(kind, str(entry["id"]), str(entry.get("name", "")), node.name, at))
    return found
