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
from butlerctl.gateway.shapes import require_shape

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

PROTOCOL = 4
SCOPES = ("operator.read", "operator.write", "operator.admin")
_MAX_FRAME = 26_214_400  # bytes: the gateway's own `policy.maxPayload`
_DAY_MS = 86_400_000
_PERMISSION_CODES = frozenset({"AUTH_TOKEN_MISMATCH", "DEVICE_IDENTITY_REQUIRED", "NOT_PAIRED"})

Frame = Mapping[str, Any]
_Answers = queue.SimpleQueue[Frame | None]


class ConnectionLost(Unreachable):
    """The connection is closed: nothing more can be asked over it. Of a turn: it was not asked for."""


class TurnLost(Unreachable):
    """A turn was asked for, and its end was not seen: it may go on. `events` are those that came until then."""

    def __init__(self, message: str, events: tuple[Frame, ...]) -> None:
        super().__init__(message)
        self.events = events


class _NotOfTheProtocol(ValueError):
    """A frame that no gateway of this protocol sends."""


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
        return str((self.hello.get("server") or {}).get("version") or "")

    def call(self, method: str, params: Frame | None = None, timeout: float = 30) -> Any:
        """Send one request and return its payload.

        Raises:
            GatewayRefused, NotPermitted: the gateway answered with an error.
            BadInput: it speaks another protocol, or its answer has another shape.
            ConnectionLost: the connection is closed.
            Unreachable: no answer came within `timeout` seconds.
        """
        deadline = time.monotonic() + timeout
        with self._request(method, params) as answers:
            answer = self._take(answers, method, deadline)
        if answer.get("ok") is not True:
            raise refusal(method, answer.get("error"))
        payload = answer.get("payload")
        require_shape(method, payload)
        return payload

    def run(self, params: Frame, timeout: float) -> tuple[Frame, tuple[Frame, ...]]:
        """Make the agent take one turn: the final answer's frame, and the `agent` events of this run alone.

        The method answers twice under one id, `accepted` and final; a known idempotency key only once. A failed
        turn is an answer too (`ok` false), not an exception.

        Raises:
            ConnectionLost: the connection was closed already; nothing was asked.
            TurnLost: it closed then, no answer came within `timeout` seconds, or one of another shape.
        """
        run_id = str(params["idempotencyKey"])
        deadline = time.monotonic() + timeout
        events: list[Frame] = []
        self._events[run_id] = events
        try:
            with self._request("agent", params) as answers:
                answer = self._end_of_turn(answers, deadline, events)
        finally:
            del self._events[run_id]
        return answer, tuple(events)

    def _end_of_turn(self, answers: _Answers, deadline: float, events: list[Frame]) -> Frame:
        try:
            answer = _settled(self._take(answers, "agent", deadline))
            if answer["ok"] and answer["payload"].get("status") == "accepted":
                answer = _settled(self._take(answers, "agent", deadline))
        except (Unreachable, BadInput) as error:
            raise TurnLost(error.message, tuple(events)) from error
        return answer

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
        return {name: value for name, value in hello.items() if value is not None}

    @contextlib.contextmanager
    def _request(self, method: str, params: Frame | None) -> Iterator[_Answers]:
        """Send a request; what is given receives its answers. Raises ConnectionLost: it was not sent."""
        request_id = uuid.uuid4().hex
        answers: _Answers = queue.SimpleQueue()
        with self._lock:
            if self._closed:
                raise ConnectionLost(self._closed)
            self._waiting[request_id] = answers
        try:
            self._send({"type": "req", "id": request_id, "method": method, "params": params or {}})
            yield answers
        finally:
            with self._lock:
                del self._waiting[request_id]

    def _send(self, frame: Frame) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            self._socket.send(json.dumps(frame))
        except ConnectionClosed as error:
            raise ConnectionLost(_farewell(error)) from None

    def _take(self, answers: _Answers, method: str, deadline: float) -> Frame:
        try:
            answer = answers.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise Unreachable(f"the gateway did not answer {method} in time") from None
        if answer is None:
            raise ConnectionLost(self._closed)
        return answer

    def _read(self) -> None:
        """Hand each frame to whoever waits for it; when the connection ends, wake everybody."""
        from websockets.exceptions import ConnectionClosed

        reason = "the gateway closed the connection"
        try:
            for text in self._socket:
                self._handle(_frame(text))
        except ConnectionClosed as error:
            reason = _farewell(error)
        except _NotOfTheProtocol:
            reason = "the gateway sent a frame that is not of its protocol"
        finally:
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
            self._keep(frame.get("payload"))

    def _keep(self, payload: Any) -> None:
        """An event of a turn that is waited for; those of other runs arrive too."""
        if payload is None:
            return
        if not isinstance(payload, Mapping):
            raise _NotOfTheProtocol
        events = self._events.get(str(payload.get("runId")))
        if events is not None:
            events.append(payload)


def _frame(text: str | bytes) -> Frame:
    try:
        frame = json.loads(text)
    except (ValueError, RecursionError):
        raise _NotOfTheProtocol from None
    if not isinstance(frame, dict):
        raise _NotOfTheProtocol
    return frame


def _settled(answer: Frame) -> Frame:
    """An answer of the `agent` method: `ok` is a truth value, and its payload or its error an object. Raises BadInput."""
    if answer.get("ok") is True:
        require_shape("agent", answer.get("payload"))
        return answer
    error = answer.get("error")
    return {"ok": False, "error": error if isinstance(error, Mapping) else {"message": str(error or "")}}


def refusal(method: str, error: Any) -> GatewayRefused | NotPermitted | BadInput:
    """The exception for an error answer of the gateway."""
    error = error if isinstance(error, Mapping) else {"message": str(error or "no word of why")}
    details = error.get("details")
    details = details if isinstance(details, Mapping) else {}
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
    return GatewayRefused(message, code=code, retry_after=_pause(error, details))


def _pause(error: Frame, details: Frame) -> float | None:
    """The seconds after which the gateway wants to be asked again; a day is as good as never."""
    pause = error.get("retryAfterMs", details.get("retryAfterMs"))
    return min(max(0, pause), _DAY_MS) / 1000 if isinstance(pause, int) else None


def _open(resources: contextlib.ExitStack, url: str, timeout: float) -> ClientConnection:
    from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI
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
    except (OSError, ConnectionClosed, InvalidHandshake, InvalidURI, ValueError) as error:
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
