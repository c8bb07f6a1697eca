"""A deployment against a model: edits by hand and in files, plans, kills, refusals, rollbacks, in any order.

After every command n8n publishes what was planned or what was there before, for the whole set; drafts stay,
strangers are not touched, nothing is there twice.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from butlerctl.inventory.operations import Route
from butlerctl.workflows.digest import canonical_digest, published_version
from tests.deploy.deploy_home import Ran, deploy_home, node_of, renewed
from tests.deploy.n8n_proxy import refusal

OPERATIONS = ("calendar_add", "tasks_list")
ROUTES = [Route(operation, profile) for operation in OPERATIONS for profile in ("husband", "wife")]
MARKS = st.integers(2, 4)
WRITES = st.integers(1, 8)
MOMENTS = st.sampled_from(["before", "after"])
KILLED = -9
Published = dict[Route, tuple[str, str]]


class DeployMachine(RuleBasedStateMachine):
    """`household` is a context manager that gives n8n with the twelve exports, published."""

    household: Any
    tally: Counter[str]
    """How many sequences there were, and how often each command ended in which way."""

    def __init__(self) -> None:
        super().__init__()
        self.tally["sequences"] += 1
        self._stack = ExitStack()
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        built = self._stack.enter_context(type(self).household())
        self.home = self._stack.enter_context(deploy_home(built, folder, ", ".join(OPERATIONS)))
        self.strangers = self.home.strangers()
        self.ways_back: dict[str, Published] = {}
        self.drafts: dict[Route, str] = {}
        self.before: Published = self.published()
        self.killed = ""
        """The command that was killed last and has not been made good."""
        self.overwrote = False
        self.squatter: tuple[Route, str] | None = None
        """Whose path a stranger took, and the stranger's id."""

    def teardown(self) -> None:
        self._stack.close()

    def published(self) -> Published:
        """Workflow and version id, and the digest of the content, of what n8n serves; routes without are left out."""
        found = {}
        for route in ROUTES:
            live = self.find(route)
            if live and live["activeVersionId"]:
                found[route] = (
                    f"{live['id']} {live['activeVersionId']}",
                    canonical_digest(published_version(live)),
                )
        return found

    def find(self, route: Route) -> dict[str, Any] | None:
        name = self.home.household.exports[route]["name"]
        alike = [each for each in self.home.everything() if each["name"] == name]
        assert len(alike) <= 1, "a workflow is there twice"
        return alike[0] if alike else None

    # in the files

    @rule(route=st.sampled_from(ROUTES), mark=MARKS)
    def change_a_file(self, route, mark):
        self.home.renew(route, mark=mark)

    @rule(route=st.sampled_from(ROUTES), seconds=st.sampled_from([11, 12]))
    def change_a_setting_of_a_file(self, route, seconds):
        self.home.edit(route, lambda document: document["settings"].update(executionTimeout=seconds))

    # by hand, in n8n

    @precondition(lambda self: not self.killed)
    @rule(route=st.sampled_from(ROUTES), mark=MARKS)
    def save_a_draft(self, route, mark):
        live = self.find(route)
        if live:
            node_of(live, ".stopAndError")["notes"] = f"idea {mark}"
            self.home.n8n.workflows.save(live["id"], live)
            if live["activeVersionId"]:
                self.drafts[route] = f"idea {mark}"

    @precondition(lambda self: not self.killed)
    @rule(route=st.sampled_from(ROUTES), mark=MARKS)
    def change_and_publish_by_hand(self, route, mark):
        live = self.find(route)
        if live:
            renewed(live, mark + 10)
            self.home.n8n.workflows.save(live["id"], live)
            self.home.n8n.workflows.publish(live["id"])
            self.drafts.pop(route, None)

    @precondition(lambda self: not self.killed)
    @rule(route=st.sampled_from(ROUTES))
    def unpublish_by_hand(self, route):
        live = self.find(route)
        if live:
            self.home.n8n.workflows.unpublish(live["id"])
            self.drafts.pop(route, None)

    @precondition(lambda self: not self.killed)
    @rule(route=st.sampled_from(ROUTES))
    def delete_by_hand(self, route):
        live = self.find(route)
        if live:
            self.home.n8n.workflows.remove(live["id"])
            self.drafts.pop(route, None)

    @precondition(lambda self: not self.killed and self.squatter is None)
    @rule(route=st.sampled_from(ROUTES))
    def a_stranger_takes_the_path(self, route):
        if route not in self.published():
            self.squatter = route, self.home.stranger(route.webhook_path("L4CK3Y"))
            self.strangers = self.home.strangers()

    @precondition(lambda self: self.squatter)
    @rule()
    def the_stranger_goes(self):
        self.home.n8n.workflows.remove(self.squatter[1])
        self.squatter = None
        self.strangers = self.home.strangers()

    # with butlerctl

    @precondition(lambda self: not self.killed)
    @rule()
    def take_a_snapshot(self):
        ran = self._run("snapshot")
        assert ran.code == 0, ran.err
        self.ways_back[ran.json["id"]] = self.published()

    @precondition(lambda self: not self.killed)
    @rule(overwrite=st.booleans())
    def deploy(self, overwrite):
        self._prepare(overwrite)
        ran = self._apply()
        assert ran.code in ((78,) if self.squatter else (0, 78)), ran.err
        self._ended(ran.code, ran.out, overwrote=overwrite)

    @precondition(lambda self: not self.killed)
    @rule(overwrite=st.booleans(), number=WRITES)
    def deploy_and_be_refused(self, overwrite, number):
        self._prepare(overwrite)
        self.home.front.before = lambda count, *_: refusal("no") if count == number else None
        ran = self._apply()
        self.home.front.reset()
        assert ran.code in (0, 1, 78), ran.err
        self._ended(ran.code, ran.out, overwrote=overwrite)

    @precondition(lambda self: not self.killed)
    @rule(overwrite=st.booleans(), number=WRITES, moment=MOMENTS)
    def deploy_and_be_killed(self, overwrite, number, moment):
        self._prepare(overwrite)
        code, out = self._killed_at(number, moment, "apply", str(self.home.plan_file), "--yes")
        self.overwrote = overwrite
        if code == KILLED:
            self.killed = "apply"
            return
        assert code in (0, 78)
        self._ended(code, out, overwrote=overwrite)

    @precondition(lambda self: self.killed)
    @rule()
    def resume(self):
        self._resumed(self._run("apply", "--resume"))

    @precondition(lambda self: self.killed)
    @rule(number=WRITES, moment=MOMENTS)
    def resume_and_be_killed(self, number, moment):
        code, out = self._killed_at(number, moment, "apply", "--resume")
        if code != KILLED:
            self._resumed(Ran(code, out, out))

    @precondition(lambda self: self.killed or self.ways_back)
    @rule(choice=st.integers(0, 5), to=st.booleans())
    def roll_back(self, choice, to):
        self._rolled_back(self._run("rollback", *self._goal(choice, to=to)))

    @precondition(lambda self: self.killed or self.ways_back)
    @rule(choice=st.integers(0, 5), to=st.booleans(), number=WRITES, moment=MOMENTS)
    def roll_back_and_be_killed(self, choice, to, number, moment):
        argv = self._goal(choice, to=to)
        checked = self.home.run("rollback", "--check", "--format", "json", *argv)
        code, out = self._killed_at(number, moment, "rollback", *argv)
        if code != KILLED:
            self._rolled_back(Ran(code, out, out))
            return
        assert checked.code == 0, "a rollback that would not work has written"
        if not self.killed:
            self.before = self.ways_back[checked.json["snapshot"]]
        self.killed = "rollback"

    def _killed_at(self, number: int, moment: str, *argv: str) -> tuple[int, str]:
        """Exit code and output of a command that dies at this write, if it gets so far."""
        child = None

        def kill(count, *_):
            if count == number:
                child.kill()
                child.wait()

        self.home.front.reset()
        setattr(self.home.front, moment, kill)
        child = self.home.start(*argv, "--format", "json")
        out, err = child.communicate(timeout=60)
        self.home.front.reset()
        self._count(argv, child.returncode)
        return child.returncode, out or err

    def _resumed(self, ran: Ran) -> None:
        if ran.code == 78 and ("the file changed since" in ran.err or self.killed == "rollback"):
            return  # only a rollback is left
        assert ran.code == 0, ran.err
        assert self.killed == "apply"
        self.killed = ""
        self._ended(ran.code, ran.out, overwrote=self.overwrote)

    def _goal(self, choice: int, *, to: bool) -> list[str]:
        known = sorted(self.ways_back)
        return ["--to", known[choice % len(known)]] if known and to and not self.killed else []

    def _rolled_back(self, ran: Ran) -> None:
        if ran.code == 78:
            assert self.squatter
            assert "is now served by" in ran.err
            return
        assert ran.code == 0, ran.err
        self._require(self.before if self.killed else self.ways_back[ran.json["snapshot"]])
        self.killed = ""

    def _run(self, *argv: str) -> Ran:
        ran = self.home.run(*argv, "--format", "json")
        self._count(argv, ran.code)
        return ran

    def _apply(self) -> Ran:
        return self._run("apply", str(self.home.plan_file), "--yes")

    def _count(self, argv: Sequence[str], code: int) -> None:
        command = " ".join(word for word in argv[:2] if not Path(word).is_absolute() and word != "--to")
        self.tally[f"{command}: {'killed' if code == KILLED else code}"] += 1

    def _prepare(self, overwrite):
        self.before = self.published()
        self.home.plan(*(["--overwrite-drafts"] if overwrite else []))
        self.home.front.reset()

    def _ended(self, code: int, out: str, *, overwrote: bool) -> None:
        if code != 0:
            assert self.published() == self.before
            return
        plan = self.home.run("plan", "--format", "json").json
        changed = [
            entry
            for entry in plan["entries"]
            if entry["changes"] or entry["status"] in ("create", "activate")
        ]
        assert not changed
        assert self.home.all_served() <= {"v1", "v2", "v3", "v4"}
        snapshot = json.loads(out)["snapshot"]
        if snapshot:
            self.ways_back[snapshot] = self.before
        self.drafts = {} if overwrote else {at: idea for at, idea in self.drafts.items() if at in self.before}
        # Where nothing was published, a draft that a way back had to save anew gives way.

    def _require(self, wanted: Published) -> None:
        """The same content everywhere, and the same versions of the workflows that are still the same."""
        now = self.published()
        assert {route: digest for route, (_, digest) in now.items()} == {
            route: digest for route, (_, digest) in wanted.items()
        }
        for route, (ids, _) in wanted.items():
            if now[route][0].split()[0] == ids.split()[0]:
                assert now[route][0] == ids

    @invariant()
    def strangers_are_not_touched(self):
        assert self.home.strangers() == self.strangers

    @invariant()
    def drafts_stay(self):
        if self.killed:
            return
        for route, idea in self.drafts.items():
            live = self.find(route)
            assert live, route
            assert node_of(live, ".stopAndError").get("notes") == idea


def machine_over(household: Any) -> type[DeployMachine]:
    return type("Machine", (DeployMachine,), {"household": staticmethod(household), "tally": Counter()})
