"""The client of n8n's REST API and of its webhooks, where n8n does not answer as it should, over real sockets.

What it does with an n8n that does is held by `tests/contract/n8n_client_contract.py`, on the real one too.
"""

from __future__ import annotations

import errno
import json
import socket
import ssl
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from butlerctl.errors import (
    BadInput,
    ButlerctlError,
    ExitCode,
    NotOffered,
    TryAgain,
    Unreachable,
)
from butlerctl.inventory.operations import Route
from butlerctl.lab.n8n import (
    N8nStandIn,
    gateway_page,
    json_answer,
    page,
    redirect,
    sign_in_page,
    with_tag,
)
from butlerctl.lab.server import LoopbackServer
from butlerctl.n8n.api import AnswerTooLarge, Health, N8nApi
from butlerctl.n8n.http import Limits, failure_text
from butlerctl.n8n.webhooks import Key, Target, Webhooks
from butlerctl.n8n.write import N8nWriter
from tests.n8n import misshapen
from tests.n8n.household import HEADER, SECRET, USER_AGENT

EVENT = {"summary": "BTLR-ABCDEFGHJK", "start": "2027-03-04T10:00:00Z", "end": "2027-03-04T11:00:00Z"}
ADD = Route("calendar_add", "husband")
SAMPLES = Path(__file__).parents[1] / "cases" / "n8n"


def webhooks(home, **changes):
    settings = {"url": home.url, "header": HEADER, "secret": SECRET, "user_agent": USER_AGENT, "timeout": 5.0}
    return Webhooks(Target(**{**settings, **changes}))


def test_a_list_longer_than_one_page_is_read_to_its_end():
    n8n = N8nStandIn(google_url="http://127.0.0.1:9")
    document = {"name": "x", "nodes": [], "connections": {}, "settings": {}}
    for number in range(205):
        n8n.import_workflow({**document, "name": f"w{number}"}, active=False)
    with LoopbackServer(n8n.app) as server, N8nApi(server.url, n8n.create_api_key()) as api:
        assert {each["name"] for each in api.workflows()} == {f"w{number}" for number in range(205)}


def test_a_row_that_comes_on_two_pages_is_told_once(api, in_front):
    rows = [{"id": number, "nodes": []} for number in ("1", "2", "2", "3")]
    pages = [{"data": rows[:2], "nextCursor": "more"}, {"data": rows[2:], "nextCursor": None}]
    in_front(lambda: json_answer(200, pages.pop(0)))
    assert [row["id"] for row in api.workflows()] == ["1", "2", "3"]


def test_a_list_that_leads_back_to_itself_is_no_list_of_n8n(api, in_front):
    asked = []

    def answer():
        asked.append(1)
        return json_answer(200, {"data": [], "nextCursor": "same"})

    in_front(answer)
    with pytest.raises(Unreachable, match="a list that leads back to itself"):
        api.workflows()
    assert sum(asked) < 5, "pages, and n8n's pages of health for the advice"


@pytest.mark.parametrize(
    "broken",
    [
        *misshapen.NODES,
        {"nodes": [{"parameters": [1]}]},
        {"activeVersion": "text"},
        {"activeVersion": {}},
        {"activeVersion": {"nodes": [1]}},
    ],
    ids=str,
)
def test_what_has_not_the_shape_of_a_workflow_is_no_answer_of_n8n(broken, home, api, in_front):
    workflow = {"id": "w1", "name": "n", "nodes": [], "activeVersion": None} | broken
    with N8nWriter(home.url, home.n8n.create_api_key()) as writer:
        for document, ask in (
            ({"data": [workflow], "nextCursor": None}, api.workflows),
            (workflow, lambda: api.workflow("w1")),
            (workflow, lambda: writer.create({"name": "n"})),
            (workflow, lambda: writer.update("w1", {"name": "n"})),
            (workflow, lambda: writer.activate("w1", "any")),
        ):
            in_front(json_answer(200, document))
            with pytest.raises(Unreachable, match="w1 has not the shape of a workflow"):
                ask()


@pytest.mark.parametrize("broken", [{"name": None}, {"type": 1}], ids=str)
def test_a_credential_without_name_or_type_is_no_answer_of_n8n(broken, api, in_front):
    in_front(
        json_answer(
            200, {"data": [{"id": "c1", "name": "n", "type": "googleApi"} | broken], "nextCursor": None}
        )
    )
    with pytest.raises(Unreachable, match="a credential without name or type"):
        api.credentials()


def test_an_id_does_not_lead_to_another_address(home):
    seen = []
    home.n8n.switches.in_front = seen.append
    with N8nWriter(home.url, home.n8n.create_api_key()) as writer:
        for act in (
            lambda each: writer.update(each, {"name": "n"}),
            lambda each: writer.activate(each, "any"),
            writer.deactivate,
        ):
            with pytest.raises(ButlerctlError):
                act("../credentials/x?y")
    home.n8n.switches.in_front = lambda _path: None
    api = [path for path in seen if path.startswith("/api/")]
    assert api
    assert all(path.startswith("/api/v1/workflows/") for path in api)


