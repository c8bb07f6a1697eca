"""Servers on loopback that stand in the place of a party and are not what the inventory takes them for."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import trustme

PAGE = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please sign in</body></html>"


@contextmanager
def answering(
    status: int, body: str = "", *, tls: bool = False, heard: list[str] | None = None, **headers: str
) -> Iterator[str]:
    """The address of a server that answers every request alike; with TLS under a certificate that nobody trusts.

    `heard` gets a line for every request.
    """

    def say(request: BaseHTTPRequestHandler, _: str) -> str:
        if heard is not None:
            heard.append(request.requestline)
        return body

    with _serving(status, say, headers, tls=tls) as url:
        yield url


def page(status: int = 200):
    return answering(status, PAGE, Content_Type="text/html; charset=utf-8")


def redirect():
    return answering(302, Location="https://sign-in.example.test/")


def untrusted():
    return answering(200, "{}", tls=True, Content_Type="application/json")


def echoing(status: int):
    """Says in JSON, in every field that a client might show, what it was sent: address, headers, body."""

    def say(request: BaseHTTPRequestHandler, sent: str) -> str:
        heard = f"{request.requestline}\n{request.headers}\n{sent}"
        error = {"message": heard, "type": "unauthorized", "code": status}
        return json.dumps({"message": heard, "error": error, "error_description": heard, "data": [heard]})

    return _serving(status, say, {"Content-Type": "application/json", "Location": "/elsewhere"})


@contextmanager
def _serving(
    status: int,
    say: Callable[[BaseHTTPRequestHandler, str], str],
    headers: Mapping[str, str],
    *,
    tls: bool = False,
) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self):
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode(errors="replace")
            body = say(self, sent).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_OPTIONS = do_DELETE = do_PUT = answer  # noqa: N815 - names of the base class

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
