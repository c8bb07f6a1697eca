"""One exchange through the tap: read the request, pass it on, stream the answer back, and record both.

Whatever becomes of it, it is recorded, and once: also when the client or the tap goes away before its end.
"""

from __future__ import annotations

import contextlib
import errno
import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import urlsplit

from butlerctl.errors import BadInput
from butlerctl.gateway.tap_evidence import (
    READABLE_CODINGS,
    Exchange,
    body_of,
    headers_of,
    register_credentials,
    without_secrets,
)

CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 600.0
MOST_REQUEST_BYTES = 64 * 1024 * 1024
_PIECE = 64 * 1024
_LINGER_SECONDS = 2.0
# Headers that belong to one hop (RFC 9110, 7.6.1), besides those that Connection names.
_ONE_HOP = frozenset(
    {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}
)


class Upstream:
    """Where a tap leads."""

    def __init__(self, address: str) -> None:
        """Raises BadInput: `address` is no http address, or holds more than one."""
        try:
            parts = urlsplit(address)
            self._host, self._port = parts.hostname or "", parts.port
        except ValueError as error:
            raise BadInput(f"{address!r} is no address: {error}") from error
        if parts.scheme not in {"http", "https"} or not self._host:
            raise BadInput(f"{address!r} must begin with http:// or https:// and name a host")
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise BadInput(
                f"an address without password, query and fragment is needed: {parts.scheme}://{self._host}…",
                hint="the tap passes on the credential that its client sends",
            )
        self.netloc = parts.netloc
        self.path = parts.path.rstrip("/")
        self.url = f"{parts.scheme}://{parts.netloc}{self.path}"
        self._context = _tls_context() if parts.scheme == "https" else None

    def connect(self) -> http.client.HTTPConnection:
        """A new connection: a kept one may be dead, and whether a write arrived would be unknown. Raises OSError."""
        connection = (
            http.client.HTTPSConnection(
                self._host, self._port, timeout=CONNECT_SECONDS, context=self._context
            )
            if self._context
            else http.client.HTTPConnection(self._host, self._port, timeout=CONNECT_SECONDS)
        )
        try:
            connection.connect()
        except OSError:
            connection.close()
            raise
        connection.sock.settimeout(SILENCE_SECONDS)
        return connection


def _tls_context() -> ssl.SSLContext:
    import httpx

    return httpx.create_ssl_context()


