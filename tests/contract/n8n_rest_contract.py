"""The REST API of n8n 2.30.8, held by the stand-in and the real server: publishing, versions, conflicts, executions.

Each test module brings a `home` of its own: the twelve exports, published.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from copy import deepcopy

import httpx
import pytest

from butlerctl.inventory.operations import Route
from butlerctl.lab.google import Fault
from butlerctl.n8n.http import make_client
from tests.n8n.household import SECRET

ADD = Route("calendar_add", "husband")
OTHER = Route("calendar_add", "wife")
PATH = "L4CK3Y/calendar/add/husband"
EVENT = {"summary": "BTLR-ABCDEFGHJK", "start": "2027-03-04T10:00:00Z", "end": "2027-03-04T11:00:00Z"}
KEYS = ("name", "nodes", "connections", "settings")
SCOPES = [
    f"workflow:{verb}" for verb in ("list", "read", "create", "update", "delete", "activate", "deactivate")
]
SCOPES += ["execution:list", "execution:read", "credential:list", "credential:create", "credential:delete"]
# (field, value, message) as n8n 2.30.8 answered `POST /workflows`; no message: taken.
FIELDS = [
    ("active", False, "request/body/active is read-only"),
    ("id", "abc", "request/body/id is read-only"),
    ("versionId", "v", "request/body/versionId is read-only"),
    ("meta", {}, "request/body/meta is read-only"),
    ("tags", [], "request/body/tags is read-only"),
    ("isArchived", False, "request/body/isArchived is read-only"),
    ("activeVersion", None, 'request/body/activeVersion must pass "readOnly" keyword validation'),
    ("activeVersionId", None, "request/body must NOT have additional properties"),
    ("description", "d", "request/body must NOT have additional properties"),
    ("pinData", {}, None),
    ("shared", [], None),
    ("staticData", None, None),
    ("nodeGroups", [], None),
]
SETTINGS = [
    ("executionTimeout", 12, None),
    ("timeSavedPerExecution", 0, None),
    ("callerIds", "", None),
    ("customTelemetryTags", [], None),
    ("redactionPolicy", "none", None),
    ("binaryMode", "separate", "request/body/settings must NOT have additional properties"),
    ("bogus", 1, "request/body/settings must NOT have additional properties"),
]


@pytest.fixture
def rest(home) -> Iterator[httpx.Client]:
    key = home.n8n.create_api_key(SCOPES)
    with make_client(home.url, timeout=10, headers={"X-N8N-API-KEY": key}) as client:
        client.base_url = f"{home.url}/api/v1"
        yield client


def body_of(document):
    return {key: deepcopy(document[key]) for key in KEYS}


def test_a_created_workflow_is_inactive_and_has_a_new_id(home, rest):
    created = rest.post("/workflows", json=body_of(home.exports[ADD])).json()
    assert created["active"] is False
    assert created["activeVersionId"] is None
    assert created["id"] not in home.workflows.values()


@pytest.mark.parametrize(("field", "value", "message"), FIELDS)
def test_a_body_takes_what_n8n_takes(field, value, message, home, rest):
    answer = rest.post("/workflows", json={**body_of(home.exports[ADD]), field: value})
    assert (answer.status_code, answer.json().get("message")) == (400 if message else 200, message)


@pytest.mark.parametrize(("field", "value", "message"), SETTINGS)
def test_settings_take_what_n8n_takes(field, value, message, home, rest):
    body = body_of(home.exports[ADD])
    body["settings"][field] = value
    answer = rest.post("/workflows", json=body)
    assert (answer.status_code, answer.json().get("message")) == (400 if message else 200, message)
    if field == "redactionPolicy":
        assert "redactionPolicy" not in answer.json()["settings"]


def test_a_missing_key_and_unknown_places_are_named(home, rest):
    body = body_of(home.exports[ADD])
    del body["settings"]
    answer = rest.post("/workflows", json=body)
    assert answer.json()["message"] == "request/body must have required property 'settings'"
    assert rest.get("/workflows/nobody").json() == {"message": "Not Found"}
    assert rest.get("/nowhere").json() == {"message": "not found"}
    patched = rest.patch(f"/workflows/{home.workflows[ADD]}", json={})
    assert (patched.status_code, patched.json()["message"]) == (405, "PATCH method not allowed")
    assert (
        rest.get("/workflows", params={"limit": 251}).json()["message"]
        == "request/query/limit must be <= 250"
    )


def test_an_update_of_an_active_workflow_is_served_at_once(home, rest):
    body = body_of(home.exports[ADD])
    body["nodes"][0]["parameters"]["path"] = "L4CK3Y/calendar/add/moved"
    updated = rest.put(f"/workflows/{home.workflows[ADD]}", json=body).json()
    assert updated["versionId"] == updated["activeVersionId"]
    assert home.call(PATH).status_code == 404
    assert home.call("L4CK3Y/calendar/add/moved").status_code == 400


def test_a_draft_of_the_editor_is_saved_and_not_served(home, rest):
    draft = deepcopy(home.exports[ADD])
    draft["nodes"][0]["parameters"]["path"] = "L4CK3Y/calendar/add/moved"
    home.n8n.workflows.save(home.workflows[ADD], draft)
    live = rest.get(f"/workflows/{home.workflows[ADD]}").json()
    assert live["versionId"] != live["activeVersionId"]
    assert live["nodes"] != live["activeVersion"]["nodes"]
    assert home.call(PATH).status_code == 400


def test_an_older_version_can_be_published_again(home, rest):
    workflow_id = home.workflows[ADD]
    before = rest.get(f"/workflows/{workflow_id}").json()["activeVersionId"]
    body = body_of(home.exports[ADD])
    body["nodes"][0]["parameters"]["path"] = "L4CK3Y/calendar/add/moved"
    rest.put(f"/workflows/{workflow_id}", json=body)
    back = rest.post(f"/workflows/{workflow_id}/activate", json={"versionId": before}).json()
    assert back["activeVersionId"] == before != back["versionId"]
    assert home.call(PATH).status_code == 400
    assert rest.get(f"/workflows/{workflow_id}/{before}").json()["versionId"] == before
    unknown = rest.post(f"/workflows/{workflow_id}/activate", json={"versionId": "nothing"})
    assert (unknown.status_code, unknown.json()) == (404, {"message": "Version not found"})


def test_a_conflicting_update_is_stored_all_the_same_and_breaks_the_old_path(home, rest):
    body = body_of(home.exports[ADD])
    body["nodes"][0]["parameters"]["path"] = "L4CK3Y/calendar/add/wife"
    answer = rest.put(f"/workflows/{home.workflows[ADD]}", json=body)
    assert (answer.status_code, answer.json()["message"]) == (
        409,
        "There is a conflict with one of the webhooks.",
    )
    live = rest.get(f"/workflows/{home.workflows[ADD]}").json()
    assert live["active"] is True
    assert live["versionId"] == live["activeVersionId"]
    broken = home.call(PATH)
    assert broken.status_code == 500
    assert broken.json()["message"] == "Cannot read properties of undefined (reading 'node')"
    assert home.call("L4CK3Y/calendar/add/wife").status_code == 400
    assert rest.put(f"/workflows/{home.workflows[ADD]}", json=body_of(home.exports[ADD])).status_code == 200
    assert home.call(PATH).status_code == 400


def test_deactivate_and_activate_are_idempotent(home, rest):
    url = f"/workflows/{home.workflows[ADD]}"
    for _ in range(2):
        assert rest.post(f"{url}/deactivate").json()["active"] is False
        assert home.call(PATH).status_code == 404
    for _ in range(2):
        assert rest.post(f"{url}/activate").json()["active"] is True
        assert home.call(PATH).status_code == 400


def test_a_deleted_and_an_archived_workflow_are_not_served(home, rest):
    assert rest.post(f"/workflows/{home.workflows[OTHER]}/archive").json()["isArchived"] is True
    assert home.call("L4CK3Y/calendar/add/wife").status_code == 404
    assert rest.delete(f"/workflows/{home.workflows[ADD]}").status_code == 200
    assert home.call(PATH).status_code == 404
    assert len(rest.get("/workflows").json()["data"]) == 11


def test_what_the_command_line_unpublishes_beside_the_server_leaves_its_registration(home, rest):
    url = f"/workflows/{home.workflows[ADD]}"
    home.n8n.workflows.unpublish_beside(home.workflows[ADD])
    assert rest.get(url).json()["active"] is False
    assert home.call(PATH).json()["message"].startswith("Active version not found for workflow with id")
    rest.post(f"{url}/activate")
    assert home.call(PATH).status_code == 400


def test_what_the_command_line_publishes_beside_the_server_is_not_served(home, rest):
    url = f"/workflows/{home.workflows[ADD]}"
    home.n8n.workflows.publish_beside(home.workflows[ADD])
    assert rest.get(url).json()["active"] is True
    assert home.call(PATH).status_code == 404
    message = home.call(PATH, method="GET").json()["message"]
    assert message == f'The requested webhook "GET {PATH}" is not registered.'
    rest.post(f"{url}/activate")
    assert home.call(PATH).status_code == 400


def test_a_get_is_told_the_methods_that_are_registered_and_runs_nothing(home, rest):
    asked = "This webhook is not registered for GET requests. Did you mean to make a {} request?"
    before = home.executions()
    assert home.call(PATH, method="GET").json()["message"] == asked.format("POST")
    body = body_of(home.exports[ADD]) | {"name": "puts"}
    webhook = next(node for node in body["nodes"] if node["type"].endswith(".webhook"))
    webhook["parameters"]["httpMethod"] = "PUT"
    other = rest.post("/workflows", json=body).json()["id"]
    assert rest.post(f"/workflows/{other}/activate").status_code == 200
    assert home.call(PATH, method="GET").json()["message"] == asked.format("POST or PUT")
    assert home.executions() == before


def google_credential(body):
    node = next(node for node in body["nodes"] if node["name"] == "Google Calendar")
    return node["credentials"]["googleCalendarOAuth2Api"]


def test_settings_that_are_left_out_stay_and_some_values_remove_them(home, rest):
    url = f"/workflows/{home.workflows[ADD]}"
    body = body_of(home.exports[ADD])
    stay = {
        "callerIds": "",
        "customTelemetryTags": [],
        "timeSavedPerExecution": 0,
        "saveDataErrorExecution": "all",
    }
    body["settings"] |= {**stay, "errorWorkflow": "DEFAULT", "executionTimeout": -1, "timezone": "DEFAULT"}
    rest.put(url, json=body)
    body["settings"] = {}
    assert rest.put(url, json=body).json()["settings"] == {"executionOrder": "v1", **stay}


@pytest.mark.parametrize("unknown", ["<WIFE_CALENDAR_CRED_ID>", "", None])
def test_an_unknown_credential_id_is_rebound_to_the_only_one_of_that_name(unknown, home, rest):
    body = body_of(home.exports[OTHER])
    google_credential(body).update(id=unknown, name="husband Google Calendar")
    stored = rest.put(f"/workflows/{home.workflows[OTHER]}", json=body).json()
    assert google_credential(stored) == google_credential(home.exports[ADD])


def test_a_credential_without_any_id_becomes_the_first_of_its_type(home, rest):
    body = body_of(home.exports[OTHER])
    entry = google_credential(body)
    del entry["id"]
    entry["name"] = "a name that no credential has"
    stored = rest.put(f"/workflows/{home.workflows[OTHER]}", json=body).json()
    assert google_credential(stored) == google_credential(home.exports[ADD])


def test_an_unknown_credential_id_with_a_name_that_no_credential_has_stays(home, rest):
    body = body_of(home.exports[OTHER])
    google_credential(body).update(id="nobody", name="husband Google Calendar (gone)")
    stored = rest.put(f"/workflows/{home.workflows[OTHER]}", json=body).json()
    assert google_credential(stored)["id"] == "nobody"


def test_a_disabled_node_keeps_the_credential_that_it_names(home, rest):
    body = body_of(home.exports[OTHER])
    google_credential(body).update(id="nobody", name="husband Google Calendar")
    next(node for node in body["nodes"] if node["name"] == "Google Calendar")["disabled"] = True
    stored = rest.post("/workflows", json=body).json()
    assert google_credential(stored)["id"] == "nobody"


def test_credentials_are_listed_without_their_data(home, rest):
    assert "value" not in rest.get("/credentials").text
    created = rest.post(
        "/credentials", json={"name": "n", "type": "httpHeaderAuth", "data": {"value": "v"}}
    ).json()
    assert rest.delete(f"/credentials/{created['id']}").status_code == 200
    assert rest.delete(f"/credentials/{created['id']}").status_code == 404


def test_an_execution_keeps_the_whole_request_and_the_version_that_was_saved_then(home, rest):
    published = rest.get(f"/workflows/{home.workflows[ADD]}").json()
    draft = deepcopy(published)
    draft["nodes"][0]["notes"] = "a draft"
    home.n8n.workflows.save(published["id"], draft)
    saved = rest.get(f"/workflows/{published['id']}").json()["versionId"]
    answer = home.call(PATH, {"nonsense": 1})
    wait_until(lambda: statuses(rest, home.workflows[ADD]) == ["success"])  # it answers before it has ended
    execution = rest.get(f"/executions/{answer.json()['execution']}", params={"includeData": "true"}).json()
    assert execution["workflowVersionId"] == saved != published["activeVersionId"]
    assert "a draft" not in {node.get("notes") for node in execution["workflowData"]["nodes"]}
    request = execution["data"]["resultData"]["runData"]["Webhook"][0]["data"]["main"][0][0]["json"]
    assert request["headers"]["x-l4ck3y-auth"] == SECRET
    assert request["body"] == {"nonsense": 1}
    assert "data" not in rest.get("/executions").json()["data"][0]
    assert rest.get("/executions", params={"status": "odd"}).status_code == 400
    assert rest.get("/executions", params={"workflowId": "nobody"}).json()["data"] == []


def test_an_execution_that_takes_too_long_is_cancelled_and_its_work_is_done_all_the_same(home, rest):
    body = body_of(home.exports[ADD])
    body["settings"]["executionTimeout"] = 0.2
    rest.put(f"/workflows/{home.workflows[ADD]}", json=body)
    home.google.faults.plant(Fault("calendar.events.insert", delay=0.6))
    answer = home.call(PATH, EVENT)
    assert answer.status_code == 500
    assert answer.json()["message"] == "The execution was cancelled because it timed out"
    wait_until(lambda: statuses(rest, home.workflows[ADD]) == ["canceled"])
    wait_until(lambda: home.google.objects_with(EVENT["summary"]))
    assert len(home.google.objects_with(EVENT["summary"])) == 1


def wait_until(seen):
    deadline = time.monotonic() + 10
    while not seen() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert seen()


def statuses(rest, workflow_id):
    listed = rest.get("/executions", params={"workflowId": workflow_id}).json()["data"]
    return [each["status"] for each in listed]


def test_a_retry_setting_on_a_write_node_doubles_the_object_when_the_reply_is_lost(home, rest):
    body = body_of(home.exports[ADD])
    google = next(node for node in body["nodes"] if node["name"] == "Google Calendar")
    google |= {"retryOnFail": True, "maxTries": 2, "waitBetweenTries": 0}
    rest.put(f"/workflows/{home.workflows[ADD]}", json=body)
    home.google.faults.plant(Fault("calendar.events.insert", "drop", times=1))
    assert home.call(PATH, EVENT).status_code == 200
    assert len(home.google.objects_with(EVENT["summary"])) == 2


@pytest.mark.parametrize(
    ("options", "agent", "status"),
    [
        ({"ignoreBots": True}, "FR4M3W0RK-Tools/1.0", 403),
        ({"ignoreBots": True}, "Mozilla/5.0 (X11)", 400),
        ({"ipWhitelist": "10.0.0.1, 10.0.0.2"}, "FR4M3W0RK-Tools/1.0", 403),
        ({"ipWhitelist": "10.0.0.1, 127.0.0.1"}, "FR4M3W0RK-Tools/1.0", 400),
    ],
)
def test_options_of_the_webhook_can_refuse_a_right_key(options, agent, status, home, rest):
    body = body_of(home.exports[ADD])
    body["nodes"][0]["parameters"]["options"] = options
    rest.put(f"/workflows/{home.workflows[ADD]}", json=body)
    assert home.call(PATH, headers={"User-Agent": agent}).status_code == status


def test_health_and_the_version_need_no_key(home):
    with make_client(home.url, timeout=5) as client:
        assert client.get(f"{home.url}/healthz").json() == {"status": "ok"}
        assert client.get(f"{home.url}/healthz/readiness").json() == {"status": "ok"}
        assert "n8n:config:sentry" in client.get(f"{home.url}/").text
