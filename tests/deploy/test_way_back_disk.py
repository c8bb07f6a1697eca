"""A disk that is full, or cannot be written: what was begun in n8n is taken back all the same."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys

import pytest

from butlerctl.inventory.operations import Route
from tests.deploy.deploy_home import ROOT, deploy_home, node_of
from tests.deploy.n8n_proxy import refusal
from tests.n8n.household import household

ADD = Route("calendar_add", "husband")
WIFES = Route("calendar_add", "wife")
NOTHING_INTERRUPTED = 3
FULL = (0, resource.RLIM_INFINITY)  # no file of the process grows any more
# A process without room leaves torn files of bytecode in the checkout, and every later import of them fails.
KEEP_NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}
# The command line: no file can grow; or without the right to write where the folder says so, as root too.
ON_A_FULL_DISK = """
import resource, sys
from butlerctl.cli.app import run
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
sys.exit(run(sys.argv[1:]))
"""
WITHOUT_RIGHTS = """
import ctypes, os, sys
DROP_FROM_BOUNDS, OVERRIDE_RIGHTS = 24, 1
if os.getuid() == 0:
    assert ctypes.CDLL(None).prctl(DROP_FROM_BOUNDS, OVERRIDE_RIGHTS, 0, 0, 0) == 0
os.execv(sys.executable, [sys.executable, "-m", "butlerctl", *sys.argv[1:]])
"""


@pytest.fixture
def home(tmp_path):
    with household() as built, deploy_home(built, tmp_path, "calendar_add") as home:
        home.environ |= KEEP_NO_BYTECODE
        yield home


def run_as(home, script, *argv):
    return subprocess.run(
        [sys.executable, "-c", script, *argv],
        cwd=ROOT,
        env={**os.environ, **home.environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def apply_until_it_is_full(home, number, more=lambda *_: None):
    """`apply` in a process of its own; when it sends its n-th write, its disk is full."""
    child = None

    def fill(count, *request):
        if count == number:
            resource.prlimit(child.pid, resource.RLIMIT_FSIZE, FULL)
        return more(count, *request)

    home.front.reset()
    home.front.before = fill
    child = home.start("apply", str(home.plan_file), "--yes", "--format", "json")
    out, err = child.communicate(timeout=60)
    home.front.reset()
    return child.returncode, json.loads(out), err


@pytest.mark.parametrize("number", [1, 2])
def test_a_disk_that_is_full_in_the_middle_does_not_keep_the_set_from_being_put_back(home, number):
    before = home.published()
    home.renew()
    home.plan()
    code, result, err = apply_until_it_is_full(home, number)
    assert (code, result["outcome"], result["left"]) == (1, "failed, rolled back", [])
    assert "the journal of deployments cannot be used" in result["reason"]
    assert "counts as interrupted until `butlerctl rollback` ends it" in err
    assert (home.published(), home.all_served()) == (before, {"v1"})
    assert home.apply().code == 78
    assert home.run("rollback").code == 0
    assert home.run("apply", "--resume").code == NOTHING_INTERRUPTED
    assert home.deploy().code == 0


def test_what_was_created_when_the_disk_was_full_is_taken_back_and_used_the_next_time(home):
    home.empty()
    home.plan()
    code, result, _ = apply_until_it_is_full(home, 3)
    assert (code, result["left"]) == (1, [])
    assert set(home.published().values()) <= {None}
    made = home.published_ids()
    assert home.run("rollback").code == 0
    assert home.deploy().code == 0
    assert set(home.published_ids()) >= set(made)


def test_what_cannot_be_put_back_either_is_named(home):
    home.renew()
    home.plan()
    no_room = refusal("no room")
    code, result, _ = apply_until_it_is_full(home, 2, lambda count, *_: no_room if count > 2 else None)
    assert (code, result["outcome"]) == (4, "failed, not rolled back")
    assert {left["route"] for left in result["left"]} == {str(ADD), str(WIFES)}
    assert home.run("rollback").code == 0
    assert home.all_served() == {"v1"}


def test_a_deployment_whose_last_line_finds_no_room_is_a_deployment(home):
    home.renew()
    home.plan()
    child = None

    def fill_at_the_last_look():
        if len(home.front.writes) == 2 and home.front.requests[-1][1].startswith("/api/v1/workflows?"):
            resource.prlimit(child.pid, resource.RLIMIT_FSIZE, FULL)

    home.front.reset()
    home.front.in_front = fill_at_the_last_look
    child = home.start("apply", str(home.plan_file), "--yes")
    _, err = child.communicate(timeout=60)
    home.front.reset()
    assert child.returncode == 0
    assert "counts as interrupted until `butlerctl apply --resume` ends it" in err
    assert home.all_served() == {"v2"}
    assert home.run("apply", "--resume").code == 0
    assert home.run("apply", "--resume").code == NOTHING_INTERRUPTED


def test_nothing_is_deployed_to_begin_with_when_there_is_no_room_for_a_snapshot(home):
    home.renew()
    home.plan()
    home.front.reset()
    ran = run_as(home, ON_A_FULL_DISK, "apply", str(home.plan_file), "--yes")
    assert ran.returncode == 78
    assert "the snapshot cannot be written" in ran.stderr
    assert home.front.writes == []
    assert home.apply().code == 0
    assert not list(home.state.rglob("*.partial"))


@pytest.mark.parametrize("script", [ON_A_FULL_DISK, WITHOUT_RIGHTS])
def test_a_rollback_does_not_wait_for_a_disk_that_can_be_written(home, script):
    before = home.published()
    home.renew()
    assert home.deploy().code == 0
    home.draft(ADD, lambda document: node_of(document, ".stopAndError").update(notes="by hand"))
    for path in [home.state, *home.state.rglob("*")]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    ran = run_as(home, script, "rollback")
    for path in [home.state, *home.state.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)
    assert ran.returncode == 0, ran.stderr
    assert "going back without a snapshot of what is there now" in ran.stderr
    assert "this rollback is in no journal" in ran.stderr
    assert (home.published(), home.all_served()) == (before, {"v1"})
    assert node_of(home.live(ADD), ".stopAndError")["notes"] == "by hand"
    assert home.run("apply", "--resume").code == NOTHING_INTERRUPTED
