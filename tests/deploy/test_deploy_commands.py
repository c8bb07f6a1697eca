"""The commands of a deployment: exit codes, refusals, reports as a condition, what they print and leave on the disk."""

from __future__ import annotations

import json
import stat

import pytest

from butlerctl.inventory.operations import Route
from tests.deploy.deploy_home import node_of
from tests.deploy.n8n_proxy import refusal
from tests.n8n import misshapen
from tests.n8n.household import SECRET

ADD = Route("calendar_add", "husband")
WIFES = Route("calendar_add", "wife")


def test_a_plan_says_what_a_person_wants_to_know(home):
    def change(document):
        google = node_of(document, ".googleCalendar")
        google["parameters"]["calendar"]["value"] = "other@example.test"
        google["position"][0] += 5
        node_of(document, ".code")["parameters"]["jsCode"] += "\n// looked at"
        document["settings"]["executionTimeout"] = 9
        document["connections"]["Input ok?"]["main"][1] = []

    home.edit(ADD, change)
    ran = home.run("plan")
    assert ran.code == 1
    assert ran.out.splitlines()[1:] == [
        "",
        "calendar_add/husband  update    n8n serves something else",
        '    ~ node "Check input": jsCode:',
        "        +// looked at",
        '    ~ node "Google Calendar": calendar.value: "husband@example.test" -> "other@example.test"',
        '    - connection: "Input ok? [1] -> Respond invalid args"',
        "    ~ settings: executionTimeout: 12 -> 9",
        "",
        "1 update, 1 unchanged",
    ]


def test_a_node_that_was_only_moved_is_no_change(home):
    def move(document):
        node_of(document, ".googleCalendar")["position"][0] += 7

    home.draft(ADD, move)
    home.n8n.workflows.publish(home.id(ADD))
    ran = home.run("plan")
    assert ran.code == 0
    assert "note: 1 node stands elsewhere on the canvas, nothing else differs" in ran.out


def test_without_a_terminal_apply_wants_a_yes(home):
    home.renew()
    home.plan()
    ran = home.run("apply", str(home.plan_file))
    assert ran.code == 2
    assert "--yes" in ran.err
    assert home.front.writes == []


def test_apply_takes_a_plan_or_resume_and_not_both(home):
    assert home.run("apply", "--yes").code == 2
    home.plan()
    assert home.run("apply", str(home.plan_file), "--resume").code == 2
    assert home.run("apply", "--resume").code == 3


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": "butlerctl.plan/1"}',
        '{"format": "butlerctl.plan/9", "digest": ""}',
        '{"format": "butlerctl.snapshot/1", "digest": ""}',
        "nonsense",
        "[" * 100_000,
    ],
    ids=lambda text: text[:40],
)
def test_what_is_no_plan_is_bad_input(home, text):
    home.plan_file.write_text(text)
    ran = home.apply()
    assert ran.code == 78
    assert ran.err.startswith(f"butlerctl: {home.plan_file}: ")


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"format": "butlerctl.plan/1", "digest": ""}', "{}", "\xff"]
)
def test_what_is_no_snapshot_is_bad_input(home, text):
    file = home.folder / "other.json"
    file.write_bytes(text.encode("latin-1"))
    ran = home.run("rollback", "--to", str(file))
    assert ran.code == 78
    assert ran.err.startswith(f"butlerctl: {file}: is no snapshot\n")


@pytest.mark.parametrize("depth", [700, 100_000])
def test_an_export_that_is_nested_too_deep_is_named(home, depth):
    deep = "[" * depth + "]" * depth
    (home.exports / ADD.workflow_file).write_text(f'{{"nodes": [{{"parameters": {{"deep": {deep}}}}}]}}')
    ran = home.run("plan")
    assert ran.code == 78
    assert (
        ran.err == f"butlerctl: {home.exports / ADD.workflow_file}: is no workflow: it is nested too deep\n"
    )


@pytest.mark.parametrize(
    "broken",
    [*misshapen.NODES, {"nodes": [{"credentials": 1}]}, {"connections": ["text"]}, {"settings": "text"}],
    ids=json.dumps,
)
def test_an_export_that_has_not_the_shape_of_a_workflow_is_named(home, broken):
    home.edit(ADD, lambda document: document.update(broken))
    for command in ("plan", "drift"):
        ran = home.run(command)
        assert ran.code == 78
        assert ran.err.startswith(f"butlerctl: {home.exports / ADD.workflow_file}: is no workflow: ")


