"""The WebSocket client against a scripted gateway on a real socket: each way in which the wire can misbehave."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from contextlib import contextmanager, suppress

import pytest
from websockets.sync.server import serve

from butlerctl.errors import BadInput, GatewayRefused, NotPermitted, Unreachable
from butlerctl.gateway.operator import Operator
from butlerctl.gateway.websocket import Connection, ConnectionLost, TurnLost

HELLO = {"type": "hello-ok", "protocol": 4, "server": {"version": "2026.6.11", "connId": "1"}}
CHALLENGE = {"type": "event", "event": "connect.challenge", "payload": {"nonce": "n", "ts": 1}}


class Script:
    """One connection of the scripted gateway: `take` a request, `give` frames."""

    def __init__(self, socket):
        self._socket = socket

    def give(self, **frame):
        self._socket.send(json.dumps(frame))

    def give_text(self, text):
        self._socket.send(text)

    def take(self):
        return json.loads(self._socket.recv(timeout=10))

    def answer(self, request, payload):
        self.give(type="res", id=request["id"], ok=True, payload=payload)

    def refuse(self, request, **error):
        self.give(type="res", id=request["id"], ok=False, error=error)

    def hang_up(self, code, reason):
        self._socket.close(code, reason)

    def greet(self):
        self.give(**CHALLENGE)
        request = self.take()
        assert request["method"] == "connect"
        self.answer(request, HELLO)
        return request


@contextmanager
def gateway(*scripts):
    """Serve one script for each connection, in order; the last one serves all further connections."""
    waiting = list(scripts)

    def play(socket):
        script = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        script(Script(socket))

    with serve(play, "127.0.0.1", 0, compression=None) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.socket.getsockname()[1]}"
        server.shutdown()
        thread.join(5)


def open_to(url, timeout=5):
    return Connection(url, "token", timeout)


def test_it_asks_for_protocol_4_as_an_operator_and_learns_the_version():
    seen = []

    def script(wire):
        seen.append(wire.greet())

    with gateway(script) as url, open_to(url) as connection:
        assert connection.version == "2026.6.11"
    params = seen[0]["params"]
    assert (params["minProtocol"], params["maxProtocol"], params["role"]) == (4, 4, "operator")
    assert params["auth"] == {"token": "token"}
    assert params["caps"] == ["tool-events"]


def test_answers_reach_the_request_with_their_id_even_out_of_order():
    def script(wire):
        wire.greet()
        first, second = wire.take(), wire.take()
        wire.give(type="res", id="nobody", ok=True, payload="stray")
        wire.answer(second, second["method"])
        wire.answer(first, first["method"])

    got = {}
    with gateway(script) as url, open_to(url) as connection:
        threads = [
            threading.Thread(target=lambda name=name: got.update({name: connection.call(name)}))
            for name in ("first.method", "second.method")
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(5)
    assert got == {"first.method": "first.method", "second.method": "second.method"}


def test_a_waiting_call_fails_at_once_when_the_socket_closes():
    def script(wire):
        wire.greet()
        wire.take()
        wire.hang_up(1012, "service restart")

    with gateway(script) as url, open_to(url) as connection:
        started = time.monotonic()
        with pytest.raises(Unreachable, match="1012 service restart"):
            connection.call("health", timeout=30)
        assert time.monotonic() - started < 5
        with pytest.raises(Unreachable):
            connection.call("health", timeout=30)


def test_a_call_that_is_never_answered_ends_after_its_time():
    def script(wire):
        wire.greet()
        wire.take()
        time.sleep(0.3)

    error = pytest.raises(Unreachable, match="did not answer health in time")
    with gateway(script) as url, open_to(url) as connection, error:
        connection.call("health", timeout=0.1)


@pytest.mark.parametrize(
    "text",
    [
        "no json",
        "[]",
        '{"type":"event","event":"agent","payload":7}',
        "7",
        '{"a":' * 100_000,
        "9" * 5_000,
        b"\xff\xfe",
    ],
    ids=lambda text: str(text)[:20],
)
def test_a_frame_of_another_protocol_ends_the_connection_with_a_word(text):
    def script(wire):
        wire.greet()
        wire.take()
        wire.give_text(text)
        time.sleep(0.3)

    error = pytest.raises(Unreachable, match="not of its protocol")
    with gateway(script) as url, open_to(url) as connection, error:
        connection.call("health", timeout=10)


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "event", "event": "agent"},
        {"type": "event", "event": "agent", "payload": {}},
        {"type": "event", "event": "agent", "payload": {"runId": ["x"]}},
        {"type": "event"},
        {"type": "res"},
        {"type": "res", "id": {"a": 1}, "ok": True},
        {},
    ],
)
def test_a_frame_that_nobody_waits_for_is_let_go(frame):
    def script(wire):
        wire.greet()
        request = wire.take()
        wire.give(**frame)
        wire.answer(request, {"ok": True})

    with gateway(script) as url, open_to(url) as connection:
        assert connection.call("health") == {"ok": True}


@pytest.mark.parametrize(
    ("ask", "payload", "where"),
    [
        (lambda operator: operator.effective_tools("k"), {}, "the answer.groups is no list"),
        (lambda operator: operator.effective_tools("k"), None, "the answer is no object"),
        (
            lambda operator: operator.effective_tools("k"),
            {"groups": [{"tools": [{"id": "a"}, {"id": 7}]}]},
            "the answer.groups[0].tools[1].id is no text",
        ),
        (lambda operator: operator.session_rows("k"), {"rows": []}, "the answer.messages is no list"),
        (
            lambda operator: operator.session_rows("k"),
            {"messages": [7]},
            "the answer.messages[0] is no object",
        ),
        (lambda operator: operator.delete_session("k"), [], "the answer is no object"),
        (lambda operator: operator.create_session("a", "k"), {"ok": True}, "the answer.sessionId is no text"),
    ],
)
def test_an_answer_of_another_shape_is_one_clear_error(ask, payload, where):
    def script(wire):
        wire.greet()
        wire.answer(wire.take(), payload)

    with gateway(script) as url, Operator.connect(url, "token") as operator, pytest.raises(BadInput) as told:
        ask(operator)
    assert told.value.message.endswith(f"in a shape that butlerctl does not know: {where}")


def test_a_greeting_of_another_shape_is_one_clear_error():
    def script(wire):
        wire.give(**CHALLENGE)
        wire.answer(wire.take(), {"server": "2026.6.11"})

    with gateway(script) as url, pytest.raises(BadInput, match=r"the answer\.server is no object"):
        open_to(url)


def refusing(**error):
    def script(wire):
        wire.give(**CHALLENGE)
        wire.refuse(wire.take(), **error)

    return script


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (
            {"code": "INVALID_REQUEST", "message": "x", "details": {"code": "AUTH_TOKEN_MISMATCH"}},
            NotPermitted,
        ),
        (
            {"code": "NOT_PAIRED", "message": "x", "details": {"code": "DEVICE_IDENTITY_REQUIRED"}},
            NotPermitted,
        ),
        ({"code": "INVALID_REQUEST", "message": "missing scope: operator.write"}, NotPermitted),
        (
            {
                "code": "INVALID_REQUEST",
                "message": "x",
                "details": {"code": "PROTOCOL_MISMATCH", "expectedProtocol": 5},
            },
            BadInput,
        ),
        ({"code": "INVALID_REQUEST", "message": "unknown method: no.such"}, GatewayRefused),
        ({}, GatewayRefused),
    ],
)
def test_a_refusal_becomes_the_error_that_says_who_must_act(error, kind):
    with gateway(refusing(**error)) as url, pytest.raises(kind):
        open_to(url)


def test_a_gateway_that_still_starts_is_asked_again_after_its_own_pause():
    starting = refusing(
        code="UNAVAILABLE", message="starting", retryAfterMs=50, details={"reason": "startup-sidecars"}
    )
    with (
        gateway(starting, starting, lambda wire: wire.greet()) as url,
        Operator.connect(url, "token") as operator,
    ):
        assert operator.version == "2026.6.11"


@contextmanager
def resetting_server():
    """Takes each connection and resets it at once, as a gateway that just died behind its port does."""

    def reset():
        with suppress(OSError):
            while True:
                taken, _ = listening.accept()
                taken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                taken.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=reset)
        thread.start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
    thread.join()


def test_a_connection_that_is_reset_at_any_moment_of_the_greeting_is_nobody_answering():
    """The reset may come before the first word is sent: one time in eighty it did."""
    with resetting_server() as port:
        for _ in range(1000):
            with pytest.raises(Unreachable, match="does not answer on WebSocket"):
                Connection(f"http://127.0.0.1:{port}", "token", timeout=5)


def test_a_server_that_sends_no_challenge_is_no_gateway():
    with gateway(lambda wire: wire.take()) as url, pytest.raises(Unreachable, match=r"connect\.challenge"):
        open_to(url, timeout=0.3)


def event(run_id, stream, **data):
    return {"type": "event", "event": "agent", "payload": {"runId": run_id, "stream": stream, "data": data}}


def test_a_turn_has_two_answers_and_only_its_own_events():
    final = {
        "runId": "mine",
        "status": "ok",
        "result": {"payloads": [{"text": "Done."}, {"text": None}], "meta": {"toolSummary": {"calls": 1}}},
    }

    def script(wire):
        wire.greet()
        request = wire.take()
        assert request["params"]["timeout"] == 30
        assert request["params"]["deliver"] is False
        wire.answer(request, {"runId": "mine", "status": "accepted"})
        wire.give(**event("other", "tool", phase="start", name="add_task"))
        wire.give(**event("mine", "tool", phase="start", name="list_tasks"))
        wire.answer(request, final)

    with gateway(script) as url, Operator.connect(url, "token") as operator:
        run = operator.run("butler", "agent:butler:x", "hello", run_id="mine", timeout=30)
    assert (run.status, run.reply, run.error) == ("ok", "Done.", None)
    assert [item["data"]["name"] for item in run.events] == ["list_tasks"]
    assert run.meta == {"toolSummary": {"calls": 1}}


def test_a_known_run_id_is_answered_once_and_at_once():
    def script(wire):
        wire.greet()
        request = wire.take()
        wire.answer(request, {"runId": "mine", "status": "ok", "result": {"payloads": [{"text": "Done."}]}})

    with gateway(script) as url, Operator.connect(url, "token") as operator:
        run = operator.run("butler", "agent:butler:x", "hello", run_id="mine", timeout=30)
    assert run.reply == "Done."


def test_a_turn_that_the_provider_failed_is_an_answer_and_no_exception():
    def script(wire):
        wire.greet()
        request = wire.take()
        wire.answer(request, {"runId": "mine", "status": "accepted"})
        wire.refuse(request, code="UNAVAILABLE", message="FailoverError: 429 slow down")

    with gateway(script) as url, Operator.connect(url, "token") as operator:
        run = operator.run("butler", "agent:butler:x", "hello", run_id="mine", timeout=30)
    assert run.status == "error"
    assert run.error["code"] == "UNAVAILABLE"


def test_a_turn_fails_at_once_when_the_gateway_stops_in_the_middle():
    def script(wire):
        wire.greet()
        request = wire.take()
        wire.answer(request, {"runId": "mine", "status": "accepted"})
        wire.hang_up(1012, "service restart")

    with gateway(script) as url, Operator.connect(url, "token") as operator, pytest.raises(TurnLost):
        operator.run("butler", "agent:butler:x", "hello", run_id="mine", timeout=60)


@pytest.mark.parametrize("payload", [None, 7, {"status": 3}, {"result": []}, {"result": {"payloads": ["x"]}}])
def test_a_turn_that_ends_in_another_shape_is_lost_with_what_was_reported_of_it(payload):
    def script(wire):
        wire.greet()
        request = wire.take()
        wire.answer(request, {"runId": "mine", "status": "accepted"})
        wire.give(**event("mine", "tool", phase="start", name="list_tasks"))
        wire.answer(request, payload)

    with gateway(script) as url, Operator.connect(url, "token") as operator, pytest.raises(TurnLost) as lost:
        operator.run("butler", "agent:butler:x", "hello", run_id="mine", timeout=30)
    assert [item["data"]["name"] for item in lost.value.events] == ["list_tasks"]
    assert "the gateway answered agent in a shape" in lost.value.message


def test_a_turn_that_could_not_be_sent_was_not_asked_for():
    def script(wire):
        wire.greet()
        wire.hang_up(1012, "service restart")

    with gateway(script) as url, open_to(url) as connection:
        with pytest.raises(ConnectionLost):
            connection.call("health")
        with pytest.raises(ConnectionLost) as lost:
            connection.run({"idempotencyKey": "mine"}, timeout=10)
    assert not isinstance(lost.value, TurnLost)


def test_cron_jobs_are_read_from_every_page():
    def script(wire):
        wire.greet()
        wire.answer(wire.take(), {"jobs": [{"id": "a"}], "hasMore": True, "nextOffset": 1})
        request = wire.take()
        assert request["params"]["offset"] == 1
        wire.answer(request, {"jobs": [{"id": "b"}], "hasMore": False, "nextOffset": None})
        ran = {
            "ts": 1_000,
            "runAtMs": 900,
            "status": "error",
            "error": "FailoverError: 429",
            "errorReason": "rate_limit",
        }
        wire.answer(wire.take(), {"entries": [ran]})
        wire.answer(wire.take(), {"entries": []})

    with gateway(script) as url, Operator.connect(url, "token") as operator:
        first, second = operator.cron.jobs()
    assert (first.id, first.last.status, first.last.reason) == ("a", "error", "rate_limit")
    assert first.last.at.timestamp() == 0.9
    assert (second.id, second.last) == ("b", None)