@pytest.mark.parametrize("other", [{"name": "another"}, {"active": True}], ids=str)
def test_the_answer_about_another_workflow_is_not_that_of_a_creation(other, home, in_front):
    in_front(json_answer(200, {"id": "w1", "name": "n", "nodes": [], "active": False} | other))
    with (
        N8nWriter(home.url, home.n8n.create_api_key()) as writer,
        pytest.raises(Unreachable, match="w1 is not the workflow that was to be made"),
    ):
        writer.create({"name": "n"})


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


def test_an_overloaded_n8n_is_worth_another_try(api, in_front):
    in_front(with_tag(json_answer(500, {"message": "Internal server error"})))
    with pytest.raises(TryAgain, match="500") as error:
        api.workflows()
    assert not isinstance(error.value, Unreachable)


def test_an_n8n_that_is_starting_is_worth_another_try(api, in_front):
    in_front(with_tag(page(200, "n8n is starting up. Please wait")))
    with pytest.raises(TryAgain, match="not ready yet"):
        api.workflows()
    in_front(with_tag(json_answer(503, {"code": 503, "message": "Database is not ready!"})))
    with pytest.raises(TryAgain, match="not ready yet"):
        api.credentials()


def test_an_endpoint_that_this_version_does_not_have_is_said_as_such_and_no_matter_of_the_key(api, in_front):
    in_front(with_tag(json_answer(405, {"message": "GET method not allowed"})))
    with pytest.raises(NotOffered, match="this n8n has no GET /api/v1/credentials") as error:
        api.credentials()
    assert error.value.exit_code is ExitCode.BAD_INPUT


GATEWAYS = [
    json_answer(404, {"message": "Not Found"}),
    json_answer(404, {"message": "not found"}),
    json_answer(404, {"detail": "Not Found"}),
    json_answer(401, {"message": "Unauthorized"}),
    json_answer(403, {"message": "Forbidden"}),
    json_answer(500, {"message": "An unexpected error occurred"}),
    json_answer(502, {"message": "no healthy upstream"}),
    json_answer(504, {"message": "The upstream server is timing out"}),
    json_answer(200, {"status": "healthy"}),
    json_answer(200, {"data": []}),
    json_answer(200, {}),
    json_answer(200, {"data": [{"name": "no id"}], "nextCursor": None}),
]


@pytest.mark.parametrize(
    "answer", GATEWAYS, ids=lambda answer: f"{answer.status} {answer.body.decode()[:30]}"
)
def test_a_gateways_json_is_no_word_of_n8n(answer, home, api, in_front):
    """No list is empty, no id unknown, no key refused because a gateway says so."""
    in_front(answer)
    for ask in (
        api.workflows,
        api.credentials,
        api.tags,
        api.audit,
        lambda: api.workflow(home.workflows[ADD]),
        lambda: api.workflow_version(home.workflows[ADD], "any"),
        lambda: api.execution("1"),
        lambda: list(api.executions(home.workflows[ADD])),
    ):
        with pytest.raises(Unreachable, match="something other than n8n's API answered"):
            ask()


@pytest.mark.parametrize(
    "answer", GATEWAYS, ids=lambda answer: f"{answer.status} {answer.body.decode()[:30]}"
)
def test_a_gateways_json_leaves_open_whether_n8n_wrote(answer, home, in_front):
    with N8nWriter(home.url, home.n8n.create_api_key()) as writer:
        in_front(answer)
        workflow_id = home.workflows[ADD]
        for act in (
            lambda: writer.create({"name": "n"}),
            lambda: writer.update(workflow_id, {"name": "n"}),
            lambda: writer.activate(workflow_id, "any"),
            lambda: writer.deactivate(workflow_id),
        ):
            with pytest.raises(Unreachable):
                act()


def test_the_advice_tells_a_wrong_path_from_a_proxy_before_a_living_n8n(home, api):
    refusal = json_answer(404, {"message": "Not Found"})
    home.n8n.switches.in_front = lambda path: refusal if path.startswith("/api/") else None
    with pytest.raises(Unreachable) as error:
        api.workflows()
    unready = {"/healthz/readiness": with_tag(json_answer(503, {"status": "error"})), "/healthz": None}
    home.n8n.switches.in_front = lambda path: unready.get(path, refusal)
    with pytest.raises(Unreachable) as starting:
        api.workflows()
    home.n8n.switches.in_front = lambda _path: refusal
    with pytest.raises(Unreachable) as other:
        api.workflows()
    home.n8n.switches.in_front = lambda _path: None
    assert error.value.hint == "n8n itself is alive there: something in front of it answers for its API"
    assert starting.value.hint == "n8n is alive there and not ready yet: try again in a moment"
    assert "the address of n8n itself, with the right path" in other.value.hint


