"""The HTTP side of a gateway as far as butlerctl uses it: the same for the lab's and for the real one."""

from __future__ import annotations

import json
import time
import uuid
from http.client import HTTPConnection
from urllib.parse import quote, urlsplit

import pytest
from contract_gateway import AGENT, DONE, fresh_key, take_turn

from butlerctl.gateway.http import client_for
from butlerctl.gateway.openclaw import OpenClawGateway
from butlerctl.gateway.openclaw_websocket import WebSocketGateway
from butlerctl.lab.conformance.questions import EVENT, TASKS
from butlerctl.lab.conformance.script import Failure, Silence, native, words

UNAUTHORIZED = {"error": {"message": "Unauthorized", "type": "unauthorized"}}
RESERVED = "`x-openclaw-session-key` cannot use reserved internal session namespaces."
NO_REPLY = "⚠️ Agent couldn't generate a response. Please try again."
NO_ROW = "The agent run failed before producing a reply."


@pytest.fixture
def http(bench):
    with client_for(
        bench.url, base_url=bench.url, headers={"Authorization": f"Bearer {bench.token}"}, timeout=30
    ) as client:
        yield client


@pytest.fixture
def stranger(bench):
    with client_for(bench.url, base_url=bench.url) as client:
        yield client


def ask(http, session=None, words=EVENT.prompt, **more):
    body = {"model": f"openclaw/{AGENT}", "messages": [{"role": "user", "content": words}], **more}
    headers = {"x-openclaw-session-key": session} if session else {}
    return http.post("/v1/chat/completions", json=body, headers=headers)


def fresh_name():
    return f"butlerctl-{uuid.uuid4().hex[:12]}"


def history(http, session, **page):
    return http.get(f"/sessions/{quote(session, safe='')}/history", params=page).json()


def test_health_needs_no_token_and_everything_else_does(stranger):
    for path in ("/health", "/healthz"):
        assert stranger.get(path).json() == {"ok": True, "status": "live"}
    for path in ("/ready", "/readyz"):
        assert stranger.get(path).json()["ready"] is True
    refused = [
        stranger.get("/v1/models"),
        stranger.get("/sessions/x/history"),
        stranger.post("/v1/chat/completions", json={}),
        stranger.post("/tools/invoke", json={}),
    ]
    assert [(answer.status_code, answer.json()) for answer in refused] == [(401, UNAUTHORIZED)] * 4


def test_an_unknown_path_and_a_wrong_method_are_plain_text(http):
    answers = [
        http.get("/nothing/here"),
        http.post("/v1/models"),
        http.get("/v1/chat/completions"),
        http.get("/tools/invoke"),
    ]
    assert [(answer.status_code, answer.text) for answer in answers] == [
        (404, "Not Found"), (405, "Method Not Allowed"), (405, "Method Not Allowed"), (405, "Method Not Allowed"),
    ]  # fmt: skip
    assert all(answer.headers["content-type"] == "text/plain; charset=utf-8" for answer in answers)


def test_models_are_the_agents(http):
    assert http.get("/v1/models").json() == {
        "object": "list",
        "data": [
            {"id": name, "object": "model", "created": 0, "owned_by": "openclaw", "permission": []}
            for name in ("openclaw", "openclaw/default", f"openclaw/{AGENT}")
        ],
    }


@pytest.mark.parametrize(
    ("body", "session", "told"),
    [
        ({"model": "openclaw/nosuch"}, None, "Unknown agent 'nosuch'."),
        ({"model": "gpt-4"}, None, "Invalid `model`. Use `openclaw` or `openclaw/<agentId>`."),
        ({"messages": []}, None, "Missing user message in `messages`."),
        ({"messages": [{"role": "user", "content": " "}]}, None, "Missing user message in `messages`."),
        ({}, "cron:x", RESERVED),
        ({}, "subagent:x", RESERVED),
        ({}, "acp:x", RESERVED),
        ({}, f"agent:{AGENT}:cron:x", RESERVED),
    ],
)
def test_requests_that_are_no_turn_are_refused(bench, http, body, session, told):
    bench.play(DONE)
    answer = ask(http, session, **body)
    assert answer.status_code == 400
    assert answer.json() == {"error": {"message": told, "type": "invalid_request_error"}}
    assert bench.model.asked == []


def test_what_is_no_json_is_refused(http):
    answer = http.post("/v1/chat/completions", content=b"{bad")
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")