class TapExchange:
    """`record` gets the finished exchange; `lost` is told when it raises."""

    def __init__(
        self,
        handler: BaseHTTPRequestHandler,
        target: str,
        upstream: Upstream,
        record: Callable[[Exchange], None],
        lost: Callable[[Exception], None],
    ) -> None:
        self._handler = handler
        self._target = target
        self._upstream = upstream
        self._record = record
        self._lost = lost
        self._when, self._started = datetime.now(UTC), time.monotonic()
        self._request_body = bytearray()
        self._answer: http.client.HTTPResponse | None = None
        self._received = bytearray()
        self._passing_on = False
        self._upstream_socket: socket.socket | None = None
        self._settling = threading.Lock()
        self._settled = False

    def run(self, *, head_is_whole: bool) -> None:
        """Raises nothing that the client or the upstream does."""
        try:
            if not head_is_whole:
                self._drop("inside the head of its request")
            elif not self._is_refused() and self._reads_body():
                self._pass_on()
        finally:
            self.settle("a fault of the tap")

    def refuse(self, status: int, words: str) -> None:
        """Answer in the upstream's place."""
        self.settle(f"refused by the tap with {status}: {words}")
        self._reply(status, words)
        with contextlib.suppress(OSError):
            _linger(self._handler.connection)

    def look_for_client(self) -> None:
        """Give up where the client has: the upstream is then as alone as without a tap."""
        if self._passing_on and _is_gone(self._handler.connection):
            self._client_left()
            self._cut_off()

    def abandon(self, reason: str) -> None:
        """End the exchange from another thread, with what is known of it."""
        self.settle(reason if self._passing_on else f"{reason}: the request was not passed on")
        self._cut_off()

    def _client_left(self) -> None:
        """Some clients leave at the last event of a stream and do not wait for its end."""
        self.settle("" if self._received.rstrip().endswith(b"data: [DONE]") else "the client went away")

    def _cut_off(self) -> None:
        for end in (self._handler.connection, self._upstream_socket):
            if end is not None:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def settle(self, error: str = "") -> None:
        """Record the exchange, unless it has been."""
        with self._settling:
            if self._settled:
                return
            self._settled = True
        try:
            self._record(self._evidence(error))
        except Exception as problem:  # noqa: BLE001 - whatever keeps evidence from being kept has to be told
            self._lost(problem)

    def _is_refused(self) -> bool:
        headers = self._handler.headers
        lengths = {value.strip() for value in headers.get_all("Content-Length", ["0"])}
        length = lengths.pop() if len(lengths) == 1 else ""
        if headers.defects:
            self.refuse(400, "a line in the head of the request is no header")
        elif not self._target.startswith("/"):
            self.refuse(400, "it is no proxy: its address takes the place of the upstream's")
        elif "Transfer-Encoding" in headers or not (length.isascii() and length.isdigit()):
            self.refuse(411, "it needs one Content-Length")
        elif len(length) > 15 or int(length) > MOST_REQUEST_BYTES:
            self.refuse(413, f"it takes requests of at most {MOST_REQUEST_BYTES} bytes")
        else:
            return False
        return True

    def _reads_body(self) -> bool:
        """Is the request here as a whole? Half a request is recorded and never passed on."""
        length = int(self._handler.headers.get("Content-Length", "0"))
        with contextlib.suppress(OSError):
            while len(self._request_body) < length:
                piece = self._handler.rfile.read(min(_PIECE, length - len(self._request_body)))
                if not piece:
                    break
                self._request_body += piece
        if len(self._request_body) < length:
            self._drop(f"after {len(self._request_body)} of {length} bytes")
        return len(self._request_body) == length

    def _drop(self, where: str) -> None:
        self.settle(f"the client went away {where}: not passed on")
        self._handler.close_connection = True

    def _pass_on(self) -> None:
        self._passing_on = True
        try:
            with contextlib.closing(self._upstream.connect()) as connection:
                self._upstream_socket = connection.sock
                if not self._settled:  # while it was being connected
                    self._send(connection)
                    self._answer = connection.getresponse()
                    self._stream_back(self._answer)
            self.settle()
        except _ClientGone:
            self._client_left()
            self._handler.close_connection = True
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.settle(_words_of(error))
            if self._answer is None:
                self._reply(502, "it gets no answer from its upstream")
            self._handler.close_connection = True  # what the tap saw cut, its client sees cut

    def _send(self, connection: http.client.HTTPConnection) -> None:
        """What the client sent, but for the headers of its hop and codings that a record could not hold."""
        headers = self._handler.headers
        connection.putrequest(
            self._handler.command,
            self._upstream.path + self._target,
            skip_host=True,
            skip_accept_encoding=True,
        )
        if "Host" not in headers:
            connection.putheader("Host", self._upstream.netloc)
        for name, value in _without_hop(headers.items()):
            if name.lower() == "host":
                value = self._upstream.netloc  # noqa: PLW2901
            elif name.lower() == "accept-encoding":
                value = _readable(value)  # noqa: PLW2901
            connection.putheader(name, value)
        connection.endheaders(bytes(self._request_body) or None)

    def _stream_back(self, answer: http.client.HTTPResponse) -> None:
        handler = self._handler
        has_body = not (handler.command == "HEAD" or answer.status in {204, 304})
        chunked = self._begin_answer(answer, has_body=has_body)
        self._passing_on = has_body and answer.length != 0
        with _writing():
            handler.end_headers()
        while has_body and (piece := answer.read1(_PIECE)):
            self._received += piece
            self._passing_on = answer.length != 0  # a client that has everything may leave
            with _writing():
                handler.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
        if has_body and answer.length:
            raise http.client.IncompleteRead(b"", answer.length)
        self._passing_on = False
        if chunked:
            with _writing():
                handler.wfile.write(b"0\r\n\r\n")

    def _begin_answer(self, answer: http.client.HTTPResponse, *, has_body: bool) -> bool:
        """Status and headers, not yet sent. Whether the body goes in chunks: its length is not known beforehand."""
        handler = self._handler
        measured = "Content-Length" in answer.headers and not answer.chunked
        chunked = has_body and not measured and handler.request_version != "HTTP/1.0"
        handler.send_response_only(answer.status, answer.reason)
        for name, value in _without_hop(answer.headers.items()):
            if measured or not has_body or name.lower() != "content-length":
                handler.send_header(name, value)
        if chunked:
            handler.send_header("Transfer-Encoding", "chunked")
        elif has_body and not measured:
            handler.send_header("Connection", "close")
            handler.close_connection = True
        return chunked

    def _reply(self, status: int, words: str) -> None:
        handler = self._handler
        text = json.dumps({"error": {"message": f"butlerctl tap: {words}"}}).encode()
        handler.send_response_only(status, http.client.responses[status])
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(text)))
        handler.send_header("Connection", "close")
        handler.close_connection = True
        with contextlib.suppress(OSError):
            handler.end_headers()
            handler.wfile.write(text)

    def _evidence(self, error: str) -> Exchange:
        handler, answer = self._handler, self._answer
        headers = headers_of(handler.headers.items())
        replied = headers_of(answer.headers.items()) if answer else {}
        register_credentials(handler.headers.items(), self._target.partition("?")[2])
        register_credentials(answer.headers.items() if answer else ())
        response: dict[str, Any] = {
            "status": answer.status if answer else None,
            "headers": replied,
            "body": body_of(bytes(self._received), replied),
            "elapsed_ms": round((time.monotonic() - self._started) * 1000),
        }
        return without_secrets(
            {
                "kind": "exchange",
                "seen_by": "tap",
                "when": self._when.isoformat(),
                "request": {
                    "method": handler.command or "?",
                    "url": self._upstream.url + self._target,
                    "headers": headers,
                    "body": body_of(bytes(self._request_body), headers),
                },
                "response": {**response, "error": error} if error else response,
            }
        )


