"""The agent over WebSocket when the connection breaks: what is asked again, what never is, and what is recorded."""

from __future__ import annotations

import pytest
from test_websocket import gateway

from butlerctl.errors import GatewayRefused, Unreachable
from butlerctl.gateway.choose import open_gateway
from butlerctl.gateway.openclaw import OpenClawGateway
from butlerctl.gateway.openclaw_websocket import WebSocketGateway

TOOLS = {"groups": [{"tools": [{"id": "add_task", "pluginId": "fr4m3w0rk-tools"}]}]}
ROWS = [
    {"role": "user", "content": [{"type": "text", "text": "Add x."}]},
    {
        "role": "assistant",
        "content": [{"type": "toolCall", "id": "c1", "name": "add_task", "arguments": {"a": 1}, "partialArgs": '{"a":1,}'}],
    },
]  # fmt: skip


def expect(wire, method, payload):
    request = wire.take()
    assert request["method"] == method
    wire.answer(request, payload)
    return request


def opened(wire):
    """Greet, and answer everything up to the turn itself; the turn's request."""
    wire.greet()
    assert expect(wire, "sessions.create", {"ok": True})["params"]["key"] == "agent:butler:s1"
    expect(wire, "tools.effective", TOOLS)
    return wire.take()


def ask(url):
    client = WebSocketGateway(url, "token", agent="butler", timeout=5)
    try:
        return client.ask("Add x.", session="s1")
    finally:
        client.close()


def test_a_turn_is_recorded_with_what_was_offered_and_its_session_is_deleted():
    deleted = []

    def script(wire):
        turn = opened(wire)
        wire.answer(turn, {"status": "accepted"})
        trace = {"winnerProvider": "p", "winnerModel": "m", "fallbackUsed": False}
        result = {"payloads": [{"text": "Done."}], "meta": {"executionTrace": trace}}
        wire.answer(turn, {"status": "ok", "result": result})
        expect(wire, "sessions.get", {"messages": ROWS})
        deleted.append(expect(wire, "sessions.delete", {"ok": True, "deleted": True})["params"]["key"])

    with gateway(script) as url:
        record = ask(url)
    assert record.reply == "Done."
    assert record.transcript["tools_offered"] == ["add_task"]
    assert record.transcript["complete"] is True
    assert record.transcript["run"] | {"id": ""} == {
        "id": "",
        "status": "ok",
        "model": "p/m",
        "fallback_used": False,
    }
    function = record.transcript["messages"][1]["tool_calls"][0]["function"]
    assert function == {"name": "add_task", "arguments": '{"a":1,}'}
    assert deleted == ["agent:butler:s1"]


def test_a_turn_that_breaks_off_is_not_asked_again_and_its_transcript_is_not_called_whole():
    asked = []

    def breaking(wire):
        turn = opened(wire)
        asked.append(turn["params"]["idempotencyKey"])
        wire.answer(turn, {"status": "accepted"})
        wire.hang_up(1012, "service restart")

    def after(wire):
        wire.greet()
        expect(wire, "sessions.get", {"messages": ROWS})
        expect(wire, "sessions.delete", {"ok": True, "deleted": True})

    with gateway(breaking, after) as url:
        record = ask(url)
    assert len(asked) == 1
    assert record.reply == ""
    assert record.transcript["complete"] is False
    assert record.transcript["run"]["status"] == "lost"
    assert [message["role"] for message in record.transcript["messages"]] == ["user", "assistant"]


def test_a_gateway_that_never_comes_back_leaves_an_empty_record():
    def breaking(wire):
        wire.answer(opened(wire), {"status": "accepted"})
        wire.hang_up(1012, "service restart")

    with gateway(breaking, lambda wire: wire.hang_up(1012, "service restart")) as url:
        record = ask(url)
    assert record.transcript["messages"] == []
    assert record.transcript["complete"] is False


def test_a_connection_that_broke_between_two_turns_is_opened_again():
    def first(wire):
        wire.greet()
        wire.hang_up(1012, "service restart")

    def second(wire):
        turn = opened(wire)
        wire.answer(turn, {"status": "ok", "result": {"payloads": [{"text": "Done."}]}})
        expect(wire, "sessions.get", {"messages": ROWS})
        expect(wire, "sessions.delete", {"ok": True, "deleted": True})

    with gateway(first, second) as url:
        assert ask(url).reply == "Done."


def test_a_refused_turn_is_told_and_not_recorded():
    def script(wire):
        turn = opened(wire)
        wire.refuse(turn, code="INVALID_REQUEST", message='invalid agent params: unknown agent id "butler"')
        expect(wire, "sessions.delete", {"ok": True, "deleted": True})

    with gateway(script) as url, pytest.raises(GatewayRefused, match="unknown agent id"):
        ask(url)


def test_http_takes_over_where_websocket_does_not_let_butlerctl_in():
    def not_paired(wire):
        wire.give(type="event", event="connect.challenge", payload={"nonce": "n", "ts": 1})
        details = {"code": "DEVICE_IDENTITY_REQUIRED"}
        wire.refuse(wire.take(), code="NOT_PAIRED", message="device identity required", details=details)

    with gateway(not_paired) as url:
        client = open_gateway(url, "token", agent="butler", timeout=5)
        assert isinstance(client, OpenClawGateway)
        client.close()


def test_a_gateway_that_is_down_is_unreachable_whichever_way():
    client = open_gateway("http://127.0.0.1:9", "token", agent="butler", timeout=1)
    with pytest.raises(Unreachable):
        client.version()
    client.close()
