"""The way back on the stand-in, and what only the stand-in can show."""

from __future__ import annotations

import json
import re
import signal

import pytest
from werkzeug.wrappers import Response

from butlerctl.deploy import wire
from tests.deploy.deploy_home import deploy_home
from tests.deploy.n8n_proxy import refusal
from tests.deploy.way_back_situations import *  # noqa: F403 - the tests themselves
from tests.deploy.way_back_situations import ADD, NO_ROOM, WIFES, note, note_of
from tests.n8n.household import household as built_household


@pytest.fixture
def household():
    with built_household() as built:
        yield built


def forget_version(home, route, version):
    """n8n prunes its history of versions by age."""
    home.n8n.workflows.get(home.id(route)).versions.pop(version)


def test_a_draft_stays_when_the_remembered_version_is_gone_from_the_history(home):
    before = home.published()
    home.renew()
    assert home.deploy().code == 0
    forget_version(home, ADD, before[ADD])
    home.draft(ADD, note("somebody's idea"))
    check = home.run("rollback", "--check")
    assert "save its body from the snapshot, and its draft again" in check.out
    back = home.run("rollback")
    assert back.code == 0
    assert "calendar_add/husband: version" in back.err
    assert home.all_served() == {"v1"}
    assert note_of(home, ADD) == "somebody's idea"
    assert home.published()[ADD] != home.live(ADD)["versionId"]


def test_a_draft_that_nothing_is_saved_over_is_left_alone_without_a_word(home):
    home.renew()
    assert home.deploy().code == 0
    version = home.draft(ADD, note("somebody's idea"))["versionId"]
    back = home.run("rollback")
    assert (back.code, version in back.err) == (0, False)
    assert home.live(ADD)["versionId"] == version


def test_settings_that_are_put_back_leave_no_draft_behind(home):
    home.edit(ADD, lambda document: document["settings"].update(executionTimeout=9))
    home.renew()
    deployed = home.deploy().json["snapshot"]
    assert home.run("rollback", "--to", deployed).code == 0
    own = max(path.stem for path in home.state.rglob("snapshots/*.json"))
    forth = home.run("rollback", "--to", own)
    assert (forth.code, "somebody saved" in forth.err) == (0, False)
    assert home.all_served() == {"v2"}
    assert home.run("rollback", "--to", deployed).code == 0
    assert "draft" not in {entry["status"] for entry in home.plan().json["entries"]}


def test_a_draft_of_then_comes_back_with_a_workflow_that_was_deleted(home):
    home.draft(ADD, note("somebody's idea"))
    assert home.run("snapshot").code == 0
    home.n8n.workflows.remove(home.id(ADD))
    assert home.run("rollback").code == 0
    assert (home.served(ADD), note_of(home, ADD)) == ("v1", "somebody's idea")
    assert home.live(ADD)["versionId"] != home.live(ADD)["activeVersionId"]


def test_a_webhook_that_stays_silent_is_published_anew_and_the_draft_stays(home):
    """It takes five seconds: so long n8n has time to serve what it says it publishes."""
    before = home.published()
    home.renew()
    assert home.deploy().code == 0
    home.draft(ADD, note("somebody's idea"))
    version = home.live(ADD)["versionId"]
    home.front.reset()

    def silent_until_it_is_taken_away():
        _, path = home.front.requests[-1]
        taken = any(path.endswith(f"{home.id(ADD)}/deactivate") for _, path in home.front.requests)
        return Response("", 204) if path.endswith("calendar/add/husband") and not taken else None

    home.front.in_front = silent_until_it_is_taken_away
    assert home.run("rollback").code == 0
    home.front.reset()
    assert (home.published(), home.all_served()) == (before, {"v1"})
    assert home.live(ADD)["versionId"] == version


def test_a_setting_that_n8n_neither_takes_nor_removes_is_told_and_does_not_keep_the_rest_from_coming_back(
    home,
):
    before = home.published()
    home.renew()
    assert home.deploy().code == 0
    home.draft(ADD, lambda document: document["settings"].update(ofTheEditor="only"))
    lacks = "calendar_add/husband: settings.ofTheEditor stays as it is now"
    check = home.run("rollback", "--check")
    assert (check.code, lacks in check.out) == (1, True)
    back = home.run("rollback", "--format", "json")
    assert (back.code, back.json["outcome"], back.json["left"]) == (4, "done", [])
    assert home.published() == before


# without the household's files


def break_the_files(home):
    """Every export is broken, and a value that is bound in them is missing."""
    for path in home.exports.glob("*.json"):
        path.write_text('{"nodes": [')
    home.environ["WIFE_CALENDAR_CRED_ID"] = ""


