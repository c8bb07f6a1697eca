"""Back to a snapshot on demand, or only the word whether that would work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from butlerctl.deploy.deployment import Outcome
from butlerctl.deploy.goback import Failure, find_moves, go_back
from butlerctl.deploy.interrupted import adopt, seen_done, settle
from butlerctl.deploy.journal import Memory, PastRun
from butlerctl.deploy.listening import silences
from butlerctl.deploy.moves import Move, Way
from butlerctl.deploy.scene import Ground
from butlerctl.deploy.server import Server, read_server
from butlerctl.deploy.snapshot import Kind, Snapshot, new_id
from butlerctl.deploy.steps import Steps
from butlerctl.deploy.wire import faults_of_all
from butlerctl.errors import BadInput, ExitCode
from butlerctl.inventory.operations import Route
from butlerctl.n8n.hooks import hooks_of


@dataclass(frozen=True, slots=True)
class Return:
    """What a rollback did, or with `--check` would do. `outcome` is None for a check.

    `unknown` names what serves a route that had no workflow then, and that no journal knows; `silent` what did not
    answer then and does not now.
    """

    snapshot: Snapshot
    moves: tuple[Move, ...]
    unknown: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    outcome: Outcome | None = None
    left: tuple[Failure, ...] = ()

    @property
    def to_change(self) -> tuple[Move, ...]:
        return tuple(move for move in self.moves if move.way is not Way.STAY)

    @property
    def obstacles(self) -> tuple[str, ...]:
        return tuple(f"{move.route}: {move.obstacle}" for move in self.to_change if move.obstacle)

    @property
    def lacks(self) -> tuple[str, ...]:
        """What will not be as it was, however well the rollback works."""
        of_moves = (f"{move.route}: {text}" for move in self.moves for text in move.lacks)
        return (*of_moves, *self.unknown, *self.silent)

    @property
    def exit_code(self) -> ExitCode:
        if self.outcome is None:
            return ExitCode.BROKEN if self.obstacles or self.lacks else ExitCode.PROVEN
        return ExitCode.LEFTOVER if self.lacks else self.outcome.exit_code

    def as_json(self) -> dict[str, Any]:
        return {
            "snapshot": self.snapshot.id,
            "taken": self.snapshot.taken.isoformat(timespec="seconds"),
            "works": not self.obstacles and not self.lacks,
            "outcome": None if self.outcome is None else str(self.outcome),
            "moves": [move.as_json() for move in self.moves],
            "unknown": list(self.unknown),
            "silent": list(self.silent),
            "left": [failure.as_json() for failure in self.left],
        }


def check(ground: Ground, to: str = "") -> Return:
    """What `rollback` would do now. Sends GETs only and writes no file.

    Raises:
        BadInput: there is no such snapshot, or it is damaged.
        Unreachable, TryAgain, NotPermitted: as N8nApi.
    """
    interrupted = ground.store.unfinished()
    snapshot = _goal(ground, to, interrupted)
    return _way_back(ground, snapshot, interrupted, _settled(ground, snapshot, interrupted))


def rollback(ground: Ground, to: str = "") -> Return:
    """Bring back what n8n published when a snapshot was taken, for the whole set.

    Without `to` that is the snapshot of the interrupted run, else the newest one that no rollback took. It does not
    wait for a disk that cannot be written: then it goes without a snapshot and a journal of its own, and says so.

    Raises:
        BadInput: there is no such snapshot, it is damaged, or another workflow now holds a path of it; nothing was
            written.
        Unreachable, TryAgain, NotPermitted: as N8nApi; nothing was written.
    """
    with ground.store.lock(needed=False):
        interrupted = ground.store.unfinished()
        snapshot = _goal(ground, to, interrupted)
        server = _settled(ground, snapshot, interrupted)
        written = ground.store.memory().written
        for run in interrupted:
            with ground.store.journal(run.id, needed=False) as journal:
                adopt(journal, server, written)
        back = _way_back(ground, snapshot, interrupted, server)
        if back.obstacles:
            raise BadInput(
                f"the rollback would not work: {'; '.join(back.obstacles)}", hint="nothing was written"
            )
        outcome, left = _carry_out(ground, back) if back.to_change else _require_answers(ground, snapshot)
        if not left:
            _close(ground, interrupted, snapshot)
        silent = tuple(_silent_as_then(ground, snapshot))
        return replace(back, outcome=outcome, left=tuple(left), silent=silent)


def _goal(ground: Ground, to: str, interrupted: Sequence[PastRun]) -> Snapshot:
    if to:
        snapshot = ground.store.read(to)
    else:
        snapshot = ground.store.begun_from(interrupted[0]) if interrupted else ground.store.newest()
    if snapshot.target != ground.target:
        raise BadInput(
            f"the snapshot {snapshot.id} is of another n8n: {snapshot.target}",
            hint="`butlerctl snapshot list` shows those of this one",
        )
    if not ground.store.has(snapshot) and not _is_about(snapshot, ground):
        raise BadInput(
            f"the snapshot {snapshot.id} is of another household: none of its workflows is for a webhook of this one",
            hint="`butlerctl snapshot list` shows those of this inventory",
        )
    return snapshot


def _is_about(snapshot: Snapshot, ground: Ground) -> bool:
    """Holds it a workflow for a path of this inventory; or, where it holds none at all, has it one of its routes?"""
    ours = {("POST", route.webhook_path(ground.prefix)) for route in ground.routes}
    documents = [each for kept in snapshot.kept for each in (kept.held.document, kept.held.published)]
    if not documents:
        return not set(snapshot.routes).isdisjoint(ground.routes)
    return any(hook in ours for document in documents for hook in hooks_of(document))


def _settled(ground: Ground, snapshot: Snapshot, interrupted: Sequence[PastRun]) -> Server:
    for run in interrupted:
        settle(run)
    known = ground.store.memory().known.values()
    return read_server(ground.api, [*known, *(kept.held.id for kept in snapshot.kept)])


def _way_back(ground: Ground, snapshot: Snapshot, interrupted: Sequence[PastRun], server: Server) -> Return:
    """From where n8n is, with what the interrupted runs sent and did not live to see."""
    runs = ground.store.runs()
    written = Memory.of(runs).written
    runs = [run if run.finished else run.with_done(seen_done(run, server, written)) for run in runs]
    backs = [run for run in interrupted if run.goes_back]
    moves = find_moves(ground, snapshot, server, Memory.of(runs), backs)
    return Return(
        snapshot,
        _with_the_silent(ground, moves, server),
        unknown=tuple(_unknown(ground, snapshot, moves, server)),
    )


def _unknown(ground: Ground, snapshot: Snapshot, moves: Sequence[Move], server: Server) -> Iterator[str]:
    """What was made since for a route of the snapshot, by a person, or by a butlerctl whose journals are elsewhere."""
    known = {move.held.id for move in moves if move.held}
    had = {kept.route for kept in snapshot.kept}
    for route in snapshot.routes:
        hook = ("POST", route.webhook_path(ground.prefix))
        for held in server.workflows:
            if route not in had and held.id not in known and hook in held.hooks:
                yield (
                    f'{route}: it had no workflow then; now "{held.name}" ({held.id}) serves {hook[1]},'
                    " and no journal says that butlerctl made it"
                )


def _with_the_silent(ground: Ground, moves: Sequence[Move], server: Server) -> tuple[Move, ...]:
    """What would stay and is not there on the wire is published again."""
    stays = {
        move.route: move.held.published
        for move in moves
        if move.way is Way.STAY and move.kept and move.held and move.held.published
    }
    silent = {route for route, silence in silences(ground.webhooks, stays, server).items() if silence.certain}
    return tuple(
        replace(move, way=Way.REPUBLISH) if move.way is Way.STAY and move.route in silent else move
        for move in moves
    )


def _require_answers(ground: Ground, snapshot: Snapshot) -> tuple[Outcome, Sequence[Failure]]:
    """There is nothing to move: does everything answer that answered when the snapshot was taken?"""
    left = [
        Failure(route, f"n8n publishes what it published then, and {fault}")
        for route, fault in _faults_now(ground, snapshot, answered=True)
    ]
    return (Outcome.NOT_ROLLED_BACK if left else Outcome.NOTHING), left


def _silent_as_then(ground: Ground, snapshot: Snapshot) -> Iterator[str]:
    """A snapshot of an incident cannot tell how its webhooks answer: where they do not, the way back is no success."""
    for route, fault in _faults_now(ground, snapshot, answered=False):
        yield f"{route}: it did not answer when the snapshot was taken, and does not now: {fault}"


def _faults_now(ground: Ground, snapshot: Snapshot, *, answered: bool) -> Iterator[tuple[Route, str]]:
    """What is wrong with the webhooks that did, or did not, answer when the snapshot was taken. The others are not asked."""
    kept = {each.route: each for each in snapshot.kept if answered in each.answering.values()}
    published = {route: each.held.published for route, each in kept.items() if each.held.published}
    for route, faults in faults_of_all(ground.webhooks, published).items():
        for hook, fault in faults.items():
            if fault and kept[route].answering.get(hook, False) is answered:
                yield route, fault


def _carry_out(ground: Ground, back: Return) -> tuple[Outcome, Sequence[Failure]]:
    own = _own_snapshot(ground, back.moves)
    with ground.store.journal(own, needed=False) as journal:
        journal.begin(Kind.ROLLBACK, back.snapshot.id, None)
        try:
            left = go_back(ground, Steps(ground.api, ground.webhooks, journal), back.moves)
        except KeyboardInterrupt:
            left = [Failure(move.route, "interrupted before it was checked") for move in back.to_change]
        if not left:
            journal.end(Outcome.DONE)
        if journal.complaint:
            ground.say(f"this rollback is in no journal: {journal.complaint}")
    return (Outcome.NOT_ROLLED_BACK if left else Outcome.DONE), left


def _own_snapshot(ground: Ground, moves: Sequence[Move]) -> str:
    """The id of a snapshot of what the rollback may write over: drafts are in it too."""
    for move in moves:
        if move.theirs and move.held:
            ground.say(
                f"{move.route}: version {move.held.version}, which somebody saved, is saved again after it"
            )
    try:
        return ground.keep([(move.route, move.held) for move in moves if move.held], Kind.ROLLBACK).id
    except BadInput as error:
        ground.say(f"going back without a snapshot of what is there now: {error.message}")
        return new_id(ground.store.moment())


def _close(ground: Ground, interrupted: Sequence[PastRun], snapshot: Snapshot) -> None:
    for run in interrupted:
        with ground.store.journal(run.id, needed=False) as journal:
            journal.back(f"taken back to {snapshot.id}")
            journal.end(Outcome.ROLLED_BACK)
            if journal.complaint:
                ground.say(f"the run {run.id} still counts as interrupted: {journal.complaint}")
