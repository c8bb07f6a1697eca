"""However an exchange ends, it is recorded, once; and what cannot be recorded is said aloud."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import httpx
import pytest
from tap_bench import CALLING, KEY, REQUEST, exchange_raw, post, stream, tapped, upstream, wait_until, whole

from butlerctl.gateway.tap import Tap

BODY = json.dumps(REQUEST).encode()
ASKED = (
    b"POST /v1/chat/completions HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
)
WHOLE = ASKED % (len(BODY), BODY)


@contextmanager
def silent_upstream(*pieces):
    """An upstream that sends these pieces and then nothing more; `left` tells that its client has gone."""
    left, asked = threading.Event(), threading.Event()

    def answer(handler, _body):
        for piece in pieces:
            handler.wfile.write(piece)
        asked.set()
        if handler.connection.recv(1) == b"":
            left.set()
        handler.close_connection = True

    with upstream(answer) as (url, _):
        yield url, asked, left


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


@pytest.mark.parametrize("pieces", [(), (HEAD, CALLING[0])], ids=["before any answer", "inside the stream"])
def test_a_client_that_gives_up_is_noticed_though_the_upstream_is_silent(pieces):
    seen = []
    with silent_upstream(*pieces) as (url, asked, left), Tap(url, seen.append) as tap:
        address = tap.url.removeprefix("http://").split(":")
        with socket.create_connection((address[0], int(address[1]))) as client:
            client.sendall(WHOLE)
            assert asked.wait(5)
            assert seen == []
        wait_until(lambda: seen, 2)
        assert left.wait(2), "the upstream waits for a client that has gone"
    assert seen[0]["response"]["error"] == "the client went away"
    assert seen[0]["response"]["status"] == (200 if pieces else None)
    assert len(seen[0]["response"]["body"]) == (1 if pieces else 0)
    assert seen[0]["request"]["body"] == REQUEST


def test_a_client_that_leaves_at_the_last_event_has_had_its_answer():
    seen = []
    with silent_upstream(HEAD, *CALLING) as (url, _asked, _left), Tap(url, seen.append) as tap:
        address = tap.url.removeprefix("http://").split(":")
        with socket.create_connection((address[0], int(address[1]))) as client:
            client.sendall(WHOLE)
            received = b""
            while b"[DONE]" not in received:
                received += client.recv(65536)
        wait_until(lambda: seen, 2)
    assert "error" not in seen[0]["response"]
    assert len(seen[0]["response"]["body"]) == 3


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        (WHOLE, "the tap was stopped"),
        (WHOLE[:-9], "the tap was stopped: the request was not passed on"),
    ],
    ids=["a provider that hangs", "a client that hangs"],
)
def test_what_is_under_way_when_the_tap_is_stopped_is_recorded(sent, error):
    seen = []
    with silent_upstream() as (url, asked, _left):
        tap = Tap(url, seen.append).start()
        address = tap.url.removeprefix("http://").split(":")
        with socket.create_connection((address[0], int(address[1])), timeout=5) as client:
            client.sendall(sent)
            assert asked.wait(5 if sent == WHOLE else 0.3) == (sent == WHOLE)
            started = time.monotonic()
            tap.close(grace_seconds=0.1)
            assert time.monotonic() - started < 3
            assert client.recv(10) == b""
    assert [exchange["response"]["error"] for exchange in seen] == [error]


def test_an_answer_that_ends_within_the_grace_of_a_stop_is_whole():
    seen, closing = [], threading.Event()

    def wait(index):
        if index == 1:
            assert closing.wait(5)
            time.sleep(0.3)

    with upstream(stream(*CALLING, wait=wait)) as (url, _):
        tap = Tap(url, seen.append).start()
        with httpx.stream("POST", f"{tap.url}/v1/chat/completions", json=REQUEST, trust_env=False) as answer:
            pieces = answer.iter_raw()
            received = [next(pieces)]
            stopping = threading.Thread(target=tap.close)
            stopping.start()
            closing.set()
            received += pieces
        stopping.join(10)
    assert b"".join(received) == b"".join(CALLING)
    assert [("error" in exchange["response"]) for exchange in seen] == [False]


def test_whoever_waits_until_the_tap_is_idle_finds_every_record_though_the_client_had_its_answer():
    recorded, may_record = [], threading.Event()

    def keep(exchange):
        may_record.wait(10)
        recorded.append(exchange)

    with upstream(whole(200, "application/json", '{"choices": []}')) as (url, _), Tap(url, keep) as tap:
        assert post(tap.url, json=REQUEST).status_code == 200
        tap.wait_until_idle(0.05)
        assert recorded == []
        threading.Timer(0.1, may_record.set).start()
        tap.wait_until_idle(10)
        assert [each["response"]["status"] for each in recorded] == [200]


def test_a_record_that_fails_is_told_at_once_and_counted():
    told = []

    def fail(exchange):
        raise OSError(28, f"No space left for {exchange['kind']}")

    with upstream(whole(200, "application/json", "{}")) as (url, _), Tap(url, fail, lost=told.append) as tap:
        assert [post(tap.url, json=REQUEST).status_code for _ in range(2)] == [200, 200]
        wait_until(lambda: len(told) == 2)
        assert tap.lost_records == 2


@pytest.mark.parametrize("levels", [20, 400, 900, 20_000])
def test_a_body_is_recorded_however_deep_it_is_nested(levels):
    body = f'{{"messages":{"[" * levels}"{KEY}"{"]" * levels}}}'
    with tapped(whole(200, "application/json", body)) as (url, _arrived, seen):
        assert post(url, content=body.encode()).text == body
    assert KEY not in json.dumps(seen)
    assert isinstance(seen[0]["response"]["body"], dict if levels == 20 else str)


def test_each_exchange_is_recorded_once_however_its_ends_race():
    seen = []
    with upstream(stream(*CALLING)) as (url, _), Tap(url, seen.append) as tap:
        for count in range(20):
            exchange_raw(tap.url, WHOLE)
            wait_until(lambda count=count: len(seen) > count)
    assert len(seen) == 20


@contextmanager
def command(url, record):
    arguments = [sys.executable, "-m", "butlerctl", "tap", "--to", url, "--record", str(record)]
    environ = {**os.environ, "INVENTED_API_KEY": "environment-key-1"}
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ
    ) as process:
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def test_a_full_disk_and_a_folder_that_is_gone_are_told_at_once_and_end_in_exit_code_3(tmp_path):
    record = tmp_path / "record"
    answer = whole(200, "application/json", f'{{"said":"{KEY} environment-key-1"}}')
    with upstream(answer) as (url, _), command(url, record) as (process, address):
        httpx.get(f"{address}/one", trust_env=False)
        assert "GET" in process.stderr.readline()
        (record / ".0002-exchange.json.part").symlink_to("/dev/full")
        assert httpx.get(f"{address}/two", trust_env=False).status_code == 200
        assert process.stderr.readline() == "butlerctl: NOT RECORDED: No space left on device\n"
        kept = [path.name for path in record.iterdir()]
        text = (record / "0001-exchange.json").read_text(encoding="utf-8")
        shutil.rmtree(record)
        httpx.get(f"{address}/three", trust_env=False)
        assert process.stderr.readline() == "butlerctl: NOT RECORDED: No such file or directory\n"
        process.send_signal(signal.SIGTERM)
        _, talk = process.communicate(timeout=10)
    assert process.returncode == 3
    assert "butlerctl: 2 of the exchanges could not be recorded" in talk
    assert kept == ["0001-exchange.json"]
    assert "environment-key-1" not in text


def test_a_stderr_that_nobody_reads_loses_no_evidence(tmp_path):
    record = tmp_path / "record"
    with (
        tapped(whole(200, "application/json", "{}")) as (url, _, _),
        command(url, record) as (process, address),
    ):
        process.stderr.close()
        for _ in range(2):
            httpx.get(f"{address}/x", trust_env=False)
        wait_until((record / "0002-exchange.json").exists)
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
