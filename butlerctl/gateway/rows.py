"""OpenClaw's transcript rows as OpenAI chat messages: nothing is repaired, nothing is left out.

A call keeps both: the text that the model wrote (`partialArgs`), and as `executed_arguments` what the gateway made of
it and ran. The judge holds one against the other. Results without a call, and results that are errors, stay visible.
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
        failed = bool(row.get("isError"))
        return result_message(row.get("toolCallId"), row.get("toolName"), text_of(row), failed=failed)
    return {"role": role, "content": text_of(row)} if role in ("user", "system") else None


def _assistant(row: Row) -> Message:
    message = call_message([item for item in _items(row) if item.get("type") == "toolCall"])
    message["content"] = text_of(row) or None
    if row.get("stopReason") in ("error", "aborted"):
        message["error"] = row.get("errorMessage") or row["stopReason"]
    return message


def call_message(items: Sequence[Mapping[str, Any]]) -> Message:
    """The assistant's message for these calls, without words; each item has `id`, `name`, `arguments`, `partialArgs`."""
    message: Message = {"role": "assistant", "content": None}
    return {**message, "tool_calls": [_call(item) for item in items]} if items else message


def result_message(call_id: Any, name: Any, text: str, *, failed: bool) -> Message:
    message = {"role": "tool", "tool_call_id": call_id, "name": name, "content": text}
    return {**message, "is_error": True} if failed else message


def _call(item: Mapping[str, Any]) -> dict[str, Any]:
    raw, executed = item.get("partialArgs"), item.get("arguments")
    text = raw if isinstance(raw, str) else json.dumps(executed, ensure_ascii=False)
    call = {
        "id": item.get("id"),
        "type": "function",
        "function": {"name": item.get("name"), "arguments": text},
    }
    return call if executed is None else {**call, "executed_arguments": executed}


def text_of(row: Row) -> str:
    """The visible text of a row, whose content is a string or a list of items."""
    content = row.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(str(item.get("text", "")) for item in _items(row) if item.get("type") == "text")


def _items(row: Row) -> list[Mapping[str, Any]]:
    content = row.get("content")
    return [item for item in content if isinstance(item, Mapping)] if isinstance(content, list) else []
