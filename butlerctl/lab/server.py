"""One way to serve every part of the lab: a threaded HTTP/1.1 server on a loopback port of the system's choice."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Self

from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication


class _Handler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"
    # Without it a small answer waits for the client's delayed acknowledgement (40 ms on Linux).
    disable_nagle_algorithm = True

    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Say nothing: the lab's log is the evidence."""


class _Server(ThreadedWSGIServer):
    daemon_threads = True
    request_queue_size = 128


class LoopbackServer:
    """Serves one WSGI application on 127.0.0.1. Use as a context manager, or `start` and `close`."""

    def __init__(self, app: WSGIApplication) -> None:
        self._server = _Server("127.0.0.1", 0, app, handler=_Handler)
        self._thread = threading.Thread(target=self._serve, name="lab-server", daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def start(self) -> Self:
        self._thread.start()
        return self

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join(timeout=5)
        self._server.server_close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _serve(self) -> None:
        self._server.serve_forever(poll_interval=0.02)
