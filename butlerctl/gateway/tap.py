"""A recording proxy on loopback: between the gateway and its provider, or between the plugin and n8n.

Only the wire can tell a native tool call from one that the gateway made out of text. The tap passes every byte on as
it comes and keeps each exchange as an evidence document, without keys.
"""

from __future__ import annotations

import contextlib
import http.client
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

from butlerctl.errors import BadInput
from butlerctl.protocol.decode import NotStrictJson, read_payload
from butlerctl.protocol.sse import event_data
from butlerctl.redaction import redact, register_secret

if TYPE_CHECKING:
    import httpx

Exchange = dict[str, Any]

_MOST_REQUEST_BYTES = 64 * 1024 * 1024
_CONNECT_SECONDS = 10.0
_SILENCE_SECONDS = 600.0
# Headers that belong to one hop; a compressed answer could not be recorded, so none is asked for.
_ONE_HOP = frozenset(
    {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "host"}
)
_NOT_FORWARDED = _ONE_HOP | {"accept-encoding", "content-length"}


class Tap:
    """Forwards to `upstream` and gives each finished exchange to `record`. Use as a context manager."""

    def __init__(self, upstream: str, record: Callable[[Exchange], None], port: int = 0) -> None:
        """Listen on 127.0.0.1; port 0 lets the system choose.

        Raises:
            BadInput: the port is taken, or `upstream` is no http address.
        """
        import httpx

        if not upstream.startswith(("http://", "https://")):
            raise BadInput(f"{upstream!r} must begin with http:// or https://")
        self._upstream = upstream.rstrip("/")
        self._record = record
        self._client = httpx.Client(
            timeout=httpx.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS),
            follow_redirects=False,
            trust_env=False,
        )
        try:
            self._server = _Server(port, self._forward)
        except OSError as error:
            self._client.close()
            raise BadInput(f"port {port} cannot be used: {error.strerror}") from error
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def start(self) -> Self:
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop listening; exchanges under way get five seconds to end."""
        self._server.shutdown()
        self._thread.join(timeout=5)
        self._server.wait_until_idle(5)
        self._server.server_close()
        self._client.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _forward(self, handler: _Handler) -> None:
        _Forwarding(handler, self._upstream, self._client, self._record).run()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, forward: Callable[[_Handler], None]) -> None:
        self.forward = forward
        self._idle = threading.Condition()
        self._busy = 0
        super().__init__(("127.0.0.1", port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no event; what it had begun is in the record."""

    @contextlib.contextmanager
    def exchange(self) -> Iterator[None]:
        with self._idle:
            self._busy += 1
        try:
            yield
        finally:
            with self._idle:
                self._busy -= 1
                self._idle.notify_all()

    def wait_until_idle(self, seconds: float) -> None:
        """A client may have its answer a moment before the record is written."""
        with self._idle:
            self._idle.wait_for(lambda: self._busy == 0, seconds)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Without it each small piece of a stream waits for the client's delayed acknowledgement.
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Say nothing: the record is the log."""

    server: _Server

    def do_GET(self) -> None:
        with self.server.exchange():
            self.server.forward(self)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_HEAD = do_GET  # noqa: N815 - as above


class _Forwarding:
    """One exchange: read the request, pass it on, stream the answer back, and record both."""

    def __init__(
        self, handler: _Handler, upstream: str, client: httpx.Client, record: Callable[[Exchange], None]
    ) -> None:
        self._handler = handler
        self._url = upstream + handler.path
        self._client = client
        self._record = record
        self._headers_sent = False

    def run(self) -> None:
        length = self._handler.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self._handler.headers or not length.isdigit():
            self._refuse(411, "the tap needs a Content-Length")
        elif int(length) > _MOST_REQUEST_BYTES:
            self._refuse(413, f"the tap takes requests of at most {_MOST_REQUEST_BYTES} bytes")
        else:
            self._exchange(self._handler.rfile.read(int(length)))

    def _exchange(self, body: bytes) -> None:
        import httpx

        started, when = time.monotonic(), datetime.now(UTC)
        received: list[bytes] = []
        response: dict[str, Any] = {"status": None, "headers": {}}
        try:
            with self._send(body) as answer:
                response.update(status=answer.status_code, headers=dict(answer.headers))
                self._pass_on(answer, received)
        except httpx.HTTPError as error:
            response["error"] = type(error).__name__
            self._break_off()
        except OSError:
            response["error"] = "the client went away"
            self._handler.close_connection = True
        response["body"] = _document(b"".join(received), response["headers"])
        response["elapsed_ms"] = round((time.monotonic() - started) * 1000)
        self._record(self._evidence(body, response, when))

    def _send(self, body: bytes) -> Any:
        headers = {
            name: value for name, value in self._handler.headers.items() if name.lower() not in _NOT_FORWARDED
        }
        headers["Accept-Encoding"] = "identity"
        return self._client.stream(self._handler.command, self._url, headers=headers, content=body)

    def _pass_on(self, answer: httpx.Response, received: list[bytes]) -> None:
        handler = self._handler
        bodiless = handler.command == "HEAD" or answer.status_code in {204, 304}
        chunked = not bodiless and "content-length" not in answer.headers
        handler.send_response_only(answer.status_code, answer.reason_phrase)
        for name, value in answer.headers.multi_items():
            if name.lower() not in _ONE_HOP:
                handler.send_header(name, value)
        if chunked:
            handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        self._headers_sent = True
        for piece in answer.iter_raw():
            received.append(piece)
            handler.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
            handler.wfile.flush()
        if chunked:
            handler.wfile.write(b"0\r\n\r\n")

    def _break_off(self) -> None:
        """The upstream failed: an answer that has begun is cut, so that the client sees what the tap saw."""
        if self._headers_sent:
            self._handler.close_connection = True
        else:
            self._refuse(502, "the tap cannot reach its upstream")

    def _refuse(self, status: int, words: str) -> None:
        handler = self._handler
        text = f'{{"error":{{"message":"butlerctl tap: {words}"}}}}'.encode()
        handler.send_response_only(status, http.client.responses[status])
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(text)))
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(text)
        handler.close_connection = True

    def _evidence(self, body: bytes, response: Mapping[str, Any], when: datetime) -> Exchange:
        headers = dict(self._handler.headers.items())
        scheme, _, key = self._handler.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            register_secret(key)
        request = {
            "method": self._handler.command,
            "url": self._url,
            "headers": headers,
            "body": _document(body, headers),
        }
        exchange: Exchange = redact(
            {
                "kind": "exchange",
                "seen_by": "tap",
                "when": when.isoformat(),
                "request": request,
                "response": dict(response),
            }
        )
        return exchange


def _document(body: bytes, headers: Mapping[str, str]) -> Any:
    """A body as evidence holds it: JSON as a value, a stream as the list of its events, anything else as text."""
    content_type = next((value for name, value in headers.items() if name.lower() == "content-type"), "")
    if content_type.startswith("text/event-stream"):
        return [_value(data) for data in event_data([body]) if data != "[DONE]"]
    text = body.decode("utf-8", errors="replace")
    return _value(text) if "json" in content_type else text


def _value(text: str) -> Any:
    try:
        return read_payload(text)
    except NotStrictJson:
        return text
