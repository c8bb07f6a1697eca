"""What may stand in front of the real n8n: nothing, unless an answer is planted. Untouched bytes otherwise."""

from __future__ import annotations

import asyncio
import re
from asyncio import StreamReader, StreamWriter
from http import HTTPStatus
from urllib.parse import unquote

from butlerctl.lab.n8n.answers import Answer
from butlerctl.lab.n8n.webhooks import Switches
from butlerctl.lab.real.relay import Relay, read_head, splice

_WEBHOOK = "/webhook/"


class Front:
    """The address that the household knows as n8n's. Its switches work as those of the stand-in."""

    def __init__(self, n8n_port: int) -> None:
        self.switches = Switches()
        self._n8n = n8n_port
        self._relay = Relay()
        self.url = f"http://127.0.0.1:{self._relay.serve(self._serve)}"

    def close(self) -> None:
        self._relay.close()

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        head = await read_head(reader)
        path = unquote(head.split(b" ", 2)[1].decode("latin-1").partition("?")[0])
        planted = self.switches.in_front(path)
        if planted is not None:
            writer.write(rendered(planted))
            await writer.drain()
            return
        webhook = path.removeprefix(_WEBHOOK)
        instead, pause = self.switches.instead.get(webhook), self.switches.slow.get(webhook, 0.0)
        twice = webhook in self.switches.twice
        # One request to a connection, so that a planted answer never misses one.
        head = (
            re.sub(rb"(?im)^connection:.*\r\n", b"", head).removesuffix(b"\r\n")
            + b"Connection: close\r\n\r\n"
        )
        if instead is None and not pause and not twice:
            await splice(reader, writer, self._n8n, first=head)
            return
        own = await self._ask(reader, head, times=2 if twice else 1)
        if _refused(own):
            writer.write(own)
        else:
            await asyncio.sleep(pause)
            writer.write(own if instead is None else rendered(instead))
        await writer.drain()

    async def _ask(self, reader: StreamReader, head: bytes, *, times: int) -> bytes:
        """n8n's whole answer to a request whose body has a length; the last, when it is sent several times."""
        length = re.search(rb"(?im)^content-length:\s*(\d+)", head)
        body = await reader.readexactly(int(length[1])) if length else b""
        answer = b""
        for _ in range(times):
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._n8n)
            far_writer.write(head + body)
            answer = await far_reader.read()
            far_writer.close()
        return answer


def _refused(answer: bytes) -> bool:
    """Did n8n answer without running the workflow? To OPTIONS, a wrong key, an unknown path, a bad body."""
    return answer.split(b" ", 2)[1:2] in ([b"204"], [b"403"], [b"404"], [b"422"])


def rendered(answer: Answer) -> bytes:
    """An answer as it goes over the wire, the last on its connection."""
    headers = [*answer.headers, ("Content-Length", str(len(answer.body))), ("Connection", "close")]
    if answer.content_type:
        headers.append(("Content-Type", answer.content_type))
    lines = [
        f"HTTP/1.1 {answer.status} {_reason(answer.status)}",
        *(f"{name}: {value}" for name, value in headers),
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + answer.body


def _reason(status: int) -> str:
    return HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Unknown"
