"""TCP servers on loopback that read a little and pass the rest on, byte for byte, in one thread of their own."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

Handler = Callable[[StreamReader, StreamWriter], Awaitable[None]]

_CHUNK = 65536
_HEAD_LIMIT = 65536
_CLOSE_SECONDS = 5


class Relay:
    """Serves handlers until `close`. A connection that breaks ends its handler, never the server."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._servers: list[asyncio.Server] = []
        self._under_way: set[asyncio.Task[Any]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, name="lab-relay", daemon=True)
        self._thread.start()

    def serve(self, handler: Handler, tls: ssl.SSLContext | None = None) -> int:
        """Accept connections on a port of the system's choice, which is returned."""
        port: int = self._run(self._serve(handler, tls))
        return port

    def close(self) -> None:
        """End every connection and stop accepting."""
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CLOSE_SECONDS)
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_CLOSE_SECONDS)

    async def _serve(self, handler: Handler, tls: ssl.SSLContext | None) -> int:
        async def serve_one(reader: StreamReader, writer: StreamWriter) -> None:
            task = asyncio.current_task()
            if task is not None:
                self._under_way.add(task)
                task.add_done_callback(self._under_way.discard)
            with contextlib.suppress(OSError, EOFError, asyncio.LimitOverrunError, asyncio.CancelledError):
                await handler(reader, writer)
            writer.close()

        server = await asyncio.start_server(serve_one, "127.0.0.1", 0, ssl=tls, limit=_HEAD_LIMIT)
        self._servers.append(server)
        port: int = server.sockets[0].getsockname()[1]
        return port

    async def _close(self) -> None:
        for server in self._servers:
            server.close()
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)


async def splice(reader: StreamReader, writer: StreamWriter, port: int, *, first: bytes = b"") -> None:
    """Pass everything between a connection and a port of this host, until one side ends. `first` goes ahead."""
    far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        far_writer.write(first)
        ends = [asyncio.create_task(pump(reader, far_writer)), asyncio.create_task(pump(far_reader, writer))]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for end in ends:
            end.cancel()
        await asyncio.gather(*ends, return_exceptions=True)
    finally:
        far_writer.close()


async def pump(reader: StreamReader, writer: StreamWriter) -> None:
    """Everything from one side to the other, until it ends."""
    while chunk := await reader.read(_CHUNK):
        writer.write(chunk)
        await writer.drain()


async def read_head(reader: StreamReader) -> bytes:
    """The head of an HTTP message with its empty line. Raises EOFError, LimitOverrunError."""
    return await reader.readuntil(b"\r\n\r\n")
