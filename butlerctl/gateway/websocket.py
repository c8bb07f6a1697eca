"""A connection that speaks the OpenClaw gateway's WebSocket protocol, version 4.

Requests and their answers, and the events of a turn. The gateway takes a client without a paired device only on
direct loopback, so a remote gateway is reached through a tunnel.
"""

from __future__ import annotations

import contextlib
import json
import queue
import socket
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

from butlerctl.errors import BadInput, GatewayRefused, NotPermitted, Unreachable

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

PROTOCOL = 4
SCOPES = ("operator.read", "operator.write", "operator.admin")
_MAX_FRAME = 26_214_400  # bytes: the gateway's own `policy.maxPayload`
_PERMISSION_CODES = frozenset({"AUTH_TOKEN_MISMATCH", "DEVICE_IDENTITY_REQUIRED", "NOT_PAIRED"})

Frame = Mapping[str, Any]
_Answers = queue.SimpleQueue[Frame | None]


class Connection:
    """An open connection; `call` may be used from several threads. Use as a context manager, or `close` it."""

    def __init__(self, url: str, token: str, timeout: float) -> None:
        """Connect and authenticate within `timeout` seconds. `url` is the gateway's http or https address.

        Raises:
            Unreachable: nothing there speaks WebSocket, or it does not answer in time.
            NotPermitted: the token or this kind of client is refused.
            GatewayRefused, BadInput: the gateway is not ready, or speaks another protocol.
        """
        self._waiting: dict[str, _Answers] = {}
        self._events: dict[str, list[Frame]] = {}
        self._lock = threading.Lock()
        self._closed = ""
        self._challenged = threading.Event()
        self._resources = contextlib.ExitStack()
        self._socket = _open(self._resources, url, timeout)
        self._reader = threading.Thread(target=self._read, name="gateway-reader", daemon=True)
        self._reader.start()
        try:
            self.hello = self._authenticate(token, timeout)
        except BaseException:
            self.close()
            raise

    @property
    def version(self) -> str:
        return str(self.hello.get("server", {}).get("version", ""))

    def call(self, method: str, params: Frame | None = None, timeout: float = 30) -> Any:
        """Send one request and return its payload.

        Raises:
            GatewayRefused, NotPermitted, BadInput: the gateway answered with an error.
            Unreachable: the connection closed, or no answer came within `timeout` seconds.
        """
        deadline = time.monotonic() + timeout
        with self._request(method, params) as answers:
            answer = self._take(answers, method, deadline)
        if answer.get("ok") is not True:
            raise refusal(method, answer.get("error"))
        return answer.get("payload")

    def run(self, params: Frame, timeout: float) -> tuple[Frame, tuple[Frame, ...]]:
        """Make the agent take one turn: the final answer's frame, and the `agent` events of this run alone.

        The method answers twice under one id, `accepted` and final; a known idempotency key only once. A failed
        turn is an answer too (`ok` false), not an exception.

        Raises:
            Unreachable: the connection closed, or no answer came within `timeout` seconds. The turn may go on.
        """
        run_id = str(params["idempotencyKey"])
        deadline = time.monotonic() + timeout
        events: list[Frame] = []
        self._events[run_id] = events
        try:
            with self._request("agent", params) as answers:
                answer = self._take(answers, "agent", deadline)
                if answer.get("ok") is True and answer["payload"].get("status") == "accepted":
                    answer = self._take(answers, "agent", deadline)
        finally:
            del self._events[run_id]
        return answer, tuple(events)

    def close(self) -> None:
        self._resources.close()
        self._reader.join(timeout=5)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _authenticate(self, token: str, timeout: float) -> Frame:
        if not self._challenged.wait(timeout):
            raise Unreachable("no connect.challenge came: is this an OpenClaw gateway?")
        params = {
            "minProtocol": PROTOCOL,
            "maxProtocol": PROTOCOL,
            "role": "operator",
            "scopes": list(SCOPES),
            "client": {"id": "gateway-client", "version": "0.1.0", "platform": "linux", "mode": "backend"},
            "caps": ["tool-events"],
            "auth": {"token": token},
            "locale": "en-US",
            "userAgent": "butlerctl",
        }
        hello: Frame = self.call("connect", params, timeout)
        return hello

    @contextlib.contextmanager
    def _request(self, method: str, params: Frame | None) -> Iterator[_Answers]:
        from websockets.exceptions import ConnectionClosed

        request_id = uuid.uuid4().hex
        answers: _Answers = queue.SimpleQueue()
        with self._lock:
            self._waiting[request_id] = answers
        try:
            if self._closed:
                raise Unreachable(self._closed)
            frame = {"type": "req", "id": request_id, "method": method, "params": params or {}}
            self._socket.send(json.dumps(frame))
            yield answers
        except ConnectionClosed as error:
            raise Unreachable(_farewell(error)) from None
        finally:
            with self._lock:
                del self._waiting[request_id]

    def _take(self, answers: _Answers, method: str, deadline: float) -> Frame:
        try:
            answer = answers.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise Unreachable(f"the gateway did not answer {method} in time") from None
        if answer is None:
            raise Unreachable(self._closed)
        return answer

    def _read(self) -> None:
        """Hand each frame to whoever waits for it; when the connection ends, wake everybody."""
        from websockets.exceptions import ConnectionClosed

        reason = "the gateway closed the connection"
        try:
            for text in self._socket:
                self._handle(json.loads(text))
        except ConnectionClosed as error:
            reason = _farewell(error)
        except (ValueError, AttributeError):
            reason = "the gateway sent a frame that is not of its protocol"
        with self._lock:
            self._closed = reason
            waiting = list(self._waiting.values())
        self._challenged.set()
        for answers in waiting:
            answers.put(None)

    def _handle(self, frame: Frame) -> None:
        if frame.get("type") == "res":
            with self._lock:
                answers = self._waiting.get(str(frame.get("id")))
            if answers is not None:
                answers.put(frame)
        elif frame.get("event") == "connect.challenge":
            self._challenged.set()
        elif frame.get("event") == "agent":
            events = self._events.get(str(frame["payload"].get("runId")))  # events of other runs arrive too
            if events is not None:
                events.append(frame["payload"])


