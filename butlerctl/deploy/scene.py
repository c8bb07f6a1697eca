"""Everything that a deployment works with: the household's files and n8n, opened together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from butlerctl.deploy.difference import differences
from butlerctl.deploy.journal import Memory
from butlerctl.deploy.listening import Silence, silences
from butlerctl.deploy.plan import Plan
from butlerctl.deploy.planning import Question, make_plan
from butlerctl.deploy.preflight import objections
from butlerctl.deploy.report import VouchingReport
from butlerctl.deploy.server import Document, Held, Member, Server, find_members, read_server
from butlerctl.deploy.snapshot import Kept, Kind, Snapshot, new_id, write_snapshot
from butlerctl.deploy.store import Store
from butlerctl.deploy.wire import faults_of_all, let_publish
from butlerctl.errors import BadDocument, BadInput, ButlerctlError, InventoryError
from butlerctl.inventory.model import Inventory
from butlerctl.inventory.operations import Route
from butlerctl.n8n.api import is_workflow
from butlerctl.n8n.webhooks import Target, Webhooks
from butlerctl.n8n.write import N8nWriter
from butlerctl.redaction import redact_text
from butlerctl.state import state_folder
from butlerctl.workflows.exports import read_export, rendered_exports

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Look:
    """n8n at one moment, and what a deployment would do then."""

    server: Server
    members: Mapping[Route, Member]
    memory: Memory
    plan: Plan


@dataclass(frozen=True, slots=True)
class Ground:
    """What a way back needs: n8n, and what is remembered of it. None of the household's workflow files.

    `prefix` is that of the webhook paths. `say` is told of progress. Nothing here needs the secret of the webhooks:
    no request carries it.
    """

    target: str
    routes: tuple[Route, ...]
    prefix: str
    api: N8nWriter
    webhooks: Webhooks
    store: Store
    say: Say

    def keep(
        self, held: Sequence[tuple[Route, Held]], kind: Kind, reports: tuple[VouchingReport, ...] = ()
    ) -> Snapshot:
        """These workflows, saved and published version, and whether they answer, on the disk.

        Raises BadInput when it cannot be written.
        """
        now = self.store.moment()
        published = {route.workflow_name: each.published_digest for route, each in held}
        vouching = next((report for report in reports if report.vouches_for(self.target, published)), None)
        snapshot = Snapshot(
            id=new_id(now),
            kind=kind,
            taken=now.replace(microsecond=now.microsecond // 1000 * 1000),
            target=self.target,
            n8n=self._version() or "",
            routes=self.routes,
            kept=self._kept(held),
            report=vouching.as_json() if vouching else None,
        )
        write_snapshot(self.store.snapshots, snapshot)
        return snapshot

    def let_publish(self) -> None:
        """Until n8n serves what it was told to publish last, as far as that can be known."""
        let_publish(self._version())

    def _version(self) -> str | None:
        """None where n8n's page, which tells it, is kept from this machine: the API and the webhooks may be all it sees."""
        try:
            return self.api.version()
        except ButlerctlError:
            return None

    def _kept(self, held: Sequence[tuple[Route, Held]]) -> tuple[Kept, ...]:
        published = {each.id: each.published for _, each in held if each.published is not None}
        found = faults_of_all(self.webhooks, published, patience=0)
        return tuple(
            Kept(route, each, {hook: not fault for hook, fault in found.get(each.id, {}).items()})
            for route, each in held
        )


