"""A recording proxy on loopback: between the gateway and its provider, or between the plugin and n8n.

Only the wire can tell a native tool call from one that the gateway made out of text. The tap passes every byte on as
it comes and keeps each exchange as an evidence document, without keys.
"""

from __future__ import annotations

import http.client
import io
import threading
from collections.abc import Callable
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from butlerctl.errors import BadInput
from butlerctl.gateway.tap_evidence import Exchange
from butlerctl.gateway.tap_exchange import TapExchange, Upstream

__all__ = ["Exchange", "Tap"]

Record = Callable[[Exchange], None]
Lost = Callable[[Exception], None]

_LOOK_SECONDS = 0.1
_GRACE_SECONDS = 5.0


class Tap:
    """Forwards to `upstream` and gives each exchange to `record`, once, however it ends. Use as a context manager.

    `lost` is told at once when `record` raises; `lost_records` counts how often it did.
    """

    def __init__(self, upstream: str, record: Record, port: int = 0, lost: Lost | None = None) -> None:
        """Listen on 127.0.0.1; port 0 lets the system choose.

        Raises:
            BadInput: the port is taken, or `upstream` is no http address.
        """
        self.lost_records = 0
        self._lost = lost
        leads_to = Upstream(upstream)
        try:
            self._server = _Server(
                port, lambda handler: TapExchange(handler, handler.target, leads_to, record, self._lose)
            )
        except OSError as error:
            raise BadInput(
                f"port {port} cannot be used: {error.strerror}", hint="without --port a free one is taken"
            ) from error
        self._listening = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._looking = threading.Thread(target=self._server.look_for_clients, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def start(self) -> Self:
        self._listening.start()
        self._looking.start()
        return self

    def wait_until_idle(self, seconds: float) -> None:
        """Until every exchange is recorded, at most this long: a client has its answer a moment before the record."""
        self._server.wait_until_idle(seconds)

    def close(self, grace_seconds: float = _GRACE_SECONDS) -> None:
        """Stop listening. Exchanges under way get this long to end; then they are recorded as far as they came."""
        self._server.shutdown()
        self._listening.join(timeout=5)
        self._server.wait_until_idle(grace_seconds)
        self._server.abandon("the tap was stopped")
        self._server.wait_until_idle(1)
        self._server.stopped.set()
        self._looking.join(timeout=5)
        self._server.server_close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _lose(self, problem: Exception) -> None:
        self.lost_records += 1
        if self._lost is not None:
            self._lost(problem)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, exchange_of: Callable[[_Handler], TapExchange]) -> None:
        self.stopped = threading.Event()
        self._exchange_of = exchange_of
        self._change = threading.Condition()
        self._live: set[TapExchange] = set()
        self._abandoned = ""
        super().__init__(("127.0.0.1", port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no event; what it had begun is in the record."""

    def serve(self, handler: _Handler, run: Callable[[TapExchange], None]) -> None:
        exchange = self._exchange_of(handler)
        with self._change:
            self._live.add(exchange)
            late = self._abandoned
        try:
            if late:  # nobody would wait for its end
                exchange.abandon(late)
            run(exchange)
        finally:
            with self._change:
                self._live.discard(exchange)
                self._change.notify_all()

    def look_for_clients(self) -> None:
        """Until the tap is stopped: a client that gave up is noticed though its upstream is silent."""
        while not self.stopped.wait(_LOOK_SECONDS):
            for exchange in self._under_way():
                exchange.look_for_client()

    def abandon(self, reason: str) -> None:
        with self._change:
            self._abandoned = reason
        for exchange in self._under_way():
            exchange.abandon(reason)

    def wait_until_idle(self, seconds: float) -> None:
        with self._change:
            self._change.wait_for(lambda: not self._live, seconds)

    def _under_way(self) -> tuple[TapExchange, ...]:
        with self._change:
            return tuple(self._live)


class _Reader(io.BufferedReader):
    """Remembers the last line: a head that does not end with an empty one was cut off."""

    last_line = b""

    def readline(self, size: int | None = -1, /) -> bytes:
        self.last_line = super().readline(size)
        return self.last_line


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Without it each small piece of a stream waits for the client's delayed acknowledgement.
    disable_nagle_algorithm = True

    server: _Server
    rfile: _Reader

    def setup(self) -> None:
        super().setup()
        self.rfile = _Reader(self.rfile.detach())
        self.requestline = ""
        self.headers = Message()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Say nothing: the record is the log."""

    @property
    def target(self) -> str:
        """As it was sent: `path` has lost what it begins with when that is a second slash."""
        words = self.requestline.split()
        return words[1] if len(words) > 1 else ""

    def parse_request(self) -> bool:
        self.headers = Message()  # of this request, not of the one before it
        return super().parse_request()

    def do_GET(self) -> None:
        whole = self.rfile.last_line in {b"\r\n", b"\n"}
        if "close" in _words(self.headers.get_all("Connection", [])):
            self.close_connection = True
        self.server.serve(self, lambda exchange: exchange.run(head_is_whole=whole))

    do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_HEAD = do_GET  # noqa: N815 - as above

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What is no request, or of a method that nobody asks for: the base class's words would quote it."""
        del message, explain
        self.request_version = self.protocol_version  # else it gets an answer without a head
        self.server.serve(self, lambda exchange: exchange.refuse(code, http.client.responses[code]))


def _words(values: list[str]) -> set[str]:
    return {word.strip().lower() for value in values for word in value.split(",")}
