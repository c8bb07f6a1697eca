"""The proxy that leads the real n8n's Google nodes to the emulator, and everything else nowhere.

n8n is started with `HTTPS_PROXY` and the lab's own certificate authority (`NODE_EXTRA_CA_CERTS`): a CONNECT to a
host of Google ends here, and the request goes on to the emulator; every other CONNECT is refused with 403.
"""

from __future__ import annotations

from asyncio import StreamReader, StreamWriter
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from butlerctl.lab.real.certificates import make_authority
from butlerctl.lab.real.relay import Relay, read_head, splice

_DOMAINS = ("googleapis.com", "google.com")
_REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_CONNECTED = b"HTTP/1.1 200 Connection Established\r\n\r\n"


class GoogleProxy:
    """`refused` lists the hosts that somebody wanted to reach beyond Google: [] proves that n8n stayed offline."""

    def __init__(self, google_url: str, folder: Path) -> None:
        """`folder` gets the certificates."""
        emulator = urlsplit(google_url).port or 80
        names = [name for domain in _DOMAINS for name in (domain, f"*.{domain}")]
        self.trusted, tls = make_authority(folder, names)
        self.refused: list[str] = []
        self._relay = Relay()
        self._inside = self._relay.serve(partial(splice, port=emulator), tls)
        self.url = f"http://127.0.0.1:{self._relay.serve(self._connect)}"

    def environ(self) -> dict[str, str]:
        """What a Node process needs in its environment."""
        return {
            "HTTPS_PROXY": self.url,
            "HTTP_PROXY": self.url,
            "NO_PROXY": "127.0.0.1,localhost",
            "NODE_EXTRA_CA_CERTS": str(self.trusted),
        }

    def close(self) -> None:
        self._relay.close()

    async def _connect(self, reader: StreamReader, writer: StreamWriter) -> None:
        verb, target, *_ = (await read_head(reader)).decode("latin-1").split(" ", 2)
        host = target.rpartition(":")[0] if verb == "CONNECT" else urlsplit(target).hostname or target
        if verb != "CONNECT" or not _is_google(host):
            self.refused.append(host)
            writer.write(_REFUSED)
            return
        writer.write(_CONNECTED)
        await splice(reader, writer, self._inside)


def _is_google(host: str) -> bool:
    return any(host == domain or host.endswith("." + domain) for domain in _DOMAINS)