def test_an_answer_never_shows_the_gateways_own_calls(bench, http):
    bench.play(native(EVENT.call()), DONE)
    document = ask(http).json()
    assert document["choices"] == [
        {"index": 0, "message": {"role": "assistant", "content": "It is in the calendar, id evt1."}, "finish_reason": "stop"}
    ]  # fmt: skip
    assert (document["object"], document["model"]) == ("chat.completion", f"openclaw/{AGENT}")
    assert document["id"].startswith("chatcmpl_")
    assert len(bench.webhooks.exchanges) == 1


def test_an_answer_can_be_streamed(bench, http):
    bench.play(DONE)
    answer = ask(http, stream=True)
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    *events, last = [line.removeprefix("data: ") for line in answer.text.split("\n\n") if line]
    assert last == "[DONE]"
    choices = [json.loads(event)["choices"][0] for event in events]
    assert (
        "".join(choice["delta"].get("content", "") for choice in choices) == "It is in the calendar, id evt1."
    )
    assert choices[-1]["finish_reason"] == "stop"


def test_words_in_parts_are_one_text(bench, http):
    bench.play(DONE)
    session = fresh_name()
    ask(http, session, words=[{"type": "text", "text": "One"}, {"type": "text", "text": "two"}])
    assert history(http, session)["messages"][0]["content"] == [{"type": "text", "text": "One\ntwo"}]


def test_an_empty_reply_becomes_the_gateways_own_words(bench, http):
    bench.play(words(""))
    assert ask(http).json()["choices"][0]["message"]["content"] == NO_REPLY


def test_the_history_has_rows_as_the_gateway_keeps_them(bench, http):
    bench.play(native(EVENT.call()), DONE)
    session = fresh_name()
    ask(http, session)
    document = history(http, session)
    assert document["sessionKey"] == f"agent:{AGENT}:{session}"
    assert document["items"] == document["messages"]
    assert document["hasMore"] is False
    asked, call, result, said = document["messages"]
    assert asked["role"] == "user"
    assert call["content"] == [
        {"type": "toolCall", "id": "call_1", "name": EVENT.tool, "arguments": EVENT.arguments, "partialArgs": EVENT.text}
    ]  # fmt: skip
    assert call["stopReason"] == "toolUse"
    assert (result["toolCallId"], result["toolName"], result["isError"]) == ("call_1", EVENT.tool, False)
    assert "details" not in result
    assert said["stopReason"] == "stop"
    assert [row["__openclaw"]["seq"] for row in document["messages"]] == [1, 2, 3, 4]
    assert history(http, f"agent:{AGENT}:{session}") == document


@pytest.mark.parametrize(
    ("page", "seen", "more"),
    [
        ({"limit": 3}, [2, 3, 4], "2"),
        ({"limit": 3, "cursor": 2}, [1], None),
        ({"limit": 2, "cursor": 3}, [1, 2], None),
        ({"limit": 1, "cursor": 3}, [2], "2"),
        ({"limit": 4}, [1, 2, 3, 4], None),
        ({"limit": 0}, [4], "4"),
        ({"limit": "x"}, [4], "4"),
        ({"cursor": 1}, [], None),
        ({"cursor": "x"}, [1, 2, 3, 4], None),
    ],
)
def test_a_long_history_is_read_in_pages(bench, http, paged, page, seen, more):
    document = history(http, paged, **page)
    assert [row["__openclaw"]["seq"] for row in document["messages"]] == seen
    assert (document["hasMore"], document.get("nextCursor")) == (more is not None, more)


@pytest.fixture(scope="module")
def pages():
    return {}


@pytest.fixture
def paged(bench, http, pages):
    """A session of four rows, made once."""
    if bench.url not in pages:
        bench.play(native(EVENT.call()), DONE)
        pages[bench.url] = fresh_name()
        ask(http, pages[bench.url])
    return pages[bench.url]


def test_an_unknown_session_is_not_found(http):
    answer = http.get("/sessions/nosuch/history")
    assert answer.status_code == 404
    assert answer.json() == {
        "ok": False,
        "error": {"type": "not_found", "message": "Session not found: nosuch"},
    }


def test_a_call_beside_text_is_left_out_of_the_history_and_so_the_record_is_not_whole(bench):
    transcripts = []
    for kind in (WebSocketGateway, OpenClawGateway):
        bench.play(native(EVENT.call(), text="Let me add that."), DONE)
        gateway = kind(bench.url, bench.token, agent=AGENT, timeout=30)
        transcripts.append(gateway.ask(EVENT.prompt, session=fresh_name()).transcript)
        gateway.close()
    websocket, http = (
        [message for message in each["messages"] if message["role"] == "assistant"] for each in transcripts
    )
    assert [len(message.get("tool_calls", [])) for message in websocket] == [1, 0]
    assert [len(message.get("tool_calls", [])) for message in http] == [0, 0]
    assert [message["content"] for message in websocket] == [message["content"] for message in http]
    assert [each["complete"] for each in transcripts] == [True, False]


