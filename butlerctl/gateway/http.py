"""HTTP clients of this package: quick to make, and direct on loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from butlerctl.errors import BadInput
from butlerctl.loopback import is_loopback

if TYPE_CHECKING:
    import httpx


def client_for(url: str, **options: Any) -> httpx.Client:
    """A client for this one address. Certificates are loaded only where TLS is spoken (they take 40 ms), and a proxy
    of the environment is asked only for what is not on loopback.

    Raises:
        BadInput: the address is none.
    """
    import httpx

    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise BadInput(f"the address {url!r} is none: {error}") from error
    return httpx.Client(
        verify=parts.scheme.lower() != "http", **{"trust_env": not is_loopback(url), **options}
    )