@dataclass(frozen=True, slots=True)
class Scene(Ground):
    """The household's files beside it: `exports` as they would be deployed.

    `tokens` are the names of the inventory's placeholders.
    """

    inventory_digest: str
    tokens: tuple[str, ...]
    exports: Mapping[Route, Document]

    def look(self, *, overwrite_drafts: bool = False, listen: bool = False) -> Look:
        """Two lists are read, and what is missing in them by its id.

        With `listen` a GET goes to the webhook of every workflow that serves its file.

        Raises:
            Unreachable, TryAgain, NotPermitted: as N8nApi.
            BadDocument: a workflow has no canonical form, or a journal is damaged.
        """
        memory = self.store.memory()
        server = read_server(self.api, memory.known.values())
        members = find_members(server, self.exports, memory.known)
        found = objections(self.exports, server, members, tokens=self.tokens, prefix=self.prefix)
        question = Question(
            target=self.target,
            inventory_digest=self.inventory_digest,
            exports=self.exports,
            server=server,
            members=members,
            objections=found,
            memory=memory,
            overwrite_drafts=overwrite_drafts,
            silences=self._silences(server, members) if listen else {},
        )
        return Look(server, members, memory, make_plan(question))

    def _silences(self, server: Server, members: Mapping[Route, Member]) -> dict[Route, Silence]:
        published = {
            route: member.held.published
            for route, member in members.items()
            if member.held and member.held.published
        }
        served = {
            route: document
            for route, document in published.items()
            if not differences(document, self.exports[route])
        }
        return silences(self.webhooks, served, server)

    def take_snapshot(self, look: Look, kind: Kind, reports: tuple[VouchingReport, ...]) -> Snapshot:
        """What n8n holds for the inventory's routes. Raises as `keep`."""
        held = [(route, member.held) for route, member in look.members.items() if member.held]
        return self.keep(held, kind, reports)


def find_held(ground: Ground, inventory: Inventory) -> tuple[list[tuple[Route, Held]], dict[Route, BadInput]]:
    """The workflows of the inventory's routes, as far as they can be told.

    A file is only asked for id and name; one that cannot be read is no matter where butlerctl deployed the workflow.
    The second is by route what is wrong with the files of the others.

    Raises Unreachable, TryAgain, NotPermitted as N8nApi.
    """
    exports: dict[Route, Document] = {}
    unreadable: dict[Route, BadInput] = {}
    for route in inventory.routes:
        try:
            exports[route] = _identity(read_export(inventory, route))
        except BadInput as error:
            exports[route], unreadable[route] = {}, error
    known = ground.store.memory().known
    members = find_members(read_server(ground.api, known.values()), exports, known)
    held = {route: member.held for route, member in members.items() if member.held}
    return list(held.items()), {route: error for route, error in unreadable.items() if route not in held}


def _identity(export: Document) -> Document:
    """What tells whose workflow it is, of a file that nobody has looked through."""
    nodes = export.get("nodes")
    sound = [node for node in nodes if isinstance(node, Mapping)] if isinstance(nodes, list) else []
    return {"id": export.get("id"), "name": export.get("name"), "nodes": sound}


@contextmanager
def open_scene(inventory: Inventory, state_dir: Path | None, say: Say) -> Iterator[Scene]:
    """
    Raises:
        InventoryError: the inventory names no API key.
        SecretMissing, BadDocument: a placeholder's value is missing; an export is missing or no workflow.
    """
    exports = rendered_exports(inventory, inventory.routes)
    for route, export in exports.items():
        if not is_workflow(export):
            raise BadDocument(
                f"{inventory.workflows.directory / route.workflow_file}: is no workflow: nodes, connections, settings"
                " or a node's parameters and credentials are none"
            )
    with open_ground(inventory, state_dir, say) as ground:
        yield Scene(
            target=ground.target,
            routes=ground.routes,
            prefix=ground.prefix,
            api=ground.api,
            webhooks=ground.webhooks,
            store=ground.store,
            say=say,
            inventory_digest=inventory.digest,
            tokens=tuple(inventory.workflows.placeholders),
            exports=exports,
        )


@contextmanager
def open_ground(inventory: Inventory, state_dir: Path | None, say: Say) -> Iterator[Ground]:
    """No file of a workflow is opened, and no placeholder is looked up.

    Raises:
        InventoryError: the inventory names no API key.
        SecretMissing: n8n's address or API key is missing.
    """
    if inventory.n8n.api_key is None:
        raise InventoryError(
            f"{inventory.path.name}: n8n.api_key is not set", hint="a deployment needs n8n's API"
        )
    url, webhook = inventory.n8n.url.get().rstrip("/"), inventory.n8n.webhook
    told = redact_text(url)  # what is kept and shown has no password in it
    target = Target(url, webhook.header, "", webhook.user_agent, webhook.timeout)
    with N8nWriter(url, inventory.n8n.api_key.get()) as api, Webhooks(target) as webhooks:
        yield Ground(
            target=told,
            routes=inventory.routes,
            prefix=webhook.prefix,
            api=api,
            webhooks=webhooks,
            store=Store(state_folder(inventory.path, state_dir), told),
            say=say,
        )
