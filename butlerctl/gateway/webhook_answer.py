"""What a webhook's answer proves, as the observation that the model gets: the plugin's `answer.mjs` in Python.

Success needs all of it: status 200, JSON, `ok: true`, `data`. Every failure names the boundary at which it was
seen: call, route, request, header, active, google or shape.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from butlerctl.redaction import redact, redact_text

_EXCERPT = 500
# What is looked through for secrets before it is cut: none is longer than what it is cut by.
_LOOKED_AT = 10_000
_UNKNOWN_EFFECT = "It may have been done all the same: read back before you try again."
_FAILURES: Mapping[str, tuple[str, str]] = {
    "timeout": ("request", f"No answer in time. {_UNKNOWN_EFFECT}"),
    "network": ("request", f"The connection failed. {_UNKNOWN_EFFECT}"),
    "redirect": ("request", "Something in front of n8n answered with a redirect, which is not followed."),
    "too_large": ("shape", "The answer is larger than this tool reads."),
    "bad_secret": ("header", "The configured secret cannot be sent as a header."),
}
_BOUNDARY_OF_CODE = {"invalid_args": "call", "google_error": "google", "workflow_error": "shape"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one POST. `failure` is a key of the failures above when no usable answer came."""

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    elapsed_ms: int = 0
    failure: str = ""
    detail: str = ""

    @property
    def document(self) -> Any:
        """The body as JSON, read as the plugin reads it; None for what is no JSON."""
        try:
            return json.loads(self.text, parse_constant=_no_json)
        except (ValueError, RecursionError):
            return None

    @property
    def is_json(self) -> bool:
        return self.document is not None or self.text.strip() == "null"

    @property
    def content_type(self) -> str:
        return next((value for name, value in self.headers.items() if name.lower() == "content-type"), "")


def failed(boundary: str, error: str, message: str, **more: Any) -> dict[str, Any]:
    return {"ok": False, "boundary": boundary, "error": error, "message": message, **more}


def observe(answer: Answer, path: str) -> dict[str, Any]:
    """The observation for this answer of the webhook at `path`."""
    if answer.failure:
        boundary, message = _FAILURES[answer.failure]
        return failed(boundary, answer.failure, message, path=path, detail=answer.detail)
    body = answer.document
    if answer.status != 200:
        return _refused(answer, body, path)
    if not answer.is_json or re.match(r"application/json\b", answer.content_type, re.IGNORECASE) is None:
        return _not_json(answer, path)
    if isinstance(body, Mapping) and body.get("ok") is True and isinstance(body.get("data"), Mapping):
        execution = {"execution": body["execution"]} if body.get("execution") else {}
        return {"ok": True, "status": 200, "path": path, "data": body["data"], **execution}
    return _reported(body, {"status": 200, "path": path, "body": _excerpt(answer)})


def _refused(answer: Answer, body: Any, path: str) -> dict[str, Any]:
    boundary = _BOUNDARY_OF_CODE.get(_error_field(body, "code"), "") or _boundary_of_status(
        answer.status or 0, body
    )
    message = _cut(_error_field(body, "message")) or f"HTTP status {answer.status}."
    excerpt = _excerpt(answer)
    return failed(boundary, "http_status", message, status=answer.status, path=path, body=excerpt)


def _boundary_of_status(status: int, body: Any) -> str:
    """403: the header. 404 in n8n's own words: no such webhook. 500 in JSON: n8n ran and failed. Else: on the way."""
    if status < 300:
        return "shape"
    if status in (401, 403):
        return "header"
    is_object = isinstance(body, Mapping)
    if status == 404 and is_object and re.search(r"\bregistered\b", str(body.get("message"))):
        return "active"
    return "shape" if status == 500 and is_object else "request"


def _not_json(answer: Answer, path: str) -> dict[str, Any]:
    is_page = re.search(r"\bhtml\b", answer.content_type, re.IGNORECASE) is not None
    message = "The answer is no JSON." if answer.text else f"The answer is empty. {_UNKNOWN_EFFECT}"
    boundary = "request" if is_page else "shape"
    return failed(boundary, "not_json", message, status=answer.status, path=path, body=_cut(answer.text))


def _reported(body: Any, more: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(body, Mapping) and body.get("ok") is False:
        boundary = _BOUNDARY_OF_CODE.get(_error_field(body, "code"), "shape")
        message = _cut(_error_field(body, "message")) or "The workflow says that it failed."
        return failed(boundary, "webhook_reported_failure", message, **more)
    message = f"The answer has no ok: true with data, so nothing is confirmed. {_UNKNOWN_EFFECT}"
    return failed("shape", "unexpected_answer", message, **more)


def _error_field(body: Any, name: str) -> str:
    error = body.get("error") if isinstance(body, Mapping) else None
    value = error.get(name) if isinstance(error, Mapping) else None
    return value if isinstance(value, str) else ""


def _excerpt(answer: Answer) -> Any:
    return redact(answer.document) if answer.is_json and len(answer.text) <= _EXCERPT else _cut(answer.text)


def _cut(text: str) -> str:
    """The beginning, without secrets: cut first, it may end with a part of one that nothing knows any more."""
    return redact_text(text[:_LOOKED_AT])[:_EXCERPT]


def _no_json(word: str) -> None:
    """NaN and its like."""
    raise ValueError(word)
