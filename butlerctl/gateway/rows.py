"""OpenClaw's transcript rows as OpenAI chat messages: nothing is repaired, nothing is left out.

A call keeps the raw text of its arguments (`partialArgs`), so that the judge decodes what the model wrote and not
what the gateway made of it. Results without a call, and results that are errors, stay visible.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
Message = dict[str, Any]


def messages_of(rows: Sequence[Row]) -> list[Message]:
    """One message for each row that is part of the conversation, in order."""
    return [message for row in rows if (message := _message(row)) is not None]


def with_delivered(messages: list[Message], reply: str) -> list[Message]:
    """The messages, and at their end the text that the person really got, where the last row says another."""
    last = messages[-1] if messages else {}
    if not reply or (
        last.get("role") == "assistant" and (last.get("content") or "").strip() == reply.strip()
    ):
        return messages
    return [*messages, {"role": "assistant", "content": reply, "delivered": True}]


def provider_failure(rows: Sequence[Row]) -> dict[str, Any] | None:
    """The provider's own answer in a transcript's `completions` form, where the last row is a failure of it."""
    last = rows[-1] if rows else {}
    code = str(last.get("errorCode", ""))
    if last.get("stopReason") != "error" or not code.isdigit():
        return None
    return {"http_status": int(code), "body": {"error": {"message": str(last.get("errorMessage", ""))}}}


def _message(row: Row) -> Message | None:
    role = row.get("role")
    if role == "assistant":
        return _assistant(row)
    if role == "toolResult":
        failed = {"is_error": True} if row.get("isError") else {}
        call_id, name = row.get("toolCallId"), row.get("toolName")
        return {"role": "tool", "tool_call_id": call_id, "name": name, "content": _text(row), **failed}
    return {"role": role, "content": _text(row)} if role in ("user", "system") else None


def _assistant(row: Row) -> Message:
    message: Message = {"role": "assistant", "content": _text(row) or None}
    calls = [_call(item) for item in _items(row) if item.get("type") == "toolCall"]
    if calls:
        message["tool_calls"] = calls
    if row.get("stopReason") in ("error", "aborted"):
        message["error"] = row.get("errorMessage") or row["stopReason"]
    return message


def _call(item: Mapping[str, Any]) -> dict[str, Any]:
    raw = item.get("partialArgs")
    arguments = raw if isinstance(raw, str) else json.dumps(item.get("arguments"), ensure_ascii=False)
    return {
        "id": item.get("id"),
        "type": "function",
        "function": {"name": item.get("name"), "arguments": arguments},
    }


def _text(row: Row) -> str:
    content = row.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(str(item.get("text", "")) for item in _items(row) if item.get("type") == "text")


def _items(row: Row) -> list[Mapping[str, Any]]:
    content = row.get("content")
    return [item for item in content if isinstance(item, Mapping)] if isinstance(content, list) else []