def test_what_no_json_can_carry_is_refused_though_nothing_compares_it(home):
    before = home.everything()
    home.renew(ADD)
    home.edit(ADD, lambda document: document["nodes"][0].update(position=[float("nan"), 0]))
    ran = home.deploy()
    assert ran.code == 78, ran
    assert "cannot be sent as JSON" in ran.err
    assert home.front.writes == []
    assert home.everything() == before


def test_a_plan_is_written_over_a_plan_and_over_nothing_else(home):
    export = home.exports / ADD.workflow_file
    for file in (export, home.folder / "inventory.yaml"):
        text = file.read_text()
        ran = home.run("plan", "--out", str(file))
        assert ran.code == 78
        assert "is no plan; it is not written over" in ran.err
        assert file.read_text() == text
    home.plan_file.touch()
    assert [home.plan().code for _ in range(2)] == [0, 0]


def test_a_plan_that_somebody_edited_is_refused(home):
    home.renew()
    home.plan()
    plan = json.loads(home.plan_file.read_text())
    plan["overwrite_drafts"] = True
    home.plan_file.write_text(json.dumps(plan))
    ran = home.apply()
    assert ran.code == 78
    assert "not as it was written" in ran.err


def test_a_plan_does_not_outlive_a_change_of_n8n_of_a_file_or_of_a_value(home):
    home.renew()
    home.plan()
    changed = home.run("apply", str(home.plan_file), "--yes", WIFE_CALENDAR_CRED_ID="anotherCred00001")
    assert changed.code == 78
    assert "calendar_add/wife: the file changed, or a value of the inventory" in changed.err
    home.draft(ADD, lambda document: document["settings"].update(executionTimeout=5))
    ran = home.apply()
    assert ran.code == 78
    assert "calendar_add/husband: n8n holds another version" in ran.err
    home.renew(mark=3)
    assert "the file changed" in home.apply().err
    assert home.front.writes == []


def test_only_one_deployment_writes_at_a_time(home):
    home.renew()
    home.plan()
    others = []

    def try_another(number, *_):
        if number == 1:
            others.append(home.start("rollback"))
            others[0].communicate(timeout=60)

    assert home.run("snapshot").code == 0
    home.front.before = try_another
    assert home.apply().code == 0
    assert others[0].returncode == 75


def test_snapshots_are_private_listed_and_checked_for_damage(home):
    assert home.run("snapshot", "--format", "json").code == 0
    home.renew()
    assert home.deploy().code == 0
    listed = home.run("snapshot", "list", "--format", "json").json
    assert [each["kind"] for each in listed] == ["apply", "snapshot"]
    assert {each["n8n"] for each in listed} == {"2.30.8"}
    files = [path for path in home.state.rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    (newest,) = home.state.rglob(f"{listed[0]['id']}.json")
    newest.write_text(newest.read_text().replace("v1", "v9").replace("husband", "hatband"))
    damaged = home.run("rollback")
    assert damaged.code == 78
    assert "damaged" in damaged.err
    assert home.run("rollback", "--to", "2").code == 78
    assert home.run("rollback", "--to", listed[1]["id"]).code == 0
    assert home.all_served() == {"v1"}


def test_without_a_snapshot_there_is_no_way_back(home):
    assert home.run("rollback").code == 78
    assert home.run("rollback", "--check").code == 78


def test_a_deployment_that_failed_is_no_way_back(home):
    home.renew()
    assert home.deploy().code == 0
    home.renew(mark=3)
    home.plan()
    home.front.reset()
    home.front.before = lambda number, *_: refusal("no room") if number == 2 else None
    assert home.apply().code == 1
    assert home.all_served() == {"v2"}
    home.front.reset()
    assert home.run("rollback").code == 0
    assert home.all_served() == {"v1"}
    assert home.run("rollback", "--format", "json").json["outcome"] == "nothing to do"


def test_no_secret_is_printed_or_kept(home):
    home.renew()
    ran = [home.plan(), home.apply(), home.run("snapshot"), home.run("drift"), home.run("rollback")]
    kept = "".join(path.read_text() for path in home.folder.rglob("*") if path.is_file())
    shown = "".join(each.out + each.err for each in ran)
    assert home.api_key not in kept + shown
    assert SECRET not in kept + shown


def test_a_value_that_stands_beside_the_name_of_a_secret_is_masked_in_a_plan(home):
    def add_header(document):
        google = node_of(document, ".googleCalendar")
        google["parameters"]["headers"] = {"values": [{"name": "Authorization", "value": "hunter2hunter2"}]}

    home.edit(ADD, add_header)
    assert "hunter2" not in home.run("plan").out
