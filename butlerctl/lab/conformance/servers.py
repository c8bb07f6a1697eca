"""The two ends that a gateway under test stands between: a scripted model and scripted webhooks, both on loopback."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self

from werkzeug import Request, Response

from butlerctl.lab.conformance.script import Answer, Failure, Silence, Stream
from butlerctl.lab.server import LoopbackServer
from butlerctl.redaction import redact

Exchange = dict[str, Any]
Behaviour = Callable[[Request], Response]


class ScriptedModel:
    """Answers `POST /v1/chat/completions` from a script: the nth answer once n results of tools came back."""

    def __init__(self) -> None:
        self.asked: list[Mapping[str, Any]] = []
        self._answers: Sequence[Answer] = ()
        self._server = LoopbackServer(self._serve)

    @property
    def url(self) -> str:
        """The provider's base address, with /v1."""
        return f"{self._server.url}/v1"

    def play(self, answers: Sequence[Answer]) -> None:
        """From now on give these answers; the last one is repeated."""
        self._answers, self.asked = answers, []

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.close()

    def _serve(self, environ: Any, start_response: Any) -> Any:
        body = json.loads(Request(environ).get_data())
        self.asked.append(body)
        results = _results_since_question(body["messages"])
        answer = self._answers[min(results, len(self._answers) - 1)]
        return _respond(answer, str(body["model"]))(environ, start_response)


class ScriptedWebhooks:
    """Answers every webhook with the behaviour of the moment, and keeps each exchange as evidence."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self._behaviour: Behaviour = succeed
        self._server = LoopbackServer(self._serve)

    @property
    def url(self) -> str:
        return self._server.url

    def behave(self, behaviour: Behaviour) -> None:
        self._behaviour, self.exchanges = behaviour, []

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.close()

    def _serve(self, environ: Any, start_response: Any) -> Any:
        request = Request(environ)
        exchange = _received(request)
        self.exchanges.append(exchange)
        started = time.monotonic()
        try:
            response = self._behaviour(request)
        except ConnectionAbortedError:
            exchange["response"]["error"] = "the connection was reset"
            raise
        exchange["response"].update(
            status=response.status_code,
            headers=dict(response.headers),
            body=_body(response.get_data(as_text=True)),
            elapsed_ms=round((time.monotonic() - started) * 1000),
        )
        return response(environ, start_response)


def answer_json(status: int, body: Any) -> Behaviour:
    return lambda _request: Response(json.dumps(body), status, content_type="application/json; charset=utf-8")


def answer_text(status: int, text: str, content_type: str | None) -> Behaviour:
    return lambda _request: Response(text, status, content_type=content_type)


def succeed(request: Request) -> Response:
    """The contract's answer to a write, each with an id of its own, or an empty list to a read."""
    number = str(next(_numbers))
    writes = request.path.split("/")[-2] in {"add", "append"}
    data: dict[str, Any] = {"id": f"evt{number}"} if writes else {"items": []}
    return answer_json(200, {"ok": True, "data": data, "execution": number})(request)


_numbers = itertools.count(1)


def keep_waiting(seconds: float) -> Behaviour:
    def behaviour(request: Request) -> Response:
        time.sleep(seconds)
        return succeed(request)

    return behaviour


def reset(request: Request) -> Response:
    """Drop the connection after the request came in whole."""
    del request
    raise ConnectionAbortedError


def _results_since_question(messages: Sequence[Mapping[str, Any]]) -> int:
    """How often the model was answered with tool results since the last words of the user."""
    rounds = 0
    for message in reversed(messages):
        if message["role"] == "user":
            break
        rounds += message["role"] == "assistant"
    return rounds


def _respond(answer: Answer, model: str) -> Response:
    if isinstance(answer, Failure):
        error = {"error": {"message": answer.message, "code": answer.status}}
        return Response(json.dumps(error), answer.status, content_type="application/json")
    if isinstance(answer, Silence):
        time.sleep(answer.seconds)
        return Response(status=503)
    return Response(_stream(answer, model), content_type="text/event-stream")


def _stream(answer: Stream, model: str) -> Iterator[bytes]:
    yield from answer.events(model)


def _received(request: Request) -> Exchange:
    text = request.get_data(as_text=True)
    exchange: Exchange = redact(
        {
            "kind": "exchange",
            "seen_by": "tap",
            "request": {
                "method": request.method,
                "url": request.url,
                "headers": dict(request.headers),
                "body": _body(text),
            },
        }
    )
    exchange["response"] = {"status": None, "headers": {}, "body": ""}
    return exchange


def _body(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
