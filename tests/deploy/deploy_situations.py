"""The situations in which a deployment has to hold, on the stand-in and on the real n8n alike.

Each test module brings `household`: n8n with the twelve exports, published.
"""

from __future__ import annotations

import json
import time

import pytest

from butlerctl.checks.live import LiveWorkflow
from butlerctl.inventory.operations import Route
from butlerctl.judge.versions import is_expected
from butlerctl.workflows.digest import canonical_digest
from tests.deploy.deploy_home import deploy_home, node_of, renewed
from tests.deploy.n8n_proxy import refusal
from tests.n8n.household import SECRET

ADD = Route("calendar_add", "husband")
WIFES = Route("calendar_add", "wife")
LIST = Route("tasks_list", "husband")
GOOGLE = "googleCalendarOAuth2Api"


@pytest.fixture
def full(household, tmp_path):
    """All twelve."""
    with deploy_home(household, tmp_path) as home:
        yield home


@pytest.fixture
def home(household, tmp_path):
    """Four routes; the other eight workflows are strangers that nothing may touch."""
    with deploy_home(household, tmp_path, "calendar_add, tasks_list") as home:
        strangers = home.strangers()
        yield home
        left = {each["id"]: each for each in home.strangers()}
        assert [left.get(each["id"]) for each in strangers] == strangers


def statuses(ran):
    return {entry["route"]: entry["status"] for entry in ran.json["entries"]}


def change_note(text):
    def change(document):
        node_of(document, ".stopAndError")["notes"] = text

    return change


def is_what_verify_expects(home, route):
    """The judge's own notion: export, saved and published version are the same."""
    export = {"digest": canonical_digest(home.file(route))}
    return is_expected(export, LiveWorkflow.of(home.live(route)).as_evidence(route))


def in_sync(home):
    """For every command, and for `verify`."""
    codes = home.plan().code, home.run("drift").code
    return codes == (0, 0) and all(is_what_verify_expects(home, route) for route in home.routes)


# 1: twelve to an empty server


def test_twelve_workflows_come_to_an_empty_server_active_and_answering(full):
    full.empty()
    planned = full.plan()
    assert (planned.code, set(statuses(planned).values())) == (1, {"create"})
    began = time.monotonic()
    assert full.apply().code == 0
    assert time.monotonic() - began < 8  # a busy machine; the bar is held by the benchmark
    assert None not in full.published().values()
    assert full.all_served() == {"v1"}
    assert full.plan().code == 0
    assert full.run("drift").code == 0


def test_a_whole_live_set_is_renewed_and_put_back_by_its_version_ids(full):
    before = full.published()
    full.renew()
    assert full.deploy().code == 0
    assert full.all_served() == {"v2"}
    assert not set(full.published().values()) & set(before.values())
    check = full.run("rollback", "--check", "--format", "json")
    assert (check.code, check.json["works"], full.all_served()) == (0, True, {"v2"})
    assert full.run("rollback").code == 0
    assert full.published() == before
    assert full.all_served() == {"v1"}


# 2: a credential is rebound


def lend_the_husbands_name(document):
    node_of(document, ".googleCalendar")["credentials"][GOOGLE]["name"] = "husband Google Calendar"


def test_an_unknown_credential_with_the_other_persons_name_is_refused_before_any_write(home):
    home.edit(WIFES, lend_the_husbands_name)
    ran = home.run("plan", "--out", str(home.plan_file), WIFE_CALENDAR_CRED_ID="nobodysCred00001")
    assert ran.code == 1
    assert (
        'it would silently take Jc4hT9mKx2PqL7sA, which has the same name "husband Google Calendar"'
        in ran.out
    )
    refused = home.run("apply", str(home.plan_file), "--yes", WIFE_CALENDAR_CRED_ID="nobodysCred00001")
    assert refused.code == 78
    assert "calendar_add/wife" in refused.err
    assert home.front.writes == []


