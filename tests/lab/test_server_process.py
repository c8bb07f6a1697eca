"""Servers of the lab as processes: none outlives butlerctl, each is asked before it is ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from butlerctl.errors import Unreachable
from butlerctl.lab.real.process import ServerProcess, answers, free_port

SERVER = """
import http.server, pathlib, signal, subprocess, sys
def stop(*_):
    pathlib.Path("stopped").touch()
    sys.exit()
signal.signal(signal.SIGTERM, stop)
class Ready(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *_): pass
child = subprocess.Popen(["sleep", "100"])
pathlib.Path("pids").write_text(f"{__import__('os').getpid()} {child.pid}")
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Ready).serve_forever()
"""
OWNER = """
import os, pathlib, sys, time
from tests.lab.test_server_process import server
server(pathlib.Path(sys.argv[1]), int(sys.argv[2])).start()
print("up", flush=True)
time.sleep(100)
"""


def server(folder: Path, port: int, code: str = SERVER) -> ServerProcess:
    command = [sys.executable, "-c", code, str(port)]
    return ServerProcess("it", command, os.environ, folder, folder / "log", f"http://127.0.0.1:{port}/")


def pids(folder):
    return [int(pid) for pid in (folder / "pids").read_text().split()]


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def all_gone(found):
    deadline = time.monotonic() + 10
    while any(map(is_running, found)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(map(is_running, found))


def test_it_is_asked_to_stop_and_its_children_go_too(tmp_path):
    port = free_port()
    process = server(tmp_path, port)
    process.start()
    process.close()
    assert (tmp_path / "stopped").exists()
    assert not answers(f"http://127.0.0.1:{port}/")
    assert all_gone(pids(tmp_path))


def test_it_can_be_started_again(tmp_path):
    port = free_port()
    process = server(tmp_path, port)
    for _ in range(2):
        process.start()
        assert answers(f"http://127.0.0.1:{port}/")
        process.close()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_it_does_not_outlive_its_owner(tmp_path, number):
    port = free_port()
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path), str(port)],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
    )
    with owner:
        assert owner.stdout.readline() == "up\n"
        owner.send_signal(number)
    assert all_gone(pids(tmp_path))
    assert (tmp_path / "stopped").exists()


def test_one_that_ends_at_once_is_said_with_its_last_words(tmp_path):
    process = server(tmp_path, free_port(), "print('no room'); raise SystemExit(3)")
    with pytest.raises(Unreachable, match=r"it did not start: no room"):
        process.start()
