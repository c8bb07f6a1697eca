"""The commands of a deployment: exit codes, refusals, reports as a condition, what they print and leave on the disk."""

from __future__ import annotations

import json
import stat
import threading
from datetime import UTC, datetime, timedelta

import pytest
from werkzeug.wrappers import Response

from butlerctl.deploy import deployment, interrupted, listening, wire
from butlerctl.inventory.loader import load_inventory
from butlerctl.inventory.operations import Route
from butlerctl.report.keys import new_signer, public_path, save_key
from butlerctl.report.signing import write_report
from butlerctl.state import state_folder
from butlerctl.workflows.digest import canonical_digest
from tests.deploy.deploy_home import deploy_home, node_of
from tests.deploy.n8n_proxy import no_answer, own_answer, refusal
from tests.n8n import misshapen
from tests.n8n.household import SECRET, household
from tests.report.report_samples import broken_route, proven_route, run_of_routes

ADD = Route("calendar_add", "husband")
WIFES = Route("calendar_add", "wife")


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(interrupted, "SETTLE", timedelta(0))
    monkeypatch.setattr(deployment, "RESTART", timedelta(0))
    with household() as built, deploy_home(built, tmp_path, "calendar_add") as home:
        yield home


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


def test_n8n_that_is_not_there_or_not_n8n_is_told_before_anything_is_written(home):
    assert home.run("plan", N8N_URL="http://127.0.0.1:9").code == 75
    assert home.run("drift", N8N_URL=home.household.google_url).code == 75
    assert home.run("plan", N8N_API_KEY="wrong-key-entirely").code == 77


def test_a_key_that_may_not_write_ends_in_77_with_nothing_written(home):
    home.renew()
    key = home.n8n.create_api_key(("workflow:list", "workflow:read", "credential:list"))
    before = home.published()
    assert home.run("plan", "--out", str(home.plan_file), N8N_API_KEY=key).code == 1
    ran = home.run("apply", str(home.plan_file), "--yes", N8N_API_KEY=key)
    assert ran.code == 77
    assert "workflow:update" in ran.err
    assert home.published() == before
    assert home.run("apply", "--resume").code == 3


def test_the_very_first_refusal_is_n8ns_own_word(home):
    home.renew()
    home.plan()
    home.front.before = lambda *_: refusal("request/body must NOT have additional properties")
    ran = home.apply()
    assert ran.code == 78
    assert "request/body must NOT have additional properties" in ran.err


def test_an_n8n_that_lists_no_credentials_is_told_as_such_and_nothing_is_planned(home):
    home.n8n.rest.version = "1.123.81"
    for argv in (["plan"], ["snapshot"], ["drift"]):
        ran = home.run(*argv)
        assert (ran.code, ran.out) == (78, "")
        assert "this n8n has no GET /api/v1/credentials" in ran.err
        assert "n8n 1 lists no credentials" in ran.err
        assert "credential:list" not in ran.err


def gateway_json(status, message):
    return Response(f'{{"message":"{message}"}}', status, content_type="application/json; charset=utf-8")


@pytest.mark.parametrize(
    ("status", "message"),
    [(404, "Not Found"), (401, "Unauthorized"), (403, "Forbidden"), (502, "bad gateway")],
)
def test_a_gateways_json_is_no_empty_n8n_and_no_refused_key(home, status, message):
    """Read as a list without workflows it would be twelve to create, beside those that are there."""
    assert home.run("snapshot").code == 0
    home.front.reset()
    home.front.in_front = lambda: gateway_json(status, message)
    for argv in (["plan"], ["drift"], ["rollback", "--check"], ["rollback"]):
        ran = home.run(*argv)
        assert ran.code == 75, ran
        assert ran.out == ""
        assert "something other than n8n's API answered" in ran.err
    assert home.front.writes == []


def test_a_write_that_a_proxy_gave_up_on_is_waited_for_and_taken_back(home, monkeypatch):
    """The proxy's 504 closes nothing: n8n carries the update out a moment later."""
    monkeypatch.setattr(interrupted, "SETTLE", timedelta(seconds=2))
    before = home.published()
    home.renew()
    home.plan()
    late = []

    def give_up(number, method, path):
        if number != 1:
            return None
        body = home.front.bodies[-1]
        late.append(threading.Timer(1.0, lambda: home.front.pass_on(method, path, body)))
        late[0].start()
        return gateway_json(504, "The upstream server is timing out")

    home.front.before = give_up
    ran = home.apply()
    late[0].join()
    assert ran.code == 1, ran
    assert ran.json["outcome"] == "failed, rolled back"
    assert "status 504" in ran.json["reason"]
    assert home.published() == before
    assert home.all_served() == {"v1"}


