"""What a tap saw, as a folder of evidence documents that `butlerctl diagnose` reads.

An exchange with n8n is a document of its own. The questions and answers of one conversation with a provider become
one transcript: what the model really sent, before any gateway touched it.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from butlerctl.errors import BadInput
from butlerctl.gateway.tap_evidence import without_secrets
from butlerctl.gateway.tap_sessions import (
    SETUP_ROLES,
    asked,
    kinship,
    role,
    strictness,
    turn_of,
)
from butlerctl.protocol.wires.turn import WireTurn
from butlerctl.redaction import redact


class EvidenceFolder:
    """Writes documents into a folder, readable by its owner alone. `record` may be called from several threads."""

    def __init__(self, path: Path) -> None:
        """Raises BadInput: the folder holds something already, or cannot be made."""
        self._path = path
        self._lock = threading.Lock()
        self._count = 0
        self._talks: list[_Talk] = []
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if any(path.iterdir()):
                raise BadInput(
                    f"{path}: the folder is not empty", hint="a record is never mixed with another"
                )
        except OSError as error:
            raise BadInput(f"{path}: {error.strerror}", hint="--record names a new folder") from error

    def record(self, exchange: Mapping[str, Any]) -> None:
        """Raises OSError: the document cannot be written."""
        exchange = without_secrets(exchange)
        with self._lock:
            self._count += 1
            name = f"{self._count:04}"
            if not is_completion(exchange):
                self._write(f"{name}-exchange.json", exchange)
                return
            talk = self._talk_of(exchange) or self._new_talk(f"{name}-transcript.json", exchange)
            talk.last = exchange
            talk.conversation.add(exchange)
            self._write(talk.name, talk.conversation.document())

    def _talk_of(self, exchange: Mapping[str, Any]) -> _Talk | None:
        """The conversation that goes on here: of several that could be it, the surest and then the latest."""
        found = [(kinship(talk.last, exchange), at) for at, talk in enumerate(self._talks)]
        surest, at = max(found, default=(0, 0))
        return self._talks[at] if surest else None

    def _new_talk(self, name: str, exchange: Mapping[str, Any]) -> _Talk:
        self._talks.append(_Talk(name, Conversation(), exchange))
        return self._talks[-1]

    def _write(self, name: str, document: Mapping[str, Any]) -> None:
        """Replace the file as a whole: a reader never sees half a document.

        Redacted here too, where texts that came in pieces stand joined.
        """
        text = json.dumps(redact(document), indent=1)  # ASCII: a model may write half a surrogate pair
        part = self._path / f".{name}.part"
        try:
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            part.replace(self._path / name)
        finally:
            part.unlink(missing_ok=True)


@dataclass
class _Talk:
    """One conversation in the folder, and the exchange that it ended with so far."""

    name: str
    conversation: Conversation
    last: Mapping[str, Any]


def is_completion(exchange: Mapping[str, Any]) -> bool:
    """Is this a question to a model?"""
    request = exchange["request"]
    path = str(request["url"]).partition("?")[0]
    return path.endswith("/chat/completions") and isinstance(request["body"], Mapping)


class Conversation:
    """The questions and answers of one conversation as they passed, one `add` for each.

    What the model said is taken from its answers, never from the history that the gateway sends back: there a text
    that was promoted to a call stands as a call.
    """

    def __init__(self) -> None:
        self._messages: list[dict[str, Any]] = []
        self._completions: list[dict[str, Any]] = []
        self._offered: list[str] = []
        self._when = ""
        self._asked: Any = None
        self._whole = False

    def add(self, exchange: Mapping[str, Any]) -> None:
        request, response = exchange["request"]["body"], exchange["response"]
        question = asked(exchange)
        if question != self._asked:  # else the same question once more: the answer before was not used
            news = _since_last_answer(question)
            _name_calls(self._messages, news)
            self._messages += news
        elif self._messages and self._messages[-1].get("role") == "assistant":
            self._messages.pop()
        turn = turn_of(exchange)
        if turn is not None:
            self._messages.append(_message(turn))
        self._asked = question
        self._when = self._when or str(exchange["when"])
        self._offered = _names(_list(request.get("tools")))
        self._completions.append(_completion(response))
        self._whole = turn is not None and not turn.calls and "error" not in response

    def document(self) -> dict[str, Any]:
        """The conversation so far as a `transcript` document."""
        return {
            "kind": "transcript",
            "seen_by": "tap",
            "when": self._when,
            "tools_offered": self._offered,
            "messages": list(self._messages),
            "completions": list(self._completions),
            "complete": self._whole,
        }


def describe(exchange: Mapping[str, Any]) -> str:
    """One line for a person: what passed, and which calls stood in it natively."""
    request, response = exchange["request"], exchange["response"]
    line = f"{request['method']} {request['url']}: {response['status'] or response.get('error')}"
    if "error" in response and response["status"]:
        line += f", broke off ({response['error']})"
    if not is_completion(exchange):
        return line
    turn = turn_of(exchange)
    if turn is None:
        return f"{line}, no completion"
    calls = [f"native call {call.name} ({strictness(call)})" for call in turn.calls]
    return f"{line}, {', '.join(calls) or 'no call'}"


def _message(turn: WireTurn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": call.wire_id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.raw_text},
            }
            for call in turn.calls
        ]
    return message


def _since_last_answer(messages: Sequence[Any]) -> list[dict[str, Any]]:
    """What the gateway added since the assistant spoke: the user's words, or results of tools."""
    news: list[dict[str, Any]] = []
    for message in reversed(messages):
        if role(message) == "assistant":
            break
        if isinstance(message, Mapping) and role(message) not in SETUP_ROLES:
            news.insert(0, dict(message))
    return news


def _name_calls(messages: Sequence[Mapping[str, Any]], results: Sequence[Mapping[str, Any]]) -> None:
    """A gateway gives a call without an id one of its own: take it over where results and calls are as many."""
    calls = messages[-1].get("tool_calls", []) if messages else []
    ids = [result.get("tool_call_id") for result in results if role(result) == "tool"]
    if len(ids) == len(calls) and not {call["id"] for call in calls} & set(ids):
        for call, call_id in zip(calls, ids, strict=True):
            call["id"] = call_id


def _completion(response: Mapping[str, Any]) -> dict[str, Any]:
    completion = {"http_status": response["status"], "headers": response["headers"], "body": response["body"]}
    return {**completion, "error": response["error"]} if "error" in response else completion


def _names(tools: Sequence[Any]) -> list[str]:
    functions = [tool.get("function") for tool in tools if isinstance(tool, Mapping)]
    return [str(function.get("name")) for function in functions if isinstance(function, Mapping)]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
