"""What a system of record can do: find, read, confirm, delete, and see that something is gone.

The three domains behave alike towards the checks. Nothing here imports a client.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from butlerctl.errors import ButlerctlError
from butlerctl.ledger import Asked, Window

FIND_MARGIN = timedelta(days=2)
"""How far around the asked time an object is looked for."""
SWEEP_MARGIN = timedelta(days=370)
"""How far around the asked time a leftover is looked for, and may be deleted."""
PATIENCE = 10.0
"""Seconds for which an expected object is looked for: Google's lists may trail behind."""
_STEP = 0.4

Readback = dict[str, Any]
"""An evidence document of kind `readback`."""


@dataclass(frozen=True, slots=True)
class Hit:
    """An object that an own search found by its nonce."""

    nonce: str
    domain: str
    profile: str
    """Whose credential found it."""
    container: str
    object_id: str
    title: str
    link: str
    body: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Sighting:
    """The outcome of a search or a read: the evidence, and what was found."""

    readbacks: tuple[Readback, ...] = ()
    found: tuple[Hit, ...] = ()
    problem: ButlerctlError | None = None
    """Why the search is no answer: butlerctl's own reading failed."""

    @property
    def hits(self) -> tuple[Hit, ...]:
        """What was found.

        Raises:
            ButlerctlError: the search failed, so nothing may be concluded from it.
        """
        if self.problem:
            raise self.problem
        return self.found

    def __add__(self, other: Sighting) -> Sighting:
        return Sighting(
            self.readbacks + other.readbacks, self.found + other.found, self.problem or other.problem
        )


@dataclass(frozen=True, slots=True)
class Confirmation:
    """One object on a fresh look, and why it may not be deleted (`refusals` empty: it may)."""

    hit: Hit
    etag: str
    refusals: tuple[str, ...]
    is_gone: bool = False
    expected_cells: int = 0
    """Sheets: how many cells of the tab hold the nonce."""
    readbacks: tuple[Readback, ...] = ()
    problem: ButlerctlError | None = None


@dataclass(frozen=True, slots=True)
class Removal:
    """What became of a delete. Whether the object is gone decides a later search, never this."""

    refusals: tuple[str, ...] = ()
    remains: tuple[str, ...] = ()
    """What stays on purpose, in words: cells without the nonce."""
    readbacks: tuple[Readback, ...] = ()
    problem: ButlerctlError | None = None


class SystemOfRecord(Protocol):
    """One person's places in one domain of Google, read with that person's credential for butlerctl."""

    @property
    def domain(self) -> str: ...
    @property
    def profile(self) -> str: ...
    @property
    def container(self) -> str:
        """The id of the calendar, of the default task list, or of the spreadsheet."""

    @property
    def may_delete(self) -> bool:
        """False when the credential can only read: objects are confirmed and left."""

    def find(self, nonce: str, window: Window, *, when: str, expected: bool = False) -> Sighting:
        """Everything with this nonce in this person's places: `when` is before, after or after_delete.

        With `expected`, an empty search is repeated for up to PATIENCE seconds.
        """

    def scan(self, pattern: re.Pattern[str], window: Window) -> Sighting:
        """Everything in this window, as it is given, whose text matches; the match is the nonce."""

    def read(self, arguments: Mapping[str, Any], *, when: str) -> Sighting:
        """What the read operation with these tool arguments should have answered. Finds nothing by nonce."""

    def confirm(self, hit: Hit, asked: Asked) -> Confirmation:
        """A fresh look at one object, and all guards."""

    def delete(self, confirmation: Confirmation) -> Removal:
        """Delete what was confirmed and has no refusals. Sends the write once and never repeats it."""

    def gone(self, nonce: str, hits: Sequence[Hit], window: Window) -> Sighting:
        """What still is there: of the deleted `hits` by their ids, and of anything by a search for the nonce."""


def poll(look: Callable[[], Sighting], *, expected: bool, patience: float) -> Sighting:
    """Look again every 0.4 s for `patience` seconds while something is expected and nothing is found."""
    deadline = time.monotonic() + patience
    while True:
        sighting = look()
        left = deadline - time.monotonic()
        if sighting.problem or sighting.found or not expected or left <= 0:
            return sighting
        time.sleep(min(_STEP, left))


def pattern_of(nonce: str) -> re.Pattern[str]:
    return re.compile(re.escape(nonce))


def stamp() -> str:
    """The `at` of a document: now, in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
