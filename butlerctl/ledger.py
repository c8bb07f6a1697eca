"""The journal of canaries: what was asked for, what is being deleted, what is gone.

A line is on the disk before the thing that it announces is done, so that a run which dies anywhere leaves
enough behind for `butlerctl sweep`. One JSON object a line with a checksum; a torn last line was never
acknowledged and is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

from butlerctl.appendlog import AppendLog, read_entries

FILE_NAME = "ledger.jsonl"
WATCH = timedelta(hours=24)
"""How long a nonce that is gone is looked for again: n8n may finish after everybody gave up."""


@dataclass(frozen=True, slots=True)
class Window:
    """When the asked object lies. Both ends carry an offset."""

    start: datetime
    end: datetime

    def widened(self, by: timedelta) -> Window:
        return Window(self.start - by, self.end + by)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the agent is about to be asked for. `container` is the id of the calendar, task list or spreadsheet."""

    nonce: str
    domain: str
    profile: str
    container: str
    window: Window
    t0: datetime
    preflight: bool
    """Whether a search before the ask found no object with this nonce anywhere."""

    def as_json(self) -> dict[str, Any]:
        return {
            "nonce": self.nonce,
            "domain": self.domain,
            "profile": self.profile,
            "container": self.container,
            "start": self.window.start.isoformat(),
            "end": self.window.end.isoformat(),
            "t0": self.t0.isoformat(),
            "preflight": self.preflight,
        }


def _asked_of(entry: Mapping[str, Any]) -> Asked:
    start, end, t0 = (datetime.fromisoformat(entry[name]) for name in ("start", "end", "t0"))
    return Asked(
        nonce=entry["nonce"],
        domain=entry["domain"],
        profile=entry["profile"],
        container=entry["container"],
        window=Window(start, end),
        t0=t0,
        preflight=entry["preflight"],
    )


@dataclass(frozen=True, slots=True)
class Journal:
    """The entries of a ledger. `damaged` has the numbers of whole lines that are not what was written."""

    entries: tuple[Mapping[str, Any], ...]
    damaged: tuple[int, ...]

    def open_canaries(self, now: datetime, watch: timedelta = WATCH) -> tuple[Asked, ...]:
        """What was asked for and is not gone, or is gone for less than `watch`."""
        gone = self.gone_since()
        asked = {entry["nonce"]: entry for entry in self.entries if entry["event"] == "asked"}
        return tuple(
            _asked_of(entry)
            for nonce, entry in asked.items()
            if nonce not in gone or gone[nonce] > now - watch
        )

    def gone_since(self) -> dict[str, datetime]:
        """When each nonce was first seen gone. An object that turned up again is not gone."""
        gone: dict[str, datetime] = {}
        for entry in self.entries:
            if entry["event"] == "gone":
                gone.setdefault(entry["nonce"], datetime.fromisoformat(entry["at"]))
            else:
                gone.pop(entry["nonce"], None)
        return gone


def read_journal(path: Path) -> Journal:
    """The entries of a ledger file; without a file there are none. Reads without the lock.

    Raises:
        BadInput: the file cannot be read.
    """
    found = read_entries(path, what="ledger")
    return Journal(found.entries, found.damaged)


class Ledger:
    """The ledger of one inventory, held by one run at a time. Use as a context manager.

    Every method returns only when its line is on the disk. Safe to use from several threads.
    """

    def __init__(self, folder: Path) -> None:
        """Open and lock the ledger in this folder; it is made when it is not there.

        Raises:
            TryAgain: another run holds it.
            BadInput: it cannot be opened or written.
        """
        self.path = folder / FILE_NAME
        self._log = AppendLog(self.path, what="ledger")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the ledger for the next run."""
        self._log.close()

    def journal(self) -> Journal:
        return read_journal(self.path)

    def asked(self, asked: Asked) -> None:
        """To be written before the agent is asked."""
        self._append("asked", asked.as_json())

    def deleting(self, nonce: str, object_id: str, etag: str) -> None:
        """To be written before the object is deleted."""
        self._append("deleting", {"nonce": nonce, "id": object_id, "etag": etag})

    def gone(self, nonce: str) -> None:
        """To be written after an own search found nothing with this nonce any more."""
        self._append("gone", {"nonce": nonce})

    def refused(self, nonce: str, object_id: str, link: str, reasons: Iterable[str]) -> None:
        """An object that butlerctl will not delete; a person has to look at it."""
        self._append("refused", {"nonce": nonce, "id": object_id, "link": link, "reasons": list(reasons)})

    def _append(self, event: str, fields: Mapping[str, Any]) -> None:
        self._log.append({"at": datetime.now(UTC).isoformat(), "event": event, **fields})
