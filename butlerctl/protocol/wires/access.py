"""Reading foreign JSON: a field that is missing, null or of the wrong type reads as empty."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from butlerctl.errors import BadDocument


def obj(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; what is no object in it is passed over."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def name_of(value: Any) -> str | None:
    """A call's name as written; None when it is missing or no text."""
    return value if isinstance(value, str) else None


def id_of(value: Any) -> str | None:
    """A call's id; None when it is missing, empty or no text."""
    return value if isinstance(value, str) and value else None


def content_text(content: Any) -> str:
    """The text of a message's content: a string, or a list of parts of which the text parts count."""
    if isinstance(content, str):
        return content
    return "".join(text(part.get("text")) for part in objects(content) if part.get("type") in _TEXT_PARTS)


_TEXT_PARTS = ("text", "output_text", None)


def response_or_stream(payload: Any, adapter: str) -> tuple[dict[str, Any], list[Any]]:
    """A payload as (response, []) or ({}, chunks). Raises BadDocument when it is neither."""
    if isinstance(payload, dict):
        return payload, []
    if isinstance(payload, list):
        return {}, payload
    raise BadDocument(
        f"a payload of {adapter} must be a response object or a list of stream chunks",
        hint="the text adapters (*_text) take a JSON string",
    )


def text_payload(payload: Any, adapter: str) -> str:
    """The completion text of a text adapter. Raises BadDocument when it is no text."""
    if isinstance(payload, str):
        return payload
    raise BadDocument(f"a payload of {adapter} must be a JSON string, the text of the completion")


def chunks_of(chunks: list[Any]) -> Iterator[dict[str, Any] | None]:
    """Each chunk of a stream. `[DONE]` is passed over; None stands for a chunk that could not be read."""
    for chunk in chunks:
        if isinstance(chunk, dict):
            yield chunk
        elif not (isinstance(chunk, str) and chunk.strip() == "[DONE]"):
            yield None
