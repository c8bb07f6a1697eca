"""A WebSocket on a connection that a WSGI server already read the request from."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from websockets.exceptions import InvalidState
from websockets.frames import Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

_MAX_FRAME = 26_214_400  # bytes, as the gateway's policy says

_FAREWELL_SECONDS = 5.0


def wants_websocket(environ: Mapping[str, Any]) -> bool:
    return str(environ.get("HTTP_UPGRADE", "")).lower() == "websocket"


class ServerSocket:
    """The server's end. `send` may be used from several threads; `texts` yields what the client sends."""

    def __init__(self, environ: Mapping[str, Any]) -> None:
        """Answer the handshake."""
        self._socket: socket.socket = environ["werkzeug.socket"]
        self._protocol = ServerProtocol(max_size=_MAX_FRAME)
        self._lock = threading.Lock()
        self._protocol.receive_data(_request_text(environ))
        for event in self._protocol.events_received():
            if isinstance(event, Request):
                self._protocol.send_response(self._protocol.accept(event))
        self._flush()

    def send(self, text: str) -> None:
        """Raises OSError when the client is gone."""
        with self._lock:
            try:
                self._protocol.send_text(text.encode())
            except InvalidState as error:
                raise ConnectionAbortedError("the client has hung up") from error
            self._flush()

    def texts(self) -> Iterator[str]:
        """Until the client has hung up."""
        data = b"more"
        while data:
            try:
                data = self._socket.recv(65_536)
            except OSError:
                return
            with self._lock:
                self._receive(data)
                frames = list(self._protocol.events_received())
                with contextlib.suppress(OSError):
                    self._flush()
            for frame in frames:
                if getattr(frame, "opcode", None) is Opcode.TEXT:
                    yield bytes(frame.data).decode()  # type: ignore[union-attr]  # a Frame, by its opcode

    def close(self, code: int, reason: str) -> None:
        with self._lock, contextlib.suppress(OSError):
            self._protocol.send_close(code, reason)
            self._flush()
            self._socket.settimeout(_FAREWELL_SECONDS)

    def _receive(self, data: bytes) -> None:
        if data:
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                self._socket.sendall(data)
            else:
                with contextlib.suppress(OSError):
                    self._socket.shutdown(socket.SHUT_WR)


def _request_text(environ: Mapping[str, Any]) -> bytes:
    """The request as it came: the protocol wants to read it itself."""
    headers = "".join(
        f"{name.removeprefix('HTTP_').replace('_', '-')}: {value}\r\n"
        for name, value in environ.items()
        if name.startswith("HTTP_")
    )
    return f"GET {environ.get('PATH_INFO') or '/'} HTTP/1.1\r\n{headers}\r\n".encode()
