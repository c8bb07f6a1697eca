"""What a tap saw, as a folder of evidence documents that `butlerctl diagnose` reads.

An exchange with n8n is a document of its own. The questions and answers of one conversation with a provider become
one transcript: what the model really sent, before any gateway touched it.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from butlerctl.errors import BadDocument, BadInput
from butlerctl.evidence import digest
from butlerctl.protocol.decode import NotStrictJson, decode, encode
from butlerctl.protocol.wires import openai_chat
from butlerctl.protocol.wires.turn import ArgumentText, ArgumentValue, WireCall, WireTurn

_SETUP_ROLES = frozenset({"system", "developer"})


class EvidenceFolder:
    """Writes documents into a folder, readable by its owner alone. `record` may be called from several threads."""

    def __init__(self, path: Path) -> None:
        """Raises BadInput: the folder holds something already, or cannot be made."""
        self._path = path
        self._lock = threading.Lock()
        self._count = 0
        self._transcripts: dict[str, tuple[str, dict[str, Any]]] = {}
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if any(path.iterdir()):
                raise BadInput(
                    f"{path}: the folder is not empty", hint="a record is never mixed with another"
                )
        except OSError as error:
            raise BadInput(f"{path}: {error.strerror}") from error

    def record(self, exchange: Mapping[str, Any]) -> None:
        with self._lock:
            self._count += 1
            name = f"{self._count:04}"
            if not is_completion(exchange):
                self._write(f"{name}-exchange.json", exchange)
                return
            conversation = _conversation_of(exchange)
            name, earlier = self._transcripts.get(conversation, (f"{name}-transcript.json", {}))
            transcript = transcript_of(exchange, earlier)
            self._transcripts[conversation] = (name, transcript)
            self._write(name, transcript)

    def _write(self, name: str, document: Mapping[str, Any]) -> None:
        """Replace the file as a whole: a reader never sees half a document."""
        part = self._path / f".{name}.part"
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)  # ASCII: a model may write half a surrogate pair
        part.replace(self._path / name)


def is_completion(exchange: Mapping[str, Any]) -> bool:
    """Is this a question to a model?"""
    request = exchange["request"]
    path = str(request["url"]).partition("?")[0]
    return path.endswith("/chat/completions") and isinstance(request["body"], Mapping)


def transcript_of(exchange: Mapping[str, Any], earlier: Mapping[str, Any]) -> dict[str, Any]:
    """The transcript up to this exchange; `earlier` is that of the same conversation before it, or empty."""
    request, response = exchange["request"]["body"], exchange["response"]
    turn = _turn_of(exchange)
    messages = [message for message in _list(request.get("messages")) if _role(message) not in _SETUP_ROLES]
    completion = {
        "http_status": response["status"],
        "headers": response["headers"],
        "body": response["body"],
        **({"error": response["error"]} if "error" in response else {}),
    }
    return {
        "kind": "transcript",
        "seen_by": "tap",
        "when": exchange["when"],
        "tools_offered": _names(_list(request.get("tools"))),
        "messages": messages + ([_message(turn)] if turn is not None else []),
        "completions": [*earlier.get("completions", ()), completion],
        "complete": turn is not None and not turn.calls and "error" not in response,
    }


def describe(exchange: Mapping[str, Any]) -> str:
    """One line for a person: what passed, and which calls stood in it natively."""
    request, response = exchange["request"], exchange["response"]
    line = f"{request['method']} {request['url']}: {response['status'] or response.get('error')}"
    if "error" in response and response["status"]:
        line += f", broke off ({response['error']})"
    if not is_completion(exchange):
        return line
    turn = _turn_of(exchange)
    if turn is None:
        return f"{line}, no completion"
    calls = [f"native call {call.name} ({_strictness(call)})" for call in turn.calls]
    return f"{line}, {', '.join(calls) or 'no call'}"


def _turn_of(exchange: Mapping[str, Any]) -> WireTurn | None:
    if exchange["response"]["status"] != 200:
        return None
    try:
        return openai_chat.read(exchange["response"]["body"])
    except BadDocument:
        return None


def _message(turn: WireTurn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": call.wire_id,
                "type": "function",
                "function": {"name": call.name, "arguments": _raw_arguments(call)},
            }
            for call in turn.calls
        ]
    return message


def _raw_arguments(call: WireCall) -> str:
    arguments = call.arguments
    if isinstance(arguments, ArgumentText):
        return arguments.text
    if isinstance(arguments, ArgumentValue):
        return encode(arguments.value)
    return arguments.raw


def _strictness(call: WireCall) -> str:
    try:
        decode(_raw_arguments(call))
    except NotStrictJson as error:
        return f"arguments are no JSON: {error}"
    return "arguments are strict JSON" if call.complete else "cut off"


def _conversation_of(exchange: Mapping[str, Any]) -> str:
    """The same opening is the same conversation: everything up to the first answer of the assistant."""
    opening = []
    for message in _list(exchange["request"]["body"].get("messages")):
        if _role(message) == "assistant":
            break
        opening.append(message)
    return digest(opening)


def _names(tools: Sequence[Any]) -> list[str]:
    functions = [tool.get("function") for tool in tools if isinstance(tool, Mapping)]
    return [str(function.get("name")) for function in functions if isinstance(function, Mapping)]


def _role(message: Any) -> str:
    return str(message.get("role")) if isinstance(message, Mapping) else ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
