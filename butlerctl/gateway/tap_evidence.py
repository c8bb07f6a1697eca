"""What passed through a tap as evidence: headers and bodies as documents, and no secret in them."""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from butlerctl.gateway.tap_stream import redact_stream
from butlerctl.protocol.decode import NotStrictJson, nesting, read_payload
from butlerctl.protocol.sse import event_data
from butlerctl.redaction import is_secret_name, redact, redact_cut, register_secret

Exchange = dict[str, Any]
Headers = Iterable[tuple[str, str]]

READABLE_CODINGS = frozenset({"gzip", "x-gzip", "deflate", "identity"})
_MOST_LEVELS = 100
_MOST_UNPACKED = 64 * 1024 * 1024
# Beyond the names that every document knows: what a server may have called the header of its credential.
_SECRET_HEADER = re.compile(r"(?:^|-)(?:key|session|sid|signature|credentials?)(?:-id)?$", re.IGNORECASE)
# A shorter value of a cookie, or under a name that is only likely, may be an ordinary word.
_SHORTEST_LIKELY = 8
_EVENT_LINE = re.compile(rb"(?:data|event|id|retry)?:")


def register_credentials(headers: Headers, query: str = "") -> None:
    """Mask from now on whatever credential stands in these headers, or in this query of an address."""
    for name, value in headers:
        if name.lower() == "cookie":
            for pair in value.split(";"):
                _register_likely(pair.partition("=")[2])
        elif name.lower() == "set-cookie":  # what follows the first pair is no secret
            _register_likely(value.partition(";")[0].partition("=")[2])
        elif is_secret_name(name):
            _register_authorization(value)
        elif _SECRET_HEADER.search(name):
            _register_likely(value)
    for name, value in parse_qsl(query):
        if is_secret_name(name):
            register_secret(value)
        elif name.lower() in {"key", "sig", "signature"}:
            _register_likely(value)


def _register_authorization(value: str) -> None:
    """`Bearer KEY`, `Basic BASE64`, or a key alone."""
    scheme, _, rest = value.strip().partition(" ")
    register_secret(value)
    register_secret(rest)
    if scheme.lower() == "basic":
        try:
            pair = base64.b64decode(rest, validate=True).decode("utf-8", errors="replace")
        except binascii.Error:
            return
        register_secret(pair)
        register_secret(pair.partition(":")[2])


def _register_likely(value: str) -> None:
    value = value.strip().strip('"')
    if len(value) >= _SHORTEST_LIKELY:
        register_secret(value)


def headers_of(headers: Headers) -> dict[str, str]:
    """Headers as evidence holds them; those of one name joined by commas."""
    found: dict[str, str] = {}
    for name, value in headers:
        known = next((other for other in found if other.lower() == name.lower()), name)
        found[known] = f"{found[known]}, {value}" if known in found else value
    return found


def body_of(body: bytes, headers: Mapping[str, str]) -> Any:
    """A body as evidence holds it: JSON as a value, a stream as the list of its events, anything else as text."""
    plain = _unpacked(body, _header(headers, "content-encoding").lower())
    if plain is None:
        return f"{len(body)} bytes in a coding that the tap does not read"
    content_type = _header(headers, "content-type").lower()
    if content_type.startswith("text/event-stream") or _EVENT_LINE.match(plain):
        return _events(plain)
    text = plain.decode("utf-8", errors="replace")
    if "json" not in content_type:
        return text
    lines = [_value(line) for line in text.split("\n") if line.strip()]
    whole = _value(text)
    is_stream = isinstance(whole, str) and len(lines) > 1 and isinstance(lines[0], Mapping)
    return lines if is_stream else whole


def _events(body: bytes) -> list[Any]:
    found = [_value(data) for data in event_data([body]) if data != "[DONE]"]
    if not body.endswith((b"\n\n", b"\r\n\r\n")) and found and isinstance(found[-1], str):
        found[-1] = (
            "<cut off>"  # half an event may hold the middle of a secret, which nothing tells from text
        )
    return found


def _value(text: str) -> Any:
    """JSON as a value; as text what is none, or too deep to be walked through."""
    try:
        return read_payload(text) if nesting(text) <= _MOST_LEVELS else text
    except NotStrictJson:
        return text


def _header(headers: Mapping[str, str], name: str) -> str:
    return next((value for key, value in headers.items() if key.lower() == name), "").strip()


def _unpacked(body: bytes, coding: str) -> bytes | None:
    """What a compressed body holds, as far as it came; None where the coding is not known."""
    if coding in {"", "identity"} or not body:
        return body
    if coding not in READABLE_CODINGS:
        return None
    windows = (zlib.MAX_WBITS | 32, -zlib.MAX_WBITS) if coding == "deflate" else (zlib.MAX_WBITS | 32,)
    for window in windows:  # some servers mean the bare format by deflate
        try:
            return zlib.decompressobj(window).decompress(body, _MOST_UNPACKED)
        except zlib.error:
            continue
    return None


def without_secrets(exchange: Mapping[str, Any]) -> Exchange:
    """An exchange without secrets, also where one runs over the events of a stream or its body broke off in one."""
    request, response = exchange["request"], exchange["response"]
    broke_off = "error" in response
    redacted: Exchange = redact(
        {
            **exchange,
            "request": {**request, "body": _body_without_secrets(request["body"], broke_off=broke_off)},
            "response": {**response, "body": _body_without_secrets(response["body"], broke_off=broke_off)},
        }
    )
    return redacted


def _body_without_secrets(body: Any, *, broke_off: bool) -> Any:
    if isinstance(body, list):
        return redact_stream(body)
    return redact_cut(body) if broke_off and isinstance(body, str) else body
