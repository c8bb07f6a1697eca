"""What the way back brings back and what it keeps, on the stand-in and on the real n8n alike.

Each test module brings `household`: n8n with the twelve exports, published.
"""

from __future__ import annotations

import json

import pytest

from butlerctl.inventory.operations import Route
from tests.deploy.deploy_home import deploy_home, node_of
from tests.deploy.n8n_proxy import refusal

ADD = Route("calendar_add", "husband")
WIFES = Route("calendar_add", "wife")
GOOGLE = "googleCalendarOAuth2Api"
NO_ROOM = refusal("no room")


@pytest.fixture
def home(household, tmp_path):
    """Two routes; the other ten workflows are strangers that nothing may touch."""
    with deploy_home(household, tmp_path, "calendar_add") as home:
        strangers = home.strangers()
        yield home
        assert home.strangers() == strangers


def note(text):
    def change(document):
        node_of(document, ".stopAndError")["notes"] = text

    return change


def note_of(home, route):
    return node_of(home.live(route), ".stopAndError").get("notes")


def refuse(home, method, route):
    """n8n says no to this kind of write to this workflow."""
    home.front.before = lambda _number, verb, path: (
        NO_ROOM if verb == method and home.id(route) in path else None
    )


# drafts


def test_a_draft_that_cannot_be_put_back_is_named(home):
    before = home.published()
    home.draft(ADD, note("somebody's idea"))
    home.renew()
    assert home.deploy("--overwrite-drafts").code == 0
    refuse(home, "PUT", ADD)
    failed = home.run("rollback")
    assert failed.code == 4
    assert "NOT PUT BACK  calendar_add/husband: n8n refused PUT" in failed.out
    assert (home.published(), home.all_served()) == (before, {"v1"})
    home.front.reset()
    assert home.run("rollback").code == 0
    assert note_of(home, ADD) == "somebody's idea"
    assert home.published() == before


def test_a_draft_that_cannot_be_put_back_after_a_failed_deployment_is_named(home):
    before = home.published()
    home.draft(ADD, note("somebody's idea"))
    home.renew()
    home.plan("--overwrite-drafts")
    failing = []

    def refuse_twice(_number, method, path):
        failing.extend([True] * (home.id(WIFES) in path))
        return NO_ROOM if method == "PUT" and failing else None

    home.front.before = refuse_twice
    failed = home.apply()
    assert failed.code == 4
    assert [left["route"] for left in failed.json["left"]] == [str(ADD)]
    assert home.published() == before
    home.front.reset()
    assert home.run("rollback").code == 0
    assert note_of(home, ADD) == "somebody's idea"
    assert home.deploy().code == 78  # the draft is one again


def test_what_was_saved_of_an_unpublished_workflow_is_named_when_it_cannot_be_put_back(home):
    home.n8n.workflows.unpublish(home.id(ADD))
    home.draft(ADD, note("not ready"))
    home.renew()
    assert home.deploy().code == 0
    refuse(home, "PUT", ADD)
    failed = home.run("rollback", "--format", "json")
    assert failed.code == 4
    assert [left["route"] for left in failed.json["left"]] == [str(ADD)]
    home.front.reset()
    assert home.run("rollback").code == 0
    assert (home.published()[ADD], note_of(home, ADD)) == (None, "not ready")


