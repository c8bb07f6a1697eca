"""A provider on loopback that answers from a script and keeps what it was asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Self

from butlerctl.lab.server import LoopbackServer

Answer = tuple[int, dict[str, str], bytes]
Step = Answer | Callable[[dict[str, Any]], Answer]


def whole(content: str | None = None, calls: Sequence[dict[str, Any]] = (), **more: Any) -> Answer:
    """A response object. A finish that fits is the default."""
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = list(calls)
    choice = {"index": 0, "message": message, "finish_reason": more.pop("finish", _finish(calls))}
    body = {"id": "c", "object": "chat.completion", "choices": [choice], **more}
    return 200, {"Content-Type": "application/json"}, json.dumps(body).encode()


def streamed(content: str | None = None, calls: Sequence[dict[str, Any]] = (), **more: Any) -> Answer:
    """The same as an event stream; arguments are cut into pieces of seven characters."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": content or ""}]
    for index, call in enumerate(calls):
        text = call["function"]["arguments"]
        opening = {**call, "index": index, "function": {"name": call["function"]["name"], "arguments": ""}}
        deltas.append({"tool_calls": [opening]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": text[at : at + 7]}}]}
            for at in range(0, len(text), 7)
        ]
    finish = more.pop("finish", _finish(calls))
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}], **more})
    return events(chunks)


def events(chunks: Sequence[Any], *, done: bool = True) -> Answer:
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks] + (["data: [DONE]\n\n"] if done else [])
    return 200, {"Content-Type": "text/event-stream"}, "".join(lines).encode()


def failure(status: int, **headers: str) -> Answer:
    body = json.dumps({"error": {"code": status, "message": "scripted"}}).encode()
    return status, {"Content-Type": "application/json", **headers}, body


def call(name: str, arguments: Any, call_id: str = "call_1") -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def _finish(calls: Sequence[Any]) -> str:
    return "tool_calls" if calls else "stop"


class ScriptedProvider:
    """Serves one step for each request; the last step is repeated. `requests` holds the bodies it was sent."""

    def __init__(self, *steps: Step) -> None:
        self.requests: list[dict[str, Any]] = []
        self.authorizations: list[str | None] = []
        self._steps = list(steps)
        self._server = LoopbackServer(self._answer)

    @property
    def url(self) -> str:
        return f"{self._server.url}/v1"

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.close()

    def _answer(self, environ: dict[str, Any], start_response: Any) -> list[bytes]:
        assert environ["PATH_INFO"] == "/v1/chat/completions"
        body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
        self.requests.append(json.loads(body))
        self.authorizations.append(environ.get("HTTP_AUTHORIZATION"))
        step = self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]
        status, headers, content = step(self.requests[-1]) if callable(step) else step
        start_response(f"{status} X", [*headers.items(), ("Content-Length", str(len(content)))])
        return [content]