def test_the_husbands_credential_in_the_wifes_place_is_refused(home):
    husbands = {"WIFE_CALENDAR_CRED_ID": "Jc4hT9mKx2PqL7sA"}
    home.run("plan", "--out", str(home.plan_file), **husbands)
    refused = home.run("apply", str(home.plan_file), "--yes", **husbands)
    assert refused.code == 78
    assert "is used for husband and wife" in refused.err
    assert home.front.writes == []


def test_a_credential_of_the_wrong_type_is_refused(home):
    tasks = {"WIFE_CALENDAR_CRED_ID": "wifeTasks0000001"}
    home.run("plan", "--out", str(home.plan_file), **tasks)
    refused = home.run("apply", str(home.plan_file), "--yes", **tasks)
    assert refused.code == 78
    assert f"wants a {GOOGLE}: wifeTasks0000001 is a googleTasksOAuth2Api" in refused.err


def test_a_credential_that_n8n_swaps_while_it_is_deployed_puts_the_set_back(home):
    before = home.published()
    home.renew()
    home.edit(WIFES, lend_the_husbands_name)
    home.plan()
    wifes = home.id(WIFES)

    def lose_the_credential(_number, method, path):
        if method == "PUT" and wifes in path:
            home.delete_credential("wifeCalendar0001")

    home.front.before = lose_the_credential
    failed = home.apply()
    assert failed.code == 1, failed.err
    assert (
        "n8n put the googleCalendarOAuth2Api Jc4hT9mKx2PqL7sA in the place of wifeCalendar0001"
        in failed.json["reason"]
    )
    assert home.published() == before
    assert "Jc4hT9mKx2PqL7sA" not in json.dumps(json.loads((home.exports / WIFES.workflow_file).read_text()))


# 3: the path is taken


def test_a_new_workflow_whose_path_is_taken_leaves_nothing_behind(home):
    home.n8n.workflows.remove(home.id(ADD))
    stranger = home.stranger(ADD.webhook_path("L4CK3Y"))
    planned = home.plan()
    assert statuses(planned)[str(ADD)] == "conflict"
    refused = home.apply()
    assert refused.code == 78
    assert (
        f'POST L4CK3Y/calendar/add/husband is served by another workflow: "somebody else\'s" ({stranger})'
        in refused.err
    )
    assert home.front.writes == []
    home.n8n.workflows.remove(stranger)


def test_a_live_workflow_whose_new_path_is_taken_keeps_its_old_url(home):
    move(home, ADD, "L4CK3Y/moved")
    stranger = home.stranger(ADD.webhook_path("L4CK3Y"))
    assert home.deploy().code == 78
    assert home.household.call("L4CK3Y/moved", {"butlerctl": 1}, key=SECRET).status_code == 400
    home.n8n.workflows.remove(stranger)


def test_a_path_that_is_taken_in_the_last_moment_puts_the_set_back(home):
    move(home, ADD, "L4CK3Y/moved")
    before = home.published()
    home.renew()
    home.plan()
    stranger = home.stranger(ADD.webhook_path("L4CK3Y"), active=False)

    def take_the_path(_number, method, path):
        if method == "PUT" and home.id(ADD) in path:
            home.n8n.workflows.publish(stranger)

    home.front.before = take_the_path
    failed = home.apply()
    assert failed.code == 1, failed.err
    assert "There is a conflict with one of the webhooks." in failed.json["reason"]
    assert home.published() == before
    assert home.household.call("L4CK3Y/moved", {"butlerctl": 1}, key=SECRET).status_code == 400
    assert home.served(LIST) == "v1"
    home.n8n.workflows.remove(stranger)


def move(home, route, path):
    """Somebody moves the workflow to another path, in n8n, and publishes it."""

    def change(document):
        node_of(document, ".webhook")["parameters"]["path"] = path

    home.draft(route, change)
    home.n8n.workflows.publish(home.id(route))


