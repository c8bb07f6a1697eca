"""The conversations of the lab's gateway, kept as OpenClaw keeps them: one row for each thing that happened."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from butlerctl.protocol.call import Call
from butlerctl.protocol.loop import Turn
from butlerctl.protocol.observation import Observation
from butlerctl.protocol.provider import Message

Row = dict[str, Any]

_NO_USAGE = {"input": 0, "output": 0, "totalTokens": 0, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0}}
_STOP_REASONS = {"cut_off": "length", "provider_error": "error", "cancelled": "aborted"}


@dataclass(slots=True)
class Session:
    """One conversation. `lock` is held during a turn: the turns of a session follow each other.

    `report` is what the gateway reports of the last turn's system prompt.
    """

    key: str
    rows: list[Row] = field(default_factory=list)
    history: list[Message] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    report: Mapping[str, Any] | None = None

    def page(self, limit: int | None, before: int | None) -> tuple[list[Row], bool]:
        """The last `limit` rows before the row of this number, and whether there are earlier ones."""
        rows = self.rows if before is None else self.rows[: max(0, before - 1)]
        shown = rows if limit is None else rows[-limit:]
        return list(shown), len(shown) < len(rows)

    def add(self, row: Row) -> None:
        now = int(time.time() * 1000)
        mark = {"id": secrets.token_hex(4), "recordTimestampMs": now, "seq": len(self.rows) + 1}
        self.rows.append({**row, "timestamp": now, "__openclaw": mark})


class Sessions:
    """All conversations of an agent, by their full keys. Safe to use from several threads."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._sessions: dict[str, Session] = {}
        self._lock = threading.Lock()

    def full_key(self, key: str) -> str:
        """`agent:<id>:<key>`; a key that already names an agent stays as it is."""
        return key if key.startswith("agent:") else f"agent:{self._agent}:{key}"

    def get(self, key: str) -> Session | None:
        return self._sessions.get(self.full_key(key))

    def delete(self, key: str) -> bool:
        """Forget a conversation; False when there was none."""
        with self._lock:
            return self._sessions.pop(self.full_key(key), None) is not None

    def open(self, key: str) -> Session:
        full = self.full_key(key)
        with self._lock:
            return self._sessions.setdefault(full, Session(full))


def user_row(text: str) -> Row:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def rows_of(turn: Turn, given: int, provider: str, model: str) -> list[Row]:
    """The rows of a turn: its messages behind the `given` first ones, and one more for a run that failed."""
    observations = {observation.id: observation for observation in turn.observations}
    common = {"api": "openai-completions", "provider": provider, "model": model}
    rows = []
    for message in turn.messages[given:]:
        if message["role"] == "tool":
            rows.append(result_row(observations[message["tool_call_id"]]))
        else:
            rows.append(_assistant_row(message, turn, common))
    if turn.stop in ("provider_error", "cancelled", "over_budget"):
        rows.append(_failure_row(turn, common))
    return rows


def _failure_row(turn: Turn, common: Mapping[str, str]) -> Row:
    """A run that ended without a reply; the provider's status and words where it failed."""
    stop = _STOP_REASONS.get(turn.stop, "error")
    row = {"role": "assistant", "content": [], **common, "usage": _NO_USAGE, "stopReason": stop}
    last = turn.completions[-1] if turn.completions else {}
    if turn.stop != "provider_error" or last.get("http_status") is None:
        return row
    status, error = last["http_status"], error_of(last)
    return {
        **row,
        "errorMessage": f"{status} {error.get('message', '')}".strip(),
        "errorCode": str(status),
        "errorType": error.get("type", "unknown"),
        "errorBody": json.dumps(error, ensure_ascii=False),
    }


def error_of(completion: Mapping[str, Any]) -> Mapping[str, Any]:
    """The error object in a provider's answer; {} where there is none."""
    body = completion.get("body")
    error = body.get("error") if isinstance(body, Mapping) else None
    return error if isinstance(error, Mapping) else {}


def _assistant_row(message: Message, turn: Turn, common: Mapping[str, str]) -> Row:
    calls = [_call_item(call) for call in message.get("tool_calls", ())]
    text = [{"type": "text", "text": message["content"]}] if message.get("content") else []
    stop = "toolUse" if calls else _STOP_REASONS.get(turn.stop, "stop")
    usage = {"input": turn.usage.get("prompt_tokens", 0), "output": turn.usage.get("completion_tokens", 0)}
    return {
        "role": "assistant",
        "content": [*text, *calls],
        **common,
        "usage": {**_NO_USAGE, **usage, "totalTokens": turn.usage.get("total_tokens", 0)},
        "stopReason": stop,
        "responseId": f"chatcmpl-{secrets.token_hex(5)}",
    }


def _call_item(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call["function"]
    return {
        "type": "toolCall",
        "id": call["id"],
        "name": function["name"],
        "arguments": _object(function["arguments"]),
        "partialArgs": function["arguments"],
    }


def call_row(call: Call) -> Row:
    """A call that a turn has made so far, before its message is complete."""
    item = {"id": call.id, "function": {"name": call.name, "arguments": call.raw_args}}
    return {"role": "assistant", "content": [_call_item(item)], "stopReason": "toolUse"}


def broken_off_row() -> Row:
    """The last row of a turn that was ended from outside."""
    return {
        "role": "assistant",
        "content": [],
        "stopReason": "aborted",
        "errorMessage": "Request was aborted.",
    }


def result_row(observation: Observation) -> Row:
    details = _object(observation.content)
    failed = observation.code is not None or details.get("ok") is False
    return {
        "role": "toolResult",
        "toolCallId": observation.id,
        "toolName": observation.name,
        "content": content_of(details),
        "details": details,
        "isError": failed,
    }


def content_of(details: Any) -> list[dict[str, str]]:
    """What the model is shown of a tool's answer."""
    return [{"type": "text", "text": json.dumps(details, indent=2, ensure_ascii=False)}]


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
