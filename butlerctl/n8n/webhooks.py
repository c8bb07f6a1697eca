"""One request to a production webhook, as the plugin would send it, held as evidence. Nothing is judged here."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from types import TracebackType
from typing import Any, Self

from butlerctl.n8n.http import Limits, failure_text, header_value, make_client, send
from butlerctl.redaction import MASK, redact, redact_cut, redact_text, register_secret

ANSWER_LIMIT = 4 * 1024 * 1024
"""Bytes of an answer that are read; a webhook's are far below it."""

WRONG_MASK = "<wrong>"
_WRONG_KEY = "butlerctl-wrong-key"  # deliberately not the secret
_SHOWN = 20_000
_KEPT_HEADERS = (
    "access-control-allow-methods",
    "access-control-allow-origin",
    "content-length",
    "content-type",
    "location",
    "server",
    "transfer-encoding",
    "www-authenticate",
)


class Key(StrEnum):
    """What stands in the key header of a request."""

    NONE = "none"
    WRONG = "wrong"
    RIGHT = "right"


@dataclass(frozen=True, slots=True)
class Target:
    """Where the webhooks are and how the plugin addresses them. `timeout` is in seconds, for a whole answer."""

    url: str
    header: str
    secret: str = field(repr=False)
    user_agent: str
    timeout: float

    def address(self, path: str) -> str:
        return f"{self.url.rstrip('/')}/webhook/{path}"


class Webhooks:
    """Sends requests, each on a connection of its own. Safe to share between threads."""

    def __init__(self, target: Target) -> None:
        """Raises BadInput for a secret that no header can carry."""
        register_secret(target.secret)
        header_value(target.secret, "the webhook's secret")
        self.target = target
        self._client = make_client(target.url, timeout=target.timeout, reuse=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def options(self, path: str) -> dict[str, Any]:
        """`OPTIONS` with an `Origin`: n8n lists the registered methods, runs nothing and wants no key."""
        return self._exchange("OPTIONS", path, {"Origin": "http://butlerctl.invalid"}, None, Key.NONE)

    def get(self, path: str) -> dict[str, Any]:
        """`GET`: where nothing takes it, n8n's 404 names the methods that are registered. Elsewhere it would run."""
        return self._exchange("GET", path, {}, None, Key.NONE)

    def post(self, path: str, body: Mapping[str, Any], key: Key) -> dict[str, Any]:
        """`POST` with a JSON body."""
        return self._exchange("POST", path, {"Content-Type": "application/json"}, body, key)

    def _exchange(
        self, method: str, path: str, headers: Mapping[str, str], body: Mapping[str, Any] | None, key: Key
    ) -> dict[str, Any]:
        """An `exchange` document without `probe`. Secrets are masked before anything is kept."""
        url = self.target.address(path)
        sent = {"User-Agent": self.target.user_agent, **headers}
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        content = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        key_header = self._key_header(key)
        response = self._send(method, url, sent | key_header, content)
        shown = dict.fromkeys(key_header, WRONG_MASK if key is Key.WRONG else MASK)
        return {
            "kind": "exchange",
            "seen_by": "probe",
            "at": at,
            "request": {
                "method": method,
                "url": redact_text(url),
                "headers": sent | shown,
                "body": redact(body),
            },
            "response": response,
        }

    def _key_header(self, key: Key) -> dict[str, str]:
        """Without a secret the plugin sends no header at all."""
        if key is Key.WRONG:
            return {self.target.header: _WRONG_KEY}
        return {self.target.header: self.target.secret} if key is Key.RIGHT and self.target.secret else {}

    def _send(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes | None
    ) -> dict[str, Any]:
        import httpx

        started = time.monotonic()
        limits = Limits(self.target.timeout, ANSWER_LIMIT)
        try:
            found = send(self._client, method, url, limits, headers=dict(headers), content=content)
        except (httpx.RequestError, httpx.InvalidURL) as error:
            return {
                "status": None,
                "headers": {},
                "body": None,
                "elapsed_ms": _elapsed(started),
                "error": failure_text(error, url),
            }
        shown = {name: redact_text(found.headers[name]) for name in _KEPT_HEADERS if name in found.headers}
        body = _body(found.body)
        return {"status": found.status, "headers": shown, "body": body, "elapsed_ms": _elapsed(started)}


def _elapsed(started: float) -> int:
    return round((time.monotonic() - started) * 1000)


def _body(raw: bytes) -> Any:
    """JSON where it is JSON, else the text; without secrets and without n8n's stack trace."""
    text = raw.decode("utf-8", errors="replace")
    try:
        document = json.loads(text)
    except ValueError:
        return redact_cut(text[:_SHOWN])
    if isinstance(document, dict):
        document.pop("stacktrace", None)
    return redact(document)
