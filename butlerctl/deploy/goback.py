"""Carry out the moves of a rollback: best effort for every workflow, then one look at all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from butlerctl.deploy.journal import Memory, Step
from butlerctl.deploy.moves import Move, Present, Way, moves_to, restored
from butlerctl.deploy.scene import Scene
from butlerctl.deploy.server import Document, Held, Server, read_server
from butlerctl.deploy.snapshot import Kept, Snapshot
from butlerctl.deploy.steps import Steps
from butlerctl.deploy.wire import faults_of_all
from butlerctl.errors import ButlerctlError
from butlerctl.inventory.operations import Route
from butlerctl.n8n.api import N8nApi

_AT_ONCE = 6


@dataclass(frozen=True, slots=True)
class Failure:
    """A workflow that did not get back to what it was, and why."""

    route: Route
    message: str

    def as_json(self) -> dict[str, Any]:
        return {"route": str(self.route), "message": self.message}


def find_moves(scene: Scene, snapshot: Snapshot, memory: Memory) -> tuple[Move, ...]:
    """Sends GETs only. Raises Unreachable, TryAgain, NotPermitted."""
    server = read_server(scene.api)
    wanted = {(kept.held.id, kept.held.active_version) for kept in snapshot.kept if kept.held.active_version}
    asked = sorted(wanted - {(held.id, held.active_version) for held in server.workflows})
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = pool.map(lambda version: _has(scene.api, *version), asked)
        versions = wanted - {version for version, is_there in zip(asked, found, strict=True) if not is_there}
    return moves_to(snapshot, Present(server, memory.created_since(snapshot.taken), memory.written, versions))


def _has(api: N8nApi, workflow_id: str, version: str) -> bool:
    return api.workflow_version(workflow_id, version) is not None


def go_back(
    scene: Scene, steps: Steps, moves: Sequence[Move], *, first: Route | None = None
) -> list[Failure]:
    """Make every move; none keeps another from being made. `first` goes first: its webhook is broken now.

    Answers with what is not as it was in the snapshot; raises nothing of n8n's.
    """
    return _Return(scene, steps, sorted(moves, key=lambda move: move.route != first)).run()


@dataclass(slots=True)
class _Return:
    """One rollback under way. `ids` has the workflow of each move as it is now, `failed` what n8n said."""

    scene: Scene
    steps: Steps
    moves: Sequence[Move]
    ids: dict[Route, str] = field(default_factory=dict)
    failed: dict[Route, str] = field(default_factory=dict)

    def run(self) -> list[Failure]:
        self.ids = {move.route: move.held.id for move in self.moves if move.held}
        due = [move for move in self.moves if move.way is not Way.STAY]
        for move in due:
            if move.way is Way.UNPUBLISH or move.release:
                self._attempt(move, self._take_away)
        for number, move in enumerate(due, 1):
            if move.way is not Way.UNPUBLISH and move.route not in self.failed:
                self._attempt(move, self._put_back)
            self.scene.say(f"[{number}/{len(due)}] {move.route}: {self.failed.get(move.route, 'put back')}")
        lost = self._lost()
        for move in due:
            if move.route in lost and move.route not in self.failed:
                self._attempt(move, self._put_back_whole)
        return self._look(self._lost() if lost else {})

    def _attempt(self, move: Move, act: Callable[[Move], None]) -> None:
        try:
            act(move)
        except ButlerctlError as error:
            self.failed[move.route] = error.message

    def _take_away(self, move: Move) -> None:
        if move.held is not None and move.held.published is not None:
            self.steps.unpublish(move.route, move.held)

    def _put_back(self, move: Move) -> None:
        kept = move.kept
        if kept is None:
            return
        if move.held is None:
            self._recreate(move.route, kept)
        elif move.way is Way.RESTORE:
            self._restore(move.route, move.held, kept)
        elif move.way is Way.REPUBLISH:
            self.steps.publish(move.route, move.held, move.held.active_version)
        elif move.saved is not None:
            self._edit(move, move.held, kept, move.saved)
        else:
            self.steps.publish(move.route, move.held, kept.held.active_version)

    def _put_back_whole(self, move: Move) -> None:
        """The version is published, and its webhook does not answer: save its body, which n8n publishes anew."""
        if move.held is not None and move.kept is not None:
            self._restore(move.route, move.held, move.kept)

    def _recreate(self, route: Route, kept: Kept) -> None:
        made = self.steps.create(route, kept.held.published or kept.held.document)
        self.ids[route] = made.id
        if kept.held.published is not None:
            self.steps.publish(route, made, made.version)

    def _restore(self, route: Route, held: Held, kept: Kept) -> None:
        """By content, where the version's id does not do it."""
        held = self.steps.update(route, held, kept.held.published or kept.held.document)
        if held.active_version != held.version:
            self.steps.publish(route, held, held.version)

    def _edit(self, move: Move, held: Held, kept: Kept, saved: Document) -> None:
        """To save without publishing is only possible while nothing is published."""
        if move.unseen and held.published is not None and not move.release:
            self.steps.unpublish(move.route, held)
        try:
            self.steps.update(move.route, held, saved, Step.SAVE)
        finally:
            if kept.held.published is not None:
                self.steps.publish(move.route, held, kept.held.active_version)

    def _lost(self) -> dict[Route, str]:
        """What the webhooks answer that answered as they should when the snapshot was taken, and do not now."""
        kept = {move.route: move.kept for move in self.moves if move.kept}
        published = {route: each.held.published for route, each in kept.items() if each.held.published}
        found = {}
        for route, hooks in faults_of_all(self.scene.webhooks, published).items():
            for hook, fault in hooks.items():
                if fault and kept[route].answering.get(hook):
                    found[route] = fault
        return found

    def _look(self, lost: Mapping[Route, str]) -> list[Failure]:
        """At all workflows at once: what n8n says it publishes, beside what it answers."""
        try:
            server = read_server(self.scene.api)
        except ButlerctlError as error:
            return [Failure(move.route, error.message) for move in self.moves if move.way is not Way.STAY]
        found = {move.route: self._remains(move, server) or lost.get(move.route, "") for move in self.moves}
        return [
            Failure(route, self.failed.get(route, remains)) for route, remains in found.items() if remains
        ]

    def _remains(self, move: Move, server: Server) -> str:
        held = server.workflow(self.ids.get(move.route, ""))
        if move.kept is None:
            return "it is still published" if held and held.published is not None else ""
        return "" if restored(move.kept, held) else "n8n does not publish what it published then"
