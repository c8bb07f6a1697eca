"""How Google says no: one exception, rendered in the dialect of the API that was called."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

_STATUS_NAMES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ALREADY_EXISTS",
    412: "FAILED_PRECONDITION",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers and body of a response."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str = "application/json; charset=UTF-8"


@dataclass(slots=True)
class GoogleError(Exception):
    """An error answer. `reason` stands in the list that Calendar and Tasks send and Sheets does not."""

    status: int
    reason: str
    message: str
    domain: str = "global"
    location: tuple[str, str] | None = None
    """(locationType, location), such as ("header", "If-Match")."""
    headers: tuple[tuple[str, str], ...] = field(default=())


def not_found(message: str = "Not Found") -> GoogleError:
    return GoogleError(404, "notFound", message)


def bad_request(message: str, reason: str = "badRequest") -> GoogleError:
    return GoogleError(400, reason, message)


def precondition_failed() -> GoogleError:
    return GoogleError(412, "conditionNotMet", "Precondition Failed", location=("header", "If-Match"))


def json_answer(status: int, document: Any, headers: tuple[tuple[str, str], ...] = ()) -> Answer:
    return Answer(status, json.dumps(document, ensure_ascii=False).encode(), headers)


def render(api: str, error: GoogleError) -> Answer:
    """Calendar: a list of errors. Tasks: the list and a status. Sheets: a status and no list."""
    body: dict[str, Any] = {"code": error.status, "message": error.message}
    if api != "sheets":
        body["errors"] = [_entry(error)]
    if api != "calendar":
        body["status"] = _STATUS_NAMES.get(error.status, "UNKNOWN")
    return json_answer(error.status, {"error": body}, error.headers)


def _entry(error: GoogleError) -> dict[str, str]:
    entry = {"domain": error.domain, "reason": error.reason, "message": error.message}
    if error.location:
        entry |= {"locationType": error.location[0], "location": error.location[1]}
    return entry


HTML_NOT_FOUND = Answer(
    404,
    b"<!DOCTYPE html>\n<html lang=en><title>Error 404 (Not Found)!!1</title>"
    b"<p>The requested URL was not found on this server.</html>\n",
    content_type="text/html; charset=UTF-8",
)
