"""kill -9 anywhere in a round trip: `sweep`, or the next run by itself, removes what is left and nothing else."""

from __future__ import annotations

import signal
import time

import pytest

from butlerctl.ledger import Ledger
from butlerctl.state import state_folder
from tests.crash.crash_home import DELETE, FOREIGN, INSERT, crash_home, wait_for
from tests.lab.shell import Shell

ADD = {"calendar": "calendar_add/wife", "tasks": "tasks_add/wife", "sheets": "sheets_append/wife"}


@pytest.fixture
def home(tmp_path):
    with crash_home(tmp_path) as home:
        yield home


def assert_swept(home, foreign):
    """Nothing left, nothing else touched, and the ledger says so."""
    assert home.live_objects() == []
    assert home.foreign() == foreign
    assert FOREIGN in foreign
    journal = home.journal
    assert journal.damaged == ()
    assert set(journal.gone_since()) == set(home.nonces)


@pytest.mark.parametrize("domain", ADD)
def test_killed_after_the_object_came_and_before_it_was_deleted(home, domain):
    foreign = home.foreign()
    home.slow()
    home.kill(home.live_objects, "roundtrip", ADD[domain])
    assert home.live_objects()
    home.lab.google.faults.clear()
    swept = home.run("sweep")
    assert (swept.code, swept.err) == (0, "")
    assert swept.out.endswith("1 looked for, 1 deleted, 0 remain\n")
    assert_swept(home, foreign)


def test_killed_right_after_the_line_in_the_ledger(home):
    foreign = home.foreign()
    home.delay(INSERT["calendar"], own=False, work=0, answer="drop")
    home.kill(lambda: home.has("asked"), "roundtrip", ADD["calendar"])
    swept = home.run("sweep")
    assert (swept.code, swept.out) == (0, "1 looked for, 0 deleted, 0 remain\n")
    assert_swept(home, foreign)


def test_killed_while_the_workflow_runs_the_object_comes_late_and_is_found_by_a_later_sweep(home):
    foreign = home.foreign()
    late = home.delay(INSERT["calendar"], before=3.0, own=False)
    home.kill(lambda: late.struck, "roundtrip", ADD["calendar"])
    assert home.live_objects() == []
    early = home.run("sweep")
    assert early.code == 0
    assert early.out.endswith("1 looked for, 0 deleted, 0 remain\n")
    wait_for(home.live_objects)
    late = home.run("sweep")
    assert late.code == 0
    assert late.out.endswith("1 looked for, 1 deleted, 0 remain\n")
    assert_swept(home, foreign)


@pytest.mark.parametrize("domain", ADD)
def test_killed_when_the_delete_was_announced_and_never_carried_out(home, domain):
    foreign = home.foreign()
    home.delay(DELETE[domain], before=1.0, own=True, work=0, answer="drop", times=1)
    home.kill(lambda: home.has("deleting"), "roundtrip", ADD[domain])
    assert home.live_objects()
    time.sleep(1.0)  # the request that was on its way comes to nothing
    assert home.run("sweep").code == 0
    assert_swept(home, foreign)


@pytest.mark.parametrize("domain", ["calendar", "tasks"])
def test_killed_between_the_delete_and_the_line_that_says_gone(home, domain):
    foreign = home.foreign()
    home.delay(DELETE[domain], after=1.0, own=True, times=1)
    home.kill(home.dead_objects, "roundtrip", ADD[domain])
    assert home.has("deleting")
    assert not home.has("gone")
    swept = home.run("sweep")
    assert (swept.code, swept.err) == (0, "")
    assert swept.out.endswith("1 looked for, 0 deleted, 0 remain\n")
    assert_swept(home, foreign)


def test_the_next_verify_sweeps_first_by_itself(home):
    foreign = home.foreign()
    home.slow()
    several = "calendar_add,tasks_add,sheets_append"
    home.kill(lambda: len(home.live_objects()) > 1, "verify", "--only", several)
    assert len(home.live_objects()) > 1
    home.lab.google.faults.clear()
    again = home.run("verify", "--only", "sheets_read/wife", "--format", "json")
    assert (again.code, again.document["leftovers"]) == (0, [])
    assert_swept(home, foreign)


def test_the_ledger_of_a_killed_run_is_free_for_the_next_one(home):
    home.kill(lambda: home.has("asked"), "roundtrip", ADD["tasks"])
    assert home.run("roundtrip", ADD["tasks"]).code == 0
    assert home.live_objects() == []


def test_a_second_run_beside_the_first_is_refused_before_it_writes_anything(home):
    with Ledger(state_folder(home.shell.inventory, home.shell.folder / "state")):
        second = home.run("verify", "--only", "tasks_add")
    assert second.code == 75
    assert second.err.startswith("butlerctl: another run of butlerctl holds ")
    assert home.nonces == []


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_removes_what_it_asked_for_and_says_so(home, ending):
    foreign = home.foreign()
    home.slow()
    with home.run_until(home.live_objects, "verify", "--only", "calendar_*,tasks_*") as run:
        run.send_signal(ending)
        out, err = run.communicate(timeout=30)
    assert run.returncode == 130
    assert out == ""
    assert err.splitlines()[-2:] == [
        "interrupted: what the agent was asked for is removed first",
        "butlerctl: interrupted",
    ]
    assert_swept(home, foreign)


def test_a_run_that_is_interrupted_before_anything_was_asked_ends_at_once(home):
    home.delay("calendar.events.list", before=2.0, own=True)
    with home.run_until(
        lambda: any(entry.method == "token" for entry in home.lab.google.log), "verify"
    ) as run:
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=30)
    assert (run.returncode, out) == (130, "")
    assert err.endswith("butlerctl: interrupted\n")
    assert home.nonces == []


def test_what_nobody_can_see_gone_counts_as_left_behind(home):
    """Google lets nobody look any more after the object came: the run says so instead of 'nothing was left behind'."""
    home.delay("calendar.events.delete", own=True, work=0, answer="drop")
    ended = home.run("roundtrip", ADD["calendar"])
    assert ended.code == 4
    assert "LEFT BEHIND: calendar event " in ended.out
    assert "nothing was left behind" not in ended.out
    assert home.live_objects()
    home.lab.google.faults.clear()
    assert home.run("sweep").code == 0
    assert home.live_objects() == []


def test_a_client_that_dies_leaves_the_lab_unmoved(tmp_path):
    shell = Shell(tmp_path)
    with shell.start("lab", "up") as lab:
        assert lab.stdout.readline() == "the lab is up\n"
        environ = shell.run("lab", "env", "--format", "json").document
        ledger = shell.state / "ledger.jsonl"
        with shell.start("verify", environ=environ) as run:
            wait_for(lambda: ledger.exists() and b'"asked"' in ledger.read_bytes())
            run.kill()
        assert shell.run("verify", "--only", "calendar_add/wife", environ=environ).code == 0
        lab.terminate()
        _, talk = lab.communicate(timeout=10)
    assert lab.returncode == 0
    assert "Traceback" not in talk
    assert talk.endswith("the lab is down\n")
