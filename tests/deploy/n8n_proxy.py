"""A relay in front of any n8n that notes every request and lets a test step in at the n-th write."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import httpx
from werkzeug.wrappers import Request, Response

from butlerctl.lab.n8n import json_answer, with_tag
from butlerctl.lab.server import LoopbackServer
from butlerctl.n8n.http import make_client


def refusal(message: str, status: int = 400) -> Response:
    """n8n's own no."""
    return own_answer({"message": message}, status)


def no_answer(environ, start_response):
    """The connection ends without a word."""
    environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
    raise ConnectionError


def own_answer(document: Any, status: int = 200) -> Response:
    """As n8n itself answers."""
    answer = with_tag(json_answer(status, document))
    return Response(answer.body, status, [*answer.headers, ("Content-Type", str(answer.content_type))])


_HOP_BY_HOP = {
    "connection",
    "transfer-encoding",
    "content-length",
    "content-encoding",
    "keep-alive",
    "date",
    "server",
}


class Relay:
    """`before` and `after` are called with the number of a write (from 1), its method and its path.

    What `before` returns is the answer, and n8n never sees the request; `in_front` does so for every request.
    `lose` says whether the answer to a write gets lost. `requests` has (method, path) of all.
    """

    def __init__(self, upstream: str, client: httpx.Client) -> None:
        self._upstream = upstream
        self._client = client
        self.url = ""
        self._key = ""
        self.requests: list[tuple[str, str]] = []
        self.bodies: list[str] = []
        self.reset()

    def reset(self) -> None:
        self.requests.clear()
        self.bodies.clear()
        self._writes = 0
        self.before: Callable[[int, str, str], Response | None] = lambda *_: None
        self.after: Callable[[int, str, str], None] = lambda *_: None
        self.in_front: Callable[[], Response | None] = lambda: None
        self.lose: Callable[[int], bool] = lambda _: False

    @property
    def writes(self) -> list[tuple[str, str]]:
        """What could have changed something: everything but GET, OPTIONS and requests without the key."""
        return [(method, path) for method, path in self.requests if _writes(method, path)]

    def pass_on(self, method: str, path: str, body: str) -> None:
        """Carry out a request that was held back, with the key of the last one that had any."""
        headers = {"Content-Type": "application/json", "X-N8N-API-KEY": self._key}
        self._client.request(method, f"{self._upstream}{path}", headers=headers, content=body.encode())

    def app(self, environ, start_response):
        request = Request(environ)
        path = request.full_path.rstrip("?")
        body = request.get_data()
        self.requests.append((request.method, path))
        self.bodies.append(body.decode(errors="replace"))
        self._key = request.headers.get("X-N8N-API-KEY", self._key)
        instead = self.in_front()
        if instead is not None:
            return instead(environ, start_response)
        is_write = _writes(request.method, path)
        self._writes += is_write
        number = self._writes
        if is_write:
            answer = self.before(number, request.method, path)
            if answer is not None:
                return answer(environ, start_response)
        headers = {
            name: value
            for name, value in request.headers.items()
            if name.lower() not in ("host", "connection")
        }
        found = self._client.request(request.method, f"{self._upstream}{path}", headers=headers, content=body)
        if is_write:
            self.after(number, request.method, path)
        if is_write and self.lose(number):
            no_answer(environ, start_response)
        kept = [(name, value) for name, value in found.headers.items() if name.lower() not in _HOP_BY_HOP]
        return Response(found.content, found.status_code, kept)(environ, start_response)


def _writes(method: str, path: str) -> bool:
    return method not in ("GET", "OPTIONS", "HEAD") and path.startswith("/api/")


@contextmanager
def relay(upstream: str):
    with make_client(upstream, timeout=30) as client:
        built = Relay(upstream, client)
        with LoopbackServer(built.app) as server:
            built.url = server.url
            yield built
