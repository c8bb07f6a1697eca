"""Fields of documents, read safely."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from butlerctl.evidence import Document


def lines_of(document: Document) -> list[str]:
    found = document.get("lines")
    return [str(line) for line in found] if isinstance(found, list) else []


def held_by(document: Document) -> Mapping[str, Any]:
    held = document.get("document")
    return held if isinstance(held, Mapping) else {}


def status_of(document: Document) -> int | None:
    response = document.get("response")
    status = response.get("status") if isinstance(response, Mapping) else None
    return status if isinstance(status, int) else None


def response_body(document: Document) -> Mapping[str, Any]:
    response = document.get("response")
    return object_in(response.get("body") if isinstance(response, Mapping) else None)


def object_in(body: Any) -> Mapping[str, Any]:
    """A body as an object, also where it was recorded as text; empty when it is none."""
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except (ValueError, RecursionError):
            return {}
    return body if isinstance(body, Mapping) else {}
