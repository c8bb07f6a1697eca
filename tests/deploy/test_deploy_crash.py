"""Killed at any moment, a deployment or a rollback can be finished or taken back; nothing is in between."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import timedelta

import pytest

from butlerctl.deploy import interrupted
from butlerctl.inventory.operations import Route
from tests.deploy.deploy_home import ROOT, deploy_home, node_of, renewed
from tests.n8n.household import household

ADD = Route("calendar_add", "husband")
WIFES = Route("calendar_add", "wife")
NOTHING_INTERRUPTED = 3
FINISHED = (0, NOTHING_INTERRUPTED)  # killed after its last line, a run was at its end
# Runs command lines, each in a fork that dies when its n-th line of a journal is on the disk. Answers with exit codes.
KILLED = """
import json, os, signal, sys
from datetime import timedelta
import httpx, butlerctl.cli.apply, butlerctl.cli.rollback, butlerctl.deploy.apply, butlerctl.deploy.rollback
import butlerctl.deploy.render_text
from butlerctl.cli.app import run
from butlerctl.deploy import interrupted
from butlerctl.deploy.journal import Journal
interrupted.SETTLE = timedelta(seconds=0.2)
write = Journal._write
def die_at(line):
    left = [line]
    def write_and_die(self, *args, **fields):
        write(self, *args, **fields)
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
    Journal._write = write_and_die
