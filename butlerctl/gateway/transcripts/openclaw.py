"""OpenClaw: a session file (one row a line), the rows of `sessions.get` or of `chat.history`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from butlerctl.gateway.rows import messages_of


def knows(record: Any) -> bool:
    return any(
        row.get("role") == "toolResult" or "stopReason" in row or _has_call(row) for row in _rows(record)
    )


def read(record: Any) -> dict[str, Any]:
    return {"messages": messages_of(_rows(record))}


def _rows(record: Any) -> list[Mapping[str, Any]]:
    """The messages of a record: wrapped in `{type: message, message}`, or bare."""
    if isinstance(record, Mapping):
        record = record.get("messages", record.get("history"))
    rows = [row for row in record if isinstance(row, Mapping)] if isinstance(record, list) else []
    wrapped = [row["message"] for row in rows if isinstance(row.get("message"), Mapping)]
    return wrapped or rows


def _has_call(row: Mapping[str, Any]) -> bool:
    content = row.get("content")
    return isinstance(content, list) and any(
        isinstance(item, Mapping) and item.get("type") == "toolCall" for item in content
    )
