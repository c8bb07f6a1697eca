"""Who answered a request, and how. An answer comes from an exchange, or only as the result that reached the model."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from butlerctl.evidence import Document
from butlerctl.judge import payload
from butlerctl.judge.conversation import Call


class Kind(StrEnum):
    """Sorts of answers, in the order in which they are recognised."""

    NO_REPLY = "no reply"
    TIMEOUT = "no reply in time"
    REDIRECT = "a redirect"
    GATEWAY = "an answer of something in front of n8n"
    PAGE = "a page of HTML"
    REFUSED = "a refusal"
    NOT_REGISTERED = "webhook not registered"
    WRONG_METHOD = "webhook not registered for this method"
    UNREADABLE = "n8n could not parse the request"
    INVALID_ARGS = "input refused by the workflow"
    EMPTY = "an empty body"
    NOT_JSON = "a body that is not JSON"
    STATUS = "an error status of n8n"
    JSON = "JSON with 2xx"
    NOT_SENT = "a failure before anything was sent"


@dataclass(frozen=True, slots=True)
class Answer:
    """`body` is the parsed JSON, None when there was none; `words` says shortly what was seen."""

    kind: Kind
    document: Document
    status: int | None = None
    body: Any = None
    words: str = ""
    elapsed_ms: float | None = None

    @property
    def by_n8n(self) -> bool:
        """Did n8n itself say this?"""
        return self.kind in _OF_N8N


_OF_N8N = frozenset(
    {
        Kind.REFUSED,
        Kind.NOT_REGISTERED,
        Kind.WRONG_METHOD,
        Kind.UNREADABLE,
        Kind.INVALID_ARGS,
        Kind.EMPTY,
        Kind.NOT_JSON,
        Kind.STATUS,
        Kind.JSON,
    }
)
_GATEWAY_TIMEOUTS = frozenset({408, 504, 522, 524})
_GATEWAY_STATUSES = frozenset({429, 502, 503, 520, 521, 523, 525, 526, 527, 530})
_PAGE = re.compile(r"^\s*<(!doctype|html|head|body|\?xml)", re.IGNORECASE)
_TIMEOUT_WORDS = re.compile(r"time[d]?[ -]?out|ETIMEDOUT|ECONNABORTED|deadline|aborted", re.IGNORECASE)
_NETWORK_WORDS = re.compile(
    r"ECONN|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EPIPE|fetch failed|socket hang up|getaddrinfo|network"
    r"|connection (refused|reset|closed|error)|refused to connect|name or service not known|certificate|\bTLS\b|\bSSL\b",
    re.IGNORECASE,
)
_NOT_REGISTERED = re.compile(r"is not registered|(active|published) version not found", re.IGNORECASE)
_WRONG_METHOD = re.compile(r"not registered for \w+ requests", re.IGNORECASE)
_STATUS_WORDS = re.compile(r"\b(?:HTTP|status(?: code)?)[ :]*([1-5]\d\d)\b", re.IGNORECASE)
_CUT_MESSAGE = re.compile(r'"message"\s*:\s*"((?:[^"\\]|\\.)*)"')
_TAG = re.compile(r"</?[a-z!][^<>]*>", re.IGNORECASE)
_TELLS_FAILURE = re.compile(r"error|fail|not found|invalid|denied|refused|exception", re.IGNORECASE)
_SHOWN = 160


def of_exchange(document: Document) -> Answer:
    """The answer in an `exchange`."""
    response = document.get("response")
    reply = response if isinstance(response, Mapping) else {}
    status, elapsed = reply.get("status"), reply.get("elapsed_ms")
    elapsed_ms = float(elapsed) if isinstance(elapsed, int | float) else None
    if not isinstance(status, int):
        error = str(reply.get("error") or "no answer")
        kind = Kind.TIMEOUT if _TIMEOUT_WORDS.search(error) else Kind.NO_REPLY
        return Answer(kind, document, words=error[:_SHOWN], elapsed_ms=elapsed_ms)
    kind, body, words = _classify(status, header(reply.get("headers"), "content-type"), reply.get("body"))
    return Answer(kind, document, status, body, words, elapsed_ms)


def of_result(call: Call, document: Document) -> Answer | None:
    """The answer that the result of a call tells of; None when no result reached the model."""
    if call.result is None:
        return None
    try:
        value = json.loads(call.result)
    except (ValueError, RecursionError):
        value = None if call.failed else _json_behind_words(call.result)
        if value is None:
            return _of_words(call.result, document, failed=True)
    if not isinstance(value, Mapping):
        return (
            Answer(Kind.JSON, document, 200, value) if not call.failed else _of_words(call.result, document)
        )
    return _of_wrapper(value, document, failed=call.failed)


def _json_behind_words(text: str) -> Any:
    """The JSON at the end of a result such as `HTTP 200` and the body; None when the words tell of a failure."""
    at = min((found for found in map(text.find, "{[") if found > 0), default=0)
    status = _STATUS_WORDS.search(text[:at])
    if at == 0 or _TELLS_FAILURE.search(text[:at]) or (status and not status[1].startswith("2")):
        return None
    return _parsed(text[at:])


def header(headers: Any, name: str) -> str:
    """The value of an HTTP header, whatever the case of its name; empty when it is not there."""
    if not isinstance(headers, Mapping):
        return ""
    return next((str(value) for key, value in headers.items() if str(key).lower() == name), "")


def _classify(status: int, content_type: str, body: Any) -> tuple[Kind, Any, str]:
    """Sort, parsed body and words of an HTTP answer."""
    value = _parsed(body)
    words = f"HTTP {status}{_said(value, body)}"
    workflow_said = isinstance(payload.unwrap(value), Mapping) and {"ok", "execution"} & set(
        payload.unwrap(value)
    )
    if 300 <= status < 400:
        return Kind.REDIRECT, None, words
    if status in _GATEWAY_TIMEOUTS and not workflow_said:
        return Kind.TIMEOUT, None, words
    if status in _GATEWAY_STATUSES and not workflow_said:
        return Kind.GATEWAY, None, words
    if "html" in content_type.lower() or (isinstance(body, str) and _PAGE.match(body)):
        return Kind.PAGE, None, f"HTTP {status} with a page of HTML"
    return _of_status(status, value, body), value, words


def _of_status(status: int, value: Any, body: Any) -> Kind:
    message = _message(value, body)
    for statuses, words, kind in _BY_STATUS:
        if status in statuses and words.search(message):
            return kind
    if status >= 400:
        return Kind.STATUS
    if body in (None, "", b""):
        return Kind.EMPTY
    return Kind.NOT_JSON if value is None else Kind.JSON


_ANYTHING = re.compile("")
_BY_STATUS: tuple[tuple[frozenset[int], re.Pattern[str], Kind], ...] = (
    (frozenset({401, 403}), _ANYTHING, Kind.REFUSED),
    (frozenset({404, 405}), _WRONG_METHOD, Kind.WRONG_METHOD),
    (frozenset({404}), _NOT_REGISTERED, Kind.NOT_REGISTERED),
    (frozenset({404, 405}), _ANYTHING, Kind.GATEWAY),
    (frozenset({422}), re.compile("parse", re.IGNORECASE), Kind.UNREADABLE),
    (frozenset({400}), re.compile("invalid_args"), Kind.INVALID_ARGS),
)


def _of_wrapper(value: Mapping[str, Any], document: Document, *, failed: bool) -> Answer:
    """The plugin's result. Its `ok` is a claim: status and body are looked at again."""
    status = _status_in(value)
    body = next((value[key] for key in ("data", "body") if value.get(key) is not None), None)
    told = ": ".join(
        str(value[key]) for key in ("error", "message", "detail") if isinstance(value.get(key), str)
    )
    said = told or payload.error_inside(value)
    if status is not None and not 200 <= status < 300:
        kind, parsed, words = _classify(status, "", body if body is not None else value)
        return Answer(kind, document, status, parsed, words[:_SHOWN])
    if value.get("ok") is not False and not failed and not (said and body is None):
        return Answer(Kind.JSON, document, 200, body if body is not None else value)
    if status is not None and isinstance(body, str) and not _is_cut(body):
        kind, parsed, words = _classify(status, "", body)
        return Answer(kind, document, status, parsed, f"{words} ({told})"[:_SHOWN])
    return _of_words(
        said or json.dumps(value), document, body=body if isinstance(body, Mapping | list) else None
    )


