"""The one way to talk HTTP to n8n: a client, one request within limits, and shortly why no answer came."""

from __future__ import annotations

import errno
import queue
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from butlerctl.errors import BadInput
from butlerctl.loopback import is_loopback

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may take: `seconds` from its start to the last byte, and `size` in bytes of the answer."""

    seconds: float
    size: int


@dataclass(frozen=True, slots=True)
class Received:
    """An answer. `cut`: it was longer than the limit, and `body` is its beginning."""

    status: int
    headers: httpx.Headers
    body: bytes
    cut: bool

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", errors="replace")


def make_client(
    url: str, *, timeout: float, headers: Mapping[str, str] | None = None, reuse: bool = True
) -> httpx.Client:
    """A client for one n8n; safe to share between threads. `timeout` is in seconds and holds for each step.

    Proxies of the environment are used, but never for loopback. With `reuse=False` every request gets a
    connection of its own: a stale one that is re-sent would look like two requests. Redirects are not followed.
    """
    import httpx

    # Loading the system's certificates takes longer than a whole probe; plain HTTP does not need them.
    verify = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if urlsplit(url).scheme == "http" else True
    limits = httpx.Limits(max_connections=24, max_keepalive_connections=12 if reuse else 0)
    return httpx.Client(
        timeout=timeout,
        verify=verify,
        limits=limits,
        headers=dict(headers or {}),
        trust_env=not is_loopback(url),
        follow_redirects=False,
    )


def send(client: httpx.Client, method: str, url: str, limits: Limits, **request: Any) -> Received:
    """One request, sent once. `request` is what httpx takes.

    The client's timeout starts anew with every byte, so a peer that trickles would never end: the request runs on
    a thread of its own, which is left behind when its time is over.

    Raises:
        httpx.RequestError, httpx.InvalidURL: no answer, or none within the limit.
    """
    import httpx

    answers: queue.Queue[Received | BaseException] = queue.Queue()
    given_up = threading.Event()

    def run() -> None:
        try:
            with client.stream(method, url, **request) as answer:
                body, cut = _read(answer, limits.size, given_up)
                answers.put(Received(answer.status_code, answer.headers, body, cut))
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits for the answer
            answers.put(error)

    threading.Thread(target=run, name="n8n-request", daemon=True).start()
    try:
        found = answers.get(timeout=limits.seconds)
    except queue.Empty:
        given_up.set()
        raise httpx.ReadTimeout(f"no whole answer within {limits.seconds:g} s") from None
    if isinstance(found, BaseException):
        raise found
    return found


def _read(answer: httpx.Response, size: int, given_up: threading.Event) -> tuple[bytes, bool]:
    """The body, cut at the limit: whatever answers here is not trusted."""
    found = bytearray()
    for part in answer.iter_bytes():
        found += part
        if len(found) > size or given_up.is_set():
            break
    return bytes(found[:size]), len(found) > size


def header_value(value: str, what: str) -> str:
    """The value, if it can stand in a header. Raises BadInput, which names what it is and never the value."""
    if not (value.isascii() and value.isprintable()) or value != value.strip():
        raise BadInput(
            f"{what} cannot stand in an HTTP header",
            hint="it holds a line end, a space at its end or a character beyond ASCII",
        )
    return value


def failure_text(error: Exception, url: str) -> str:
    """Why no answer came, in the words that Node's clients use, and never with a header in it."""
    import httpx

    parts = urlsplit(url)
    if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol):
        return f"{parts.scheme or 'no scheme'}: not an address that can be asked"
    place = f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
    if isinstance(error, httpx.TimeoutException):
        return f"ETIMEDOUT {place}: no answer in time"
    told = next(filter(None, (_of_the_system(cause, place) for cause in _causes(error))), "")
    if told:
        return told
    closed = isinstance(error, httpx.RemoteProtocolError | httpx.ReadError | httpx.WriteError)
    words = str(error) or ("the connection was closed without an answer" if closed else type(error).__name__)
    return f"ECONNRESET {place}: {words}" if closed else f"{place}: {words}"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what led to it, the nearest first."""
    found: BaseException | None = error
    while found is not None:
        yield found
        found = found.__cause__ or found.__context__


def _of_the_system(error: BaseException, place: str) -> str:
    """The operating system's own word for a failure, empty for an error that is not its."""
    if isinstance(error, ssl.SSLError):
        return f"TLS {place}: {error}"
    if isinstance(error, socket.gaierror):
        code = "EAI_AGAIN" if error.errno == socket.EAI_AGAIN else "ENOTFOUND"
        return f"getaddrinfo {code} {place.rpartition(':')[0]}"
    name = errno.errorcode.get(error.errno or 0) if isinstance(error, OSError) else None
    return f"{name} {place}" if name else ""
