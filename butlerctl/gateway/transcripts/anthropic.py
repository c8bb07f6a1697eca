"""Anthropic Messages: calls and results are content blocks; results come back in a user's message."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

_BLOCKS = frozenset({"tool_use", "tool_result"})


def knows(record: Any) -> bool:
    blocks = [block for message in _messages(record) for block in _blocks(message)]
    answer = isinstance(record, Mapping) and "stop_reason" in record
    return answer or any(block.get("type") in _BLOCKS for block in blocks)


def read(record: Any) -> dict[str, Any]:
    transcript: dict[str, Any] = {
        "messages": [message for item in _messages(record) for message in _plain(item)]
    }
    tools = record.get("tools") if isinstance(record, Mapping) else None
    if isinstance(tools, list) and tools:
        transcript["tools_offered"] = [str(tool.get("name")) for tool in tools if isinstance(tool, Mapping)]
    return transcript


def _messages(record: Any) -> list[Mapping[str, Any]]:
    if isinstance(record, Mapping):
        response = record.get("response", record)
        answered = (
            [response] if isinstance(response, Mapping) and isinstance(response.get("content"), list) else []
        )
        request = record.get("request", record)
        asked = request.get("messages") if isinstance(request, Mapping) else None
        record = [*(asked if isinstance(asked, list) else []), *answered]
    return [item for item in record if isinstance(item, Mapping)] if isinstance(record, list) else []


def _blocks(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []


def _plain(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A message as chat messages: results first, then what was said and called."""
    blocks = _blocks(message)
    for block in blocks:
        if block.get("type") == "tool_result":
            failed = {"is_error": True} if block.get("is_error") else {}
            yield {
                "role": "tool",
                "tool_call_id": block.get("tool_use_id"),
                "content": _text(block),
                **failed,
            }
    said = "\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
    calls = [_call(block) for block in blocks if block.get("type") == "tool_use"]
    if said or calls or not blocks:
        yield {
            "role": message.get("role"),
            "content": said or None,
            **({"tool_calls": calls} if calls else {}),
        }


def _call(block: Mapping[str, Any]) -> dict[str, Any]:
    arguments = block.get("input")
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {
        "id": block.get("id"),
        "type": "function",
        "function": {"name": block.get("name"), "arguments": raw},
    }


def _text(block: Mapping[str, Any]) -> str:
    content = block.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(str(item.get("text", "")) for item in content or () if isinstance(item, Mapping))
