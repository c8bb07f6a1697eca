"""The stand-in's workflows: saved and published versions, and which webhooks are registered for them."""

from __future__ import annotations

import math
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from butlerctl.errors import BadInput
from butlerctl.lab.n8n.clock import now_text
from butlerctl.lab.n8n.credentials import Credentials, credential_of, new_id
from butlerctl.lab.n8n.google_nodes import CREDENTIAL_TYPES
from butlerctl.n8n.hooks import Hook, answering, hooks_of
from butlerctl.workflows.workflow import BASE, WEBHOOK

_OTHER_NODES = ("code", "if", "noOp", "respondToWebhook", "stickyNote", "stopAndError", "webhook")
NODE_TYPES = frozenset({*(BASE + name for name in _OTHER_NODES), *CREDENTIAL_TYPES})
CONFLICT = "There is a conflict with one of the webhooks."


class Refused(BadInput):
    """n8n says no: an HTTP status and the text of its `message`."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Version:
    """One saved state of a workflow."""

    id: str
    nodes: list[dict[str, Any]]
    connections: dict[str, Any]
    created: str = field(default_factory=now_text)

    @property
    def webhooks(self) -> dict[Hook, Mapping[str, Any]]:
        """The enabled Webhook nodes by what they hold."""
        return hooks_of({"nodes": self.nodes})


def _is_default(key: str, value: Any) -> bool:
    """A setting that n8n drops when it is saved."""
    return value == "DEFAULT" or (key == "executionTimeout" and value == -1)


@dataclass(slots=True)
class Workflow:
    """A workflow with all its versions. `saved` is the newest, `published` the served one or None."""

    id: str
    name: str
    settings: dict[str, Any]
    meta: Any
    versions: dict[str, Version]
    saved: str
    published: str | None = None
    archived: bool = False
    tags: list[str] = field(default_factory=list)
    created: str = field(default_factory=now_text)
    updated: str = field(default_factory=now_text)

    replaced: str | None = None
    """The version that was served before, and still is until `served_from` (monotonic)."""
    served_from: float = 0.0

    @property
    def served(self) -> str | None:
        """The version that answers: what is published, or for a moment what was."""
        return self.replaced if self.replaced and time.monotonic() < self.served_from else self.published

    @property
    def served_version(self) -> Version | None:
        return self.versions[self.served] if self.served else None

    def serve(self, version_id: str, *, lag: float) -> None:
        self.replaced, self.published = self.served, version_id
        self.served_from = time.monotonic() + lag


class Workflows:
    """All workflows by id, and the registered webhooks. One lock guards both."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self._all: dict[str, Workflow] = {}
        self._registered: dict[Hook, str] = {}
        self._lock = threading.RLock()
        self.lag = 0.0
        """Seconds from a publication to its effect; 0.1 to 0.25 in n8n 2.41, which answers before it publishes."""

    def __iter__(self) -> Iterator[Workflow]:
        with self._lock:
            return iter(list(self._all.values()))

    def get(self, workflow_id: str, *, to: str = "") -> Workflow:
        """Raises Refused 404, in the words that n8n has for what is to be done with it."""
        workflow = self._all.get(workflow_id)
        if workflow is None:
            lacking = f"You do not have permission to {to} this workflow. Ask the owner to share it with you."
            raise Refused(404, lacking if to else "Not Found")
        return workflow

    def owner_of(self, method: str, path: str) -> Workflow | None:
        """The workflow whose webhook is registered here. It may have been unpublished beside the server."""
        with self._lock:
            return self._all.get(self._owner((method, path)))

    def _owner(self, wanted: Hook) -> str:
        hook = answering(wanted, self._registered)
        return self._registered[hook] if hook else ""

    def methods_of(self, path: str) -> list[str]:
        """Those of the exact path, else the method of the first dynamic one that covers it."""
        with self._lock:
            exact = sorted(method for method, known in self._registered if known == path)
            return exact or [method for method, _ in self._registered if self._owner((method, path))][:1]

    def create(self, document: Mapping[str, Any], workflow_id: str = "") -> Workflow:
        """Store a workflow, inactive. An id that is taken is overwritten, as the import of the CLI does."""
        version = self._new_version(document)
        workflow = Workflow(
            id=workflow_id or new_id(),
            name=document["name"],
            settings=deepcopy(document.get("settings") or {}),
            meta=deepcopy(document.get("meta")),
            versions={version.id: version},
            saved=version.id,
        )
        with self._lock:
            self._all[workflow.id] = workflow
        return workflow

    def save(self, workflow_id: str, document: Mapping[str, Any]) -> Workflow:
        """As the editor saves it: the published version stays the one that is served.

        Other nodes or connections make a new version. Raises Refused 400 for an archived workflow.
        """
        version = self._new_version(document)
        with self._lock:
            workflow = self.get(workflow_id)
            if workflow.archived:
                raise Refused(400, "Cannot update an archived workflow.")
            saved = workflow.versions[workflow.saved]
            if (version.nodes, version.connections) != (saved.nodes, saved.connections):
                workflow.versions[version.id] = version
                workflow.saved = version.id
            workflow.name = document.get("name", workflow.name)
            settings = {**workflow.settings, **deepcopy(document.get("settings") or {})}
            workflow.settings = {key: value for key, value in settings.items() if not _is_default(key, value)}
            workflow.updated = now_text()
            return workflow

    def publish(self, workflow_id: str, version_id: str = "") -> Workflow:
        """Serve a version, the newest unless another one is named. Raises Refused 400, 404 or 409."""
        with self._lock:
            workflow = self.get(workflow_id)
            version = workflow.versions.get(version_id or workflow.saved)
            if workflow.archived:
                raise Refused(400, "Cannot activate an archived workflow.")
            if version is None:
                raise Refused(404, "Version not found")
            self._check(workflow_id, version)
            self._register(workflow, version)
            workflow.serve(version.id, lag=self.lag)
            return workflow

    def update(self, workflow_id: str, document: Mapping[str, Any]) -> Workflow:
        """`PUT`: save, and publish at once where the workflow is published.

        Raises Refused 409 for a path that another workflow holds, 400 for nodes that cannot be published; the
        change then counts as published all the same, and is what the old path runs, if it still has a node there.
        """
        with self._lock:
            workflow = self.save(workflow_id, document)
            if workflow.published is None:
                return workflow
            version = workflow.versions[workflow.saved]
            workflow.serve(version.id, lag=self.lag)
            self._check(workflow_id, version)
            self._register(workflow, version)
            return workflow

    def unpublish(self, workflow_id: str) -> Workflow:
        with self._lock:
            workflow = self.get(workflow_id)
            self._forget(workflow_id)
            workflow.published = None
            return workflow

    def archive(self, workflow_id: str) -> Workflow:
        workflow = self.unpublish(workflow_id)
        workflow.archived = True
        return workflow

    def remove(self, workflow_id: str) -> Workflow:
        with self._lock:
            workflow = self.unpublish(workflow_id)
            del self._all[workflow_id]
            return workflow

    def unpublish_beside(self, workflow_id: str) -> None:
        """As `n8n unpublish:workflow` beside the server: the registration stays and answers 404-C."""
        self.get(workflow_id).published = None

    def publish_beside(self, workflow_id: str) -> None:
        """As `n8n publish:workflow` beside the server: the API says active, the path answers 404-A."""
        with self._lock:
            workflow = self.get(workflow_id)
            self._forget(workflow_id)
            workflow.published = workflow.saved

    def publish_unheard(self, workflow_id: str, document: Mapping[str, Any]) -> None:
        """Saved and published; the process that answers did not hear of it, and goes on with the version before."""
        with self._lock:
            self.save(workflow_id, document)
            self.publish(workflow_id).served_from = math.inf

    def _new_version(self, document: Mapping[str, Any]) -> Version:
        nodes = self._credentials.rebind(document["nodes"])
        return Version(str(uuid.uuid4()), nodes, deepcopy(document["connections"]))

    def _check(self, workflow_id: str, version: Version) -> None:
        if any(self._owner(webhook) not in ("", workflow_id) for webhook in version.webhooks):
            raise Refused(409, CONFLICT)
        fault = publish_fault(version.nodes)
        if fault:
            raise Refused(400, fault)

    def _register(self, workflow: Workflow, version: Version) -> None:
        self._forget(workflow.id)
        self._registered |= dict.fromkeys(version.webhooks, workflow.id)

    def _forget(self, workflow_id: str) -> None:
        self._registered = {
            webhook: owner for webhook, owner in self._registered.items() if owner != workflow_id
        }