def test_the_way_back_needs_no_file_and_no_value_of_a_placeholder(home):
    before = home.published()
    home.renew()
    assert home.deploy().code == 0
    break_the_files(home)
    assert home.run("plan").code == 78
    assert home.run("rollback", "--check").code == 0
    assert home.run("snapshot").code == 0
    assert home.run("snapshot", "list").code == 0
    (first,) = re.findall(r"^(\S+) .* apply ", home.run("snapshot", "list").out, re.MULTILINE)
    assert home.run("rollback", "--to", first).code == 0
    assert (home.published(), home.all_served()) == (before, {"v1"})


def test_a_killed_deployment_is_taken_back_without_the_files(home):
    before = home.published()
    home.renew()
    home.plan()
    kill_at_write(home, 1)
    break_the_files(home)
    assert home.run("rollback").code == 0
    assert (home.published(), home.all_served()) == (before, {"v1"})


def kill_at_write(home, wanted):
    """n8n did it, and nobody read the answer."""
    child = None

    def kill(number, *_):
        if number == wanted:
            child.kill()
            child.wait()

    home.front.reset()
    home.front.after = kill
    child = home.start("apply", str(home.plan_file), "--yes")
    child.communicate(timeout=60)
    home.front.reset()


def test_a_snapshot_looks_only_for_the_name_in_a_file(home):
    (home.exports / ADD.workflow_file).write_text(
        json.dumps({"name": home.live(ADD)["name"], "nodes": ["?"]})
    )
    assert len(home.run("snapshot", "--format", "json").json["workflows"]) == 2


def test_a_snapshot_names_the_workflow_that_it_cannot_tell_without_its_file(home):
    (home.exports / ADD.workflow_file).write_text("nonsense")
    ran = home.run("snapshot", "--format", "json")
    assert ran.code == 4
    assert [each["route"] for each in ran.json["workflows"]] == [str(WIFES)]
    assert "calendar_add/husband is not in the snapshot" in ran.err


def test_a_file_that_was_put_right_after_the_kill_does_not_make_a_draft_of_what_was_deployed(home):
    home.renew()
    home.plan()
    kill_at_write(home, 1)
    home.renew(mark=3)
    assert home.run("rollback").code == 0
    assert {entry["status"] for entry in home.plan().json["entries"]} == {"update"}
    assert home.deploy().code == 0


# what a check sees


def test_a_check_sees_what_was_in_flight_when_a_deployment_was_killed(home):
    home.n8n.workflows.remove(home.id(ADD))
    home.plan()
    kill_at_write(home, 1)  # the workflow is made, and its id is in no journal
    runs = {path: path.read_bytes() for path in home.state.rglob("runs/*.jsonl")}
    home.front.reset()
    moves = home.run("rollback", "--check", "--format", "json").json["moves"]
    assert (str(ADD), home.live(ADD)["id"]) in {(move["route"], move["id"]) for move in moves}
    home.n8n.workflows.publish(home.live(ADD)["id"])
    check = home.run("rollback", "--check")
    assert "calendar_add/husband: unpublish" in check.out
    assert {method for method, _ in home.front.requests} == {"GET"}
    assert {path: path.read_bytes() for path in home.state.rglob("runs/*.jsonl")} == runs


# snapshots


def test_a_damaged_snapshot_is_named_and_the_others_are_listed(home):
    names = [home.run("snapshot", "--format", "json").json["id"] for _ in range(3)]
    (path,) = home.state.rglob(f"{names[1]}.json")
    path.write_text(path.read_text().replace("husband", "hatband"))
    listed = home.run("snapshot", "list")
    assert listed.code == 78
    lines = listed.out.splitlines()
    assert [line.split()[0] for line in lines] == [names[2], names[0], names[1]]
    assert "DAMAGED" in lines[-1]
    as_json = home.run("snapshot", "list", "--format", "json").json
    assert [each["id"] for each in as_json if "damaged" not in each] == [names[2], names[0]]
    assert home.run("rollback", "--check", "--to", names[0]).code == 0


# Ctrl-C


@pytest.mark.parametrize(
    ("refused", "ending"), [(False, signal.SIGINT), (True, signal.SIGINT), (False, signal.SIGHUP)]
)
def test_an_interruption_from_the_keyboard_puts_the_set_back_and_says_what_came_of_it(home, refused, ending):
    before = home.published()
    home.renew()
    home.plan()
    child = None

    def press(number, *_):
        if number == 2:
            child.send_signal(ending)
        return NO_ROOM if refused and number > 2 else None

    home.front.before = press
    child = home.start("apply", str(home.plan_file), "--yes", "--format", "json")
    out, err = child.communicate(timeout=60)
    home.front.reset()
    assert child.returncode == (4 if refused else 130), err
    assert json.loads(out)["reason"] == "interrupted from the keyboard"
    if refused:
        assert json.loads(out)["left"]
        assert home.run("rollback").code == 0
    assert (home.published(), home.all_served()) == (before, {"v1"})
    assert home.run("apply", "--resume").code == 3


