"""Back to a snapshot on demand, or only the word whether that would work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from butlerctl.deploy.deployment import Outcome
from butlerctl.deploy.goback import Failure, find_moves, go_back
from butlerctl.deploy.interrupted import adopt, settle
from butlerctl.deploy.journal import PastRun
from butlerctl.deploy.listening import silences
from butlerctl.deploy.moves import Move, Way
from butlerctl.deploy.scene import Scene
from butlerctl.deploy.server import read_server
from butlerctl.deploy.snapshot import Kind, Snapshot
from butlerctl.deploy.steps import Steps
from butlerctl.deploy.wire import faults_of_all
from butlerctl.errors import BadInput


@dataclass(frozen=True, slots=True)
class Return:
    """What a rollback did, or with `--check` would do. `outcome` is None for a check."""

    snapshot: Snapshot
    moves: tuple[Move, ...]
    outcome: Outcome | None = None
    left: tuple[Failure, ...] = ()

    @property
    def to_change(self) -> tuple[Move, ...]:
        return tuple(move for move in self.moves if move.way is not Way.STAY)

    @property
    def obstacles(self) -> tuple[str, ...]:
        return tuple(f"{move.route}: {move.obstacle}" for move in self.to_change if move.obstacle)

    def as_json(self) -> dict[str, Any]:
        return {
            "snapshot": self.snapshot.id,
            "taken": self.snapshot.taken.isoformat(timespec="seconds"),
            "works": not self.obstacles,
            "outcome": None if self.outcome is None else str(self.outcome),
            "moves": [move.as_json() for move in self.moves],
            "left": [failure.as_json() for failure in self.left],
        }


def check(scene: Scene, to: str = "") -> Return:
    """What `rollback` would do now. Sends GETs only and writes no file.

    Raises:
        BadInput: there is no such snapshot, or it is damaged.
        Unreachable, TryAgain, NotPermitted: as N8nApi.
    """
    snapshot = _goal(scene, to, scene.store.unfinished())
    return Return(snapshot, _moves(scene, snapshot))


def rollback(scene: Scene, to: str = "") -> Return:
    """Bring back what n8n published when a snapshot was taken, for the whole set.

    Without `to` that is the snapshot of the interrupted run, else the newest one that no rollback took.

    Raises:
        BadInput: there is no such snapshot, it is damaged, or another workflow now holds a path of it; nothing was
            written.
        Unreachable, TryAgain, NotPermitted: as N8nApi; nothing was written.
    """
    with scene.store.lock():
        interrupted = scene.store.unfinished()
        snapshot = _goal(scene, to, interrupted)
        for run in interrupted:
            settle(run)
            with scene.store.journal(run.id) as journal:
                adopt(scene, journal, run, scene.look())
        back = Return(snapshot, _moves(scene, snapshot))
        if back.obstacles:
            raise BadInput(
                f"the rollback would not work: {'; '.join(back.obstacles)}", hint="nothing was written"
            )
        outcome, left = _carry_out(scene, back) if back.to_change else _require_answers(scene, snapshot)
        for run in interrupted if not left else ():
            with scene.store.journal(run.id) as journal:
                journal.back(f"taken back to {snapshot.id}")
                journal.end(Outcome.ROLLED_BACK)
        return Return(snapshot, back.moves, outcome, tuple(left))


def _goal(scene: Scene, to: str, interrupted: Sequence[PastRun]) -> Snapshot:
    if to or interrupted:
        snapshot = scene.store.read(to or str(interrupted[0].begun["snapshot"]))
    else:
        snapshot = scene.store.newest()
    if snapshot.target != scene.target:
        raise BadInput(f"the snapshot {snapshot.id} is of another n8n: {snapshot.target}")
    return snapshot


def _moves(scene: Scene, snapshot: Snapshot) -> tuple[Move, ...]:
    """The moves to the snapshot; what would stay and is not there on the wire is published again."""
    moves = find_moves(scene, snapshot, scene.store.memory())
    stays = {
        move.route: move.held.published
        for move in moves
        if move.way is Way.STAY and move.kept and move.held and move.held.published
    }
    silent = {
        route
        for route, silence in silences(scene.webhooks, stays, read_server(scene.api)).items()
        if silence.certain
    }
    return tuple(
        replace(move, way=Way.REPUBLISH) if move.way is Way.STAY and move.route in silent else move
        for move in moves
    )


def _require_answers(scene: Scene, snapshot: Snapshot) -> tuple[Outcome, Sequence[Failure]]:
    """There is nothing to move: does everything answer that answered when the snapshot was taken?"""
    kept = {each.route: each for each in snapshot.kept}
    published = {route: each.held.published for route, each in kept.items() if each.held.published}
    left = [
        Failure(route, f"n8n publishes what it published then, and {fault}")
        for route, faults in faults_of_all(scene.webhooks, published).items()
        for hook, fault in faults.items()
        if fault and kept[route].answering.get(hook)
    ]
    return (Outcome.NOT_ROLLED_BACK if left else Outcome.NOTHING), left


def _carry_out(scene: Scene, back: Return) -> tuple[Outcome, Sequence[Failure]]:
    own = scene.take_snapshot(scene.look(), Kind.ROLLBACK, ())
    with scene.store.journal(own.id) as journal:
        journal.begin(Kind.ROLLBACK, back.snapshot.id, None)
        left = go_back(scene, Steps(scene.api, scene.webhooks, journal), back.moves)
        if left:
            return Outcome.NOT_ROLLED_BACK, left
        journal.end(Outcome.DONE)
    return Outcome.DONE, left
