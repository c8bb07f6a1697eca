"""Carry out a plan: only what was planned, the whole set or nothing of it; finish a run that was interrupted."""

from __future__ import annotations

from collections.abc import Sequence

from butlerctl.deploy.deployment import Deployment, Outcome, Result
from butlerctl.deploy.interrupted import adopt, settle, strange_to
from butlerctl.deploy.plan import Plan, outdated, read_plan
from butlerctl.deploy.report import VouchingReport
from butlerctl.deploy.scene import Look, Scene
from butlerctl.deploy.server import Held
from butlerctl.deploy.snapshot import Kind
from butlerctl.deploy.wire import faults_of_all
from butlerctl.errors import BadInput, DeployFailed, NothingChecked
from butlerctl.inventory.operations import Route


def apply(
    scene: Scene,
    planned: Plan,
    reports: tuple[VouchingReport, ...] = (),
    *,
    report_required: bool = False,
) -> Result:
    """Carry out a plan that still holds. `report_required`: a report was the condition, also for a resumption.

    Raises:
        BadInput: it does not hold any more, something speaks against it, or a run was interrupted before;
            nothing was written to n8n.
        DeployFailed: nothing was to be deployed, and a webhook does not answer.
        Unreachable, TryAgain, NotPermitted: as N8nApi; nothing was written.
    """
    with scene.store.lock():
        interrupted = scene.store.unfinished()
        if interrupted:
            raise BadInput(
                f"the run {interrupted[0].id} was interrupted",
                hint="finish it with `butlerctl apply --resume`, or go back with `butlerctl rollback`",
            )
        look = scene.look(overwrite_drafts=planned.overwrite_drafts, listen=True)
        _refuse(outdated(planned, look.plan), "the plan does not hold any more", "make a new plan")
        _refuse(look.plan.refusals, "this is not deployed", "nothing was written to n8n")
        if not look.plan.to_write:
            _require_answers(scene, look)
            return Result(Outcome.NOTHING, look.plan)
        snapshot = scene.take_snapshot(look, Kind.APPLY, reports)
        scene.say(f"snapshot {snapshot.id}")
        with scene.store.journal(snapshot.id) as journal:
            journal.begin(Kind.APPLY, snapshot.id, look.plan.as_json(), report_required=report_required)
            return Deployment(scene, journal, snapshot, look.plan, _held(look)).run()


def resume(scene: Scene, *, has_report: bool = False) -> Result:
    """Finish an interrupted run: a deployment, or the way back where it had turned back.

    `has_report`: a report vouches for what the files say now.

    Raises:
        NothingChecked: no run was interrupted.
        BadInput: files or n8n are no longer what the run had before it; nothing was written to n8n.
        Unreachable, TryAgain, NotPermitted: as N8nApi; nothing was written.
    """
    with scene.store.lock():
        interrupted = scene.store.unfinished()
        if not interrupted:
            raise NothingChecked(
                "no deployment was interrupted", hint="`butlerctl apply PLANFILE` begins one"
            )
        run = interrupted[0]
        if not run.begun.get("plan"):
            raise BadInput("a rollback was interrupted", hint="finish it with `butlerctl rollback`")
        plan = read_plan(run.begun["plan"])
        snapshot = scene.store.begun_from(run)
        settle(run)
        look = scene.look(overwrite_drafts=True)  # whoever saved something since is found by `strange_to`
        with scene.store.journal(run.id) as journal:
            deployment = Deployment(scene, journal, snapshot, plan, _held(look))
            if run.goes_back:
                return deployment.turn_back("the run was interrupted on its way back")
            _refuse(
                strange_to(scene, plan, look),
                "the interrupted run cannot go on",
                "go back with `butlerctl rollback`",
            )
            if run.report_required and not has_report:
                raise BadInput(
                    f"the run {run.id} was begun with --require-report",
                    hint="give it again with --resume, or go back with `butlerctl rollback`",
                )
            adopt(journal, look.server, look.memory.written)
            return deployment.run()


def _held(look: Look) -> dict[Route, Held | None]:
    return {route: member.held for route, member in look.members.items()}


def _require_answers(scene: Scene, look: Look) -> None:
    published = {route: held.published for route, held in _held(look).items() if held and held.published}
    wrong = [
        f"{route}: {fault}"
        for route, faults in faults_of_all(scene.webhooks, published).items()
        for fault in faults.values()
        if fault
    ]
    if wrong:
        raise DeployFailed(
            f"there is nothing to deploy, and not everything answers: {'; '.join(wrong)}",
            hint="what n8n publishes is what the files say; look at n8n's log, or restart it",
        )


def _refuse(reasons: Sequence[str], what: str, hint: str) -> None:
    if reasons:
        raise BadInput(f"{what}: {'; '.join(reasons)}", hint=hint)
