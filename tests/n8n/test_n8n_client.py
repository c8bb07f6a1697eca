"""The client of n8n's REST API and of its webhooks, against the stand-in over real sockets."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import httpx
import pytest

from butlerctl.errors import BadInput, NotPermitted, TryAgain, Unreachable
from butlerctl.inventory.operations import Route
from butlerctl.lab.n8n import N8nStandIn, gateway_page, json_answer, page, redirect, sign_in_page
from butlerctl.lab.server import LoopbackServer
from butlerctl.n8n.api import N8nApi
from butlerctl.n8n.executions import as_evidence, find_by_id, find_by_nonce
from butlerctl.n8n.http import failure_text
from butlerctl.n8n.webhooks import Key, Target, Webhooks
from tests.n8n.household import HEADER, SECRET, USER_AGENT, household

EVENT = {"summary": "BTLR-ABCDEFGHJK", "start": "2027-03-04T10:00:00Z", "end": "2027-03-04T11:00:00Z"}
ADD = Route("calendar_add", "husband")
SAMPLES = Path(__file__).parents[1] / "cases" / "n8n"


@pytest.fixture(scope="module")
def home():
    with household() as built:
        yield built


@pytest.fixture
def api(home):
    with N8nApi(home.url, home.api_key) as client:
        yield client


@pytest.fixture
def in_front(home):
    """Lets a test put something in front of n8n, and takes it away again."""

    def put(answer):
        home.n8n.switches.in_front = lambda _path: answer

    yield put
    home.n8n.switches.in_front = lambda _path: None


def webhooks(home, **changes):
    settings = {"url": home.url, "header": HEADER, "secret": SECRET, "user_agent": USER_AGENT, "timeout": 5.0}
    return Webhooks(Target(**{**settings, **changes}))


def test_all_twelve_workflows_come_with_their_saved_and_published_version(api):
    found = api.workflows()
    assert len(found) == 12
    assert all(each["active"] and each["activeVersion"]["nodes"] == each["nodes"] for each in found)
    assert api.workflow(found[0]["id"])["name"] == found[0]["name"]
    assert len(api.workflows(active=False)) == 0


def test_a_list_longer_than_one_page_is_read_to_its_end():
    n8n = N8nStandIn(google_url="http://127.0.0.1:9")
    document = {"name": "x", "nodes": [], "connections": {}, "settings": {}}
    for number in range(205):
        n8n.import_workflow({**document, "name": f"w{number}"}, active=False)
    with LoopbackServer(n8n.app) as server, N8nApi(server.url, n8n.create_api_key()) as api:
        assert {each["name"] for each in api.workflows()} == {f"w{number}" for number in range(205)}


def test_an_unknown_workflow_is_none_not_an_error(api):
    assert api.workflow("nobody") is None
    assert api.execution("99999") is None


def test_the_version_is_read_without_a_key(home):
    with N8nApi(home.url, "no-such-key") as api:
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
    assert "lacks the scope" in lacking.value.message
    assert "credentials" in lacking.value.message


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (redirect("https://gate.example.test/login"), "redirect to https://gate.example.test/login"),
        (gateway_page(502), "answer of a proxy, status 502"),
        (sign_in_page(), "page of HTML, status 200"),
    ],
)
def test_what_stands_in_front_of_n8n_is_named(api, in_front, answer, words):
    in_front(answer)
    with pytest.raises(Unreachable) as error:
        api.workflows()
    assert words in error.value.message


def test_the_editor_page_in_place_of_the_api_is_named(home):
    with (
        N8nApi(f"{home.url}/somewhere", "key-of-nothing") as api,
        pytest.raises(Unreachable, match="editor page"),
    ):
        api.workflows()


def test_an_overloaded_n8n_is_worth_another_try(api, in_front):
    in_front(json_answer(500, {"message": "Internal Server Error"}))
    with pytest.raises(TryAgain, match="500"):
        api.workflows()


def test_nobody_at_the_address_is_unreachable():
    with (
        N8nApi("http://127.0.0.1:9", "key-of-nothing") as api,
        pytest.raises(Unreachable, match=r"ECONNREFUSED 127\.0\.0\.1:9"),
    ):
        api.workflows()


def test_an_execution_is_found_by_the_nonce_and_holds_no_secret(home, api):
    answer = home.call("L4CK3Y/calendar/add/husband", EVENT)
    found = find_by_nonce(api, home.workflows[ADD], EVENT["summary"])
    assert found is not None
    assert found["id"] == answer.json()["execution"]
    assert found["status"] == "success"
    assert found["workflow"] == "L4CK3Y calendar add husband"
    webhook = found["data"]["resultData"]["runData"]["Webhook"][0]["data"]["main"][0][0]["json"]
    assert webhook["body"] == EVENT
    assert webhook["headers"]["x-l4ck3y-auth"] == "<redacted>"
    assert webhook["headers"]["user-agent"] == USER_AGENT
    assert SECRET not in json.dumps(found)
    assert find_by_id(api, found["id"]) == found


def test_an_execution_that_shows_up_late_is_waited_for(home, api):
    late = {**EVENT, "summary": "BTLR-MNPQRSTVWX"}
    timer = threading.Timer(0.4, lambda: home.call("L4CK3Y/calendar/add/husband", late))
    timer.start()
    assert find_by_nonce(api, home.workflows[ADD], late["summary"], wait=5) is not None
    timer.join()


def test_an_execution_that_never_shows_up_is_none_after_the_wait(home, api):
    started = time.monotonic()
    assert find_by_nonce(api, home.workflows[ADD], "BTLR-2222222222", wait=0.3) is None
    assert 0.3 <= time.monotonic() - started < 2


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
    assert found["node"] == "Mark execution failed"
    assert found["error"]["message"] == 'The credential "wife Google Tasks" needs to be reconnected.'


def test_an_exchange_masks_the_key_and_keeps_what_was_answered(home):
    with webhooks(home) as client:
        registered = client.options("L4CK3Y/calendar/add/wife")
        without = client.post("L4CK3Y/calendar/add/wife", {}, Key.NONE)
        wrong = client.post("L4CK3Y/calendar/add/wife", {}, Key.WRONG)
        right = client.post("L4CK3Y/calendar/add/wife", {}, Key.RIGHT)
    assert registered["response"]["headers"]["access-control-allow-methods"] == "OPTIONS, POST"
    assert HEADER not in without["request"]["headers"]
    assert (without["response"]["status"], without["response"]["body"]) == (
        403,
        "Authorization data is wrong!",
    )
    assert wrong["request"]["headers"][HEADER] == "<wrong>"
    assert wrong["response"]["status"] == 403
    assert right["request"]["headers"] == {
        "User-Agent": USER_AGENT,
        "Content-Type": "application/json",
        HEADER: "<redacted>",
    }
    assert right["response"]["body"]["error"]["code"] == "invalid_args"
    assert SECRET not in json.dumps([registered, without, wrong, right])


def test_an_answer_that_echoes_the_key_is_masked(home):
    home.n8n.switches.instead["L4CK3Y/calendar/list/wife"] = json_answer(200, {"headers": {"x-any": SECRET}})
    with webhooks(home) as client:
        exchange = client.post("L4CK3Y/calendar/list/wife", {}, Key.RIGHT)
    home.n8n.switches.instead.clear()
    assert exchange["response"]["body"] == {"headers": {"x-any": "<redacted>"}}


def test_a_stack_trace_of_n8n_is_not_kept(home):
    with webhooks(home) as client:
        exchange = client.post("L4CK3Y/nobody", {}, Key.RIGHT)
    assert exchange["response"]["body"]["code"] == 404
    assert "stacktrace" not in exchange["response"]["body"]


def test_without_a_secret_no_header_is_sent(home):
    with webhooks(home, secret="") as client:
        exchange = client.post("L4CK3Y/calendar/add/wife", {}, Key.RIGHT)
    assert HEADER not in exchange["request"]["headers"]
    assert exchange["response"]["status"] == 403


def test_no_answer_is_a_status_of_none_and_a_reason(home):
    with webhooks(home, url="http://127.0.0.1:9") as client:
        response = client.post("L4CK3Y/calendar/add/wife", {}, Key.NONE)["response"]
    assert response["status"] is None
    assert response["error"] == "ECONNREFUSED 127.0.0.1:9"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            httpx.ConnectError("[Errno -2] Name or service not known"),
            "getaddrinfo ENOTFOUND n8n.example.test",
        ),
        (
            httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed"),
            "TLS n8n.example.test:443: [SSL",
        ),
        (httpx.ReadTimeout("timed out"), "ETIMEDOUT n8n.example.test:443: no answer in time"),
        (httpx.RemoteProtocolError(""), "ECONNRESET n8n.example.test:443: the connection was closed"),
    ],
)
def test_the_reason_for_no_answer_names_the_place_and_the_kind(error, words):
    assert failure_text(error, "https://n8n.example.test/webhook/x").startswith(words)


def test_a_slow_answer_is_a_timeout_and_the_work_is_done_all_the_same(home):
    slow = {**EVENT, "summary": "BTLR-SLOWSLOWSL"}
    home.n8n.switches.slow["L4CK3Y/calendar/add/husband"] = 3
    with webhooks(home, timeout=0.3) as client:
        response = client.post("L4CK3Y/calendar/add/husband", slow, Key.RIGHT)["response"]
    home.n8n.switches.slow.clear()
    assert response["error"].startswith("ETIMEDOUT")
    assert len(home.google.objects_with(slow["summary"])) == 1


def test_an_endless_answer_is_cut(home, in_front):
    in_front(page(200, "x" * 6_000_000))
    with webhooks(home) as client:
        exchange = client.post("L4CK3Y/calendar/add/wife", {}, Key.NONE)
    assert len(exchange["response"]["body"]) < 100_000


@pytest.mark.parametrize("value", ["two\nlines", "schlüssel-nicht-ascii", "blank-at-the-end "])
def test_a_secret_that_no_header_can_carry_is_refused_without_being_shown(home, value):
    with pytest.raises(BadInput, match="cannot stand in an HTTP header") as error:
        webhooks(home, secret=value)
    assert value.strip() not in error.value.message + error.value.hint
    with pytest.raises(BadInput):
        N8nApi(home.url, value)


@pytest.mark.parametrize("url", ["n8n.example.test", "ftp://n8n.example.test", "http://"])
def test_an_address_that_cannot_be_asked_is_unreachable_in_one_line(url):
    with N8nApi(url, "key-of-nothing") as api, pytest.raises(Unreachable) as error:
        api.workflows()
    assert "\n" not in error.value.message
