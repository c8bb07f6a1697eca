"""Carry out a plan: only what was planned, the whole set or nothing of it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from butlerctl.deploy.difference import differences
from butlerctl.deploy.goback import Failure, find_moves, go_back
from butlerctl.deploy.journal import Journal, PastRun, Step
from butlerctl.deploy.plan import Entry, Plan, State, outdated, read_plan
from butlerctl.deploy.report import VouchingReport
from butlerctl.deploy.scene import Look, Scene
from butlerctl.deploy.server import Document, Held, read_server
from butlerctl.deploy.snapshot import Kind, Snapshot
from butlerctl.deploy.steps import Steps, unlike
from butlerctl.errors import BadInput, ButlerctlError, DeployFailed, ExitCode, NothingChecked, TryAgain

SETTLE = timedelta(seconds=2)
"""How long n8n may still carry out a step whose sender died or gave up."""

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
    """`reason` says why a deployment failed, `left` what a rollback could not put back."""

    outcome: Outcome
    plan: Plan
    snapshot: str = ""
    reason: str = ""
    left: tuple[Failure, ...] = ()

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


def apply(scene: Scene, planned: Plan, reports: tuple[VouchingReport, ...] = ()) -> Result:
    """Carry out a plan that still holds.

    Raises:
        BadInput: it does not hold any more, something speaks against it, or a run was interrupted before;
            nothing was written to n8n.
        Unreachable, TryAgain, NotPermitted: as N8nApi; nothing was written.
    """
    with scene.store.lock():
        interrupted = scene.store.unfinished()
        if interrupted is not None:
            raise BadInput(
                f"the run {interrupted.id} was interrupted",
                hint="finish it with `butlerctl apply --resume`, or go back with `butlerctl rollback`",
            )
        look = scene.look(overwrite_drafts=planned.overwrite_drafts)
        _refuse(outdated(planned, look.plan), "the plan does not hold any more", "make a new plan")
        _refuse(look.plan.refusals, "this is not deployed", "nothing was written to n8n")
        if not look.plan.to_write:
            return Result(Outcome.NOTHING, look.plan)
        snapshot = scene.take_snapshot(look, Kind.APPLY, reports)
        scene.say(f"snapshot {snapshot.id}")
        with scene.store.journal(snapshot.id) as journal:
            journal.begin(Kind.APPLY, snapshot.id, look.plan.as_json())
            return _Deployment(scene, journal, snapshot, look.plan, _held(look)).run()


def resume(scene: Scene) -> Result:
    """Finish an interrupted run: a deployment, or the way back where it had turned back.

    Raises:
        NothingChecked: no run was interrupted.
        BadInput: files or n8n are no longer what the run had before it; nothing was written to n8n.
        Unreachable, TryAgain, NotPermitted: as N8nApi; nothing was written.
    """
    with scene.store.lock():
        run = scene.store.unfinished()
        if run is None:
            raise NothingChecked("no deployment was interrupted")
        if not run.begun.get("plan"):
            raise BadInput("a rollback was interrupted", hint="finish it with `butlerctl rollback`")
        plan = read_plan(run.begun["plan"])
        snapshot = scene.store.read(str(run.begun["snapshot"]))
        settle(run)
        look = scene.look(overwrite_drafts=plan.overwrite_drafts)
        with scene.store.journal(run.id) as journal:
            deployment = _Deployment(scene, journal, snapshot, plan, _held(look))
            if run.goes_back:
                return deployment.turn_back("the run was interrupted on its way back")
            _refuse(
                _strange(scene, plan, look),
                "the interrupted run cannot go on",
                "go back with `butlerctl rollback`",
            )
            adopt(scene, journal, run, look)
            return deployment.run()


def settle(run: PastRun) -> None:
    """Wait until n8n has done, or dropped, the step that was sent last and whose answer nobody saw."""
    if run.in_flight is not None:
        left = run.in_flight + SETTLE - datetime.now(UTC)
        time.sleep(max(left.total_seconds(), 0))


def adopt(scene: Scene, journal: Journal, run: PastRun, look: Look) -> None:
    """Note what a run had sent and did not see done: the workflow that it made, the version that it saved."""
    made = {workflow_id for step, _, workflow_id, _ in run.done() if step is Step.CREATE}
    for route, member in look.members.items():
        held = member.held
        if held is None or held.version in look.memory.written:
            continue
        if route in run.sent(Step.CREATE) and held.id not in made:
            journal.done(Step.CREATE, route, held.id, held.version)
        elif route in run.sent(Step.UPDATE) and not differences(held.document, scene.exports[route]):
            journal.done(Step.SEEN, route, held.id, held.version)


@dataclass(slots=True)
class _Deployment:
    """One deployment under way. `held` has the workflows as they were when it began."""

    scene: Scene
    journal: Journal
    snapshot: Snapshot
    plan: Plan
    held: Mapping[Any, Held | None]

    @property
    def _steps(self) -> Steps:
        return Steps(self.scene.api, self.scene.webhooks, self.journal)

    def run(self) -> Result:
        """Deploy; whatever goes wrong, the whole set goes back."""
        under_way: list[Entry] = []
        try:
            self._release()
            for number, entry in enumerate(self.plan.to_write, 1):
                under_way.append(entry)
                self._bring(entry)
                done = f"[{number}/{len(self.plan.to_write)}]"
                self.scene.say(f"{done} {entry.route}: {entry.status}, answering")
            under_way.clear()
            self._require_all()
        except ButlerctlError as error:
            where = f"{under_way[-1].route}: " if under_way else ""
            return self.turn_back(f"{where}{error.message}", error, under_way)
        except BaseException as error:
            self.turn_back(f"interrupted by {type(error).__name__}", None, under_way)
            raise
        self.journal.end(Outcome.DONE)
        return Result(Outcome.DONE, self.plan, self.snapshot.id)

    def turn_back(
        self, reason: str, error: ButlerctlError | None = None, under_way: Sequence[Entry] = ()
    ) -> Result:
        """Put the whole set back.

        Raises:
            ButlerctlError: n8n refused the very first step and nothing was written: the refusal itself.
        """
        self.scene.say(f"failed: {reason}")
        self.scene.say(f"going back to the snapshot {self.snapshot.id}")
        self.journal.back(reason)
        try:
            run = self._settled()
            moves = find_moves(self.scene, self.snapshot, self.scene.store.memory())
        except ButlerctlError as problem:
            left = [Failure(entry.route, problem.message) for entry in self.plan.to_write]
        else:
            first = under_way[-1].route if under_way else None
            left = go_back(self.scene, self._steps, moves, first=first)
        if left:
            return Result(Outcome.NOT_ROLLED_BACK, self.plan, self.snapshot.id, reason, tuple(left))
        self.journal.end(Outcome.ROLLED_BACK)
        if error is not None and not list(run.done()):
            raise error
        return Result(Outcome.ROLLED_BACK, self.plan, self.snapshot.id, reason)

    def _settled(self) -> PastRun:
        """The run so far, with nothing in flight any more. Waits for an n8n that is being restarted."""
        run = PastRun.read(self.journal.path)
        settle(run)
        deadline = time.monotonic() + RESTART.total_seconds()
        while True:
            try:
                adopt(self.scene, self.journal, run, self.scene.look())
            except TryAgain:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.5)
            else:
                return PastRun.read(self.journal.path)

    def _release(self) -> None:
        """First of all, nobody holds a path any more that another one is to have."""
        for entry in self.plan.to_write:
            held = self.held.get(entry.route)
            served = held.published if held else None
            if held and served and entry.release and differences(served, self._export(entry)):
                self._steps.unpublish(entry.route, held)

    def _bring(self, entry: Entry) -> None:
        """One workflow to what its file says, from wherever it is now."""
        export, steps = self._export(entry), self._steps
        held = self.held.get(entry.route)
        before = held.published if held else None
        if held is None:
            held = steps.create(entry.route, export)
        elif differences(held.document, export):
            held = steps.update(entry.route, held, export)
        if held.published is None or differences(held.published, export):
            held = steps.publish(entry.route, held, held.version)
        steps.require_served(held, export, before)

    def _require_all(self) -> None:
        """One last look at the whole set: what was deployed first may have been changed since."""
        known = self.scene.store.memory().known
        server = read_server(self.scene.api)
        for entry in self.plan.to_write:
            held = server.workflow(known.get(entry.route, entry.id))
            wrong = unlike(held, self._export(entry)) if held else "it is gone"
            if wrong:
                raise DeployFailed(f"{entry.route}: {wrong}")

    def _export(self, entry: Entry) -> Document:
        return self.scene.exports[entry.route]


def _held(look: Look) -> dict[Any, Held | None]:
    return {route: member.held for route, member in look.members.items()}


def _strange(scene: Scene, plan: Plan, look: Look) -> list[str]:
    """What is neither as it was before the interrupted run nor as the run left it."""
    if [entry.route for entry in plan.entries] != [entry.route for entry in look.plan.entries]:
        return ["the inventory has other routes"]
    found = list(look.plan.refusals)
    for then, now in zip(plan.entries, look.plan.entries, strict=True):
        held = look.members[then.route].held
        if then.digest != now.digest:
            found.append(f"{then.route}: the file changed since")
        elif held is not None and not _ours(then.before, held, scene.exports[then.route]):
            found.append(f"{then.route}: somebody changed the workflow in n8n since")
    return found


def _ours(before: State, held: Held, export: Document) -> bool:
    saved = held.saved_digest == before.saved or not differences(held.document, export)
    published = (
        held.published is None
        or held.published_digest == before.published
        or not differences(held.published, export)
    )
    return saved and published


def _refuse(reasons: Sequence[str], what: str, hint: str) -> None:
    if reasons:
        raise BadInput(f"{what}: {'; '.join(reasons)}", hint=hint)