for request in sys.stdin:
    line, argv = json.loads(request)
    child = os.fork()
    if not child:
        os.dup2(2, 1)
        die_at(line)
        os._exit(run(argv))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(interrupted, "SETTLE", timedelta(seconds=0.2))
    with (
        household() as built,
        deploy_home(built, tmp_path, "calendar_add") as home,
        subprocess.Popen(
            [sys.executable, "-c", KILLED],
            cwd=ROOT,
            env=home.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as killed,
    ):
        home.killed = killed
        yield home
        killed.stdin.close()


def run_killed(home, line, *argv):
    """The exit code; -9 when it did not come to the end."""
    print(json.dumps([line, argv]), file=home.killed.stdin, flush=True)
    code = int(home.killed.stdout.readline())
    assert code in (-9, 0)
    return code


def kill_at_every_line(home, prepare, *argv):
    """Yields after each kill, until the command comes to its end."""
    line = 0
    while True:
        line += 1
        prepare(line)
        if run_killed(home, line, *argv) == 0:
            assert line > 4
            return
        yield line


def renew_and_plan(home):
    def prepare(line):
        home.renew(mark=100 + line)
        home.plan()

    return prepare


def test_a_deployment_that_is_killed_at_any_line_is_finished(home):
    for line in kill_at_every_line(home, renew_and_plan(home), "apply", str(home.plan_file), "--yes"):
        assert home.run("apply", "--resume").code in FINISHED
        assert home.all_served() == {f"v{100 + line}"}
        assert home.plan().code == 0


def test_a_deployment_that_is_killed_at_any_line_is_taken_back(home):
    before = home.published()
    for _ in kill_at_every_line(home, renew_and_plan(home), "apply", str(home.plan_file), "--yes"):
        assert home.run("rollback").code == 0
        assert home.published() == before
        assert home.all_served() == {"v1"}
        assert "draft" not in {entry["status"] for entry in home.plan().json["entries"]}


def test_the_creation_of_workflows_that_is_killed_at_any_line_is_finished_without_a_duplicate(home):
    def prepare(_line):
        for workflow in home.published_ids():
            home.n8n.workflows.remove(workflow)
        home.plan()

    for _ in kill_at_every_line(home, prepare, "apply", str(home.plan_file), "--yes"):
        assert home.run("apply", "--resume").code in FINISHED
        assert home.all_served() == {"v1"}
        assert len(home.published()) == 2


def test_a_rollback_that_is_killed_at_any_line_is_finished_by_the_next_one(home):
    before = home.published()

    def prepare(line):
        home.renew(mark=100 + line)
        assert home.deploy().code == 0

    for _ in kill_at_every_line(home, prepare, "rollback"):
        assert home.run("apply", "--resume").code in (78, NOTHING_INTERRUPTED)
        assert home.run("rollback").code == 0
        assert home.published() == before
        assert home.all_served() == {"v1"}


@pytest.mark.slow
def test_a_rollback_of_every_kind_that_is_killed_at_any_line_is_finished_by_the_next_one(home):
    """One version is gone from n8n's history, with a newer draft over it; the other workflow was deleted with its draft."""
    home.draft(WIFES, note("her idea"))
    snapshot = home.run("snapshot", "--format", "json").json["id"]

    def prepare(line):
        (kept,) = [each for each in read_snapshot(home, snapshot) if each["route"] == str(ADD)]
        home.n8n.workflows.publish(home.id(ADD))
        versions = home.n8n.workflows.get(home.id(ADD)).versions
        home.draft(ADD, lambda document: renewed(document, 100 + line))
        home.n8n.workflows.publish(home.id(ADD))
        versions.pop(kept["active_version"], None)
        home.draft(ADD, note(f"his idea {line}"))
        home.n8n.workflows.remove(home.live(WIFES)["id"])

    for line in kill_at_every_line(home, prepare, "rollback", "--to", snapshot):
        assert home.run("rollback", "--to", snapshot).code == 0
        assert (home.all_served(), len(home.published())) == ({"v1"}, 2)
        assert notes_of(home) == [f"his idea {line}", "her idea"]
    assert notes_of(home) == [f"his idea {line + 1}", "her idea"]


def test_of_two_rollbacks_that_were_killed_the_newer_ones_draft_comes_back(home):
    snapshot = home.run("snapshot", "--format", "json").json["id"]
    (kept,) = [each for each in read_snapshot(home, snapshot) if each["route"] == str(ADD)]
    home.renew()
    assert home.deploy().code == 0
    home.n8n.workflows.get(home.id(ADD)).versions.pop(kept["active_version"])
    for idea in ("the first idea", "the second idea"):
        home.draft(ADD, note(idea))
        assert kill_when_written_over(home, idea, "rollback", "--to", snapshot)
    assert home.run("rollback", "--to", snapshot).code == 0
    assert home.all_served() == {"v1"}
    assert node_of(home.live(ADD), ".stopAndError")["notes"] == "the second idea"


def kill_when_written_over(home, idea, *argv):
    """Kills the command at ever later lines, until its kill finds the draft gone from the editor."""
    for line in range(3, 20):
        if run_killed(home, line, *argv) == 0:
            return False
        if node_of(home.live(ADD), ".stopAndError").get("notes") != idea:
            return True
    return False


def note(text):
    def change(document):
        node_of(document, ".stopAndError")["notes"] = text

    return change


def notes_of(home):
    return [node_of(home.live(route), ".stopAndError")["notes"] for route in (ADD, WIFES)]


def read_snapshot(home, name):
    (path,) = home.state.rglob(f"{name}.json")
    return json.loads(path.read_text())["workflows"]


@pytest.mark.slow
def test_a_resumption_that_is_killed_at_any_line_is_finished_or_taken_back(home):
    before = home.published()

    def prepare(line):
        home.renew(mark=100 + line)
        home.plan()
        assert run_killed(home, 2, "apply", str(home.plan_file), "--yes") == -9

    for line in kill_at_every_line(home, prepare, "apply", "--resume"):
        if line % 2:
            assert home.run("apply", "--resume").code in FINISHED
            assert home.all_served() == {f"v{100 + line}"}
        assert home.run("rollback", "--to", first_snapshot(home)).code == 0
        assert (home.published(), home.all_served()) == (before, {"v1"})
        assert home.run("apply", "--resume").code == NOTHING_INTERRUPTED


def first_snapshot(home):
    return min(path.stem for path in home.state.rglob("snapshots/*.json"))


def test_a_rollback_that_is_killed_on_the_way_back_from_a_killed_deployment_ends_both(home):
    before = home.published()
    home.renew()
    home.plan()
    assert run_killed(home, 3, "apply", str(home.plan_file), "--yes") == -9
    assert run_killed(home, 2, "rollback") == -9
    assert home.apply().code == 78
    assert home.run("rollback").code == 0
    assert home.published() == before
    assert home.run("apply", "--resume").code == NOTHING_INTERRUPTED
    assert home.deploy().code == 0
    assert home.all_served() == {"v2"}


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("way", [("apply", "--resume"), ("rollback",)])
def test_a_kill_while_n8n_is_at_work_is_repaired(home, moment, way):
    """`before`: n8n never sees the write; `after`: it did it, and nobody read the answer."""
    before = home.published()
    for number in (1, 2):
        home.renew(mark=100 + number)
        home.plan()
        kill_at_write(home, moment, number)
        assert home.run(*way).code == 0
        if way == ("rollback",):
            assert home.published() == before
            assert home.all_served() == {"v1"}
        else:
            assert home.all_served() == {f"v{100 + number}"}


def kill_at_write(home, moment, wanted):
    child = None

    def kill(number, *_):
        if number == wanted:
            child.kill()
            child.wait()

    home.front.reset()
    setattr(home.front, moment, kill)
    child = home.start("apply", str(home.plan_file), "--yes")
    child.communicate(timeout=60)
    assert child.returncode == -9
    home.front.reset()


def test_somebody_who_changes_a_workflow_after_the_kill_is_not_run_over(home):
    home.renew()
    home.plan()
    assert run_killed(home, 3, "apply", str(home.plan_file), "--yes") == -9
    home.renew(mark=7)
    refused = home.run("apply", "--resume")
    assert refused.code == 78
    assert "the file changed since" in refused.err
    home.renew(mark=2)
    for route in home.routes:
        home.draft(route, lambda document: document["nodes"][0].update(notes="somebody's idea"))
    refused = home.run("apply", "--resume")
    assert refused.code == 78
    assert "somebody changed the workflow in n8n since" in refused.err
    assert home.run("rollback").code == 0
    assert home.all_served() == {"v1"}
