"""What n8n holds for the routes, as its REST API tells it: workflows, their versions, credentials. Gathers only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from butlerctl.errors import NotOffered, NotPermitted
from butlerctl.evidence import Document
from butlerctl.inventory.operations import Route
from butlerctl.n8n.api import N8nApi
from butlerctl.n8n.hooks import hooks_of, taken
from butlerctl.redaction import redact
from butlerctl.workflows.digest import canonical_digest, published_version
from butlerctl.workflows.workflow import WEBHOOK

_OWNER_DATA = ("shared", "pinData", "staticData")


@dataclass(frozen=True, slots=True)
class LiveWorkflow:
    """A workflow of n8n. `published` is what it serves, None when nothing is published."""

    id: str
    document: Mapping[str, Any]
    published: Mapping[str, Any] | None
    seen_at: datetime

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> LiveWorkflow:
        return cls(str(document["id"]), document, published_version(document), datetime.now(UTC))

    def as_evidence(self, route: Route) -> dict[str, Any]:
        """A `workflow_live` document, without the owner's data and redacted; digests are those of the original."""
        shown = {key: value for key, value in self.document.items() if key not in _OWNER_DATA}
        return {
            "kind": "workflow_live",
            "seen_by": "n8n",
            "route": {"operation": route.operation, "profile": route.profile},
            "at": self.seen_at.isoformat(timespec="milliseconds"),
            "document": redact(shown),
            "digest_saved": canonical_digest(self.document),
            "digest_published": canonical_digest(self.published) if self.published is not None else None,
        }


@dataclass(frozen=True, slots=True)
class Live:
    """What n8n holds. Without an API key nothing is known: both are empty then."""

    workflows: Mapping[Route, LiveWorkflow] = field(default_factory=dict)
    credentials: Document | None = None
    rivals: Mapping[Route, tuple[LiveWorkflow, ...]] = field(default_factory=dict)
    """Further workflows that are published at the path of a route."""
    unseen: str = ""
    """Why `credentials` are not known."""

    def workflow_ids(self) -> dict[Route, str]:
        return {route: workflow.id for route, workflow in self.workflows.items()}

    def evidence(self, route: Route) -> list[Document]:
        """`workflow_live` and `credentials_live` for one route, as far as they are known."""
        found = self.workflows.get(route)
        held = (*([found] if found else []), *self.rivals.get(route, ()))
        documents: list[Document] = [workflow.as_evidence(route) for workflow in held]
        return documents + ([self.credentials] if self.credentials else [])


def read_live(api: N8nApi, exports: Mapping[Route, Mapping[str, Any]], prefix: str) -> Live:
    """Find the workflow of every route.

    It is the one that serves the route's path, the one with the export's id before others; else one that was
    saved with it; else the one with the export's id or name, which may have been moved to another path. Archived
    ones count last.

    Raises:
        Unreachable, NotPermitted, TryAgain: as N8nApi; that credentials cannot be listed is no failure.
    """
    workflows = sorted(api.workflows(), key=lambda document: bool(document.get("isArchived")))
    found: dict[Route, LiveWorkflow] = {}
    rivals: dict[Route, tuple[LiveWorkflow, ...]] = {}
    for route, export in exports.items():
        path = route.webhook_path(prefix)
        own = _workflow_of(workflows, path, export)
        if own is not None:
            found[route] = LiveWorkflow.of(own)
        rivals[route] = tuple(
            LiveWorkflow.of(document)
            for document in workflows
            if document is not own and taken([("POST", path)], published_version(document))
        )
    try:
        return Live(found, _credentials(api), rivals)
    except (NotPermitted, NotOffered) as error:
        return Live(found, None, rivals, error.message)


def _workflow_of(
    workflows: Iterable[Mapping[str, Any]], path: str, export: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    candidates = sorted(workflows, key=lambda document: document.get("id") != export.get("id"))
    tests = (
        lambda document: _serves(document, path),
        lambda document: path in _paths(document),
        lambda document: bool(export.get("id")) and document.get("id") == export["id"],
        lambda document: bool(export.get("name")) and document.get("name") == export["name"],
    )
    return next((document for test in tests for document in candidates if test(document)), None)


def _serves(document: Mapping[str, Any], path: str) -> bool:
    return path in _paths(published_version(document) or {})


def webhooks_of(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The parameters of every enabled Webhook node."""
    return [
        node.get("parameters") or {}
        for node in document.get("nodes") or []
        if node.get("type") == WEBHOOK and not node.get("disabled")
    ]


def _paths(document: Mapping[str, Any]) -> set[str]:
    return {path for _, path in hooks_of(document)}


def _credentials(api: N8nApi) -> Document:
    shown = [{key: each.get(key) for key in ("id", "name", "type")} for each in api.credentials()]
    return {"kind": "credentials_live", "seen_by": "n8n", "document": {"data": shown}}
