"""What an HTTP answer at a webhook's address is: one of n8n's own, or that of something in front of it. Pure.

Only what n8n is known to say counts as its word. A workflow may answer any JSON with 2xx; an error that is neither
the contract's nor one of n8n's texts is somebody else's: gateways answer JSON and plain words too.
"""

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
    NOT_READY = "n8n that is not ready yet"
    REDIRECT = "redirect"
    EDITOR = "n8n's editor page"
    GATEWAY = "answer of a proxy"
    PAGE = "page of HTML"
    FOREIGN = "answer of something other than n8n"

    @property
    def by_n8n(self) -> bool:
        """Did a webhook of n8n itself say this?"""
        return self not in _FOREIGN


_FOREIGN = frozenset({Kind.REDIRECT, Kind.EDITOR, Kind.GATEWAY, Kind.PAGE, Kind.FOREIGN})


@dataclass(frozen=True, slots=True)
class Reading:
    """What an answer is; `document` is its JSON, None when it has none."""

    kind: Kind
    status: int
    document: Any = None


_GATEWAY_STATUSES = frozenset({502, 503, 504, *range(520, 531)})
_HTML = re.compile(r"\s*<(!doctype|html|head|body)", re.IGNORECASE)
STARTING = "n8n is starting up. Please wait"
"""Said with 200 and as HTML to every request, until the database is migrated."""
_PLAIN_TEXTS = {
    "Authorization data is wrong!": Kind.REFUSED,
    "IP is not whitelisted to access the webhook!": Kind.REFUSED,
    "No authentication data defined on node!": Kind.NO_AUTH_DATA,
    STARTING: Kind.NOT_READY,
}
# (code, part of the message): never the whole body, it may carry a stack trace. First match decides.
_MESSAGES: tuple[tuple[int | None, str, Kind], ...] = (
    (403, "Authorization data is wrong", Kind.REFUSED),
    (404, "is not registered for", Kind.WRONG_METHOD),
    (404, "is not registered", Kind.NOT_REGISTERED),
    (404, "version not found for workflow", Kind.STALE),
    (422, "Failed to parse request body", Kind.BAD_BODY),
    (503, "Database is not ready", Kind.NOT_READY),
    (0, "Respond to Webhook node found", Kind.RESPOND_NODE),
    (0, "reading 'node'", Kind.CONFLICT),
    (0, "because it timed out", Kind.TIMED_OUT),
    (0, "", Kind.FAULT),
    (None, "Error in workflow", Kind.WORKFLOW_ERROR),
    (None, "Workflow execution failed", Kind.WORKFLOW_ERROR),
)


def classify(status: int, headers: Mapping[str, str], body: str, *, method: str = "POST") -> Reading:
    """`headers` in any case of their names. Whether a workflow really did something, only its execution tells."""
    names = {name.lower(): value for name, value in headers.items()}
    if 300 <= status < 400:
        return Reading(Kind.REDIRECT, status)
    if method == "OPTIONS":
        return Reading(_preflight(status, names, body), status)
    if body.strip() in _PLAIN_TEXTS:
        return Reading(_PLAIN_TEXTS[body.strip()], status)
    content_type = names.get("content-type", "")
    if _HTML.match(body) or "text/html" in content_type:
        return Reading(_page(status, body), status)
    return _by_content(status, content_type, body)


def _by_content(status: int, content_type: str, body: str) -> Reading:
    foreign = Kind.GATEWAY if status in _GATEWAY_STATUSES else Kind.FOREIGN
    if not body.strip():  # what n8n leaves empty is JSON by its header, whatever the status
        return Reading(Kind.EMPTY if status < 400 or "json" in content_type else foreign, status)
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return Reading(Kind.TEXT if status < 400 else foreign, status)
    if isinstance(document, dict) and isinstance(document.get("ok"), bool):
        return Reading(Kind.CONTRACT, status, document)
    if status < 400:
        return Reading(Kind.JSON, status, document)
    return Reading(_by_message(document) or foreign, status, document)


def _by_message(document: Any) -> Kind | None:
    """An error document of n8n, by its code and message; None for anybody else's."""
    if not isinstance(document, dict) or not isinstance(document.get("message"), str):
        return None
    code, message = document.get("code"), document["message"]
    return next((kind for wanted, words, kind in _MESSAGES if code == wanted and words in message), None)


def _preflight(status: int, headers: Mapping[str, str], body: str) -> Kind:
    """n8n lists OPTIONS first, and nothing at all to a caller without `Origin`. A proxy that answers in its place
    lists what somebody configured there.
    """
    if status == 204:
        allowed = headers.get("access-control-allow-methods", "OPTIONS")
        return Kind.PREFLIGHT if allowed.startswith("OPTIONS") else Kind.FOREIGN
    return Kind.PREFLIGHT if _refused_preflight(body) else _page(status, body)


def _refused_preflight(body: str) -> bool:
    """n8n answers a preflight for an unknown method with 500 and a page around its 404 text."""
    return "registered" in body and "ResponseError" in body


def _page(status: int, body: str) -> Kind:
    if "n8n:config:" in body:
        return Kind.EDITOR
    return Kind.GATEWAY if status in _GATEWAY_STATUSES else Kind.PAGE
