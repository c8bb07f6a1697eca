"""butlerctl's own client, its evidence and its probes, held against the stand-in and the real n8n.

Each test module brings a `home` of its own: the twelve exports, published.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from datetime import UTC, datetime, timedelta

import pytest

from butlerctl.checks.live import read_live
from butlerctl.checks.probe import FORBIDDEN, Subject, probe
from butlerctl.errors import N8nRefused, NotPermitted, Unreachable
from butlerctl.inventory.operations import OPERATIONS, Route
from butlerctl.judge.ran import contradictions
from butlerctl.lab.google import refuse
from butlerctl.n8n.api import Health, N8nApi
from butlerctl.n8n.executions import find_by_id, find_by_nonce
from butlerctl.n8n.webhooks import Target
from butlerctl.n8n.write import N8nWriter, body_of
from tests.n8n.household import HEADER, SECRET, USER_AGENT

ADD = Route("calendar_add", "husband")
OTHER = Route("calendar_add", "wife")
PATH = "L4CK3Y/calendar/add/husband"
EVENT = {"summary": "BTLR-ABCDEFGHJK", "start": "2027-03-04T10:00:00Z", "end": "2027-03-04T11:00:00Z"}
READ = ("workflow:list", "workflow:read", "execution:list", "execution:read", "credential:list")
WRITE = ("workflow:create", "workflow:update", "workflow:activate", "workflow:deactivate")
TAG = ("tag:list", "tag:create", "tag:delete", "workflowTags:update")


@pytest.fixture
def api(home) -> Iterator[N8nApi]:
    with N8nApi(home.url, home.n8n.create_api_key([*READ, "securityAudit:generate", "tag:list"])) as client:
        yield client


@pytest.fixture
def writer(home) -> Iterator[N8nWriter]:
    with N8nWriter(home.url, home.n8n.create_api_key([*READ, *WRITE])) as client:
        yield client


def test_all_twelve_workflows_come_with_their_saved_and_published_version(home, api):
    found = api.workflows()
    assert {each["id"] for each in found} == set(home.workflows.values())
    assert all(each["active"] and each["activeVersion"]["nodes"] == each["nodes"] for each in found)
    assert api.workflow(found[0]["id"])["name"] == found[0]["name"]
    assert api.workflows(active=False) == []


def test_what_n8n_does_not_know_is_none_and_no_error(home, api):
    assert api.workflow("nobody") is None
    assert api.workflow_version(home.workflows[ADD], "nothing") is None
    assert api.workflow_version("nobody", "nothing") is None
    assert api.execution("99999999") is None
    assert api.execution("not-a-number") is None
    assert list(api.executions("nobody")) == []


def test_an_older_version_is_read(home, api):
    version = api.workflow(home.workflows[ADD])["activeVersionId"]
    assert api.workflow_version(home.workflows[ADD], version)["versionId"] == version


def test_the_client_lists_credentials_without_their_data(api):
    found = api.credentials()
    assert {"httpHeaderAuth", "googleCalendarOAuth2Api"} <= {each["type"] for each in found}
    assert SECRET not in json.dumps(found)


def test_health_and_version_need_no_key(home):
    with N8nApi(home.url, "no-such-key") as api:
        assert api.health() == Health(alive=True, ready=True)
        assert api.version() == "2.30.8"


def test_a_refused_key_and_a_missing_scope_are_told_apart_and_never_shown(home):
    with N8nApi(home.url, "bad-key-that-nobody-may-see") as api, pytest.raises(NotPermitted) as refused:
        api.workflows()
    assert "the API key was refused" in refused.value.message
    assert "bad-key-that" not in refused.value.message + refused.value.hint
    with (
        N8nApi(home.url, home.n8n.create_api_key(["workflow:list"])) as api,
        pytest.raises(NotPermitted) as lacking,
    ):
        api.credentials()
    assert "lacks the scope for GET /api/v1/credentials" in lacking.value.message
    assert lacking.value.hint == "n8n.api_key needs credential:list"


@pytest.mark.parametrize(
    ("tail", "words"),
    [("/somewhere", "has no such address, status 404"), ("/api/v1", "this n8n has no endpoint")],
)
def test_a_wrong_path_in_the_address_is_said_as_such_and_no_empty_list(tail, words, home):
    with N8nApi(f"{home.url}{tail}", home.api_key) as api:
        for ask in (api.workflows, api.credentials):
            with pytest.raises(Unreachable, match=words) as error:
                ask()
            assert "n8n.url" in error.value.hint


@contextmanager
def tagged(home, name, workflow_id):
    """A tag on a workflow, and gone again."""
    key = home.n8n.create_api_key([*READ, *TAG])
    with N8nApi(home.url, key) as client:
        tag = client._ask("POST", "tags", body={"name": name}).document
        try:
            client._ask("PUT", f"workflows/{workflow_id}/tags", body=[{"id": tag["id"]}])
            yield
        finally:
            client._ask("DELETE", f"tags/{tag['id']}")


def test_tags_are_listed_and_come_with_the_workflow(home, api):
    with tagged(home, "household", home.workflows[ADD]):
        assert [each["name"] for each in api.tags()] == ["household"]
        names = {each["id"]: [tag["name"] for tag in each["tags"]] for each in api.workflows()}
        assert names[home.workflows[ADD]] == ["household"]
        assert names[home.workflows[OTHER]] == []
    assert api.tags() == []


def test_the_audit_names_a_webhook_that_asks_for_no_key(home, api):
    document = deepcopy(home.exports[ADD]) | {"id": "openToAnybody001", "name": "open to anybody"}
    hook = document["nodes"][0]
    hook["parameters"].pop("authentication")
    hook["parameters"]["path"] = "open/to/anybody"
    document["connections"]["Webhook"] = {
        "main": [[{"node": "Respond internal error", "type": "main", "index": 0}]]
    }
    home.n8n.import_workflow(document)
    reports = api.audit()
    sections = {each["title"]: each for each in reports["Instance Risk Report"]["sections"]}
    flagged = sections["Unprotected webhooks in instance"]["location"]
    assert [(each["workflowName"], each["nodeName"]) for each in flagged] == [("open to anybody", "Webhook")]
    assert sections["Security settings"]["settings"]["features"]["publicApiEnabled"] is True
    assert api.audit(["filesystem"]) == {}


def test_executions_are_read_page_after_page_the_newest_first(home, api):
    for _ in range(23):
        home.call(PATH, FORBIDDEN)
    stored = home.executions()
    found = list(api.executions(home.workflows[ADD], limit=200))
    ids = [int(each["id"]) for each in found]
    assert ids == [int(each) for each in stored]
    assert len(ids) == 23
    assert ids == sorted(ids, reverse=True)
    assert all("data" in each for each in found)
    assert len(list(api.executions(home.workflows[ADD], limit=22))) == 22
    assert "data" not in next(api.executions(home.workflows[ADD], limit=1, with_data=False))


def test_a_nonce_is_found_beyond_the_newest_page_and_not_before_the_start(home, api):
    began = datetime.now(UTC)
    nonce = "BTLR-MNPQRSTVWX"
    answer = home.call(PATH, {"butlerctl": nonce})
    for _ in range(21):
        home.call(PATH, FORBIDDEN)
    found = find_by_nonce(api, home.workflows[ADD], nonce, since=began, wait=5)
    assert found["id"] == answer.json()["execution"]
    later = datetime.now(UTC) + timedelta(minutes=6)
    assert find_by_nonce(api, home.workflows[ADD], nonce, since=later, wait=0) is None


def test_an_execution_is_found_by_the_nonce_and_holds_no_secret(home, api):
    began = datetime.now(UTC)
    answer = home.call(PATH, EVENT)
    found = find_by_nonce(api, home.workflows[ADD], EVENT["summary"], since=began, wait=5)
    assert found["id"] == answer.json()["execution"]
    assert (found["status"], found["workflow"]) == ("success", "L4CK3Y calendar add husband")
    assert found["version_id"] == api.workflow(home.workflows[ADD])["activeVersionId"]
    webhook = found["data"]["resultData"]["runData"]["Webhook"][0]["data"]["main"][0][0]["json"]
    assert webhook["body"] == EVENT
    assert webhook["headers"]["x-l4ck3y-auth"] == "<redacted>"
    assert webhook["headers"]["user-agent"] == USER_AGENT
    assert SECRET not in json.dumps(found)
    assert find_by_id(api, found["id"]) == found


def test_what_ran_contradicts_the_published_version_in_nothing_and_the_draft_where_it_differs(home, api):
    for route, workflow_id in home.workflows.items():
        answer = home.call(route.webhook_path("L4CK3Y"), FORBIDDEN)
        ran = find_by_id(api, answer.json()["execution"], wait=5)["ran"]
        published = api.workflow(workflow_id)["activeVersion"]
        assert contradictions(ran, published) == ()
        draft = deepcopy(published)
        nodes = {node["name"]: node for node in draft["nodes"]}
        nodes["Check input"]["parameters"]["jsCode"] += "// somebody's idea"
        nodes["Webhook"]["parameters"]["options"]["ignoreBots"] = False
        google = next(
            node for node in draft["nodes"] if node.get("credentials", {}).keys() - {"httpHeaderAuth"}
        )
        google["credentials"] = {kind: {"id": "nobody"} for kind in google["credentials"]}
        assert contradictions(ran, draft) == ("Check input", google["name"])


def test_the_google_nodes_input_and_output_are_in_the_evidence(home, api):
    answer = home.call(PATH, EVENT)
    found = find_by_id(api, answer.json()["execution"], wait=5)
    assert "node" not in found
    assert "data_missing" not in found
    [google] = found["google"]
    assert google["node"] == "Google Calendar"
    assert google["input"][0]["args"]["summary"] == EVENT["summary"]
    assert google["output"][0][0]["id"] == answer.json()["data"]["id"]


def test_a_failure_of_google_names_the_google_node_and_its_words(home, api):
    home.google.faults.plant(refuse("calendar.events.insert", 403, "insufficientPermissions"))
    answer = home.call(PATH, EVENT)
    assert answer.status_code == 502
    found = find_by_id(api, answer.json()["execution"], wait=5)
    assert found["status"] == "error"
    assert found["node"] == "Google Calendar"
    assert found["error"] == {"message": "Forbidden - perhaps check your credentials?"}
    assert found["data"]["resultData"]["lastNodeExecuted"] == "Mark execution failed"
    [google] = found["google"]
    assert google["input"][0]["args"]["summary"] == EVENT["summary"]
    assert google["output"][-1][0]["error"] == found["error"]["message"]


def test_a_refused_input_is_no_failure_of_a_node_and_asked_google_nothing(home, api):
    answer = home.call(PATH, FORBIDDEN)
    found = find_by_id(api, answer.json()["execution"], wait=5)
    assert found["status"] == "success"
    assert {"node", "error", "google"} & found.keys() == set()


def test_a_workflow_is_created_saved_published_and_taken_off_again(home, writer):
    export = deepcopy(home.exports[ADD])
    export["nodes"][0]["parameters"]["path"] = "x/of/the/client"
    made = writer.create(body_of(export))
    first = made["versionId"]
    assert (made["active"], made["name"]) == (False, export["name"])
    assert writer.activate(made["id"], first)["activeVersionId"] == first
    export["nodes"][1]["notes"] = "changed"
    changed = writer.update(made["id"], body_of(export))
    assert changed["activeVersionId"] == changed["versionId"] != first
    assert writer.activate(made["id"], first)["activeVersionId"] == first
    assert writer.deactivate(made["id"])["active"] is False


def test_a_refusal_of_n8n_comes_with_its_status_and_its_words(home, writer):
    made = writer.create(body_of(home.exports[ADD]))
    for status, words, act in (
        (409, "conflict with one of the webhooks", lambda: writer.activate(made["id"], made["versionId"])),
        (404, "Version not found", lambda: writer.activate(made["id"], "nothing")),
        (404, "permission to update", lambda: writer.update("nobody", body_of(home.exports[ADD]))),
        (404, "permission to deactivate", lambda: writer.deactivate("nobody")),
        (400, "read-only", lambda: writer.create(body_of(home.exports[ADD]) | {"active": True})),
    ):
        with pytest.raises(N8nRefused, match=words) as refused:
            act()
        assert refused.value.status == status


def test_a_key_that_may_not_write_is_named_with_what_it_lacks(home):
    with N8nWriter(home.url, home.n8n.create_api_key(READ)) as api, pytest.raises(NotPermitted) as refused:
        api.deactivate(home.workflows[ADD])
    assert "does not let this API key do POST" in refused.value.message
    assert "workflow:deactivate" in refused.value.hint


def test_every_route_is_probed_and_nothing_is_written(home, api):
    live = read_live(api, home.exports, "L4CK3Y").workflows
    subjects = [
        Subject(
            route,
            route.webhook_path("L4CK3Y"),
            export,
            live[route],
            {"limit": 1} | ({"sheet": "Log"} if route.operation == "sheets_read" else {}),
        )
        for route, export in home.exports.items()
    ]
    found = probe(Target(home.url, HEADER, SECRET, USER_AGENT, 15.0), subjects)
    for route, documents in found.items():
        expected = 400 if OPERATIONS[route.operation].writes else 200
        assert [item["probe"] for item in documents] == [
            "registered",
            "without_key",
            "wrong_key",
            "answering",
        ]
        assert [item["response"]["status"] for item in documents] == [204, 403, 403, expected], route
    assert [entry for entry in home.google.log if entry.verb != "GET" and entry.method != "token"] == []
    assert SECRET not in json.dumps([list(documents) for documents in found.values()])


def holding(home, name, **parameters):
    """A published workflow of somebody else with this Webhook node."""
    document = deepcopy(home.exports[ADD]) | {"id": "", "name": name}
    document["nodes"][0]["webhookId"] = parameters.pop("webhookId", f"hook-{name}")
    document["nodes"][0]["parameters"].update(parameters)
    return home.n8n.import_workflow(document)


def allowed(home, path):
    answer = home.call(path, method="OPTIONS", headers={"Origin": "http://butlerctl.invalid"}, key=None)
    return answer.headers["access-control-allow-methods"]


def test_a_webhook_of_several_methods_holds_its_path_for_each_of_them(home, writer):
    holding(home, "several", multipleMethods=True, httpMethod=["GET", "POST"], path="x/several")
    assert allowed(home, "x/several") == "OPTIONS, GET, POST"
    export = deepcopy(home.exports[OTHER])
    export["nodes"][0]["parameters"]["path"] = "x/several"
    made = writer.create(body_of(export))
    with pytest.raises(N8nRefused, match="conflict"):
        writer.activate(made["id"], made["versionId"])


def test_a_dynamic_path_keeps_an_exact_one_from_whoever_does_not_hold_it_yet(home, writer):
    holding(home, "dynamic", path="calendar/:op/husband", webhookId="L4CK3Y")
    assert allowed(home, "L4CK3Y/calendar/anything/husband") == "OPTIONS, POST"
    assert allowed(home, "L4CK3Y/husband/anything/calendar") == "OPTIONS, POST"
    assert allowed(home, "L4CK3Y/calendar/anything/wifes") == "OPTIONS"
    workflow_id = home.workflows[ADD]
    version = writer.workflow(workflow_id)["activeVersionId"]
    assert writer.activate(workflow_id, version)["active"] is True
    writer.deactivate(workflow_id)
    assert home.call(PATH, FORBIDDEN).status_code == 400
    with pytest.raises(N8nRefused, match="conflict"):
        writer.activate(workflow_id, version)


def test_an_expression_without_anything_to_evaluate_is_the_path_itself(home):
    holding(home, "literal", path="=x/literal", httpMethod="=POST")
    assert allowed(home, "x/literal") == "OPTIONS, POST"
