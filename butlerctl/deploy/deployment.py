"""One deployment under way: every workflow to what its file says, or the whole set back."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import Any

from butlerctl.deploy.difference import differences
from butlerctl.deploy.goback import Failure, find_moves, go_back, keep_drafts
from butlerctl.deploy.interrupted import adopt, settle
from butlerctl.deploy.journal import Journal
from butlerctl.deploy.moves import Move, Way
from butlerctl.deploy.plan import Entry, Plan, Status
from butlerctl.deploy.scene import Scene
from butlerctl.deploy.server import Document, Held, Server, read_server
from butlerctl.deploy.snapshot import Snapshot
from butlerctl.deploy.steps import Steps, unlike
from butlerctl.deploy.wire import faults_of_all
from butlerctl.errors import ButlerctlError, DeployFailed, ExitCode, TryAgain
from butlerctl.inventory.operations import Route

RESTART = timedelta(seconds=20)
"""How long a way back waits for an n8n that does not answer."""


class Outcome(StrEnum):
    """How a run ended."""

    NOTHING = "nothing to do"
    DONE = "done"
    ROLLED_BACK = "failed, rolled back"
    NOT_ROLLED_BACK = "failed, not rolled back"

    @property
    def exit_code(self) -> ExitCode:
        return _CODES[self]


_CODES = {
    Outcome.NOTHING: ExitCode.PROVEN,
    Outcome.DONE: ExitCode.PROVEN,
    Outcome.ROLLED_BACK: ExitCode.BROKEN,
    Outcome.NOT_ROLLED_BACK: ExitCode.LEFTOVER,
}


@dataclass(frozen=True, slots=True)
class Result:
    """`reason` says why a deployment failed, `left` what a rollback could not put back.

    `interrupted`: somebody pressed Ctrl-C, and that was the reason.
    """

    outcome: Outcome
    plan: Plan
    snapshot: str = ""
    reason: str = ""
    left: tuple[Failure, ...] = ()
    interrupted: bool = False

    @property
    def exit_code(self) -> ExitCode:
        if self.interrupted and self.outcome is Outcome.ROLLED_BACK:
            return ExitCode.INTERRUPTED
        return self.outcome.exit_code

    def as_json(self) -> dict[str, Any]:
        return {
            "outcome": str(self.outcome),
            "snapshot": self.snapshot,
            "reason": self.reason,
            "left": [failure.as_json() for failure in self.left],
            "entries": [
                {"route": str(entry.route), "status": str(entry.status)} for entry in self.plan.entries
            ],
        }


@dataclass(slots=True)
class Deployment:
    """One deployment under way. `held` has the workflows as they were when it began."""

    scene: Scene
    journal: Journal
    snapshot: Snapshot
    plan: Plan
    held: Mapping[Route, Held | None]

    @property
    def _steps(self) -> Steps:
        return Steps(self.scene.api, self.scene.webhooks, self.journal)

    def run(self) -> Result:
        """Deploy; whatever goes wrong, the whole set goes back."""
        under_way: list[Entry] = []
        try:
            released = self._release()
            for number, entry in enumerate(self.plan.to_write, 1):
                under_way.append(entry)
                self._bring(entry, released=entry.route in released)
                done = f"[{number}/{len(self.plan.to_write)}]"
                self.scene.say(f"{done} {entry.route}: {entry.status}, answering")
            under_way.clear()
            self._require_all()
        except ButlerctlError as error:
            where = f"{under_way[-1].route}: " if under_way else ""
            return self.turn_back(f"{where}{error.message}", error, under_way)
        except KeyboardInterrupt:
            back = self.turn_back("interrupted from the keyboard", None, under_way)
            return replace(back, interrupted=True)
        except BaseException as error:
            back = self.turn_back(f"interrupted by {type(error).__name__}", None, under_way)
            for failure in back.left:
                self.scene.say(f"NOT PUT BACK  {failure.route}: {failure.message}")
            raise
        self._end(Outcome.DONE, "`butlerctl apply --resume`")
        return Result(Outcome.DONE, self.plan, self.snapshot.id)

    def turn_back(
        self, reason: str, error: ButlerctlError | None = None, under_way: Sequence[Entry] = ()
    ) -> Result:
        """Put back every workflow that was touched. Nothing of it waits for the disk: it may be what failed.

        Raises:
            ButlerctlError: n8n refused the very first step and nothing was written: the refusal itself.
        """
        self.scene.say(f"failed: {reason}")
        self.scene.say(f"going back to the snapshot {self.snapshot.id}")
        self.journal.back(reason)
        moves: Sequence[Move] = ()
        try:
            moves = self._moves_back()
            left = go_back(self.scene, self._steps, moves, first=under_way[-1].route if under_way else None)
        except ButlerctlError as problem:
            left = [Failure(entry.route, problem.message) for entry in self.plan.to_write]
        except KeyboardInterrupt:
            left = [
                Failure(entry.route, "interrupted again before it was checked") for entry in self._touched
            ]
        if left:
            return Result(Outcome.NOT_ROLLED_BACK, self.plan, self.snapshot.id, reason, tuple(left))
        self._end(Outcome.ROLLED_BACK, "`butlerctl rollback`")
        untouched = not list(self.journal.past.done()) and all(move.way is Way.STAY for move in moves)
        if error is not None and untouched:
            raise error
        return Result(Outcome.ROLLED_BACK, self.plan, self.snapshot.id, reason)

    @property
    def _touched(self) -> list[Entry]:
        touched = self.journal.past.touched
        return [entry for entry in self.plan.entries if entry.route in touched]

    def _moves_back(self) -> Sequence[Move]:
        """What leads back, for the workflows that this run wrote to: the others are as people want them."""
        server = self._settled()
        run = self.journal.past
        memory = self.scene.store.memory(run)
        moves = find_moves(self.scene, self.snapshot, server, memory, [run])
        due = [move for move in moves if move.route in run.touched]
        keep_drafts(self.scene, self.journal, due)
        return due

    def _settled(self) -> Server:
        """n8n with nothing in flight any more, all of it noted. Waits for an n8n that is being restarted."""
        settle(self.journal.past)
        memory = self.scene.store.memory(self.journal.past)
        ids = [*memory.known.values(), *(kept.held.id for kept in self.snapshot.kept)]
        deadline = time.monotonic() + RESTART.total_seconds()
        while True:
            try:
                server = read_server(self.scene.api, ids)
            except TryAgain:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.5)
            else:
                adopt(self.journal, server, memory.written)
                return server

    def _end(self, outcome: Outcome, command: str) -> None:
        self.journal.end(outcome)
        if self.journal.complaint:
            self.scene.say(
                f"{self.journal.complaint}; so the run counts as interrupted until {command} ends it"
            )

    def _release(self) -> set[Route]:
        """First of all, nobody holds a path any more that another one is to have."""
        released = set()
        for entry in self.plan.to_write:
            held = self.held.get(entry.route)
            served = held.published if held else None
            if held and served and entry.release and differences(served, self._export(entry)):
                self._steps.require_unchanged(held)
                self._steps.unpublish(entry.route, held)
                released.add(entry.route)
        return released

    def _bring(self, entry: Entry, *, released: bool) -> None:
        """One workflow to what its file says, from wherever it is now."""
        export, steps = self._export(entry), self._steps
        held = self.held.get(entry.route)
        before = held.published if held else None
        if held is not None and entry.status is Status.SILENT:
            held = self._publish_again(entry, held)
        elif held is None:
            held = steps.create(entry.route, export)
        else:
            steps.require_unchanged(held, released=released)
            if differences(held.document, export):
                held = steps.update(entry.route, held, export)
        if held.published is None or released or differences(held.published, export):
            held = steps.publish(entry.route, held, held.version)
        steps.require_served(held, export, before)

    def _publish_again(self, entry: Entry, held: Held) -> Held:
        """The same version. What is saved beside it stays."""
        if held.published is not None:
            self._steps.unpublish(entry.route, held)
        return self._steps.publish(entry.route, held, entry.before.active_version)

    def _require_all(self) -> None:
        """One last look at the whole set, also at what needed no deployment: what n8n holds, and whether it answers."""
        self.scene.let_publish()
        known = self.scene.store.memory().known
        server = read_server(self.scene.api, known.values())
        for entry in self.plan.entries:
            held = server.workflow(entry.id or known.get(entry.route, ""))
            wrong = self._wrong(entry, held) if held else "it is gone"
            if wrong:
                raise DeployFailed(f"{entry.route}: {wrong}")
        exports = {entry.route: self._export(entry) for entry in self.plan.entries}
        for route, hooks in faults_of_all(self.scene.webhooks, exports).items():
            for fault in filter(None, hooks.values()):
                raise DeployFailed(f"{route}: {fault}", hint="the API says that it is published")

    def _wrong(self, entry: Entry, held: Held) -> str:
        """A draft that was there before may stay."""
        export, may_differ = self._export(entry), entry.status in (Status.DRAFT, Status.SILENT)
        if not may_differ and differences(held.document, export):
            return "what is saved in n8n is not the file"
        return unlike(held, export)

    def _export(self, entry: Entry) -> Document:
        return self.scene.exports[entry.route]
