"""What a tap between gateway and provider recorded of a run's questions: whether each call was native."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path

from butlerctl.errors import BadInput
from butlerctl.evidence import Document
from butlerctl.judge.conversation import holds_prompt, read_conversation

LAG = 2.0
"""Seconds that the tap may take to write what it saw."""

_PAUSE = 0.05
_SKEW = timedelta(seconds=5)  # between the clock of the tap and ours


class TapRecord:
    """The folder that `butlerctl tap --record` writes, while it is written."""

    def __init__(self, folder: Path) -> None:
        """Raises BadInput: there is no such folder."""
        if not folder.is_dir():
            raise BadInput(
                f"{folder}: no such folder",
                hint="start `butlerctl tap --record DIR` first, and name its DIR here",
            )
        self._folder = folder
        self._was_silent = False

    def conversations(self, prompt: str, since: datetime, *, wait: float = LAG) -> tuple[Document, ...]:
        """The transcripts in which this was asked at this time or later, by a gateway that offered tools.

        The agent may answer a moment before the tap has written: for at most `wait` seconds a record is waited for that
        is not there yet, or not to its end. A tap that wrote nothing of a question is waited for once.
        """
        deadline = time.monotonic() + wait
        while True:
            found = tuple(document for document in self._transcripts() if _holds(document, prompt, since))
            is_settled = len(found) > 1 or any(document.get("complete") for document in found)
            is_late = time.monotonic() >= deadline
            if is_settled or is_late or (not found and self._was_silent):
                self._was_silent = not found
                return found
            time.sleep(_PAUSE)

    def _transcripts(self) -> Iterator[Document]:
        for path in sorted(self._folder.glob("*-transcript.json")):
            try:
                document = json.loads(path.read_bytes()) if path.is_file() else None
            except (OSError, ValueError, RecursionError):
                continue  # not the tap's: it replaces its files whole
            if isinstance(document, Mapping) and document.get("kind") == "transcript":
                yield document


def _holds(document: Document, prompt: str, since: datetime) -> bool:
    try:
        when = datetime.fromisoformat(str(document.get("when")))
    except ValueError:
        return False
    asked = read_conversation(document).prompts
    return (
        when.tzinfo is not None
        and when >= since - _SKEW
        and bool(document.get("tools_offered"))
        and any(holds_prompt(words, prompt) for words in asked)
    )
