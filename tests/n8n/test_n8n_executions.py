"""Executions as evidence: which one is found, what has its shape, what of it is masked."""

from __future__ import annotations

import json
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from butlerctl.errors import (
    BadDocument,
)
from butlerctl.inventory.operations import Route
from butlerctl.lab.n8n import (
    json_answer,
)
from butlerctl.n8n.api import N8nApi
from butlerctl.n8n.executions import as_evidence, find_by_id, find_by_nonce, find_latest
from butlerctl.n8n.http import Limits
from tests.n8n.household import household

EVENT = {"summary": "BTLR-ABCDEFGHJK", "start": "2027-03-04T10:00:00Z", "end": "2027-03-04T11:00:00Z"}
ADD = Route("calendar_add", "husband")
SAMPLES = Path(__file__).parents[1] / "cases" / "n8n"


def test_an_execution_that_shows_up_late_is_waited_for(home, api):
    late = {**EVENT, "summary": "BTLR-MNPQRSTVWX"}
    timer = threading.Timer(0.4, lambda: home.call("L4CK3Y/calendar/add/husband", late))
    timer.start()
    found = find_by_nonce(api, home.workflows[ADD], late["summary"], since=datetime.now(UTC), wait=5)
    assert found is not None
    timer.join()


def test_an_execution_that_n8n_stores_after_it_answered_is_waited_for():
    with household() as home, N8nApi(home.url, home.api_key) as api:
        home.n8n.executions.lag = 0.4
        began = datetime.now(UTC)
        number = home.call("L4CK3Y/calendar/add/husband", EVENT).json()["execution"]
        assert list(api.executions(home.workflows[ADD])) == []
        assert find_latest(api, home.workflows[ADD], since=began, wait=0) is None
        assert find_by_id(api, number, wait=0) is None
        assert find_latest(api, home.workflows[ADD], since=began, wait=5)["id"] == number
        assert find_by_id(api, number, wait=0)["status"] == "success"
        assert find_latest(api, home.workflows[ADD], since=datetime.now(UTC), wait=0) is None


def listed(number, **changes):
    began = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    run = {
        "startTime": 1,
        "executionIndex": 0,
        "source": [],
        "data": {"main": [[{"json": {"ok": True}}], None]},
    }
    return {
        "id": number,
        "mode": "webhook",
        "status": "success",
        "startedAt": began,
        "workflowId": "w1",
        "workflowData": {"name": "n", "nodes": [{"name": "Webhook", "type": "n8n-nodes-base.webhook"}]},
        "data": {"resultData": {"runData": {"Webhook": [run]}}},
        **changes,
    }


def test_what_somebody_tries_in_the_editor_meanwhile_is_not_the_request(api, in_front):
    began = datetime.now(UTC) - timedelta(seconds=1)
    rows = [listed("9", mode="manual"), listed("8", mode="retry"), listed("7"), listed("6")]
    in_front(json_answer(200, {"data": rows, "nextCursor": None}))
    assert find_latest(api, "w1", since=began, wait=0)["id"] == "7"
    in_front(json_answer(200, {"data": rows[:2], "nextCursor": None}))
    assert find_latest(api, "w1", since=began, wait=0) is None


def test_what_n8n_holds_back_of_the_newest_execution_is_asked_for(api, in_front):
    whole = listed("7")
    small = {**whole, "data": {"resultData": {"runData": {}}}, "dataTooLargeToDisplay": True}
    answers = [{"data": [small], "nextCursor": None}, whole]
    in_front(lambda: json_answer(200, answers.pop(0)))
    found = find_latest(api, "w1", since=datetime.now(UTC) - timedelta(minutes=1), wait=0)
    assert ("data_missing" in found, answers) == (False, [])


@pytest.mark.parametrize("began", [None, 7, "yesterday", "2026-01-01T00:00:00", {}, "2999-01-01T00:00:00"])
def test_an_execution_without_a_time_that_can_be_compared_is_passed_over(began, api, in_front):
    since = datetime.now(UTC) - timedelta(seconds=1)
    in_front(json_answer(200, {"data": [listed("9", startedAt=began), listed("8")], "nextCursor": None}))
    assert find_latest(api, "w1", since=since, wait=0)["id"] == "8"


NO_RUNS = [
    7,
    "text",
    [{}],
    {"Webhook": {}},
    {"Webhook": [None]},
    {"Webhook": [{"data": {"main": [["item"]]}}]},
]


@pytest.mark.parametrize(
    "broken",
    [
        {"workflowData": "text"},
        {"workflowData": {"nodes": 7}},
        {"data": [1]},
        {"data": {"redactionInfo": "text"}},
        {"data": {"resultData": [1]}},
        {"data": {"resultData": {"error": "text"}}},
        *({"data": {"resultData": {"runData": runs}}} for runs in NO_RUNS),
    ],
    ids=str,
)
def test_what_has_not_the_shape_of_an_execution_is_said_to_have_none(broken, api, in_front):
    since = datetime.now(UTC) - timedelta(seconds=1)
    document = listed("7", **broken)
    page = json_answer(200, {"data": [document], "nextCursor": None})
    for answer, look in (
        (json_answer(200, document), lambda: find_by_id(api, "7", wait=0)),
        (page, lambda: find_latest(api, "w1", since=since, wait=0)),
        (page, lambda: find_by_nonce(api, "w1", "BTLR-2222222222", since=since, wait=0)),
    ):
        in_front(answer)
        with pytest.raises(BadDocument, match="execution 7 has not the shape of one"):
            look()