def test_two_workflows_that_swapped_their_paths_by_hand_are_put_right(home):
    paths = {ADD: WIFES.webhook_path("L4CK3Y"), WIFES: ADD.webhook_path("L4CK3Y")}
    for route, path in paths.items():
        home.n8n.workflows.unpublish(home.id(route))
        home.draft(
            route, lambda document, path=path: node_of(document, ".webhook")["parameters"].update(path=path)
        )
    for route in paths:
        home.n8n.workflows.publish(home.id(route))
    before = home.published()
    home.renew()
    assert home.deploy().code == 0
    assert home.all_served() == {"v2"}
    assert home.run("rollback").code == 0
    assert home.published() == before
    assert home.all_served() == {"v1"}


# 4: drafts, and a published version that is not the saved one


def test_a_draft_beside_the_right_published_version_is_named_and_left_alone(home):
    draft = home.draft(ADD, change_note("somebody's idea"))
    planned = home.plan()
    assert planned.code == 1
    assert statuses(planned)[str(ADD)] == "draft"
    assert home.apply().json["outcome"] == "nothing to do"
    assert home.front.writes == []
    assert home.live(ADD) == draft
    drift = home.run("drift", "--format", "json")
    assert drift.code == 1
    assert [each["findings"] for each in drift.json["routes"] if each["findings"]] == [
        ["n8n holds an unpublished draft"]
    ]


def test_a_draft_is_not_overwritten_without_a_word(home):
    draft = home.draft(ADD, change_note("somebody's idea"))
    home.renew()
    assert home.deploy().code == 78
    assert home.front.writes == []
    assert home.live(ADD) == draft


def test_a_draft_where_nothing_is_published_is_not_overwritten_either(home):
    home.n8n.workflows.unpublish(home.id(ADD))
    assert home.deploy().code == 0
    draft = home.draft(ADD, change_note("somebody's idea"))
    assert home.run("rollback").code == 0
    assert (home.live(ADD)["versionId"], home.live(ADD)["activeVersionId"]) == (draft["versionId"], None)
    home.renew()
    refused = home.deploy()
    assert (refused.code, "unpublished draft" in refused.err) == (78, True)
    assert "the draft, against the file:" in home.run("plan").out
    assert home.deploy("--overwrite-drafts").code == 0
    assert home.all_served() == {"v2"}


def test_what_was_imported_gives_way_to_the_file_before_and_after_a_rollback(home):
    home.edit(ADD, lambda document: document["settings"].update(executionTimeout=9))
    home.n8n.workflows.unpublish(home.id(ADD))
    home.draft(ADD, change_note("imported so"))
    for _ in range(2):
        assert home.deploy().code == 0
        assert home.run("rollback").code == 0
        assert node_of(home.live(ADD), ".stopAndError")["notes"] == "imported so"


def test_a_draft_that_may_be_overwritten_comes_back_with_a_rollback(home):
    before = home.published()
    draft = home.draft(ADD, change_note("somebody's idea"))
    home.renew()
    assert home.deploy("--overwrite-drafts").code == 0
    assert home.all_served() == {"v2"}
    assert home.run("rollback").code == 0
    assert home.published() == before
    assert home.live(ADD)["nodes"] == draft["nodes"]
    assert home.all_served() == {"v1"}
    assert statuses(home.plan())[str(ADD)] == "draft"


def test_a_draft_that_is_made_after_a_deployment_stays_through_a_rollback(home):
    home.renew()
    assert home.deploy().code == 0
    draft = home.draft(ADD, change_note("somebody's idea"))
    assert home.run("rollback").code == 0
    after = home.live(ADD)
    assert after["versionId"] == draft["versionId"]
    assert after["nodes"] == draft["nodes"]
    assert home.served(ADD) == "v1"


def test_an_old_served_version_is_found_though_the_saved_one_is_the_file(home):
    home.renew(ADD)
    home.draft(ADD, renewed)
    assert home.served(ADD) == "v1"
    planned = home.plan()
    assert (planned.code, statuses(planned)[str(ADD)]) == (1, "publish")
    assert home.run("drift").code == 1
    assert home.apply().code == 0
    assert home.served(ADD) == "v2"
    assert (home.plan().code, home.run("drift").code) == (0, 0)