def test_an_n8n_without_its_database_is_alive_and_not_ready(home, api):
    unready = with_tag(json_answer(503, {"status": "error"}))
    home.n8n.switches.in_front = lambda path: unready if path == "/healthz/readiness" else None
    found = api.health()
    home.n8n.switches.in_front = lambda _path: json_answer(200, {"status": "ok"})
    proxys = api.health()
    home.n8n.switches.in_front = lambda _path: None
    assert found == Health(alive=True, ready=False)
    assert proxys == Health(alive=False, ready=False)


def test_nobody_at_the_address_is_unreachable():
    with (
        N8nApi("http://127.0.0.1:9", "key-of-nothing") as api,
        pytest.raises(Unreachable, match=r"ECONNREFUSED 127\.0\.0\.1:9"),
    ):
        api.workflows()


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


def raised(error, cause):
    """The error as httpx raises it over that of the system."""
    try:
        raise error from cause
    except httpx.RequestError as found:
        return found


@pytest.mark.parametrize(
    ("error", "cause", "words"),
    [
        (httpx.ConnectError("x"), OSError(errno.ECONNREFUSED, "x"), "ECONNREFUSED n8n.example.test:443"),
        (httpx.ConnectError("x"), OSError(errno.EHOSTUNREACH, "No route to host"), "EHOSTUNREACH n8n.example.test:443"),
        (httpx.ConnectError("x"), OSError(errno.ENETUNREACH, "x"), "ENETUNREACH n8n.example.test:443"),
        (httpx.ConnectError("a name"), OSError(errno.EACCES, "a name"), "EACCES n8n.example.test:443"),
        (httpx.ReadError("x"), OSError(errno.ECONNRESET, "x"), "ECONNRESET n8n.example.test:443"),
        (httpx.ConnectError("x"), socket.gaierror(socket.EAI_NONAME, "x"), "getaddrinfo ENOTFOUND n8n.example.test"),
        (httpx.ConnectError("x"), socket.gaierror(socket.EAI_AGAIN, "x"), "getaddrinfo EAI_AGAIN n8n.example.test"),
        (httpx.ConnectError("x"), ssl.SSLCertVerificationError(1, "self-signed"), "TLS n8n.example.test:443: "),
        (httpx.ReadTimeout("timed out"), None, "ETIMEDOUT n8n.example.test:443: no answer in time"),
        (httpx.RemoteProtocolError(""), None, "ECONNRESET n8n.example.test:443: the connection was closed"),
        (httpx.DecodingError("no such name"), None, "n8n.example.test:443: no such name"),
    ],
)  # fmt: skip
def test_the_reason_for_no_answer_is_told_by_the_systems_number(error, cause, words):
    assert failure_text(raised(error, cause), "https://n8n.example.test/webhook/x").startswith(words)


def test_a_name_that_nobody_knows_is_told_from_a_port_where_nobody_listens():
    for url, words in (
        ("http://n8n.invalid:5678", "getaddrinfo E"),
        ("http://127.0.0.1:9", "ECONNREFUSED 127.0.0.1:9"),
    ):
        with N8nApi(url, "key-of-nothing") as api, pytest.raises(Unreachable, match=words):
            api.workflows()


@contextmanager
def trickling(head):
    """A peer that sends `head`, and then a byte every 50 ms without an end."""
    over = threading.Event()

    def serve(listener):
        peer, _ = listener.accept()
        with peer:
            peer.recv(65536)
            peer.sendall(head)
            while not over.wait(0.05):
                try:
                    peer.sendall(b"x")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        over.set()
        thread.join()


@pytest.mark.parametrize(
    "head",
    [b"HTTP/1.1 200 OK\r\nX-Slow: ", b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"],
    ids=["its headers", "its body"],
)
def test_a_peer_that_trickles_is_given_up_after_the_time_for_the_whole_answer(head, home):
    with trickling(head) as url, N8nApi(url, "key-of-nothing", limits=Limits(0.4, 10**6)) as api:
        started = time.monotonic()
        with pytest.raises(Unreachable, match="ETIMEDOUT"):
            api.workflows()
        assert 0.4 <= time.monotonic() - started < 3
    with trickling(head) as url, webhooks(home, url=url, timeout=0.4) as client:
        response = client.options("L4CK3Y/any")["response"]
    assert (response["status"], response["error"][:9]) == (None, "ETIMEDOUT")


def test_an_answer_beyond_the_limit_is_no_answer_of_the_api(home):
    with N8nApi(home.url, home.api_key, limits=Limits(30, 10_000)) as api:
        with pytest.raises(AnswerTooLarge, match="longer than"):
            api.workflows()
        assert issubclass(AnswerTooLarge, Unreachable)


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