def test_a_creation_that_is_answered_with_a_strangers_workflow_leaves_the_stranger_alone(home):
    home.empty()
    home.plan()
    strangers = home.strangers()

    def answer_with_another(number, method, path):
        if number == 1:
            home.front.pass_on(method, path, home.front.bodies[-1])
        return own_answer(strangers[0]) if number == 1 else None

    home.front.before = answer_with_another
    ran = home.apply()
    assert ran.code == 1, ran
    assert "is not the workflow that was to be made" in ran.json["reason"]
    assert home.strangers() == strangers
    assert set(home.published().values()) == {None}, "what n8n made is known, and is not published"
    home.front.reset()
    assert home.deploy().code == 0, "and it is used"
    assert home.all_served() == {"v1"}


def test_a_proxy_that_lets_only_the_api_and_the_webhooks_through_is_enough(home):
    home.renew()
    home.plan()

    def hide():
        return None if home.front.requests[-1][1].startswith(("/api/", "/webhook/")) else no_answer

    home.front.in_front = hide
    assert home.apply().code == 0
    taken = home.run("snapshot", "--format", "json")
    assert (taken.code, taken.json["n8n"]) == (0, "")
    assert (
        home.run("rollback", "--to", home.run("snapshot", "list").out.splitlines()[-1].split()[0]).code == 0
    )
    assert home.all_served() == {"v1"}


def shorten_the_list(home):
    """What stands in front of n8n shows an old list, in which no workflow is."""
    nothing = own_answer({"data": [], "nextCursor": None})
    home.front.in_front = lambda: nothing if "/workflows?" in home.front.requests[-1][1] else None


def test_a_list_without_what_n8n_has_is_no_list(home):
    home.renew()
    assert home.deploy().code == 0
    shorten_the_list(home)
    for command in ("plan", "drift", "snapshot"):
        ran = home.run(command)
        assert ran.code == 75
        assert "n8n's list of workflows is not whole" in ran.err
    home.front.requests.clear()
    for command in (["rollback", "--check"], ["rollback"]):
        assert home.run(*command).code == 75
    assert home.front.writes == []
    home.front.reset()
    assert home.run("rollback").code == 0
    assert home.all_served() == {"v1"}


def test_what_was_made_is_not_gone_because_a_list_does_not_show_it(home):
    home.empty()
    home.plan()
    home.front.after = lambda number, *_: shorten_the_list(home) if number == 4 else None
    ran = home.apply()
    assert ran.code == 4, ran
    assert {failure["route"] for failure in ran.json["left"]} == {str(ADD), str(WIFES)}
    home.front.reset()
    assert home.run("rollback").code == 0
    assert set(home.published().values()) == {None}


def test_n8n_that_goes_away_in_the_middle_leaves_a_run_that_can_be_taken_back(home):
    before = home.published()
    home.renew()
    home.plan()
    gone = []

    def go_away(number, *_):
        gone.extend([True] * (number == 1))

    home.front.after = go_away
    home.front.in_front = lambda: Response("<html>502 Bad Gateway</html>", 502) if gone else None
    ran = home.apply()
    assert ran.code == 4
    assert {failure["route"] for failure in ran.json["left"]} == {str(ADD), str(WIFES)}
    home.front.reset()
    assert home.plan().code == 1
    assert home.apply().code == 78
    assert home.run("rollback").code == 0
    assert home.published() == before
    assert home.all_served() == {"v1"}


def test_an_answer_that_is_lost_does_not_lose_the_step(home):
    before = home.published()
    home.renew()
    home.plan()
    home.front.lose = lambda number: number == 2
    ran = home.apply()
    assert ran.code == 1, ran.err
    assert home.published() == before
    assert {entry["status"] for entry in home.plan().json["entries"]} == {"publish"}


def test_a_webhook_that_does_not_answer_after_the_deployment_puts_the_set_back(home, monkeypatch):
    monkeypatch.setattr(wire, "PATIENCE", 0.2)
    before = home.published()
    home.renew()
    home.edit(
        WIFES, lambda document: node_of(document, ".webhook")["parameters"].update(responseMode="lastNode")
    )
    ran = home.deploy()
    assert ran.code == 1
    assert (
        "POST L4CK3Y/calendar/add/wife without the key: 500, respond node and response mode do not fit"
        in ran.json["reason"]
    )
    assert home.published() == before
    assert home.all_served() == {"v1"}


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