def test_what_was_rolled_back_gives_way_when_the_file_is_taken_back_too(home):
    original = (home.exports / ADD.workflow_file).read_text()
    home.renew(ADD)
    assert home.deploy().code == 0
    assert home.run("rollback").code == 0
    (home.exports / ADD.workflow_file).write_text(original)
    planned = home.plan()
    assert (planned.code, statuses(planned)[str(ADD)]) == (1, "save")
    assert home.run("drift").code == 1
    assert not is_what_verify_expects(home, ADD)
    assert home.apply().code == 0
    assert home.served(ADD) == "v1"
    assert in_sync(home)


def test_a_node_that_was_only_moved_is_in_sync_for_everybody(home):
    home.draft(ADD, lambda document: node_of(document, ".googleCalendar").update(position=[700, -150]))
    home.n8n.workflows.publish(home.id(ADD))
    assert in_sync(home)


def test_a_setting_that_the_file_no_longer_has_is_in_sync_for_everybody(home):
    wanted = {"saveDataErrorExecution": "none", "saveManualExecutions": False}
    home.edit(ADD, lambda document: document["settings"].update(wanted))
    assert home.deploy().code == 0
    home.edit(ADD, lambda document: [document["settings"].pop(key) for key in wanted])
    assert home.plan().code == 1
    assert home.apply().code == 0
    assert in_sync(home)


def test_access_for_mcp_that_somebody_switched_on_is_seen_taken_back_and_restored(home):
    home.draft(ADD, lambda document: document["settings"].update(availableInMCP=True))
    planned = home.plan()
    (entry,) = (entry for entry in planned.json["entries"] if entry["status"] != "unchanged")
    assert entry["changes"] == [{"where": "settings: availableInMCP", "before": True, "after": None}]
    assert home.run("drift").code == 1
    assert not is_what_verify_expects(home, ADD)
    assert home.apply().code == 0
    assert home.live(ADD)["settings"]["availableInMCP"] is False
    assert in_sync(home)
    assert home.run("rollback").code == 0
    assert home.live(ADD)["settings"]["availableInMCP"] is True


# 5: one of many is refused


def break_the_calendar(document):
    node_of(document, ".googleCalendar")["parameters"]["calendar"] = {
        "__rl": True,
        "value": "nobody",
        "mode": "id",
    }


def test_the_seventh_that_n8n_refuses_puts_all_twelve_back(full):
    before = full.published()
    full.renew()
    full.plan()
    full.front.before = lambda number, *_: refusal("no room") if number == 7 else None
    failed = full.apply()
    assert failed.code == 1
    assert "no room" in failed.json["reason"]
    assert full.published() == before
    assert full.all_served() == {"v1"}


def test_nodes_that_n8n_does_not_publish_put_the_set_back(home):
    before = home.published()
    home.renew()
    home.edit(WIFES, break_the_calendar)
    failed = home.deploy()
    assert failed.code == 1, failed.err
    assert "Missing or invalid required parameters" in failed.json["reason"]
    assert home.published() == before
    assert home.all_served() == {"v1"}


def test_new_workflows_are_unpublished_again_when_one_of_them_fails(home):
    home.empty()
    home.edit(WIFES, break_the_calendar)
    failed = home.deploy()
    assert failed.code == 1
    assert set(home.published().values()) == {None}
    assert len(home.published()) == 2


# 6: killed in the middle; see also the crash tests


@pytest.mark.parametrize("way", ["resume", "rollback"])
def test_a_deployment_that_is_killed_is_finished_or_taken_back(home, way):
    before = home.published()
    home.renew()
    home.plan()
    kill_at(home, 3)
    again = home.apply()
    assert again.code == 78
    assert "--resume" in again.err
    if way == "resume":
        assert home.run("apply", "--resume").code == 0
        assert home.all_served() == {"v2"}
    else:
        assert home.run("rollback").code == 0
        assert home.published() == before
        assert home.all_served() == {"v1"}
    assert home.run("apply", "--resume").code == 3