def _is_cut(body: str) -> bool:
    """An excerpt of a JSON body, of which the end is missing."""
    return body.lstrip()[:1] in {"{", "["} and _parsed(body) is None


def _of_words(said: str, document: Document, *, body: Any = None, failed: bool = True) -> Answer:
    """An answer of which only an error text is left."""
    words = said.strip()[:_SHOWN]
    status = _STATUS_WORDS.search(said)
    if status:
        kind, _, _ = _classify(int(status[1]), "", {"message": said})
        return Answer(kind, document, int(status[1]), None, words)
    if body is not None:
        return Answer(Kind.JSON, document, 200, body, words)
    if _CREDENTIAL_WORDS.search(said):
        return Answer(Kind.JSON, document, None, {"error": said}, words)
    for kind, pattern in _WORDS_OF_A_PLUGIN:
        if pattern.search(said):
            return Answer(kind, document, None, None, words)
    return Answer(Kind.NOT_SENT if failed else Kind.JSON, document, None, None, words)


# Only the workflow itself can have said this.
_CREDENTIAL_WORDS = re.compile(
    r"needs to be reconnected|invalid_grant|does not exist for type|could not be decrypted|insufficient authentication scopes"
    r"|unable to sign without access token|provided authorization grant",
    re.IGNORECASE,
)
_WORDS_OF_A_PLUGIN = (
    (Kind.TIMEOUT, _TIMEOUT_WORDS),
    (Kind.REDIRECT, re.compile(r"\bredirect", re.IGNORECASE)),
    (Kind.EMPTY, re.compile(r"unexpected end of (json|input)|empty (body|answer|response)", re.IGNORECASE)),
    (Kind.PAGE, re.compile(r"unexpected token '?<|<!doctype|<html", re.IGNORECASE)),
    (Kind.NOT_JSON, re.compile(r"not valid json|not_json|unexpected token|invalid json", re.IGNORECASE)),
    (Kind.NO_REPLY, _NETWORK_WORDS),
    (Kind.NOT_REGISTERED, _NOT_REGISTERED),
    (Kind.REFUSED, re.compile(r"authorization data is wrong|forbidden|unauthorized", re.IGNORECASE)),
)


