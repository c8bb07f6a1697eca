"""Which workflow of n8n is whose, and what of an export n8n's API does not take."""

from __future__ import annotations

import pytest

from butlerctl.inventory.operations import Route
from tests.deploy.deploy_home import deploy_home, node_of
from tests.n8n.household import household

ADD = Route("calendar_add", "husband")


@pytest.fixture
def home(tmp_path):
    with household() as built, deploy_home(built, tmp_path, "calendar_add") as home:
        yield home


def entry_of(home, route=ADD):
    return next(entry for entry in home.plan().json["entries"] if entry["route"] == str(route))


def rename(home, name):
    home.n8n.workflows.save(home.id(ADD), home.live(ADD) | {"name": name})


def test_a_workflow_that_somebody_renamed_is_known_by_its_id_once_it_was_deployed(home):
    home.renew(ADD)
    assert home.deploy().code == 0
    rename(home, "my calendar")
    found = entry_of(home)
    assert (found["status"], found["id"]) == ("update", home.id(ADD))
    assert [change["where"] for change in found["changes"]] == ["name"]
    assert home.apply().code == 0
    assert home.live(ADD)["id"] == home.id(ADD)


def test_a_workflow_of_another_name_that_serves_the_path_is_a_stranger_as_long_as_it_was_never_deployed(home):
    other = home.bound(ADD) | {"id": "neverDeployed001", "name": "my calendar"}
    home.n8n.workflows.remove(home.id(ADD))
    home.n8n.import_workflow(other)
    found = entry_of(home)
    assert found["status"] == "conflict"
    assert '"my calendar" (neverDeployed001)' in found["refusals"][0]


def test_of_two_workflows_with_the_name_the_one_that_serves_the_path_is_meant(home):
    twin = home.n8n.import_workflow(home.bound(ADD) | {"id": "twinOfTheFirst01"}, active=False)
    home.edit(ADD, lambda document: document.update(id="no workflow has it"))
    found = entry_of(home)
    assert (found["status"], found["id"]) == ("unchanged", home.id(ADD))
    assert found["notes"] == [f"another workflow has the same name: {twin} (inactive)"]


def test_two_workflows_with_the_name_of_which_none_is_published_are_a_conflict(home):
    home.n8n.workflows.unpublish(home.id(ADD))
    home.n8n.import_workflow(home.bound(ADD) | {"id": "twinOfTheFirst01"}, active=False)
    home.edit(ADD, lambda document: document.update(id="no workflow has it"))
    assert entry_of(home)["status"] == "conflict"
    assert home.apply().code == 78


def test_an_archived_workflow_is_gone_and_a_new_one_is_made(home):
    home.n8n.workflows.archive(home.id(ADD))
    found = entry_of(home)
    assert (found["status"], found["notes"]) == (
        "create", [f"another workflow has the same name: {home.id(ADD)} (archived)"],
    )  # fmt: skip
    assert home.apply().code == 0
    assert home.all_served() == {"v1"}


def test_two_exports_with_one_path_are_refused(home):
    path = ADD.webhook_path("L4CK3Y")
    wifes = Route("calendar_add", "wife")
    home.edit(wifes, lambda document: node_of(document, ".webhook")["parameters"].update(path=path))
    refusals = entry_of(home, wifes)["refusals"]
    assert f"POST {path} is also that of calendar_add/husband" in refusals
    assert "it has no enabled webhook at POST L4CK3Y/calendar/add/wife" in refusals
    assert home.apply().code == 78


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda document: document["nodes"][1].update(colour=3),
            'does not take colour of the node "Check input"',
        ),
        (lambda document: document["settings"].update(bogus=3), "does not take settings.bogus"),
        (
            lambda document: node_of(document, ".googleCalendar")["credentials"].clear(),
            'the node "Google Calendar" has no googleCalendarOAuth2Api: n8n does not publish it',
        ),
        (
            lambda document: node_of(document, ".googleCalendar").pop("credentials"),
            'the node "Google Calendar" has no googleCalendarOAuth2Api',
        ),
        (
            lambda document: node_of(document, ".webhook").pop("credentials"),
            'the node "Webhook" has no httpHeaderAuth',
        ),
        (
            lambda document: node_of(document, ".webhook")["credentials"].update(httpHeaderAuth=None),
            'the node "Webhook" has no httpHeaderAuth',
        ),
    ],
)
def test_what_n8n_does_not_take_or_publish_is_refused_before_it_is_asked(home, change, reason):
    home.edit(ADD, change)
    refusals = entry_of(home)["refusals"]
    assert [reason in text for text in refusals] == [True]
    assert home.apply().code == 78
    assert home.front.writes == []