@pytest.fixture
def report(home):
    """Writes a signed report about the exports as they are now; its public key lies beside it."""
    signer = new_signer()
    public = save_key(signer, home.folder / "signing.pem")
    inventory = load_inventory(home.folder / "inventory.yaml", home.environ)

    def write(signer=signer, **changes):
        from butlerctl.workflows.exports import rendered_exports

        exports = rendered_exports(inventory, inventory.routes)
        now = datetime.now(UTC)
        facts = {
            "target": home.front.url,
            "started": now - timedelta(minutes=2),
            "finished": now - timedelta(minutes=1),
            "inventory_digest": inventory.digest,
            "workflows": {
                route.workflow_file.removesuffix(".json"): canonical_digest(export)
                for route, export in exports.items()
            },
        }
        path = home.folder / "report.json"
        write_report(path, run_of_routes(*map(proven_route, inventory.routes), **(facts | changes)), signer)
        return ["--require-report", str(path), "--key", str(public)]

    return write


def test_a_matching_report_lets_a_deployment_through(home, report):
    home.renew()
    home.plan()
    assert home.apply(*report()).code == 0
    assert home.all_served() == {"v2"}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"target": "http://n8n.example.test"}, "not about http://127.0.0.1"),
        (
            {"started": datetime(2026, 1, 1, tzinfo=UTC), "finished": datetime(2026, 1, 1, tzinfo=UTC)},
            "stale",
        ),
        ({"workflows": {"calendar_add_wife": "ab" * 32}}, "was changed after the run"),
        ({"inventory_digest": "ab" * 32}, "the inventory is not the one of the run"),
    ],
)
def test_another_report_does_not(home, report, changes, reason):
    home.renew()
    home.plan()
    refused = home.apply(*report(**changes))
    assert refused.code == 78
    assert reason in refused.err
    assert home.front.writes == []


def test_a_report_of_another_key_or_without_a_trusted_key_does_not_either(home, report):
    home.renew()
    home.plan()
    option, path, _, _ = report()
    other = save_key(new_signer(), home.folder / "other.pem")
    assert home.apply(option, path, "--key", str(other)).code == 78
    assert home.apply(option, path).code == 2
    assert home.apply(option, str(public_path(home.folder / "signing.pem"))).code == 2


def test_a_run_that_wanted_a_report_wants_it_again_to_go_on(home, report):
    home.renew()
    home.plan()
    good = report()
    kill_at_first_write(home, *good)
    for options in ([], ["--require-report", str(home.folder / "nowhere.json"), *good[2:]]):
        assert home.run("apply", "--resume", *options).code == 78
    assert home.run("apply", "--resume", *report(workflows={"calendar_add_wife": "ab" * 32})).code == 78
    assert home.front.writes == []
    assert home.run("apply", "--resume", *report()).code == 0
    assert home.all_served() == {"v2"}


def test_the_way_back_wants_no_report(home, report):
    home.renew()
    home.plan()
    before = home.published()
    kill_at_first_write(home, *report())
    assert home.run("rollback").code == 0
    assert (home.published(), home.all_served()) == (before, {"v1"})


def kill_at_first_write(home, *options):
    child = None

    def kill(*_):
        child.kill()
        child.wait()

    home.front.before = kill
    child = home.start("apply", str(home.plan_file), "--yes", *options)
    child.communicate(timeout=60)
    assert child.returncode == -9
    home.front.reset()


def test_a_report_of_the_lab_counts_for_the_files_that_it_ran(home, report):
    """The lab has values of its own in the places of the household's."""
    from butlerctl.lab.plan import plan_lab

    home.renew()
    home.plan()
    inventory = load_inventory(home.folder / "inventory.yaml", home.environ)
    in_the_lab = {
        route.workflow_file.removesuffix(".json"): canonical_digest(document)
        for route, document in plan_lab(inventory).workflows.items()
    }
    assert home.apply(*report(lab=True, target="http://127.0.0.1:1")).code == 78
    assert home.apply(*report(lab=True, target="http://127.0.0.1:1", workflows=in_the_lab)).code == 0


def test_the_report_that_is_about_what_is_served_vouches_for_its_snapshot(home, report):
    key = report()[-2:]
    taken = home.run("snapshot", "--report", str(home.folder / "report.json"), *key, "--format", "json")
    assert taken.json["report"]["verdict"] == "PASS"
    assert home.run("snapshot", "list").out.count("report 01JDZ0-RUN") == 1
    home.renew(ADD)
    assert home.deploy().code == 0
    again = home.run("snapshot", "--report", str(home.folder / "report.json"), *key, "--format", "json")
    assert again.json["report"] is None


