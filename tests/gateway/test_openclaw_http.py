"""The adapter for OpenClaw over HTTP, against recorded turns of the real gateway and against what goes wrong."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from werkzeug.wrappers import Request, Response

from butlerctl.errors import BadInput, ButlerctlError, NotPermitted, TryAgain, Unreachable
from butlerctl.gateway.interface import TurnRecord, fresh_session
from butlerctl.gateway.openclaw import OpenClawGateway
from butlerctl.lab.server import LoopbackServer
from butlerctl.protocol.decode import NotStrictJson, decode

CASES = Path(__file__).parents[1] / "cases" / "openclaw"
TOKEN = "gateway-token-7c1f"
PROMPT = "Add the event."


def replay(case: str) -> Any:
    """A gateway that answers as the recorded one did."""
    recorded = json.loads((CASES / f"{case}.json").read_text(encoding="utf-8"))

    @Request.application
    def app(request: Request) -> Response:
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return reply({"error": {"message": "Unauthorized", "type": "unauthorized"}}, 401)
        if request.path == "/v1/chat/completions":
            assert request.get_json()["model"] == "openclaw/butler"
            app.keys.append(request.headers["x-openclaw-session-key"])
            return reply(recorded["http"]["body"], recorded["http"]["status"])
        assert request.path == f"/sessions/{app.keys[-1]}/history"
        return reply(
            {"sessionKey": "agent:butler:x", "items": recorded["rows"], "messages": recorded["rows"]}
        )

    app.keys = []
    return app


def reply(document: Any, status: int = 200) -> Response:
    return Response(json.dumps(document), status, content_type="application/json; charset=utf-8")


@contextmanager
def gateway(app: Any, *, token: str = TOKEN, timeout: float = 5) -> Iterator[OpenClawGateway]:
    with LoopbackServer(app) as server:
        client = OpenClawGateway(server.url, token, agent="butler", timeout=timeout)
        try:
            yield client
        finally:
            client.close()


def ask(case: str) -> TurnRecord:
    with gateway(replay(case)) as client:
        return client.ask(PROMPT, session=fresh_session())


def calls(record: TurnRecord) -> list[dict[str, Any]]:
    return [call for message in record.transcript["messages"] for call in message.get("tool_calls", [])]


def results(record: TurnRecord) -> list[dict[str, Any]]:
    return [message for message in record.transcript["messages"] if message["role"] == "tool"]


def test_a_good_turn_becomes_a_transcript_of_chat_messages() -> None:
    record = ask("ok")
    (call,), (result,) = calls(record), results(record)
    assert call["function"]["name"] == "add_calendar_event"
    assert decode(call["function"]["arguments"])["profile"] == "husband"
    assert result["tool_call_id"] == call["id"]
    assert json.loads(result["content"])["data"]["id"] == "evt_14"
    assert record.transcript["complete"] is True
    assert record.transcript["messages"][-1]["content"] == record.reply
    assert record.elapsed_ms >= 0
    assert record.started.tzinfo is not None


def test_text_beside_a_call_is_kept() -> None:
    messages = ask("pretext").transcript["messages"]
    assert messages[1]["content"] == "Let me add that."
    assert calls(ask("pretext"))


@pytest.mark.parametrize("case", ["badjson", "truncstr", "trailingcomma", "emptyargs"])
def test_arguments_are_given_as_the_model_wrote_them_and_not_as_the_gateway_repaired_them(case: str) -> None:
    (call,) = calls(ask(case))
    with pytest.raises(NotStrictJson):
        decode(call["function"]["arguments"])


def test_results_without_a_call_stay_visible() -> None:
    record = ask("unknown")
    assert calls(record) == []
    assert len(results(record)) == 10
    assert all(result["is_error"] and "launch_nukes" in result["content"] for result in results(record))


@pytest.mark.parametrize(
    ("case", "failed"), [("ok", False), ("n8n_403", True), ("throw", True), ("kids", True)]
)
def test_a_result_that_is_an_error_says_so(case: str, failed: bool) -> None:
    (result,) = results(ask(case))
    assert result.get("is_error", False) is failed


@pytest.mark.parametrize(
    ("case", "call_id"), [("brackets", "call_5ba55e10194349bbb1427b2c"), ("noid", "call_auto_1")]
)
def test_ids_that_the_gateway_made_up_stay_as_they_are(case: str, call_id: str) -> None:
    assert [call["id"] for call in calls(ask(case))] == [call_id]


def test_a_call_made_twice_is_there_twice() -> None:
    assert len(calls(ask("dup"))) == len(results(ask("dup"))) == 2


@pytest.mark.parametrize("case", ["cut", "harmony", "lie", "stoptext"])
def test_the_last_words_are_those_that_were_delivered(case: str) -> None:
    record = ask(case)
    assert calls(record) == []
    assert record.reply
    assert record.transcript["messages"][-1]["content"] == record.reply


@pytest.mark.parametrize(
    ("case", "status", "written"), [("p429", 429, 0), ("p500", 500, 0), ("okthen429", 429, 1)]
)
def test_a_failure_of_the_provider_is_part_of_the_record(case: str, status: int, written: int) -> None:
    record = ask(case)
    assert [entry["http_status"] for entry in record.transcript["completions"]] == [status]
    assert record.reply == ""
    assert len(results(record)) == written
    assert record.transcript["messages"][-1]["error"].startswith(str(status))


def test_the_gateways_token_is_in_no_record() -> None:
    @Request.application
    def echo(request: Request) -> Response:
        text = f"your header is {request.headers['Authorization']}"
        if request.path == "/v1/chat/completions":
            return reply({"choices": [{"message": {"role": "assistant", "content": text}}]})
        return reply({"messages": [{"role": "user", "content": text}]})

    with gateway(echo) as client:
        record = client.ask(PROMPT, session="s")
    assert TOKEN not in json.dumps(record.transcript) + record.reply


def page(status: int, text: str, content_type: str = "text/html", **headers: str) -> Any:
    return Request.application(lambda _request: Response(text, status, headers, content_type=content_type))


@pytest.mark.parametrize(
    ("app", "error", "told"),
    [
        (page(200, "<html>n8n</html>"), BadInput, "is no OpenClaw gateway"),
        (page(200, "[]", "application/json"), BadInput, "no chat completion"),
        (page(302, "", Location="/login"), BadInput, "answers 302"),
        (page(404, "Not Found", "text/plain"), BadInput, "no /v1/chat/completions"),
        (page(502, "<html>nginx</html>"), Unreachable, "not the gateway's"),
        (page(400, '{"error":{"message":"Unknown agent \'x\'.","type":"invalid_request_error"}}', "application/json"), BadInput, "Unknown agent 'x'"),
        (page(500, '{"error":{"message":"internal error","type":"api_error"}}', "application/json"), TryAgain, "internal error"),
        (page(401, '{"error":{"message":"Unauthorized","type":"unauthorized"}}', "application/json"), NotPermitted, "refuses the token"),
    ],
)  # fmt: skip
def test_what_is_no_turn_is_one_typed_error(app: Any, error: type[ButlerctlError], told: str) -> None:
    with gateway(app) as client, pytest.raises(error, match=told) as caught:
        client.ask(PROMPT, session="s")
    assert type(caught.value) is error
    assert TOKEN not in str(caught.value)


def test_a_provider_that_refuses_its_key_is_not_taken_for_the_gateway_refusing_ours() -> None:
    body = '{"error":{"message":"401 Incorrect API key","type":"authentication_error"}}'
    with gateway(page(401, body, "application/json")) as client:
        record = client.ask(PROMPT, session="s")
    assert record.transcript["completions"][0]["http_status"] == 401


def test_nobody_there_is_unreachable() -> None:
    client = OpenClawGateway("http://127.0.0.1:9", TOKEN, agent="butler")
    with pytest.raises(Unreachable, match="does not answer"):
        client.ask(PROMPT, session="s")
    client.close()


def test_a_server_without_tls_is_unreachable_over_https() -> None:
    with LoopbackServer(replay("ok")) as server:
        client = OpenClawGateway(server.url.replace("http:", "https:"), TOKEN, agent="butler")
        with pytest.raises(Unreachable, match="does not answer"):
            client.ask(PROMPT, session="s")
        client.close()


@pytest.mark.parametrize("url", ["ftp://127.0.0.1", "no address", "http://[::1"])
def test_an_address_that_is_none_is_bad_input(url: str) -> None:
    with pytest.raises(BadInput, match="address"):
        OpenClawGateway(url, TOKEN, agent="butler").ask(PROMPT, session="s")


def test_a_turn_that_outlasts_the_timeout_is_a_record_that_is_not_complete() -> None:
    rows = [{"role": "user", "content": PROMPT}]

    @Request.application
    def slow(request: Request) -> Response:
        if request.path == "/v1/chat/completions":
            time.sleep(1)
        return reply({"messages": rows})

    with gateway(slow, timeout=0.2) as client:
        record = client.ask(PROMPT, session="s")
    assert record.transcript["complete"] is False
    assert record.transcript["messages"] == [{"role": "user", "content": PROMPT}]
    assert record.reply == ""


def test_a_history_with_more_rows_than_were_given_is_not_complete() -> None:
    @Request.application
    def app(request: Request) -> Response:
        if request.path == "/v1/chat/completions":
            return reply({"choices": [{"message": {"role": "assistant", "content": "Hello."}}]})
        return reply({"messages": [], "hasMore": True, "nextCursor": "3"})

    with gateway(app) as client:
        assert client.ask(PROMPT, session="s").transcript["complete"] is False


def test_a_gateway_without_the_admin_plugin_does_not_tell_its_version() -> None:
    with gateway(page(404, "Not Found", "text/plain")) as client:
        assert client.version() is None


def test_each_session_is_fresh() -> None:
    keys = {fresh_session() for _ in range(100)}
    assert len(keys) == 100
    assert all(key.startswith("butlerctl-") for key in keys)