@pytest.mark.parametrize(
    ("status", "answer", "kind", "message"),
    [
        (429, 429, "rate_limit_error", "429 no good"),
        (500, 408, "api_error", "upstream provider timeout"),
        (503, 408, "api_error", "upstream provider timeout"),
        (400, 400, "invalid_request_error", "400 no good"),
        (401, 401, "authentication_error", "401 no good"),
        (402, 402, "insufficient_quota", "402 no good"),
        (403, 401, "authentication_error", "403 no good"),
        (404, 404, "invalid_request_error", "404 no good"),
    ],
)
def test_a_failing_provider_is_relayed_and_its_row_loses_the_words(
    bench, http, status, answer, kind, message
):
    bench.play(Failure(status, "no good"))
    session = fresh_name()
    relayed = ask(http, session)
    assert relayed.status_code == answer
    assert relayed.json() == {"error": {"message": message, "type": kind}}
    row = history(http, session)["messages"][-1]
    assert (row["content"], row["stopReason"]) == ([{"type": "text", "text": NO_ROW}], "error")
    assert not any(name.startswith("error") for name in row)


def test_a_failure_of_another_kind_is_a_reply(bench, http):
    bench.play(Failure(418, "no good"))
    assert ask(http).json()["choices"][0]["message"]["content"] == "LLM request failed."


def test_a_turn_that_outlasts_the_time_is_whole_on_no_way(bench):
    for kind in (WebSocketGateway, OpenClawGateway):
        bench.play(Silence(3))
        gateway = kind(bench.url, bench.token, agent=AGENT, timeout=1)
        record = gateway.ask(EVENT.prompt, session=fresh_name())
        gateway.close()
        assert record.transcript["complete"] is False


def test_a_client_that_hangs_up_ends_the_turn(bench, http):
    bench.play(Silence(2))
    session = fresh_name()
    connection = HTTPConnection(urlsplit(bench.url).netloc)
    body = {"model": f"openclaw/{AGENT}", "messages": [{"role": "user", "content": EVENT.prompt}]}
    headers = {"Authorization": f"Bearer {bench.token}", "x-openclaw-session-key": session}
    connection.request(
        "POST", "/v1/chat/completions", json.dumps(body), {**headers, "Content-Type": "application/json"}
    )
    until(lambda: bench.model.asked)
    connection.close()
    until(lambda: len(history(http, session)["messages"]) == 2)
    asked, row = history(http, session)["messages"]
    assert asked["role"] == "user"
    assert (row["content"], row["stopReason"], row["errorMessage"]) == ([], "aborted", "Request was aborted.")
    asked_by_then = len(bench.model.asked)
    time.sleep(2.5)
    assert len(bench.model.asked) == asked_by_then


def until(true, seconds=10):
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_tool_can_be_invoked_over_http_and_checks_for_itself(bench, http):
    bench.play(DONE)

    def invoke(**body):
        answer = http.post("/tools/invoke", json=body)
        return answer.status_code, answer.json()

    status, good = invoke(tool=TASKS.tool, args={"profile": "wife"})
    assert (status, good["ok"], good["result"]["details"]["ok"]) == (200, True, True)
    assert json.loads(good["result"]["content"][0]["text"]) == good["result"]["details"]
    for arguments in ({"profile": "kids"}, {}, []):
        status, bad = invoke(tool=TASKS.tool, args=arguments)
        assert (status, bad["ok"], bad["result"]["details"]["error"]) == (200, True, "invalid_args")
    assert invoke(tool="exec", args={}) == (
        404,
        {"ok": False, "error": {"type": "not_found", "message": "Tool not available: exec"}},
    )
    refused = {"ok": False, "error": {"type": "invalid_request", "message": "tools.invoke requires name"}}
    assert [invoke(), invoke(tool=""), invoke(tool=7)] == [(400, refused)] * 3
    assert len(bench.webhooks.exchanges) == 1


def test_what_was_asked_over_http_can_be_read_over_websocket(bench, http):
    bench.play(native(EVENT.call()), DONE)
    session = fresh_name()
    ask(http, session)
    with bench.operator() as operator:
        rows = operator.session_rows(f"agent:{AGENT}:{session}")
        key = fresh_key()
        take_turn(operator, key)
        told = history(http, key)["messages"]
    assert [row["role"] for row in rows] == ["user", "assistant", "toolResult", "assistant"]
    assert rows[2]["details"]["ok"] is True
    assert [row["role"] for row in told] == ["user", "assistant", "toolResult", "assistant"]
