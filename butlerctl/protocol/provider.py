"""One question to an OpenAI-compatible endpoint, and everything that came back."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Self

from butlerctl.errors import BadInput, Unreachable
from butlerctl.loopback import is_loopback
from butlerctl.protocol.decode import NotStrictJson, nesting, read_payload
from butlerctl.protocol.sse import event_data
from butlerctl.protocol.tools import ToolSchema
from butlerctl.protocol.wires.openai_chat import tools as render_tools
from butlerctl.redaction import redact, redact_text, register_secret

if TYPE_CHECKING:
    import httpx

Message = dict[str, Any]

_MOST_BYTES = 8 * 1024 * 1024
_MOST_LEVELS = 128
_KEPT_HEADERS = ("content-type", "retry-after", "x-request-id", "x-generation-id", "server")


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer of a provider, whole. `http_status` is None when there was none; `error` says what broke.

    `payload` is the response object, or the list of stream chunks, or the text of what is neither.
    """

    http_status: int | None
    headers: Mapping[str, str] = field(default_factory=dict)
    payload: Any = None
    error: str = ""
    elapsed_ms: int = 0

    def evidence(self) -> dict[str, Any]:
        """The completion as a transcript keeps it, without secrets."""
        document = {
            "http_status": self.http_status,
            "headers": dict(self.headers),
            "body": redact(self.payload),
        }
        document["elapsed_ms"] = self.elapsed_ms
        return {**document, "error": self.error} if self.error else document


class Provider(Protocol):
    """Whatever answers with a completion. `adapter` declares the wire format of its payloads."""

    adapter: str

    def complete(
        self, messages: Sequence[Message], schemas: Sequence[ToolSchema], *, seconds: float
    ) -> Completion:
        """Ask once, for at most so many seconds. Never raises for what the provider does."""
        ...


class ChatProvider:
    """Talks to `{base_url}/chat/completions`. Use as a context manager, or `close` it.

    `timeout`: seconds for one completion. `extra`: more fields of the request, such as a pinned upstream.
    Raises BadInput for a key that no header can carry.
    """

    adapter = "openai_chat"

    def __init__(
        self,
        base_url: str,
        api_key: str,
        model: str,
        *,
        stream: bool = True,
        timeout: float = 60.0,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        import httpx

        register_secret(api_key)
        self.model = model
        self.stream = stream
        self.timeout = timeout
        self._url = f"{base_url.rstrip('/')}/chat/completions"
        self._extra = dict(extra or {})
        headers = {"Content-Type": "application/json", **_authorization(api_key)}
        self._client = httpx.Client(headers=headers, trust_env=not is_loopback(base_url))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        self._client.close()

    def complete(
        self, messages: Sequence[Message], schemas: Sequence[ToolSchema], *, seconds: float
    ) -> Completion:
        """Ask once, for at most so many seconds. A broken stream keeps the chunks that had arrived."""
        import httpx

        started = time.monotonic()
        limit = max(0.001, min(seconds, self.timeout))
        answer = _Answer(deadline=started + limit)
        try:
            body = self._body(messages, schemas)
            with self._client.stream("POST", self._url, content=body, timeout=limit) as response:
                answer.take(response)
        except (httpx.HTTPError, httpx.InvalidURL, Unreachable) as error:
            answer.error = redact_text(f"{type(error).__name__}: {error}")
        return answer.completion(int((time.monotonic() - started) * 1000))

    def _body(self, messages: Sequence[Message], schemas: Sequence[ToolSchema]) -> bytes:
        """The request as ASCII: a lone surrogate in a model's own words must not stop the next question."""
        request: dict[str, Any] = {"model": self.model, "messages": list(messages), "stream": self.stream}
        if schemas:
            request["tools"] = render_tools(schemas)
        if self.stream:
            request["stream_options"] = {"include_usage": True}
        return json.dumps({**request, **self._extra}).encode()


def _authorization(api_key: str) -> dict[str, str]:
    if not (api_key.isascii() and api_key.isprintable()):
        raise BadInput("the provider's key holds characters that no HTTP header can carry")
    return {"Authorization": f"Bearer {api_key}"} if api_key else {}


class _Answer:
    """What has arrived of one completion so far."""

    def __init__(self, deadline: float) -> None:
        self.error = ""
        self._deadline = deadline
        self._status: int | None = None
        self._headers: dict[str, str] = {}
        self._payload: Any = None

    def completion(self, elapsed_ms: int) -> Completion:
        return Completion(self._status, self._headers, self._payload, self.error, elapsed_ms)

    def take(self, response: httpx.Response) -> None:
        self._status = response.status_code
        self._headers = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
        if self._headers.get("content-type", "").startswith("text/event-stream"):
            self._payload = chunks = []
            for data in event_data(self._pieces(response)):
                chunks.append(_json_or_text(data))
                if data == "[DONE]":
                    return
        else:
            self._payload = _json_or_text(b"".join(self._pieces(response)).decode(errors="replace"))

    def _pieces(self, response: httpx.Response) -> Iterator[bytes]:
        size = 0
        for piece in response.iter_bytes():
            size += len(piece)
            if size > _MOST_BYTES:
                raise Unreachable(f"the completion is longer than {_MOST_BYTES} bytes")
            if time.monotonic() > self._deadline:
                raise Unreachable("the completion took longer than it may")
            yield piece


def _json_or_text(text: str) -> Any:
    """The JSON value, or the text where it is none or nested so deeply that no completion can be meant."""
    try:
        return read_payload(text) if nesting(text) <= _MOST_LEVELS else text
    except NotStrictJson:
        return text
