"""How OpenClaw tells a failure of the model's provider: over WebSocket in words, over HTTP with a status of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from butlerctl.lab.gateway.sessions import error_of

FAILED_REPLY = "LLM request failed."
"""What is delivered after a failure that the gateway does not know."""


class Relayed(NamedTuple):
    """The answer over HTTP."""

    status: int
    type: str
    message: str


# Provider's status: the status and type over HTTP.
_KINDS = {
    400: (400, "invalid_request_error"),
    401: (401, "authentication_error"),
    402: (402, "insufficient_quota"),
    403: (401, "authentication_error"),
    404: (404, "invalid_request_error"),
    429: (429, "rate_limit_error"),
}
_WORDS = {
    404: "The selected model was not found by the provider. Check the model id or choose a different model.",
    429: "⚠️ API rate limit reached. Please try again later.",
}


def is_known(completion: Mapping[str, Any]) -> bool:
    """Whether this failure fails the run; a 4xx that the gateway has no name for becomes a reply."""
    status = completion.get("http_status")
    return status in _KINDS or status is None or not 400 <= status < 500


def relayed(completion: Mapping[str, Any]) -> Relayed:
    """A provider's 4xx nearly as it is; its 5xx, and silence, as 408."""
    status = completion.get("http_status")
    if status not in _KINDS:
        return Relayed(408, "api_error", "upstream provider timeout")
    return Relayed(*_KINDS[status], _plain_words(completion))


def words_of(completion: Mapping[str, Any]) -> str:
    status = completion.get("http_status")
    if status is None or status < 400:  # no answer, or one that broke off
        return "LLM request timed out."
    return _WORDS.get(status) or _plain_words(completion)


def _plain_words(completion: Mapping[str, Any]) -> str:
    return f"{completion.get('http_status')} {error_of(completion).get('message', '')}".strip()
