"""OpenAI Responses: items of `input` and `output`; calls and their results are items of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_TYPES = frozenset({"function_call", "function_call_output", "message", "reasoning"})


def knows(record: Any) -> bool:
    if isinstance(record, Mapping) and ("output" in record or "input" in record):
        return True
    return any(item.get("type") in _TYPES - {"message"} for item in _items(record))


def read(record: Any) -> dict[str, Any]:
    transcript: dict[str, Any] = {
        "messages": [message for item in _items(record) for message in _message(item)]
    }
    if isinstance(record, Mapping):
        tools = record.get("tools")
        names = (
            [tool.get("name") for tool in tools if isinstance(tool, Mapping)]
            if isinstance(tools, list)
            else []
        )
        if any(names):
            transcript["tools_offered"] = [name for name in names if name]
        if record.get("status") in {"incomplete", "failed"} or record.get("error"):
            error = record.get("error") or f"the response is {record.get('status')}"
            transcript["completions"] = [{"http_status": 200, "body": {"error": error}}]
    return transcript


def _items(record: Any) -> list[Mapping[str, Any]]:
    if isinstance(record, Mapping):
        asked, answered = record.get("input"), record.get("output")
        first = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked or []
        record = [*first, *(answered if isinstance(answered, list) else [])]
    return [item for item in record if isinstance(item, Mapping)] if isinstance(record, list) else []


def _message(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    kind = item.get("type", "message")
    if kind == "function_call":
        function = {"name": item.get("name"), "arguments": item.get("arguments")}
        call = {"id": item.get("call_id") or item.get("id"), "type": "function", "function": function}
        yield {"role": "assistant", "content": None, "tool_calls": [call]}
    elif kind == "function_call_output":
        yield {"role": "tool", "tool_call_id": item.get("call_id"), "content": _text(item.get("output"))}
    elif kind == "message":
        yield {"role": item.get("role"), "content": _text(item.get("content"))}


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = (
        [part.get("text") for part in content if isinstance(part, Mapping)]
        if isinstance(content, list)
        else []
    )
    return "\n".join(part for part in parts if isinstance(part, str))
