"""Carry out the moves of a rollback: best effort for every workflow, then one look at all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from butlerctl.deploy.journal import Journal, Memory, PastRun, Step
from butlerctl.deploy.moves import Move, Present, Way, moves_to, restored, unlike_then
from butlerctl.deploy.scene import Ground
from butlerctl.deploy.server import Document, Held, Server, read_server
from butlerctl.deploy.snapshot import Kind, Snapshot
from butlerctl.deploy.steps import Steps
from butlerctl.deploy.wire import faults_of_all
from butlerctl.errors import BadInput, ButlerctlError
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


def find_moves(
    ground: Ground, snapshot: Snapshot, server: Server, memory: Memory, backs: Sequence[PastRun] = ()
) -> tuple[Move, ...]:
    """`backs` are the runs that began a way back and did not end it, the newest first.

    Sends GETs only. Raises Unreachable, TryAgain, NotPermitted.
    """
    wanted = {(kept.held.id, kept.held.active_version) for kept in snapshot.kept if kept.held.active_version}
    asked = sorted(wanted - {(held.id, held.active_version) for held in server.workflows})
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = pool.map(lambda version: _has(ground.api, *version), asked)
        versions = wanted - {version for version, is_there in zip(asked, found, strict=True) if not is_there}
    drafts = _drafts(ground, backs, memory)
    created = memory.created_since(snapshot.taken)
    return moves_to(snapshot, Present(server, created, memory.written, versions, drafts))


def _has(api: N8nApi, workflow_id: str, version: str) -> bool:
    return api.workflow_version(workflow_id, version) is not None


def _drafts(ground: Ground, backs: Sequence[PastRun], memory: Memory) -> dict[str, Document]:
    """What people had saved when these ways back, the newest first, began."""
    found: dict[str, Document] = {}
    for run in reversed(backs):
        with suppress(BadInput):  # it died before it had the snapshot, and so before it wrote
            kept = ground.store.read(run.safety).kept if run.safety else ()
            found |= {
                each.held.id: each.held.document for each in kept if each.held.version not in memory.written
            }
    return found


def keep_drafts(ground: Ground, journal: Journal, moves: Sequence[Move]) -> None:
    """A snapshot of what people saved since, before anything is saved over it, if the disk has room for it."""
    at_stake = [(move.route, move.held) for move in moves if move.theirs and move.held]
    if not at_stake:
        return
    for route, held in at_stake:
        ground.say(
            f"{route}: version {held.version}, which somebody saved, is saved again after the way back"
        )
    try:
        journal.kept(ground.keep(at_stake, Kind.ROLLBACK).id)
    except BadInput as error:
        ground.say(f"no snapshot of it before that: {error.message}")


def go_back(
    ground: Ground, steps: Steps, moves: Sequence[Move], *, first: Route | None = None
) -> list[Failure]:
    """Make every move; none keeps another from being made. `first` goes first: its webhook is broken now.

    Answers with what is not as it was in the snapshot; raises nothing of n8n's.
    """
    tasks = [_Task(move) for move in sorted(moves, key=lambda move: move.route != first)]
    return _Return(ground, steps, tasks).run()


@dataclass(slots=True)
class _Task:
    """A move, the workflow that it is about by now, and what n8n said where it failed."""

    move: Move
    id: str = field(init=False)
    failed: str = ""

    def __post_init__(self) -> None:
        self.id = self.move.held.id if self.move.held else ""


@dataclass(frozen=True, slots=True)
class _Return:
    """One rollback under way."""

    ground: Ground
    steps: Steps
    tasks: Sequence[_Task]

    def run(self) -> list[Failure]:
        due = [task for task in self.tasks if task.move.way is not Way.STAY]
        for task in due:
            if task.move.way is Way.UNPUBLISH or task.move.release:
                self._attempt(task, self._take_away)
        for number, task in enumerate(due, 1):
            if task.move.way is not Way.UNPUBLISH and not task.failed:
                self._attempt(task, self._put_back)
            self.ground.say(f"[{number}/{len(due)}] {task.move.route}: {task.failed or 'put back'}")
        lost = self._lost()
        for number, task in enumerate(self.tasks):
            if number in lost and task in due and not task.failed:
                self._attempt(task, self._publish_anew)
        return self._look(self._lost() if lost else {})

    def _attempt(self, task: _Task, act: Callable[[_Task], None]) -> None:
        try:
            act(task)
        except ButlerctlError as error:
            task.failed = error.message

    def _take_away(self, task: _Task) -> None:
        held = task.move.held
        if held is not None and held.published is not None:
            self.steps.unpublish(task.move.route, held)

    def _put_back(self, task: _Task) -> None:
        move = task.move
        if move.held is None:
            self._recreate(task)
        elif move.body is not None:
            self._restore(move, move.held, move.body)
        elif move.way is Way.REPUBLISH:
            self.steps.publish(move.route, move.held, move.held.active_version)
        elif move.saved is not None:
            self._edit(move, move.held)
        else:
            self.steps.publish(move.route, move.held, move.version)

    def _publish_anew(self, task: _Task) -> None:
        """n8n says that it is published, and its webhook does not answer: taken away and published once more."""
        held = self.steps.read(task.id)
        if held.published is not None:
            self.steps.unpublish(task.move.route, held)
            self.steps.publish(task.move.route, held, held.active_version)

    def _recreate(self, task: _Task) -> None:
        move = task.move
        if move.body is not None:
            made = self.steps.create(move.route, move.body, move.alike)
            task.id = made.id
            self._save_and_publish(move, made, made.version)

    def _restore(self, move: Move, held: Held, body: Document) -> None:
        """By content, where the version's id does not do it."""
        self._prepare(move, held)
        try:
            saved = self.steps.update(move.route, held, body)
        except ButlerctlError:
            if move.unseen and held.published is not None:
                self.steps.publish(move.route, held, held.active_version)
            raise
        self._save_and_publish(move, saved, saved.version)

    def _edit(self, move: Move, held: Held) -> None:
        self._prepare(move, held)
        self._save_and_publish(move, held, move.version)

    def _prepare(self, move: Move, held: Held) -> None:
        """To save without publishing is only possible while nothing is published."""
        self.steps.require_unchanged(held, released=move.release)
        if move.unseen and held.published is not None and not move.release:
            self.steps.unpublish(move.route, held)

    def _save_and_publish(self, move: Move, held: Held, version: str) -> None:
        try:
            if move.saved is not None:
                step = Step.SAVE if move.unseen else Step.UPDATE  # a draft stays that of the person
                self.steps.update(move.route, held, move.saved, step)
        finally:
            is_served = move.kept is not None and move.kept.held.published is not None
            if is_served and (move.saved is not None or held.active_version != version):
                self.steps.publish(move.route, held, version)

    def _lost(self) -> dict[int, str]:
        """By number of the task, what webhooks answer that answered as they should in the snapshot, and do not now."""
        self.ground.let_publish()
        kept = {number: task.move.kept for number, task in enumerate(self.tasks) if task.move.kept}
        published = {number: each.held.published for number, each in kept.items() if each.held.published}
        found = {}
        for number, hooks in faults_of_all(self.ground.webhooks, published).items():
            for hook, fault in hooks.items():
                if fault and kept[number].answering.get(hook):
                    found[number] = fault
        return found

    def _look(self, lost: Mapping[int, str]) -> list[Failure]:
        """At all workflows at once: what n8n says it holds and publishes, beside what it answers.

        What a step said counts only where this is not as it should be: n8n may have done what it did not answer.
        """
        try:
            server = read_server(self.ground.api, (task.id for task in self.tasks if task.id))
        except ButlerctlError as error:
            return [
                Failure(task.move.route, error.message)
                for task in self.tasks
                if task.move.way is not Way.STAY
            ]
        found = [
            (task, _remains(task, server) or lost.get(number, "")) for number, task in enumerate(self.tasks)
        ]
        return [Failure(task.move.route, task.failed or remains) for task, remains in found if remains]


def _remains(task: _Task, server: Server) -> str:
    """What is not as it should be; empty where everything is."""
    move, held = task.move, server.workflow(task.id)
    if move.kept is None:
        return "it is still published" if held and held.published is not None else ""
    if not restored(move.kept, held):
        return "n8n does not publish what it published then"
    if move.saved is not None and held is not None and unlike_then(held.document, move.saved):
        return "the editor does not show what was to be saved there"
    return ""
