"""OpenAI Chat Completions: a list of messages, a request with them, with or without the response that followed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def knows(record: Any) -> bool:
    return any("role" in message for message in _messages(record))


def read(record: Any) -> dict[str, Any]:
    messages = [_modern(message) for message in _messages(record)]
    transcript: dict[str, Any] = {"messages": messages}
    if isinstance(record, Mapping):
        tools = record.get("tools") or _request(record).get("tools")
        offered = record.get("tools_offered") or _names(tools)
        transcript |= {key: record[key] for key in ("completions", "complete") if key in record}
        if offered:
            transcript["tools_offered"] = offered
    return transcript


def _request(record: Mapping[str, Any]) -> Mapping[str, Any]:
    request = record.get("request")
    return request if isinstance(request, Mapping) else record


def _messages(record: Any) -> list[Mapping[str, Any]]:
    if isinstance(record, Mapping):
        response = record.get("response", record)
        choices = response.get("choices") if isinstance(response, Mapping) else None
        answer = [choices[0].get("message")] if isinstance(choices, list) and choices else []
        asked = _request(record).get("messages")
        record = [*(asked if isinstance(asked, list) else []), *answer]
    return [item for item in record if isinstance(item, Mapping)] if isinstance(record, list) else []


def _modern(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message with `tool_calls`, also where the older `function_call` was used, which has no id."""
    legacy, name = message.get("function_call"), message.get("name")
    if isinstance(legacy, Mapping):
        call = {"id": f"legacy_{legacy.get('name')}", "type": "function", "function": dict(legacy)}
        return {**message, "tool_calls": [call]}
    if message.get("role") == "function":
        return {**message, "role": "tool", "tool_call_id": f"legacy_{name}"}
    return dict(message)


def _names(tools: Any) -> list[str]:
    entries = [item for item in tools if isinstance(item, Mapping)] if isinstance(tools, list) else []
    functions = [entry.get("function", entry) for entry in entries]
    return [str(item["name"]) for item in functions if isinstance(item, Mapping) and item.get("name")]
