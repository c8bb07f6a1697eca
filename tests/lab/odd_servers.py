"""Servers on loopback that stand in the place of a party and are not what the inventory takes them for."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
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

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self):
            if heard is not None:
                heard.append(self.requestline)
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        do_GET = do_POST = do_OPTIONS = do_DELETE = answer  # noqa: N815 - names of the base class

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.handle_error = lambda *_: None
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def page(status: int = 200):
    return answering(status, PAGE, Content_Type="text/html; charset=utf-8")


def redirect():
    return answering(302, Location="https://sign-in.example.test/")


def untrusted():
    return answering(200, "{}", tls=True, Content_Type="application/json")
