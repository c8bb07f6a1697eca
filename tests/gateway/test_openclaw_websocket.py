"""The agent over WebSocket when the connection breaks: what is asked again, what never is, and what is recorded."""

from __future__ import annotations

import pytest
from test_websocket import gateway

from butlerctl.errors import GatewayRefused, Unreachable
from butlerctl.gateway.choose import open_gateway
from butlerctl.gateway.openclaw import OpenClawGateway
from butlerctl.gateway.openclaw_websocket import WebSocketGateway

MADE = {"ok": True, "sessionId": "1", "entry": {}}
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
    assert expect(wire, "sessions.create", MADE)["params"]["key"] == "agent:butler:s1"
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
    (call,) = record.transcript["messages"][1]["tool_calls"]
    assert call["function"] == {"name": "add_task", "arguments": '{"a":1,}'}
    assert call["executed_arguments"] == {"a": 1}
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


RESULT = {"content": [{"type": "text", "text": '{"ok":true}'}], "details": {"ok": True}}
REPORTED = (
    {"phase": "start", "name": "add_task", "toolCallId": "c1", "args": {"a": 1}},
    {"phase": "update", "name": "add_task", "toolCallId": "c1"},
    {"phase": "result", "name": "add_task", "toolCallId": "c1", "isError": False, "result": RESULT},
)
FROM_EVENTS = [
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "add_task", "arguments": '{"a": 1}'},
                "executed_arguments": {"a": 1},
            }
        ],
        "source": "event",
    },
    {"role": "tool", "tool_call_id": "c1", "name": "add_task", "content": '{"ok":true}', "source": "event"},
]


def report(wire, turn):
    for data in REPORTED:
        payload = {"runId": turn["params"]["idempotencyKey"], "stream": "tool", "data": data}
        wire.give(type="event", event="agent", payload=payload)


def test_where_the_transcript_cannot_be_read_the_events_of_the_turn_are_the_evidence():
    def script(wire):
        turn = opened(wire)
        wire.answer(turn, {"status": "accepted"})
        report(wire, turn)
        wire.answer(turn, {"status": "ok", "result": {"payloads": [{"text": "Done."}]}})
        wire.refuse(wire.take(), code="UNAVAILABLE", message="internal error")
        expect(wire, "sessions.delete", {"ok": True, "deleted": True})

    with gateway(script) as url:
        record = ask(url)
    asked, *told, delivered = record.transcript["messages"]
    assert asked == {"role": "user", "content": "Add x."}
    assert told == FROM_EVENTS
    assert delivered == {"role": "assistant", "content": "Done.", "delivered": True}
    assert record.transcript["complete"] is False


@pytest.mark.parametrize(("rows", "told"), [(ROWS[:1], FROM_EVENTS), (ROWS, FROM_EVENTS[1:])])
def test_a_turn_that_was_lost_keeps_what_was_reported_of_it_and_nothing_twice(rows, told):
    def breaking(wire):
        turn = opened(wire)
        wire.answer(turn, {"status": "accepted"})
        report(wire, turn)
        wire.hang_up(1012, "service restart")

    def after(wire):
        wire.greet()
        expect(wire, "sessions.get", {"messages": rows})
        expect(wire, "sessions.delete", {"ok": True, "deleted": True})

    with gateway(breaking, after) as url:
        messages = ask(url).transcript["messages"]
    assert messages[len(rows) :] == told


def test_a_turn_that_the_gateway_ended_for_its_time_is_not_called_whole():
    def script(wire):
        turn = opened(wire)
        wire.answer(turn, {"status": "accepted"})
        wire.answer(turn, {"status": "timeout", "summary": "aborted"})
        expect(wire, "sessions.get", {"messages": ROWS})
        expect(wire, "sessions.delete", {"ok": True, "deleted": True})

    with gateway(script) as url:
        record = ask(url)
    assert record.transcript["run"]["status"] == "timeout"
    assert record.transcript["complete"] is False


def test_one_session_that_cannot_be_deleted_keeps_no_other_and_is_told_at_the_end():
    tried = []

    def script(wire):
        wire.greet()
        while True:
            request = wire.take()
            method, params = request["method"], request["params"]
            if method == "agent":
                wire.answer(request, {"status": "ok", "result": {"payloads": [{"text": "Done."}]}})
            elif method == "sessions.delete":
                tried.append(params["key"])
                if params["key"].endswith("s1"):
                    wire.refuse(request, code="UNAVAILABLE", message="Session is still active")
                else:
                    wire.answer(request, {"ok": True, "deleted": True})
            else:
                answers = {
                    "sessions.create": MADE,
                    "tools.effective": TOOLS,
                    "sessions.get": {"messages": ROWS},
                }
                wire.answer(request, answers[method])

    with gateway(script) as url:
        client = WebSocketGateway(url, "token", agent="butler", timeout=5)
        for session in ("s1", "s2"):
            client.ask("Add x.", session=session)
        assert client.end_sessions() == ("agent:butler:s1",)
        client.close()
    assert tried[:3] == ["agent:butler:s1", "agent:butler:s2", "agent:butler:s1"]


def test_a_session_is_deleted_over_a_new_connection_where_the_old_one_broke():
    def breaking(wire):
        turn = opened(wire)
        wire.answer(turn, {"status": "ok", "result": {"payloads": [{"text": "Done."}]}})
        expect(wire, "sessions.get", {"messages": ROWS})
        wire.take()
        wire.hang_up(1012, "service restart")

    def after(wire):
        wire.greet()
        expect(wire, "sessions.delete", {"ok": True, "deleted": False})

    with gateway(breaking, after) as url:
        client = WebSocketGateway(url, "token", agent="butler", timeout=5)
        assert client.ask("Add x.", session="s1").reply == "Done."
        assert client.end_sessions() == ()
        client.close()
