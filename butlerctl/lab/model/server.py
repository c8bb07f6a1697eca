"""The model as an OpenAI-compatible endpoint: `POST /v1/chat/completions`, `GET /v1/models`."""

from __future__ import annotations

import hmac
import json
import secrets
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from butlerctl.errors import UsageProblem
from butlerctl.inventory.operations import Route
from butlerctl.lab.model.butler import Answer, read_situation
from butlerctl.lab.model.misbehave import KINDS, Planted, ProviderFailure, respond

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

MODEL_NAME = "lab-butler-1"

_PIECE = 24  # characters of arguments or text in one chunk of a stream
_ERROR_TYPES = {401: "authentication_error", 429: "rate_limit_error", 500: "server_error"}


class LabModel:
    """Serve `app` with LoopbackServer. An empty `api_key` lets everybody in; `name` is the model's id."""

    def __init__(self, *, api_key: str = "", name: str = MODEL_NAME) -> None:
        self.name = name
        self._api_key = api_key
        self._planted: list[Planted] = []

    def plant(self, kind: str, route: Route | None = None) -> None:
        """Misbehave from now on in this way (a name of `KINDS`) on this route, or on every one."""
        if kind not in KINDS:
            raise UsageProblem(f"the model cannot misbehave as {kind!r}", hint=f"it can: {', '.join(KINDS)}")
        self._planted = [*self._planted, Planted(kind, route)]

    def clear(self) -> None:
        """Be honest again."""
        self._planted = []

    @property
    def app(self) -> WSGIApplication:
        return Request.application(self._answer)

    def _answer(self, request: Request) -> Response:
        if not self._is_allowed(request):
            return _error(401, "Incorrect API key provided.")
        if request.path == "/v1/models" and request.method == "GET":
            return _json(
                {"object": "list", "data": [{"id": self.name, "object": "model", "owned_by": "lab"}]}
            )
        if request.path != "/v1/chat/completions":
            return _error(404, f"Unknown request URL: {request.method} {request.path}.")
        if request.method != "POST":
            return _error(405, "Only POST requests are accepted.")
        body = _body(request)
        if body is None:
            return _error(
                400, "The request is no chat completion: an object with a list of messages is expected."
            )
        return self._complete(body)

    def _is_allowed(self, request: Request) -> bool:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        return not self._api_key or hmac.compare_digest(given.encode(), self._api_key.encode())

    def _complete(self, body: dict[str, Any]) -> Response:
        answer = respond(read_situation(body["messages"], body.get("tools") or []), self._planted)
        if isinstance(answer, ProviderFailure):
            return _error(answer.status, answer.message)
        completion = _Completion(answer, str(body.get("model") or self.name), _tokens(body))
        if not body.get("stream"):
            return _json(completion.document())
        usage = bool((body.get("stream_options") or {}).get("include_usage"))
        return Response(completion.stream(usage=usage), mimetype="text/event-stream")


class _Completion:
    """One answer as the API writes it, whole or in pieces."""

    def __init__(self, answer: Answer, model: str, prompt_tokens: int) -> None:
        self._answer = answer
        self._head = {"id": f"chatcmpl-{secrets.token_hex(12)}", "created": int(time.time()), "model": model}
        self._calls = [(f"call_{secrets.token_hex(6)}", name, arguments) for name, arguments in answer.calls]
        spoken = len(answer.text) + sum(len(arguments) for _, arguments in answer.calls)
        self._usage = {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": spoken // 4 + 1,
            "total_tokens": prompt_tokens + spoken // 4 + 1,
        }

    def document(self) -> dict[str, Any]:
        calls = [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for call_id, name, arguments in self._calls
        ]
        message: dict[str, Any] = {"role": "assistant", "content": self._answer.text or None}
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": self._answer.finish_reason}
        return {**self._head, "object": "chat.completion", "choices": [choice], "usage": self._usage}

    def stream(self, *, usage: bool) -> Iterator[bytes]:
        for delta in self._deltas():
            yield self._event([{"index": 0, "delta": delta, "finish_reason": None}])
        yield self._event([{"index": 0, "delta": {}, "finish_reason": self._answer.finish_reason}])
        if usage:
            yield self._event([], usage=self._usage)
        yield b"data: [DONE]\n\n"

    def _deltas(self) -> Iterator[dict[str, Any]]:
        yield {"role": "assistant", "content": ""}
        for piece in _pieces(self._answer.text):
            yield {"content": piece}
        for index, (call_id, name, arguments) in enumerate(self._calls):
            function = {"name": name, "arguments": ""}
            yield {"tool_calls": [{"index": index, "id": call_id, "type": "function", "function": function}]}
            for piece in _pieces(arguments):
                yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}

    def _event(self, choices: list[dict[str, Any]], **more: Any) -> bytes:
        chunk = {**self._head, "object": "chat.completion.chunk", "choices": choices, **more}
        return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))


def _body(request: Request) -> dict[str, Any] | None:
    body = request.get_json(force=True, silent=True)
    messages = body.get("messages") if isinstance(body, dict) else None
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        return None
    return body if isinstance(body, dict) else None


def _tokens(body: dict[str, Any]) -> int:
    """About four characters a token."""
    return len(json.dumps(body["messages"])) // 4


def _error(status: int, message: str) -> Response:
    kind = _ERROR_TYPES.get(status, "invalid_request_error")
    return _json({"error": {"message": message, "type": kind, "param": None, "code": None}}, status)


def _json(document: Any, status: int = 200) -> Response:
    return Response(json.dumps(document, ensure_ascii=False), status, mimetype="application/json")
