"""An upstream on loopback, a tap before it, and what a provider streams."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

from butlerctl.gateway.tap import Tap

KEY = "invented-provider-key-123"
CALL = {
    "index": 0,
    "id": "call_1",
    "type": "function",
    "function": {"name": "add_task", "arguments": '{"profile":"wife","title":"x"}'},
}
REQUEST = {
    "model": "m",
    "stream": True,
    "messages": [{"role": "system", "content": "You are a butler."}, {"role": "user", "content": "Add x."}],
    "tools": [{"type": "function", "function": {"name": "add_task", "parameters": {}}}],
}


@contextmanager
def upstream(answer, tls=None):
    """Serve `answer(handler, body)`; yields its address and what arrived."""
    arrived = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args):
            pass

        def do_POST(self):
            self.path = self.requestline.split()[1]
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            arrived.append((self.path, dict(self.headers), body))
            self.connection.settimeout(10)
            answer(self, body)

        do_GET = do_HEAD = do_POST  # noqa: N815 - the base class asks for it

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}", arrived
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def whole(status, content_type, text, **headers):
    def answer(handler, _body):
        data = text.encode()
        handler.send_response(status)
        handler.send_header("Content-Type", content_type)
        handler.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(data)

    return answer


def chunk(delta, finish=None):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n".encode()


def stream(*pieces, wait=print):
    def answer(handler, _body):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.close_connection = True
        for index, piece in enumerate(pieces):
            wait(index)
            handler.wfile.write(piece)
            handler.wfile.flush()

    return answer


CALLING = (
    chunk({"role": "assistant", "content": ""}),
    chunk({"tool_calls": [CALL]}),
    chunk({}, "tool_calls"),
    b"data: [DONE]\n\n",
)
TALKING = (chunk({"role": "assistant", "content": "Done."}), chunk({}, "stop"), b"data: [DONE]\n\n")


@contextmanager
def tapped(answer):
    seen = []
    with upstream(answer) as (url, arrived), Tap(url, seen.append) as tap:
        yield tap.url, arrived, seen


def post(url, **options):
    headers = {"Authorization": f"Bearer {KEY}", "X-Stainless": "1"}
    return httpx.post(f"{url}/v1/chat/completions", headers=headers, timeout=10, trust_env=False, **options)


def exchange_raw(url, sent, *, stay=False):
    """Send these bytes and hang up; with `stay`, read what comes back until the other side closes."""
    address = url.removeprefix("http://").split(":")
    with socket.create_connection((address[0], int(address[1])), timeout=10) as client:
        client.sendall(sent)
        if not stay:
            return b""
        pieces = []
        while piece := client.recv(65536):
            pieces.append(piece)
        return b"".join(pieces)


def wait_until(true, seconds=5):
    """Raises AssertionError where it does not become true in time."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.01)