def test_a_disabled_node_needs_no_credential(home):
    def disable(document):
        google = node_of(document, ".googleCalendar")
        google["disabled"] = True
        del google["credentials"]

    home.edit(ADD, disable)
    assert entry_of(home)["refusals"] == []


def stranger(home, webhook_id="hookOfAStranger1", **parameters):
    """A published workflow of somebody else's with this webhook; its id."""
    document = home.bound(ADD) | {"id": "strangers0000001", "name": "a stranger"}
    document["nodes"][0]["webhookId"] = webhook_id
    document["nodes"][0]["parameters"].update(parameters)
    return home.n8n.import_workflow(document)


@pytest.mark.parametrize(
    "parameters",
    [
        {"multipleMethods": True, "httpMethod": ["GET", "POST"]},
        {"httpMethod": "=POST", "path": "=L4CK3Y/calendar/add/husband"},
        {"path": "/L4CK3Y/calendar/add/husband/"},
    ],
)
def test_a_stranger_that_holds_the_path_in_another_form_is_a_conflict(home, parameters):
    home.n8n.workflows.unpublish(home.id(ADD))
    stranger(home, **parameters)
    found = entry_of(home)
    assert found["status"] == "conflict"
    assert (
        'POST L4CK3Y/calendar/add/husband is served by another workflow: "a stranger"' in found["refusals"][0]
    )
    assert home.apply().code == 78
    assert home.front.writes == []


def test_a_dynamic_path_of_a_stranger_is_a_conflict_unless_ours_is_published(home):
    stranger(home, "L4CK3Y", path="calendar/:what/husband")
    covering = "L4CK3Y/calendar/:what/husband"
    found = entry_of(home)
    assert (found["status"], found["refusals"]) == ("unchanged", [])
    assert (
        f'"a stranger" (strangers0000001) would answer in its place while it is not published: {covering}'
        in found["notes"]
    )
    home.n8n.workflows.unpublish(home.id(ADD))
    found = entry_of(home)
    assert found["status"] == "conflict"
    assert f"is covered by the dynamic path {covering} of another workflow" in found["refusals"][0]
    home.n8n.workflows.unpublish("strangers0000001")
    assert entry_of(home)["status"] == "activate"


def test_a_setting_that_cannot_be_removed_is_named(home):
    home.draft(ADD, lambda document: document["settings"].update(binaryMode="combined"))
    assert entry_of(home)["refusals"] == [
        "n8n has settings.binaryMode and its API cannot remove it: take it back in n8n's editor"
    ]


def test_somebody_who_published_since_is_mentioned(home):
    home.renew(ADD)
    assert home.deploy().code == 0
    document = home.draft(ADD, lambda document: node_of(document, ".stopAndError").update(notes="by hand"))
    home.n8n.workflows.publish(home.id(ADD))
    version = document["versionId"]
    assert (
        f"somebody published version {version} since butlerctl last deployed here" in entry_of(home)["notes"]
    )


def test_a_snapshot_shows_the_tags_of_the_workflows(home):
    tag = home.n8n.rest.tags.add("household")
    home.n8n.workflows.get(home.id(ADD)).tags = [tag["id"]]
    taken = home.run("snapshot", "--format", "json").json
    tags = {each["route"]: each["tags"] for each in taken["workflows"]}
    assert tags == {str(ADD): ["household"], "calendar_add/wife": []}
