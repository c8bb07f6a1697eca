"""The plugin's behaviour in Python, over real sockets: it says success only where the answer proves it."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from contract_n8n import HOUSEHOLD, SECRET, ContractN8n

from butlerctl.gateway.webhook_tools import ToolRun, WebhookTools, WebhookToolsSettings
from butlerctl.lab.server import LoopbackServer

EVENT = {
    "profile": "wife",
    "summary": "Tennis",
    "start": "2027-07-04T10:00:00-04:00",
    "end": "2027-07-04T11:00:00-04:00",
}


@contextmanager
def tools(url: str, **changes: Any) -> Iterator[WebhookTools]:
    settings = WebhookToolsSettings(url, HOUSEHOLD, "L4CK3Y", secret=SECRET, timeout=2)
    with WebhookTools(replace(settings, **changes)) as made:
        yield made


def add_event(n8n: ContractN8n, **changes: Any) -> tuple[dict[str, Any], dict[str, Any] | None]:
    with LoopbackServer(n8n.app) as server, tools(server.url, **changes) as made:
        return made.call("add_calendar_event", EVENT)


def test_a_request_keeps_the_contract_and_leaves_the_profile_to_the_path() -> None:
    n8n = ContractN8n()
    observation, _ = add_event(n8n)
    (request,) = n8n.requests
    assert request["path"] == "/webhook/L4CK3Y/calendar/add/wife"
    assert request["body"] == {name: value for name, value in EVENT.items() if name != "profile"}
    headers = request["headers"]
    assert headers["Content-Type"] == "application/json"
    assert headers["User-Agent"] == "FR4M3W0RK-Tools/1.0"
    assert headers["X-L4Ck3Y-Auth"] == SECRET
    assert observation == {
        "ok": True,
        "status": 200,
        "path": "/webhook/L4CK3Y/calendar/add/wife",
        "data": n8n.objects["calendar/wife"][0],
        "execution": "1",
    }


def test_the_exchange_is_evidence_without_the_secret() -> None:
    _, exchange = add_event(ContractN8n())
    assert exchange is not None
    assert (exchange["kind"], exchange["seen_by"]) == ("exchange", "plugin")
    assert exchange["request"]["headers"]["X-L4CK3Y-Auth"] == "<redacted>"
    assert exchange["request"]["url"].endswith("/webhook/L4CK3Y/calendar/add/wife")
    assert exchange["response"]["status"] == 200
    assert exchange["response"]["body"]["execution"] == "1"
    assert SECRET not in json.dumps(exchange)


def test_an_empty_secret_sends_no_header() -> None:
    n8n = ContractN8n()
    observation, _ = add_event(n8n, secret="")
    assert "X-L4Ck3Y-Auth" not in n8n.requests[0]["headers"]
    assert (observation["ok"], observation["boundary"]) == (False, "header")


def test_a_secret_that_cannot_stand_in_a_header_sends_nothing_and_is_not_quoted() -> None:
    n8n = ContractN8n()
    observation, exchange = add_event(n8n, secret="line\nbreak-secret")
    assert (observation["boundary"], observation["error"]) == ("header", "bad_secret")
    assert exchange is None
    assert n8n.requests == []
    assert "break-secret" not in json.dumps(observation)


JSON = "application/json; charset=utf-8"


@pytest.mark.parametrize(
    ("status", "content_type", "text", "boundary", "error"),
    [
        (403, JSON, '{"code":403,"message":"Authorization data is wrong!"}', "header", "http_status"),
        (401, JSON, "{}", "header", "http_status"),
        (404, JSON, '{"code":404,"message":"The requested webhook \\"POST x\\" is not registered."}', "active", "http_status"),
        (404, "text/html", "<html>nginx</html>", "request", "http_status"),
        (502, "text/html", "<html>bad gateway</html>", "request", "http_status"),
        (502, JSON, '{"ok":false,"error":{"code":"google_error","message":"Forbidden"}}', "google", "http_status"),
        (400, JSON, '{"ok":false,"error":{"code":"invalid_args","message":"input refused"}}', "call", "http_status"),
        (500, JSON, '{"ok":false,"error":{"code":"workflow_error","message":"boom"}}', "shape", "http_status"),
        (500, JSON, '{"message":"Error in workflow"}', "shape", "http_status"),
        (204, JSON, "", "shape", "http_status"),
        (302, "text/html", "", "request", "redirect"),
        (200, "text/html", "<html>login</html>", "request", "not_json"),
        (200, "text/plain", '{"ok":true,"data":{}}', "shape", "not_json"),
        (200, JSON, "", "shape", "not_json"),
        (200, JSON, '{"ok":false,"error":{"code":"google_error","message":"Forbidden"}}', "google", "webhook_reported_failure"),
        (200, JSON, '{"message":"Workflow was started"}', "shape", "unexpected_answer"),
        (200, JSON, '{"ok":true}', "shape", "unexpected_answer"),
        (200, JSON, '[{"id":"evt"}]', "shape", "unexpected_answer"),
    ],
)  # fmt: skip
def test_every_failure_names_the_boundary_at_which_it_was_seen(
    status: int, content_type: str, text: str, boundary: str, error: str
) -> None:
    observation, exchange = add_event(ContractN8n(answer=(status, content_type, text)))
    assert (observation["ok"], observation["boundary"], observation["error"]) == (False, boundary, error)
    assert observation["message"]
    assert exchange is not None
    assert exchange["response"]["status"] == status


def test_an_answer_that_is_late_is_a_timeout_with_an_unknown_effect() -> None:
    observation, exchange = add_event(ContractN8n(delay=0.5), timeout=0.1)
    assert (observation["boundary"], observation["error"]) == ("request", "timeout")
    assert "may have been done" in observation["message"]
    assert exchange is not None
    assert (exchange["response"]["status"], exchange["response"]["error"]) == (None, "timeout")


def test_an_answer_that_drips_is_cut_off_at_the_end_of_the_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=drip, args=(listener,), daemon=True).start()
        with tools(f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=0.3) as made:
            observation, _ = made.call("add_calendar_event", EVENT)
    assert observation["error"] == "timeout"


def drip(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.recv(65536)
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
        )
        stop = threading.Event()
        try:
            while not stop.wait(0.05):
                connection.sendall(b" ")
        except OSError:
            return


def test_nobody_there_is_a_network_failure_with_the_systems_word_for_it() -> None:
    with tools("http://127.0.0.1:9") as made:
        observation, exchange = made.call("add_calendar_event", EVENT)
    assert (observation["boundary"], observation["error"]) == ("request", "network")
    assert observation["detail"] == "ECONNREFUSED"
    assert exchange is not None
    assert exchange["response"]["error"] == "ECONNREFUSED"


def test_a_huge_answer_is_not_read_to_its_end() -> None:
    observation, _ = add_event(ContractN8n(answer=(200, JSON, '"' + "x" * 2_100_000 + '"')))
    assert (observation["boundary"], observation["error"]) == ("shape", "too_large")


@pytest.mark.parametrize(
    "changes",
    [
        {"profile": "kids"},
        {"start": "tomorrow"},
        {"end": "2027-07-04T09:00:00-04:00"},
        {"location": "hall"},
        {"summary": " "},
    ],
)
def test_arguments_are_checked_again_before_anything_is_sent(changes: dict[str, Any]) -> None:
    n8n = ContractN8n()
    with LoopbackServer(n8n.app) as server, tools(server.url) as made:
        observation, exchange = made.call("add_calendar_event", {**EVENT, **changes})
    assert (observation["boundary"], observation["error"], observation["sent"]) == (
        "call",
        "invalid_args",
        False,
    )
    assert exchange is None
    assert n8n.requests == []


@pytest.mark.parametrize("blanks", ["{}\n", " {}\r\n"])
def test_a_secret_is_sent_as_a_header_carries_it_and_its_echo_is_masked(blanks: str) -> None:
    n8n = ContractN8n(answer=(500, "text/plain", f"echo: {SECRET}"))
    observation, exchange = add_event(n8n, secret=blanks.format(SECRET))
    assert n8n.requests[0]["headers"]["X-L4Ck3Y-Auth"] == SECRET
    assert observation["body"] == "echo: <redacted>"
    assert SECRET not in json.dumps(exchange)


def test_a_secret_across_the_cut_of_an_answer_leaves_no_first_part() -> None:
    for before in range(480, 500, 4):
        echo = "x" * before + SECRET
        for answer in (
            (502, "text/html", echo),
            (200, JSON, json.dumps({"ok": False, "error": {"message": echo}})),
        ):
            observation, _ = add_event(ContractN8n(answer=answer))
            assert SECRET[:4] not in json.dumps(observation)


def test_the_same_write_is_sent_three_times_and_no_more() -> None:
    n8n = ContractN8n()
    with LoopbackServer(n8n.app) as server, tools(server.url) as made:
        run = ToolRun(made)
        function = run.registry.get("add_calendar_event").function  # type: ignore[union-attr]
        observations = [function(**EVENT) for _ in range(5)]  # type: ignore[misc]
        other = function(**{**EVENT, "summary": "Another"})  # type: ignore[misc]
    assert [observation["ok"] for observation in observations] == [True, True, True, False, False]
    assert observations[-1]["error"] == "repeated_call"
    assert other["ok"]
    assert len(n8n.requests) == 4
    assert [exchange is None for exchange in run.exchanges] == [False] * 3 + [True] * 2 + [False]


def test_no_proxy_of_the_environment_sees_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert add_event(ContractN8n())[0]["ok"] is True
