"""Rows as the HTTP history shows them: made for the eye, and so with less in them than the gateway keeps."""

from __future__ import annotations

from collections.abc import Sequence

from butlerctl.lab.gateway.sessions import Row

_NO_REPLY = "The agent run failed before producing a reply."


def shown(rows: Sequence[Row]) -> list[Row]:
    return [_shown(row) for row in rows]


def _shown(row: Row) -> Row:
    """Without `details`; a call beside text is left out; a failure is a sentence, its words are gone."""
    kept = {name: value for name, value in row.items() if name != "details"}
    if row["role"] != "assistant":
        return kept
    texts = [item for item in row["content"] if item["type"] == "text" and item["text"].strip()]
    if row["stopReason"] == "error":
        kept = {name: value for name, value in kept.items() if not name.startswith("error")}
        return {**kept, "content": row["content"] or [{"type": "text", "text": _NO_REPLY}]}
    return {**kept, "content": texts or row["content"]}