def _status_in(value: Mapping[str, Any]) -> int | None:
    """The HTTP status in a plugin's result: told outright, or in the body of n8n that it handed on."""
    data = value.get("data")
    inner = data if isinstance(data, Mapping) else {}
    if "message" in inner and isinstance(inner.get("code"), int) and inner["code"] >= 400:
        return int(inner["code"])
    for key in ("status", "statusCode", "http_status", "httpStatus", "code"):
        told = value.get(key)
        if isinstance(told, int) and not isinstance(told, bool) and 100 <= told < 600:
            return told
    return None


def _parsed(body: Any) -> Any:
    if not isinstance(body, str):
        return body
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, Mapping | list) else None


def _message(value: Any, body: Any) -> str:
    if isinstance(payload.unwrap(value), Mapping):
        plain = payload.unwrap(value)
        return f"{plain.get('message', '')} {plain.get('error', '')}"
    return body if isinstance(body, str) else ""


def _said(value: Any, body: Any) -> str:
    inside = payload.error_inside(value) if value is not None else ""
    message = _readable(inside or (_message(value, body) if not isinstance(value, list) else ""))
    return f": {message[:_SHOWN]}" if message else ""


def _readable(text: str) -> str:
    """The message of JSON that was cut off, the words of a page, in one line."""
    told = _CUT_MESSAGE.search(text) if _is_cut(text) else None
    return " ".join(_TAG.sub(" ", told[1].replace('\\"', '"') if told else text).split())