class _ClientGone(Exception):
    """The client does not take its answer."""


@contextlib.contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _ClientGone from error


def _without_hop(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    pairs = list(headers)
    named = {
        word.strip().lower()
        for name, value in pairs
        if name.lower() == "connection"
        for word in value.split(",")
    }
    return [(name, value) for name, value in pairs if name.lower() not in _ONE_HOP | named]


def _readable(codings: str) -> str:
    """An Accept-Encoding without what the tap cannot unpack for the record, such as br."""
    asked = [item.strip() for item in codings.split(",")]
    kept = [item for item in asked if item.partition(";")[0].strip().lower() in READABLE_CODINGS]
    return ", ".join(kept) or "identity"


def _is_gone(client: socket.socket) -> bool:
    try:
        return client.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def _linger(client: socket.socket) -> None:
    """Take what the client is still sending: closed at once, it would lose the answer that it has been given."""
    client.shutdown(socket.SHUT_WR)
    client.settimeout(_LINGER_SECONDS)
    deadline = time.monotonic() + _LINGER_SECONDS
    while time.monotonic() < deadline and client.recv(_PIECE):
        continue


def _words_of(error: Exception) -> str:
    """What went wrong with the upstream, in the system's own word for it."""
    if isinstance(error, http.client.IncompleteRead):
        missing = f", {error.expected} bytes are missing" if error.expected else ""
        return f"the answer broke off{missing}"
    if isinstance(error, TimeoutError):
        return "timeout"
    if isinstance(error, ssl.SSLError):
        return f"{type(error).__name__}: {getattr(error, 'verify_message', '') or error.reason}"
    if isinstance(error, socket.gaierror):
        return f"getaddrinfo: {error.strerror}"
    code = error.errno if isinstance(error, OSError) else None
    return errno.errorcode.get(code or 0, type(error).__name__)
