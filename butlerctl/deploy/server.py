"""What n8n holds before a deployment: its workflows in three states, its credentials, and which workflow is whose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from butlerctl.errors import NotOffered, Unreachable
from butlerctl.inventory.operations import Route
from butlerctl.n8n.api import N8nApi
from butlerctl.n8n.hooks import Hook, hooks_of, taken
from butlerctl.workflows.digest import canonical_digest, published_version

Document = Mapping[str, Any]


class Held:
    """One workflow of n8n: what is saved, and what is published beside it (None: nothing is)."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.id = str(document["id"])
        self.name = str(document.get("name", ""))
        self.version = str(document.get("versionId") or "")
        self.active_version = str(document.get("activeVersionId") or "")
        self.archived = bool(document.get("isArchived"))
        self.tags = tuple(str(tag.get("name")) for tag in document.get("tags") or [])
        self.published: Document | None = published_version(document)
        # n8n 1 serves what is saved and knows no versions.
        if document.get("active") and "activeVersionId" not in document:
            self.published, self.active_version = document, self.version

    @cached_property
    def hooks(self) -> dict[Hook, Document]:
        """What it serves."""
        return hooks_of(self.published)

    def keeps_from(self, wanted: Iterable[Hook], held: Held | None) -> dict[Hook, str]:
        """Which of these n8n would not let `held` have, because this one serves them: each with its path for it.

        A dynamic path keeps nothing from a workflow that serves the exact one already.
        """
        served = held.hooks if held else {}
        found = taken(wanted, self.published)
        return {hook: by for hook, by in found.items() if by == hook[1] or hook not in served}

    @cached_property
    def saved_digest(self) -> str:
        return canonical_digest(self.document)

    @cached_property
    def published_digest(self) -> str:
        """Empty when nothing is published."""
        return canonical_digest(self.published) if self.published is not None else ""


@dataclass(frozen=True, slots=True)
class Credential:
    id: str
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Server:
    """One n8n at one moment."""

    workflows: tuple[Held, ...]
    credentials: Mapping[str, Credential]

    def workflow(self, workflow_id: str) -> Held | None:
        return next((held for held in self.workflows if held.id == workflow_id), None)


def read_server(api: N8nApi, known: Iterable[str] = ()) -> Server:
    """Two lists, whole. Which of the `known` workflows is not among them is gone: n8n is asked for it by its id.

    Raises:
        Unreachable, TryAgain: as N8nApi; or a list lacks a workflow that n8n has.
        NotPermitted: the API key may not list workflows or credentials; without either nothing is deployed.
        NotOffered: n8n 1, which lists no credentials.
    """
    try:
        listed = api.credentials()
    except NotOffered as error:
        raise NotOffered(
            f"{error.message}: n8n 1 lists no credentials, and without them nothing is deployed",
            hint="`butlerctl verify` and `probe` work on it; deploy to n8n 2",
        ) from error
    credentials = [Credential(str(each["id"]), str(each["name"]), str(each["type"])) for each in listed]
    workflows = tuple(Held(document) for document in api.workflows())
    for workflow_id in {*known} - {held.id for held in workflows}:
        if api.workflow(workflow_id) is not None:
            raise Unreachable(
                f"n8n's list of workflows is not whole: {workflow_id} is not in it, and n8n has it",
                hint="something in front of n8n keeps old answers, or shortens them",
            )
    return Server(workflows, {each.id: each for each in credentials})


@dataclass(frozen=True, slots=True)
class Member:
    """The workflow of one route. `held` is None when n8n has none, or several and nothing tells which.

    `twins` have the same name; archived ones are among them.
    """

    held: Held | None
    twins: tuple[Held, ...] = ()

    @property
    def ambiguous(self) -> bool:
        return self.held is None and any(not twin.archived for twin in self.twins)


def find_members(
    server: Server, exports: Mapping[Route, Document], known: Mapping[Route, str]
) -> dict[Route, Member]:
    """The workflow of every route: the one that butlerctl deployed there (`known`), else the one with the
    export's id, else the one with its name. Who merely serves the path is a stranger. Archived ones are nobody's.
    """
    return {route: _member(server, export, known.get(route, "")) for route, export in exports.items()}


def _member(server: Server, export: Document, known: str) -> Member:
    alike = [held for held in server.workflows if held.name == export.get("name")]
    for wanted in (known, str(export.get("id") or "")):
        held = server.workflow(wanted)
        if held is not None and not held.archived:
            return Member(held, _others(alike, held))
    held = _chosen([held for held in alike if not held.archived], export)
    return Member(held, _others(alike, held))


def _chosen(alike: list[Held], export: Document) -> Held | None:
    """Of several with the same name, the one that serves the export's path, else the only one that is published."""
    if len(alike) == 1:
        return alike[0]
    wanted = hooks_of(export).keys()
    for choice in (
        [held for held in alike if held.hooks.keys() & wanted],
        [held for held in alike if held.published is not None],
    ):
        if len(choice) == 1:
            return choice[0]
    return None


def _others(alike: Iterable[Held], held: Held | None) -> tuple[Held, ...]:
    return tuple(other for other in alike if other is not held)