def test_workflows_that_were_being_created_when_it_was_killed_are_not_made_twice(home):
    home.empty()
    home.plan()
    kill_at(home, 3)  # the second create; its answer is never read
    assert home.run("apply", "--resume").code == 0
    assert home.all_served() == {"v1"}
    assert len(home.published()) == len(home.routes)


def kill_at(home, number):
    """The process dies when n8n has done its n-th write, before it reads the answer."""
    child = None

    def kill(count, *_):
        if count == number:
            child.kill()
            child.wait()

    home.front.reset()
    home.front.after = kill
    child = home.start("apply", str(home.plan_file), "--yes")
    child.communicate(timeout=60)
    assert child.returncode == -9
    home.front.reset()


# 7: rollback, further than one step


def test_a_workflow_that_was_created_is_unpublished_by_a_rollback_and_used_again(home):
    home.n8n.workflows.remove(home.id(ADD))
    assert home.deploy().code == 0
    made = home.live(ADD)["id"]
    assert home.run("rollback").code == 0
    assert home.published()[ADD] is None
    assert home.deploy().code == 0
    assert home.live(ADD)["id"] == made
    assert home.all_served() == {"v1"}


def test_name_and_settings_come_back_with_a_rollback(home):
    before = home.published()

    def change(document):
        document["settings"] |= {"executionTimeout": 9, "saveDataErrorExecution": "none"}
        document["settings"].pop("timezone")

    home.edit(ADD, change)
    assert home.deploy().code == 0
    settings = home.live(ADD)["settings"]
    assert (settings["executionTimeout"], "timezone" in settings) == (9, False)
    assert home.plan().code == 0
    assert home.run("rollback").code == 0
    settings = home.live(ADD)["settings"]
    assert (settings["executionTimeout"], settings["timezone"]) == (12, "America/New_York")
    assert settings["saveDataErrorExecution"] == "all"
    assert home.published() == before


def test_a_workflow_that_was_deleted_since_is_made_again_from_the_snapshot(home):
    assert home.run("snapshot").code == 0
    home.n8n.workflows.remove(home.id(ADD))
    check = home.run("rollback", "--check", "--format", "json")
    assert {move["route"]: move["way"] for move in check.json["moves"]}[str(ADD)] == "recreate"
    assert home.run("rollback").code == 0
    assert home.served(ADD) == "v1"
    assert home.plan().code == 0


def test_a_rollback_whose_path_is_taken_says_so_and_writes_nothing(home):
    assert home.run("snapshot").code == 0
    home.n8n.workflows.unpublish(home.id(ADD))
    stranger = home.stranger(ADD.webhook_path("L4CK3Y"))
    check = home.run("rollback", "--check")
    assert check.code == 1
    assert "a rollback would not work" in check.out
    assert home.run("rollback").code == 78
    assert home.front.writes == []
    home.n8n.workflows.remove(stranger)


def test_a_rollback_that_fails_half_way_says_what_is_left_and_works_the_next_time(home):
    before = home.published()
    home.renew()
    assert home.deploy().code == 0
    home.front.before = lambda _number, _method, path: refusal("no room") if home.id(WIFES) in path else None
    failed = home.run("rollback")
    assert failed.code == 4
    assert "NOT PUT BACK  calendar_add/wife" in failed.out
    home.front.reset()
    assert home.run("rollback").code == 0
    assert home.published() == before
    assert home.all_served() == {"v1"}


# 8: nothing runs, and a look changes nothing


def test_nothing_runs_while_a_deployment_is_checked(home):
    home.renew()
    before = home.executions()
    assert home.deploy().code == 0
    assert home.run("rollback").code == 0
    assert home.executions() == before


def test_a_webhook_without_authentication_is_asked_with_options_only(home):
    home.edit(ADD, lambda document: node_of(document, ".webhook")["parameters"].update(authentication="none"))
    before = home.executions()
    assert home.deploy().code == 0
    assert home.run("rollback").code == 0
    assert home.executions() == before


