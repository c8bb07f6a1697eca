"""What an HTTP answer at an n8n address is: one of n8n's own, or that of something in front of it. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """n8n's own answers first, then what is not n8n."""

    PREFLIGHT = "answer to OPTIONS"
    CONTRACT = "answer of the webhook contract"
    JSON = "other JSON"
    TEXT = "text"
    EMPTY = "empty body"
    NOT_REGISTERED = "webhook not registered"
    WRONG_METHOD = "webhook not registered for this method"
    STALE = "registration without a published version"
    REFUSED = "header refused"
    NO_AUTH_DATA = "no header credential behind the webhook"
    BAD_BODY = "body is not JSON"
    RESPOND_NODE = "respond node and response mode do not fit"
    CONFLICT = "webhook broken by a conflicting update"
    TIMED_OUT = "execution timed out"
    WORKFLOW_ERROR = "error in workflow"
    FAULT = "other fault of n8n"
    REDIRECT = "redirect"
    EDITOR = "n8n's editor page"
    GATEWAY = "answer of a proxy"
    PAGE = "page of HTML"

    @property
    def by_n8n(self) -> bool:
        """Did a webhook of n8n itself say this?"""
        return self not in (Kind.REDIRECT, Kind.EDITOR, Kind.GATEWAY, Kind.PAGE)


@dataclass(frozen=True, slots=True)
class Reading:
    """What an answer is; `document` is its JSON, None when it has none."""

    kind: Kind
    status: int
    document: Any = None


_GATEWAY_STATUSES = frozenset({502, 503, 504, *range(520, 531)})
_HTML = re.compile(r"\s*<(!doctype|html|head|body)", re.IGNORECASE)
_PLAIN_TEXTS = {
    "Authorization data is wrong!": Kind.REFUSED,
    "IP is not whitelisted to access the webhook!": Kind.REFUSED,
    "No authentication data defined on node!": Kind.NO_AUTH_DATA,
}
# (code, part of the message): never the whole body, it may carry a stack trace. First match decides.
_MESSAGES: tuple[tuple[int | None, str, Kind], ...] = (
    (404, "is not registered for", Kind.WRONG_METHOD),
    (404, "is not registered", Kind.NOT_REGISTERED),
    (404, "version not found for workflow", Kind.STALE),
    (422, "Failed to parse request body", Kind.BAD_BODY),
    (0, "Respond to Webhook node found", Kind.RESPOND_NODE),
    (0, "reading 'node'", Kind.CONFLICT),
    (0, "because it timed out", Kind.TIMED_OUT),
    (0, "", Kind.FAULT),
    (None, "Error in workflow", Kind.WORKFLOW_ERROR),
)


def classify(status: int, headers: Mapping[str, str], body: str, *, method: str = "POST") -> Reading:
    """`headers` in any case of their names. Whether a workflow really did something, only its execution tells."""
    names = {name.lower(): value for name, value in headers.items()}
    if 300 <= status < 400:
        return Reading(Kind.REDIRECT, status)
    if method == "OPTIONS":
        return Reading(
            Kind.PREFLIGHT if status == 204 or _refused_preflight(body) else _page(status, body), status
        )
    if _HTML.match(body) or "text/html" in names.get("content-type", ""):
        return Reading(_page(status, body), status)
    if body.strip() in _PLAIN_TEXTS:
        return Reading(_PLAIN_TEXTS[body.strip()], status)
    return _by_content(status, body)


def _by_content(status: int, body: str) -> Reading:
    if not body.strip():
        return Reading(Kind.GATEWAY if status in _GATEWAY_STATUSES else Kind.EMPTY, status)
    try:
        document = json.loads(body)
    except ValueError:
        return Reading(Kind.GATEWAY if status in _GATEWAY_STATUSES else Kind.TEXT, status)
    if isinstance(document, dict) and isinstance(document.get("ok"), bool):
        return Reading(Kind.CONTRACT, status, document)
    return Reading(_by_message(document) if status >= 400 else Kind.JSON, status, document)


def _by_message(document: Any) -> Kind:
    """An error document of n8n, by its code and message."""
    if not isinstance(document, dict):
        return Kind.JSON
    code, message = document.get("code"), str(document.get("message", ""))
    for wanted, words, kind in _MESSAGES:
        if code == wanted and words in message:
            return kind
    return Kind.JSON


def _refused_preflight(body: str) -> bool:
    """n8n answers a preflight for an unknown method with 500 and a page around its 404 text."""
    return "registered" in body and "ResponseError" in body


def _page(status: int, body: str) -> Kind:
    if "n8n:config:" in body:
        return Kind.EDITOR
    return Kind.GATEWAY if status in _GATEWAY_STATUSES else Kind.PAGE