def test_a_rollback_that_is_interrupted_from_the_keyboard_says_what_is_open(home):
    before = home.published()
    home.renew()
    assert home.deploy().code == 0
    home.front.reset()
    child = None
    home.front.before = lambda number, *_: child.send_signal(signal.SIGINT) if number == 2 else None
    child = home.start("rollback", "--format", "json")
    out, err = child.communicate(timeout=60)
    home.front.reset()
    assert child.returncode == 4, err
    assert {left["route"] for left in json.loads(out)["left"]} == {str(ADD), str(WIFES)}
    assert home.run("rollback").code == 0
    assert (home.published(), home.all_served()) == (before, {"v1"})


def test_what_was_created_is_named_where_the_journals_are_gone(home):
    """Without them nobody knows whose it is: it stays, and the way back is no success."""
    home.empty()
    assert home.deploy().code == 0
    for journal in home.state.rglob("runs/*.jsonl"):
        journal.unlink()
    published = home.published()
    check = home.run("rollback", "--check")
    assert check.code == 1
    assert f"LACKS  {ADD}: it had no workflow then; now" in check.out
    assert str(WIFES) in check.out
    ran = home.run("rollback")
    assert ran.code == 4
    assert "no journal says that butlerctl made it" in ran.out
    assert "publishes what it published then" not in ran.out
    assert home.published() == published
    assert len(home.run("rollback", "--format", "json").json["unknown"]) == 2


def test_a_run_whose_snapshot_is_gone_can_be_ended(home):
    home.renew()
    home.plan()
    home.front.before = lambda number, *_: refusal("no", 500) if number >= 2 else None
    assert home.apply().code == 4
    home.front.reset()
    for path in home.state.rglob("snapshots/*.json"):
        path.unlink()
    for command in (["rollback"], ["rollback", "--check"], ["apply", "--resume"]):
        ran = home.run(*command)
        assert ran.code == 78
        assert "its way back is lost" in ran.err
        assert "rollback --to" in ran.err
    taken = home.run("snapshot", "--format", "json").json["id"]
    assert home.run("rollback", "--to", taken).code == 0
    assert home.deploy().code == 0


def test_a_snapshot_of_another_household_is_refused(home, tmp_path):
    folder = tmp_path / "other"
    folder.mkdir()
    with deploy_home(home.household, folder, "tasks_list") as other:
        here = {"N8N_URL": home.front.url}
        assert other.run("snapshot", **here).code == 0
        (of_the_other,) = other.state.rglob("snapshots/*.json")
        before = home.everything()
        for command in (["rollback", "--check"], ["rollback"]):
            ran = home.run(*command, "--to", str(of_the_other))
            assert ran.code == 78
            assert "is of another household" in ran.err
        assert home.everything() == before
        assert home.front.writes == []


def test_the_file_of_a_snapshot_is_enough_on_another_machine(home, tmp_path):
    before = home.published()
    home.renew()
    assert home.deploy().code == 0
    (path,) = home.state.rglob("snapshots/*.json")
    ran = home.run("rollback", "--to", str(path), BUTLERCTL_STATE_DIR=str(tmp_path / "elsewhere"))
    assert ran.code == 0, ran
    assert home.published() == before


def test_what_answered_neither_then_nor_now_is_no_success(home, monkeypatch):
    """A snapshot that was taken in the incident expects nothing of the webhooks."""
    monkeypatch.setattr(wire, "PATIENCE", 0.2)
    gateway = Response("<html>502 Bad Gateway</html>", 502)
    home.front.in_front = lambda: gateway if "/webhook/" in home.front.requests[-1][1] else None
    assert home.run("snapshot").code == 0
    ran = home.run("rollback")
    assert ran.code == 4
    assert f"LACKS  {ADD}: it did not answer when the snapshot was taken, and does not now: POST" in ran.out
    assert "it answers" not in ran.out
    home.front.reset()
    assert home.run("rollback").code == 0


def test_snapshots_of_another_address_are_pointed_at(home):
    home.renew()
    assert home.deploy().code == 0
    (path,) = home.state.rglob("snapshots/*.json")
    other = home.front.url.replace("127.0.0.1", "localhost")
    for command in (["rollback"], ["rollback", "--check", "--to", path.stem]):
        ran = home.run(*command, N8N_URL=other)
        assert ran.code == 78
        assert f"snapshot of {other} " in ran.err
        assert f"there are snapshots of {home.front.url}: is it the same n8n?" in ran.err
    listed = home.run("snapshot", "list", N8N_URL=other)
    assert (listed.code, listed.out) == (0, "")
    assert f"there is no snapshot of {other}" in listed.err