def test_a_draft_that_is_made_while_the_set_is_written_stays_through_the_way_back(home):
    """Settings have no versions: they have to be saved again, and n8n takes nodes only together with them."""
    home.renew()
    for route in (ADD, WIFES):
        home.edit(route, lambda document: document["settings"].update(executionTimeout=9))
    home.plan()

    def interfere(_number, method, path):
        if method == "PUT" and home.id(WIFES) in path:
            home.draft(ADD, note("somebody's idea"))
            return NO_ROOM
        return None

    before = home.published()
    home.front.before = interfere
    failed = home.apply()
    assert failed.code == 1, failed.err
    assert "calendar_add/husband: version" in failed.err
    assert "which somebody saved" in failed.err
    live = home.live(ADD)
    assert (note_of(home, ADD), live["settings"]["executionTimeout"]) == ("somebody's idea", 12)
    assert (home.published(), home.all_served()) == (before, {"v1"})
    kept = [json.loads(path.read_text()) for path in home.state.rglob("snapshots/*.json")]
    (own,) = [each for each in kept if each["kind"] == "rollback"]
    (workflow,) = own["workflows"]
    assert node_of(workflow["document"], ".stopAndError")["notes"] == "somebody's idea"


# between the look and the write


def test_what_somebody_saves_or_publishes_in_that_second_is_not_run_over(home):
    home.renew()
    home.plan()
    before = home.published()

    def work_by_hand(number, *_):
        if number == 1:
            home.draft(WIFES, note("by hand"))
            home.n8n.workflows.publish(home.id(WIFES))

    home.front.before = work_by_hand
    failed = home.apply()
    assert failed.code == 1
    assert failed.json["reason"] == "calendar_add/wife: somebody changed it in n8n a moment ago"
    live = home.live(WIFES)
    assert node_of(live, ".stopAndError")["notes"] == "by hand"
    assert live["activeVersionId"] == live["versionId"]
    assert home.published()[ADD] == before[ADD]


# settings


def test_settings_that_n8n_does_not_remove_are_emptied_by_the_way_back(home):
    before = home.published()
    added = {
        "timeSavedPerExecution": 5,
        "callerIds": "1, 2",
        "customTelemetryTags": [{"key": "a", "value": "b"}],
    }
    home.edit(ADD, lambda document: document["settings"].update(added))
    assert home.deploy().code == 0
    assert home.live(ADD)["settings"].items() >= added.items()
    check = home.run("rollback", "--check", "--format", "json")
    assert (check.code, check.json["works"]) == (0, True)
    assert home.run("rollback").code == 0
    settings = home.live(ADD)["settings"]
    assert {key: settings[key] for key in added} == {
        "timeSavedPerExecution": 0, "callerIds": "", "customTelemetryTags": [],
    }  # fmt: skip
    assert home.published() == before
    assert home.run("rollback", "--format", "json").json["outcome"] == "nothing to do"


# credentials


def test_a_credential_that_is_gone_is_told_beforehand_and_not_replaced_by_another(home):
    """The only other one of the type has the name that the snapshot remembers: n8n would take it."""
    wifes = node_of(home.live(WIFES), ".googleCalendar")["credentials"][GOOGLE]

    def lend_the_husbands_name(document):
        node_of(document, ".googleCalendar")["credentials"][GOOGLE]["name"] = "husband Google Calendar"

    assert home.run("snapshot").code == 0
    (path,) = home.state.rglob("snapshots/*.json")
    rewrite(path, lend_the_husbands_name)
    home.n8n.workflows.remove(home.id(WIFES))
    home.delete_credential(wifes["id"])
    lacks = f'calendar_add/wife: the node "Google Calendar" names the {GOOGLE} {wifes["id"]}'
    check = home.run("rollback", "--check")
    assert (check.code, lacks in check.out) == (1, True)
    ran = home.run("rollback")
    assert (ran.code, lacks in ran.out) == (4, True)
    assert node_of(home.live(WIFES), ".googleCalendar")["credentials"][GOOGLE]["id"] == wifes["id"]
    assert home.all_served() == {"v1"}


def rewrite(path, change):
    """The snapshot with this change in the wife's workflow, and a digest that fits."""
    from butlerctl.deploy.plan import digest_of

    content = json.loads(path.read_text())
    for each in content["workflows"]:
        if each["route"] == str(WIFES):
            change(each["document"])
            change(each["document"]["activeVersion"])
    content.pop("digest")
    path.write_text(json.dumps(content | {"digest": digest_of(content)}))