def publish_fault(nodes: list[dict[str, Any]]) -> str:
    """Why n8n 2.x refuses to publish these nodes, or an empty text. It does not see unknown credential ids."""
    enabled = [node for node in nodes if not node.get("disabled")]
    unknown = [node["type"] for node in enabled if node["type"] not in NODE_TYPES]
    if unknown:
        return f"Unrecognized node type: {unknown[0]}"
    if not any(node["type"] == WEBHOOK for node in enabled):
        return (
            "Workflow cannot be activated because it has no trigger node. At least one trigger, webhook, or "
            "polling node is required."
        )
    issues = {node["name"]: found for node in enabled if (found := _issues(node))}
    if not issues:
        return ""
    lines = "".join(
        f'\n\nNode "{name}":' + "".join(f"\n  - {issue}" for issue in found) for name, found in issues.items()
    )
    return f"Cannot publish workflow: {len(issues)} node have configuration issues:{lines}"


def _issues(node: Mapping[str, Any]) -> list[str]:
    kind = _needed_credential(node)
    issues = []
    if kind and not credential_of(node, kind):
        issues.append(f"Missing required credential: {kind}")
    elif kind and credential_of(node, kind).get("id") is None:
        issues.append(f"Credential not configured: {kind}")
    wrong = [key for key in ("calendar", "documentId") if _bad_location(key, node["parameters"].get(key))]
    if wrong:
        issues.append(f"Missing or invalid required parameters: {', '.join(wrong)}")
    return issues


def _needed_credential(node: Mapping[str, Any]) -> str | None:
    if node["type"] == WEBHOOK:
        return "httpHeaderAuth" if node["parameters"].get("authentication") == "headerAuth" else None
    return CREDENTIAL_TYPES.get(node["type"])


def _bad_location(key: str, value: Any) -> bool:
    """A resource locator in mode `id` whose value cannot be one; other modes are not looked at."""
    if not isinstance(value, Mapping) or value.get("mode") != "id":
        return False
    text = str(value.get("value", ""))
    if text.startswith("="):
        return False
    return "@" not in text if key == "calendar" else not text.replace("-", "").replace("_", "").isalnum()