@pytest.mark.parametrize("name", ["guarded-ok", "guarded-google-403"])
def test_an_execution_as_n8n_shows_it_has_the_shape_of_one(name, api, in_front):
    document = json.loads((SAMPLES / f"execution-{name}.json").read_bytes())
    in_front(json_answer(200, document))
    assert find_by_id(api, str(document["id"]), wait=0)["data"]["resultData"]["runData"]


def test_an_execution_that_never_shows_up_is_none_after_the_wait(home, api):
    started = time.monotonic()
    since = datetime.now(UTC)
    assert find_by_nonce(api, home.workflows[ADD], "BTLR-2222222222", since=since, wait=0.3) is None
    assert 0.3 <= time.monotonic() - started < 2


def test_data_that_n8n_holds_back_is_asked_for_again_and_told_from_data_that_are_not_there(home, api):
    since = datetime.now(UTC)
    large = {"butlerctl": "BTLR-LARGELARGE" + "x" * 30_000}
    answer = home.call("L4CK3Y/calendar/add/husband", large)
    home.n8n.rest.shown_bytes = 20_000
    listed = next(api.executions(home.workflows[ADD], limit=1))
    found = find_by_nonce(api, home.workflows[ADD], "BTLR-LARGELARGE", since=since)
    small = N8nApi(home.url, home.api_key, limits=Limits(30, 40_000))
    with small:
        held_back = find_by_id(small, answer.json()["execution"])
    home.n8n.rest.shown_bytes = 10**8
    assert as_evidence(listed)["data_missing"] == "n8n holds it back: it is larger than n8n shows"
    assert found["id"] == answer.json()["execution"]
    assert "data_missing" not in found
    assert held_back["data_missing"] == "n8n holds it back: it is larger than n8n shows"
    assert as_evidence({"id": 1})["data_missing"] == "n8n has none"
    hidden = {"id": 1, "data": {"redactionInfo": {"isRedacted": True}, "resultData": {"runData": {"a": []}}}}
    assert as_evidence(hidden)["data_missing"] == "n8n holds it back: its redaction policy hides it"


def test_a_key_under_any_header_name_is_masked():
    item = {"json": {"headers": {"x-house-pass": "open sesame", "host": "n8n"}, "body": {}}}
    run = {"data": {"main": [[item]]}}
    found = as_evidence({"id": 1, "data": {"resultData": {"runData": {"Webhook": [run]}}}})
    assert "open sesame" not in json.dumps(found)


@pytest.mark.parametrize("name", ["execution-guarded-ok.json", "execution-guarded-google-403.json"])
def test_a_recorded_execution_of_the_real_n8n_is_redacted(name):
    recorded = json.loads((SAMPLES / name).read_text(encoding="utf-8"))
    text = json.dumps(as_evidence(recorded))
    assert "example-webhook-secret" in json.dumps(recorded)
    assert "example-webhook-secret" not in text
    assert "example-resume-token" not in text
    assert '"stack"' not in text


def test_a_failed_execution_names_its_node_and_the_words_of_google(home, api):
    home.google.revoke(home.grants["wife", "tasks"])
    home.google.expire_access_tokens("wife@example.test")
    answer = home.call("L4CK3Y/tasks/add/wife", {"title": "BTLR-GRANTGRANT"})
    assert answer.status_code == 502
    found = find_by_id(api, answer.json()["execution"])
    assert found["status"] == "error"
    assert found["node"] == "Google Tasks"
    assert found["error"]["message"] == 'The credential "wife Google Tasks" needs to be reconnected.'
    [google] = found["google"]
    assert google["input"][0]["args"]["title"] == "BTLR-GRANTGRANT"


def recorded(name):
    return json.loads((SAMPLES / name).read_text(encoding="utf-8"))


def test_the_recorded_failure_of_a_guarded_workflow_names_the_google_node():
    found = as_evidence(recorded("execution-guarded-google-403.json"))
    assert (found["node"], found["error"]) == (
        "Google Calendar",
        {"message": "Forbidden - perhaps check your credentials?"},
    )
    assert found["google"][0]["input"][0]["args"]["summary"] == "Dentist"


def test_the_first_of_several_failures_is_named_and_a_branch_that_goes_on_hides_none():
    document = recorded("execution-guarded-google-403.json")
    runs = document["data"]["resultData"]["runData"]
    google = next(node for node in document["workflowData"]["nodes"] if node["name"] == "Google Calendar")
    google["onError"] = "continueRegularOutput"
    runs["Google Calendar"][0]["data"]["main"] = [[{"json": {"error": "went on"}}]]
    assert as_evidence(document)["error"] == {"message": "went on"}
    runs["Check input"][0]["error"] = {"message": "boom", "stack": "at …", "node": {"name": "Check input"}}
    found = as_evidence(document)
    assert (found["node"], found["error"]) == ("Check input", {"message": "boom"})


def test_without_data_n8ns_own_error_is_the_failure():
    result = {"error": {"message": "gone", "node": {"name": "Somewhere"}}, "lastNodeExecuted": "Else"}
    found = as_evidence({"id": 1, "data": {"resultData": result}})
    assert (found["node"], found["error"]) == ("Somewhere", {"message": "gone"})
    del result["error"]["node"]
    assert as_evidence({"id": 1, "data": {"resultData": result}})["node"] == "Else"


def test_headers_that_reach_a_google_node_are_masked_in_its_input():
    document = recorded("execution-guarded-ok.json")
    [run] = document["data"]["resultData"]["runData"]["Google Calendar"]
    run["source"] = [{"previousNode": "Webhook"}]
    found = as_evidence(document)
    assert found["google"][0]["input"][0]["headers"]["x-l4ck3y-auth"] == "<redacted>"
    assert "example-webhook-secret" not in json.dumps(found)