def refusal(method: str, error: Any) -> GatewayRefused | NotPermitted | BadInput:
    """The exception for an error answer of the gateway."""
    error = error if isinstance(error, Mapping) else {}
    details = error.get("details") if isinstance(error.get("details"), Mapping) else {}
    code = str(details.get("code") or error.get("code") or "")
    message = f"the gateway refused {method}: {error.get('message') or code}"
    if code in _PERMISSION_CODES or "missing scope" in message:
        return NotPermitted(
            message, hint="check gateway.token; without a paired device only direct loopback is let in"
        )
    if code == "PROTOCOL_MISMATCH":
        return BadInput(
            message,
            hint=f"butlerctl speaks protocol {PROTOCOL}, the gateway {details.get('expectedProtocol')}",
        )
    pause = error.get("retryAfterMs", details.get("retryAfterMs"))
    return GatewayRefused(message, code=code, retry_after=pause / 1000 if isinstance(pause, int) else None)


def _open(resources: contextlib.ExitStack, url: str, timeout: float) -> ClientConnection:
    from websockets.exceptions import InvalidHandshake, InvalidURI
    from websockets.sync.client import connect
    from websockets.uri import parse_uri

    address = "ws" + url.removeprefix("http").rstrip("/")
    try:
        place = parse_uri(address)
    except InvalidURI as error:
        raise BadInput(f"gateway.url is no address: {error}") from None
    try:
        # On a socket of its own the client follows no redirect, and the token goes to no other address.
        own = socket.create_connection((place.host, place.port), timeout)
        own.settimeout(None)
        return resources.enter_context(
            connect(
                address, sock=own, max_size=_MAX_FRAME, open_timeout=timeout, compression=None, proxy=None
            )
        )
    except (OSError, InvalidHandshake, InvalidURI, ValueError) as error:
        raise Unreachable(
            f"the gateway at {url} does not answer on WebSocket: {_words(error)}",
            hint="is it running, and is gateway.url of the inventory right?",
        ) from None


def _farewell(error: Any) -> str:
    """Why the connection ended, in the gateway's words: `1012 service restart`."""
    frame = error.rcvd
    words = f"{frame.code} {frame.reason}".strip() if frame is not None else "without a word"
    return f"the gateway closed the connection: {words}"


def _words(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
