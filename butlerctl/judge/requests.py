"""The HTTP requests in the evidence: what was sent, by whom, with or without the key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from butlerctl.evidence import Document
from butlerctl.judge import routes
from butlerctl.redaction import MASK, is_secret_name

_LABELS_OF_REFUSALS = frozenset({"without_key", "wrong_key"})
_WRONG_KEY = "<wrong>"
_API_CALL = re.compile(
    r"/(?:api/v1|rest)/(?:workflows|executions|credentials|users|tags|variables|projects|source-control|audit|login)\b"
)


def request_of(document: Document) -> Mapping[str, Any]:
    request = document.get("request")
    return request if isinstance(request, Mapping) else {}


def response_of(document: Document) -> Mapping[str, Any]:
    response = document.get("response")
    return response if isinstance(response, Mapping) else {}


def call_id_of(document: Document) -> str:
    """The id of the call that the request was sent for; empty when it was not recorded."""
    return str(document.get("tool_call_id") or "")


def is_api_call(document: Document) -> bool:
    """Is this a call of n8n's own REST API?"""
    return _API_CALL.search(routes.address_of(request_of(document).get("url")).path) is not None


def is_probe(document: Document) -> bool:
    """Was this the verifier's own request?"""
    return str(document.get("seen_by")) in {"probe", "operator"} or "probe" in document


def is_without_key(document: Document) -> bool:
    """Was the request meant to be refused: no key, or a wrong one?"""
    if str(document.get("probe")) in _LABELS_OF_REFUSALS:
        return True
    return all(value in ("", None, _WRONG_KEY) for value in key_headers(document).values())


def key_headers(document: Document) -> dict[str, Any]:
    """The headers of the request that carry a key: by their name, or because their value was masked."""
    headers = request_of(document).get("headers")
    named = headers.items() if isinstance(headers, Mapping) else ()
    return {
        str(name): value for name, value in named if is_secret_name(str(name)) or value in (MASK, _WRONG_KEY)
    }


def is_preflight(document: Document) -> bool:
    return str(request_of(document).get("method", "")).upper() == "OPTIONS"


def sent_body(document: Document) -> Any:
    """The body of an `exchange` or of a `received_request`."""
    return (
        document.get("body") if document["kind"] == "received_request" else request_of(document).get("body")
    )
