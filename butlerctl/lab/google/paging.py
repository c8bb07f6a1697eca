"""Pages of a list: only `nextPageToken` decides whether more follows."""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Iterable, Sequence
from typing import Any

from butlerctl.lab.google.call import Call
from butlerctl.lab.google.errors import bad_request
from butlerctl.lab.google.store import Item


def visible(items: Iterable[Item], call: Call) -> list[Item]:
    """Those that a list shows already: it may trail behind get."""
    newest = time.monotonic() - call.knobs.list_lag
    return [item for item in items if item.since <= newest]


def page(items: Sequence[Any], call: Call, *, default: int, maximum: int) -> tuple[Sequence[Any], str | None]:
    """The page that the call asks for, and the token of the next one."""
    size = min(call.get("maxResults", default), maximum, call.knobs.page_cap or maximum)
    token = call.get("pageToken")
    if call.knobs.empty_first_page and token is None and items:
        return [], _token(0)
    start = _offset(token) if token else 0
    end = start + size
    return items[start:end], _token(end) if end < len(items) else None


def _token(offset: int) -> str:
    return base64.urlsafe_b64encode(f"page:{offset}".encode()).decode()


def _offset(token: str) -> int:
    try:
        return int(base64.urlsafe_b64decode(token.encode()).decode().removeprefix("page:"))
    except (ValueError, binascii.Error):
        raise bad_request("Invalid page token value.", "invalid") from None