def test_drift_is_against_the_last_report_too(home, report):
    named = ["--report", str(home.folder / "report.json"), *report()[-2:]]
    same = home.run("drift", *named)
    assert same.code == 0
    key = json.loads(home.run("drift", "--format", "json", *named).out)["report"]["key"]
    assert f"PASS, signed by the trusted key {key[:12]}, about 2 of 2 workflows" in same.out
    home.renew(ADD)
    assert home.deploy().code == 0
    assert home.run("drift").code == 0
    ran = home.run("drift", *named)
    assert ran.code == 1
    assert "calendar_add/husband  n8n serves something else than the last report was about" in ran.out


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"target": "http://n8n.example.test"}, "the report is about http://n8n.example.test, not about"),
        ({"lab": True}, "the report is about the lab, not about"),
        ({"workflows": {"tasks_list_husband": "ab" * 32}}, "is about none of these workflows"),
        ({"signer": None}, "the report is unsigned"),
        ({"signer": new_signer()}, "signed by a key that is not trusted here"),
    ],
)
def test_a_report_that_cannot_speak_about_this_n8n_is_refused_by_drift(home, report, changes, reason):
    key = report(**changes)[-2:]
    ran = home.run("drift", "--report", str(home.folder / "report.json"), *key)
    assert (ran.code, ran.out) == (78, "")
    assert f"{home.folder}/report.json: " in ran.err
    assert reason in ran.err


def test_drift_takes_the_newest_pass_that_is_signed_and_about_this_n8n(home, report):
    """Newer ones that are unsigned, of another n8n, or about a failure say nothing."""
    kept = state_folder(home.folder / "inventory.yaml", home.state) / "reports"
    kept.mkdir(parents=True)

    def keep(name, hours, **changes):
        key = report(started=datetime.now(UTC) - timedelta(hours=hours), **changes)[-2:]
        (home.folder / "report.json").rename(kept / name)
        return key

    failed = run_of_routes(*(broken_route(route) for route in home.routes)).routes
    keep("a.json", 1, signer=None)
    keep("b.json", 2, target="http://n8n.example.test")
    keep("c.json", 3, routes=failed)
    key = keep("d.json", 5, workflows={"calendar_add_husband": "ab" * 32})
    keep("e.json", 9)
    ran = home.run("drift", "--format", "json", *key)
    assert (ran.code, ran.json["report"]["file"]) == (1, str(kept / "d.json"))
    untrusted = home.run("drift")
    assert untrusted.code == 0
    assert "no report: there is no PASS about this n8n that a trusted key signed" in untrusted.out


def test_where_a_proxy_lets_no_get_through_a_plan_knows_nothing_and_apply_asks_otherwise(home, monkeypatch):
    monkeypatch.setattr(wire, "PATIENCE", 0.2)
    monkeypatch.setattr(listening, "PATIENCE", 0.1)

    def refuse():
        method, path = home.front.requests[-1]
        blocked = method in methods and path.startswith("/webhook/")
        return Response("<html>no</html>", 405, content_type="text/html") if blocked else None

    methods = ["GET"]
    home.front.in_front = refuse
    planned = home.plan()
    assert planned.code == 0
    notes = {note for entry in planned.json["entries"] for note in entry["notes"]}
    assert "whether it answers is not known: GET L4CK3Y/calendar/add/wife: 405, page of HTML" in notes
    assert home.run("drift").code == 0
    assert home.apply().code == 0
    assert home.run("snapshot").code == 0
    methods += ["OPTIONS", "POST"]
    failed = home.apply()
    assert failed.code == 1
    assert "there is nothing to deploy, and not everything answers: calendar_add/husband: POST" in failed.err
    left = home.run("rollback")
    assert left.code == 4
    assert "NOT PUT BACK  calendar_add/wife: n8n publishes what it published then, and POST" in left.out
    assert home.front.writes == []


@pytest.fixture
def late(home, monkeypatch):
    """n8n 2.41 answers before it publishes, and answers the webhook for the old version until then."""
    home.n8n.rest.version = "2.41.1"
    home.n8n.workflows.lag = 0.3
    monkeypatch.setattr(wire, "QUIET", 0.4)
    return home


def test_an_n8n_that_publishes_late_is_judged_when_it_has(late):
    late.renew()
    assert late.deploy().code == 0
    assert late.all_served() == {"v2"}
    assert late.run("rollback").code == 0
    assert late.all_served() == {"v1"}


def test_a_version_that_does_not_answer_is_found_though_the_old_one_answered_for_it(late, monkeypatch):
    monkeypatch.setattr(wire, "PATIENCE", 0.2)
    before = late.published()
    late.renew()
    last_node = {"responseMode": "lastNode"}
    late.edit(WIFES, lambda document: node_of(document, ".webhook")["parameters"].update(last_node))
    failed = late.deploy()
    assert failed.code == 1
    assert "respond node and response mode do not fit" in failed.json["reason"]
    assert late.published() == before
