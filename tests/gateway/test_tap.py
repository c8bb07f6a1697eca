"""The tap between real sockets: what passes, what is recorded, and that no key is."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading

import httpx
import pytest
from tap_bench import (
    CALL,
    CALLING,
    KEY,
    REQUEST,
    TALKING,
    chunk,
    post,
    stream,
    tapped,
    upstream,
    wait_until,
    whole,
)

from butlerctl.errors import BadInput
from butlerctl.evidence import read_bundles
from butlerctl.gateway.tap import Tap
from butlerctl.gateway.tap_record import EvidenceFolder, describe


def test_request_and_answer_pass_unchanged():
    with tapped(whole(429, "application/json", '{"error":{"message":"slow"}}', Retry_After="7")) as (
        url,
        arrived,
        seen,
    ):
        answer = post(url, json=REQUEST)
    path, headers, body = arrived[0]
    assert path == "/v1/chat/completions"
    assert json.loads(body) == REQUEST
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert headers["X-Stainless"] == "1"
    assert (answer.status_code, answer.json()) == (429, {"error": {"message": "slow"}})
    assert answer.headers["Retry-After"] == "7"
    assert seen[0]["response"]["status"] == 429


def test_a_stream_passes_piece_by_piece():
    got_first = threading.Event()
    waited = []

    def wait(index):
        if index == 1:
            waited.append(got_first.wait(5))

    with (
        tapped(stream(*CALLING, wait=wait)) as (url, _arrived, seen),
        httpx.stream("POST", f"{url}/v1/chat/completions", json=REQUEST, trust_env=False) as answer,
    ):
        pieces = []
        for piece in answer.iter_raw():
            pieces.append(piece)
            got_first.set()
    assert waited == [True]
    assert b"".join(pieces) == b"".join(CALLING)
    assert len(seen[0]["response"]["body"]) == 3


def test_the_record_holds_no_key_wherever_it_stands():
    with tapped(whole(401, "application/json", json.dumps({"error": {"message": f"bad key {KEY}"}}))) as (
        url,
        _arrived,
        seen,
    ):
        post(url, json={**REQUEST, "note": KEY})
    assert KEY not in json.dumps(seen)
    assert seen[0]["request"]["headers"]["Authorization"] == "<redacted>"


def test_an_answer_that_breaks_off_is_cut_for_the_client_too():
    def answer(handler, _body):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Content-Length", "5000")
        handler.end_headers()
        handler.wfile.write(CALLING[0])
        handler.close_connection = True

    with tapped(answer) as (url, _arrived, seen), pytest.raises(httpx.RemoteProtocolError):
        post(url, json=REQUEST)
    assert seen[0]["response"]["error"] == "the answer broke off, 4860 bytes are missing"
    assert "broke off" in describe(seen[0])


def test_an_upstream_that_is_down_is_told_from_one_that_answers_502():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{probe.getsockname()[1]}"
    seen = []
    with Tap(closed, seen.append) as tap:
        answer = post(tap.url, json=REQUEST)
    assert answer.status_code == 502
    assert "butlerctl tap" in answer.json()["error"]["message"]
    assert seen[0]["response"] == {
        "status": None,
        "headers": {},
        "error": "ECONNREFUSED",
        "body": "",
        "elapsed_ms": seen[0]["response"]["elapsed_ms"],
    }


def test_a_port_in_use_and_a_strange_address_are_refused():
    with Tap("http://127.0.0.1:1", print) as tap, pytest.raises(BadInput):
        Tap("http://127.0.0.1:1", print, port=int(tap.url.rpartition(":")[2]))
    with pytest.raises(BadInput):
        Tap("ftp://127.0.0.1", print)


def test_a_conversation_becomes_one_transcript_that_grows(tmp_path):
    folder = EvidenceFolder(tmp_path / "record")
    answers = [stream(*CALLING), stream(*TALKING)]

    def answer(handler, body):
        answers.pop(0)(handler, body)

    with upstream(answer) as (url, _), Tap(url, folder.record) as tap:
        post(tap.url, json=REQUEST)
        file = tmp_path / "record" / "0001-transcript.json"
        wait_until(file.exists)
        assert json.loads(file.read_text())["complete"] is False
        history = [
            *REQUEST["messages"],
            {"role": "assistant", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "call_1", "content": '{"ok":true}'},
        ]
        post(tap.url, json={**REQUEST, "messages": history})
    assert [path.name for path in (tmp_path / "record").iterdir()] == [file.name]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    transcript = json.loads(file.read_text())
    assert transcript["complete"] is True
    assert transcript["tools_offered"] == ["add_task"]
    assert [message["role"] for message in transcript["messages"]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert (
        transcript["messages"][1]["tool_calls"][0]["function"]["arguments"] == CALL["function"]["arguments"]
    )
    assert transcript["messages"][3]["content"] == "Done."
    assert len(transcript["completions"]) == 2
    (bundle,) = read_bundles(tmp_path / "record")
    assert [document["kind"] for document in bundle.evidence] == ["transcript"]


def test_exchanges_with_n8n_are_documents_of_their_own(tmp_path):
    folder = EvidenceFolder(tmp_path)
    with upstream(whole(200, "application/json", '{"ok":true}')) as (url, _), Tap(url, folder.record) as tap:
        for _ in range(2):
            headers = {"X-L4CK3Y-Auth": "invented-secret"}
            httpx.post(f"{tap.url}/webhook/L4CK3Y/tasks/add/wife", json={"title": "x"}, headers=headers)
    first, second = sorted(tmp_path.iterdir())
    assert (first.name, second.name) == ("0001-exchange.json", "0002-exchange.json")
    document = json.loads(first.read_text())
    assert document["response"]["body"] == {"ok": True}
    assert "invented-secret" not in first.read_text()


def test_a_folder_that_holds_something_is_refused(tmp_path):
    (tmp_path / "x").touch()
    with pytest.raises(BadInput):
        EvidenceFolder(tmp_path)


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        (CALLING, "native call add_task (arguments are strict JSON)"),
        ((chunk({"tool_calls": [CALL | {"function": {"name": "add_task", "arguments": "{"}}]}),), "no JSON"),
        (TALKING, "no call"),
    ],
)
def test_the_line_for_a_person_says_whether_the_call_was_native(pieces, words):
    with tapped(stream(*pieces)) as (url, _arrived, seen):
        post(url, json=REQUEST)
    assert words in describe(seen[0])


def test_a_page_in_place_of_a_completion_is_called_so():
    with tapped(whole(200, "text/html", "<html></html>")) as (url, _arrived, seen):
        post(url, json=REQUEST)
    assert "no completion" in describe(seen[0])


def test_the_command_prints_its_address_and_stops_when_asked(tmp_path):
    record = tmp_path / "record"
    with upstream(stream(*CALLING)) as (url, _):
        command = [sys.executable, "-m", "butlerctl", "tap", "--to", url, "--record", str(record)]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
        )
        address = process.stdout.readline().strip()
        post(address, json=REQUEST)
        wait_until((record / "0001-transcript.json").exists)
        process.send_signal(signal.SIGINT)
        _, talk = process.communicate(timeout=10)
    assert process.returncode == 0
    assert "native call add_task" in talk
    assert len(list(record.glob("*-transcript.json"))) == 1