def test_plan_drift_and_a_check_send_gets_only(home):
    assert home.run("snapshot").code == 0
    home.renew()
    home.front.reset()
    for argv in (["plan"], ["drift"], ["rollback", "--check"], ["snapshot", "list"]):
        home.run(*argv)
    assert {method for method, _ in home.front.requests} == {"GET"}


# What n8n says that it publishes, and does not serve


def silence(home, route):
    """As `n8n publish:workflow` beside the server does it."""
    home.n8n.workflows.publish_beside(home.id(route))
    assert home.live(route)["active"] is True
    assert home.served(route) == "404"


def test_what_n8n_says_it_publishes_and_does_not_serve_is_published_again(home):
    silence(home, ADD)
    before = home.published()
    home.front.reset()
    planned, drift = home.plan(), home.run("drift")
    assert {method for method, _ in home.front.requests} == {"GET"}
    assert (planned.code, statuses(planned)[str(ADD)]) == (1, "silent")
    assert drift.code == 1
    words = "GET L4CK3Y/calendar/add/husband: 404, webhook not registered"
    assert f"{ADD}  n8n says that it is published, and its webhook is not there ({words})" in drift.out
    assert home.apply().code == 0
    assert home.all_served() == {"v1"}
    assert home.published() == before
    assert in_sync(home)


def test_a_draft_beside_it_stays(home):
    silence(home, ADD)
    draft = home.draft(ADD, change_note("somebody's idea"))
    assert statuses(home.plan())[str(ADD)] == "silent"
    assert home.apply().code == 0
    assert home.served(ADD) == "v1"
    assert home.live(ADD)["nodes"] == draft["nodes"]
    assert statuses(home.plan())[str(ADD)] == "draft"


def test_a_rollback_with_nothing_to_move_publishes_it_again(home):
    assert home.run("snapshot").code == 0
    silence(home, ADD)
    home.front.reset()
    check = home.run("rollback", "--check", "--format", "json")
    assert {method for method, _ in home.front.requests} == {"GET"}
    ways = {move["route"]: move["way"] for move in check.json["moves"]}
    assert (check.code, ways[str(ADD)]) == (0, "republish")
    assert set(ways.values()) == {"republish", "unchanged"}
    assert home.run("rollback").code == 0
    assert home.all_served() == {"v1"}
    assert home.run("rollback", "--format", "json").json["outcome"] == "nothing to do"


def test_no_get_goes_where_a_workflow_would_run_on_it(home):
    stranger = home.stranger(ADD.webhook_path("L4CK3Y"), method="GET")
    before = home.executions()
    home.front.reset()
    planned = home.plan()
    assert planned.code == 0
    drift = home.run("drift", "--format", "json")
    assert (drift.code, drift.json["drifted"]) == (3, False)
    assert [each["route"] for each in drift.json["routes"] if each["unheard"]] == [str(ADD)]
    (entry,) = (entry for entry in planned.json["entries"] if entry["notes"])
    assert entry["route"] == str(ADD)
    assert "a workflow runs on GET there" in entry["notes"][0]
    asked = {path for _, path in home.front.requests if path.startswith("/webhook/")}
    assert asked == {f"/webhook/{route.webhook_path('L4CK3Y')}" for route in home.routes if route != ADD}
    assert home.executions() == before
    home.n8n.workflows.remove(stranger)


# 9: placeholders


def test_a_placeholder_without_a_value_is_refused_before_any_write(home):
    home.edit(
        ADD,
        lambda document: node_of(document, ".googleCalendar")["parameters"].update(
            summary="<SOME_NAME_HERE>"
        ),
    )
    home.plan()
    refused = home.apply()
    assert refused.code == 78
    assert "calendar_add/husband: the placeholder <SOME_NAME_HERE> has no value" in refused.err
    assert home.front.writes == []


def test_a_credential_id_that_is_still_a_placeholder_is_refused_before_any_write(home):
    def forget(document):
        node_of(document, ".googleCalendar")["credentials"][GOOGLE]["id"] = "<HUSBAND_CALENDAR_CRED_ID>"

    home.edit(ADD, forget)
    home.plan()
    assert home.apply().code == 78
    assert home.front.writes == []
