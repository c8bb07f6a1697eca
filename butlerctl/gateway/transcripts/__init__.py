"""Recorded transcripts of agents, in any of the known forms, as the `transcript` document that the judge reads.

One module a form. A form is known by its structure alone: the roles and the types of its items.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from butlerctl.errors import BadDocument
from butlerctl.evidence import Document
from butlerctl.gateway.transcripts import anthropic, openai_chat, openai_responses, openclaw

Transcript = dict[str, Any]

# In this order: the first form that knows the record reads it.
FORMS: Mapping[str, tuple[Callable[[Any], bool], Callable[[Any], Transcript]]] = {
    "openclaw": (openclaw.knows, openclaw.read),
    "openai_responses": (openai_responses.knows, openai_responses.read),
    "anthropic": (anthropic.knows, anthropic.read),
    "openai_chat": (openai_chat.knows, openai_chat.read),
}


def read_transcript(path: str | Path) -> Document:
    """The transcript in a file: JSON, or JSON Lines. Raises BadDocument."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise BadDocument(f"{path}: {error.strerror or 'cannot be read'}") from error
    except UnicodeDecodeError as error:
        raise BadDocument(f"{path}: not UTF-8 text") from error
    return transcript_of(_parsed(text, str(path)), str(path))


def transcript_of(record: Any, name: str = "transcript") -> Document:
    """A parsed record as a `transcript` document. Raises BadDocument when it is of no known form."""
    if isinstance(record, Mapping) and record.get("kind") == "transcript":
        return record
    for knows, read in FORMS.values():
        if knows(record):
            transcript = read(record)
            transcript.setdefault("complete", is_complete(transcript["messages"]))
            return {"kind": "transcript", **transcript}
    known = f"known forms: {', '.join(FORMS)}, or a transcript document of an evidence bundle"
    is_bundle = isinstance(record, Mapping) and "bundle" in record
    raise BadDocument(
        f"{name}: not a transcript of a known form",
        hint="`butlerctl diagnose` judges an evidence bundle" if is_bundle else known,
    )


def is_complete(messages: list[Mapping[str, Any]]) -> bool:
    """Did the assistant have the last word? A recording that ends with a call or a result may have stopped."""
    last = messages[-1] if messages else {}
    return last.get("role") == "assistant" and not last.get("tool_calls")


def _parsed(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError as error:
        raise BadDocument(f"{name}: JSON that is nested too deep") from error
    except ValueError:
        return _lines(text, name)


def _lines(text: str, name: str) -> list[Any]:
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            rows.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise BadDocument(f"{name}: neither JSON nor JSON Lines: line {number} is not JSON") from error
    if not rows:
        raise BadDocument(f"{name}: empty")
    return rows
