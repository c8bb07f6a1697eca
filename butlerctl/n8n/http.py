"""The one way to make an HTTP client for n8n, and to say shortly why no answer came."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from butlerctl.errors import BadInput
from butlerctl.loopback import is_loopback

if TYPE_CHECKING:
    import httpx

ANSWER_LIMIT = 4 * 1024 * 1024
"""Bytes of an answer that are read; n8n's own answers are far below it."""


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
    words = str(error)
    if isinstance(error, httpx.TimeoutException):
        return f"ETIMEDOUT {place}: no answer in time"
    if "CERTIFICATE" in words.upper() or "SSL" in words.upper():
        return f"TLS {place}: {words}"
    if "name" in words.lower() or "address associated" in words.lower():
        return f"getaddrinfo ENOTFOUND {parts.hostname}"
    if isinstance(error, httpx.ConnectError):
        return f"ECONNREFUSED {place}"
    return f"ECONNRESET {place}: {words or 'the connection was closed without an answer'}"
