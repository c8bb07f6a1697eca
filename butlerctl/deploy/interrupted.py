"""What a run left behind that nobody saw the end of: wait for it, note it, and tell it from a stranger's work."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

from butlerctl.deploy.difference import differences
from butlerctl.deploy.journal import Journal, PastRun, Step
from butlerctl.deploy.plan import Plan, State
from butlerctl.deploy.scene import Look, Scene
from butlerctl.deploy.server import Document, Held

SETTLE = timedelta(seconds=2)
"""How long n8n may still carry out a step whose sender died or gave up."""


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


def strange_to(scene: Scene, plan: Plan, look: Look) -> list[str]:
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
