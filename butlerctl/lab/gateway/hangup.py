"""Notices that the client of a request has hung up while it is being answered."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from collections.abc import Callable, Iterator

_PAUSE_SECONDS = 0.05


@contextlib.contextmanager
def noticing_hangup(connection: socket.socket | None, hung_up: Callable[[], object]) -> Iterator[None]:
    """Inside, `hung_up` is called once when the other end closes the connection."""
    done = threading.Event()
    thread = threading.Thread(target=_watch, args=(connection, hung_up, done), daemon=True)
    if connection is not None:
        thread.start()
    try:
        yield
    finally:
        done.set()
        if thread.ident is not None:
            thread.join()


def _watch(connection: socket.socket, hung_up: Callable[[], object], done: threading.Event) -> None:
    while not done.wait(_PAUSE_SECONDS):
        if _is_closed(connection):
            hung_up()
            return


def _is_closed(connection: socket.socket) -> bool:
    try:
        readable, _, _ = select.select([connection], [], [], 0)
        return bool(readable) and connection.recv(1, socket.MSG_PEEK) == b""
    except (OSError, ValueError):
        return True
