"""Killed at any moment, a deployment or a rollback can be finished or taken back; nothing is in between."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta

import pytest

from butlerctl.deploy import interrupted
from butlerctl.inventory.operations import Route
from tests.deploy.deploy_home import ROOT, deploy_home
from tests.n8n.household import household

ADD = Route("calendar_add", "husband")
NOTHING_INTERRUPTED = 3
FINISHED = (0, NOTHING_INTERRUPTED)  # killed after its last line, a run was at its end
# The command line, killed when the n-th line of the journal is on the disk.
KILLED = """
import os, signal, sys
from butlerctl.cli.app import run
from butlerctl.deploy.journal import Journal
write, left = Journal._write, [int(sys.argv[1])]
def write_and_die(self, *args, **fields):
    write(self, *args, **fields)
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
Journal._write = write_and_die
sys.exit(run(sys.argv[2:]))
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(interrupted, "SETTLE", timedelta(seconds=0.2))
    with household() as built, deploy_home(built, tmp_path, "calendar_add") as home:
        yield home


def run_killed(home, line, *argv):
    """The exit code; -9 when it did not come to the end."""
    command = [sys.executable, "-c", KILLED, str(line), *argv]
    done = subprocess.run(
        command, cwd=ROOT, env=home.environ, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode in (-9, 0), done.stderr
    return done.returncode


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
