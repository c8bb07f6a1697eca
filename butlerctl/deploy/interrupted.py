"""What a run left behind that nobody saw the end of: wait for it, note it, and tell it from a stranger's work."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta

from butlerctl.deploy.difference import differences
from butlerctl.deploy.journal import Journal, PastRun, Sent, Step, content_digest
from butlerctl.deploy.plan import Plan, State
from butlerctl.deploy.scene import Look, Scene
from butlerctl.deploy.server import Document, Held, Server
from butlerctl.inventory.operations import Route

SETTLE = timedelta(seconds=2)
"""How long n8n may still carry out a step whose sender died or gave up."""

Done = tuple[Step, Route, str, str]
"""Step, route, id of the workflow and of the version."""


def settle(run: PastRun) -> None:
    """Wait until n8n has done, or dropped, the step that was sent last and whose answer nobody saw.

    Never longer than that, wherever the clock stands now.
    """
    if run.in_flight is not None:
        left = run.in_flight + SETTLE - datetime.now(UTC)
        time.sleep(max(min(left, SETTLE).total_seconds(), 0))


def seen_done(run: PastRun, server: Server, written: Collection[str]) -> Iterator[Done]:
    """What a run had sent and did not see done, and n8n holds: the workflow that it made, the version that it saved.

    A draft that it saved again stays that of the person.
    """
    made = {workflow_id for step, _, workflow_id, _ in run.done() if step is Step.CREATE}
    for sent in run.saves():
        if sent.step is Step.CREATE:
            new = [held for held in server.workflows if held.id not in made and held.id not in sent.others]
            found = next((held for held in new if not held.archived and _holds(held, sent)), None)
            step = Step.CREATE
        else:
            found, step = server.workflow(sent.id), Step.SEEN
        if found and found.version not in written and sent.step is not Step.SAVE and _holds(found, sent):
            yield step, sent.route, found.id, found.version


def _holds(held: Held, sent: Sent) -> bool:
    """Is exactly this saved in it?"""
    return held.name == sent.name and content_digest(held.document) == sent.content


def adopt(journal: Journal, server: Server, written: Collection[str]) -> None:
    """Note what the run of this journal had sent and did not see done."""
    for done in list(seen_done(journal.past, server, written)):
        journal.done(*done)


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
