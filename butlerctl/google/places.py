"""One person's places in one domain: where an object belongs, and where it may have strayed to."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from butlerctl.google.client import Account
from butlerctl.google.interface import FIND_MARGIN, Sighting, pattern_of, poll
from butlerctl.ledger import Window


class SearchedPlaces(ABC):
    """Finds objects by their nonce. What a place is (a calendar, a task list, a tab) the subclasses say."""

    domain: ClassVar[str]

    def __init__(self, account: Account, container: str, places: Sequence[str], *, patience: float) -> None:
        """`places` are searched, the one where the objects belong first; `patience` is in seconds."""
        self._account = account
        self._places = tuple(dict.fromkeys(places))
        self._patience = patience
        self.profile = account.profile
        self.container = container

    @property
    def may_delete(self) -> bool:
        return self._account.may_write(self.domain)

    def find(self, nonce: str, window: Window, *, when: str, expected: bool = False) -> Sighting:
        pattern, wide = pattern_of(nonce), window.widened(FIND_MARGIN)
        own = poll(
            lambda: self._search(self._places[0], pattern, wide, when),
            expected=expected,
            patience=self._patience,
        )
        return own + self._strays(own, pattern, wide, when)

    def scan(self, pattern: re.Pattern[str], window: Window) -> Sighting:
        own = self._search(self._places[0], pattern, window, "after")
        return own + self._strays(own, pattern, window, "after")

    def _strays(self, own: Sighting, pattern: re.Pattern[str], window: Window, when: str) -> Sighting:
        """What is in the other places. Their documents are evidence only when they hold something,
        and are marked as `misplaced`.
        """
        known = frozenset(hit.object_id for hit in own.found)
        strays = Sighting()
        for place in self._places[1:]:
            if own.problem or strays.problem:
                break
            there = self._search(place, pattern, window, when, known)
            if there.found or there.problem:
                marked = tuple(document | {"misplaced": True} for document in there.readbacks)
                strays += replace(there, readbacks=marked)
        return strays

    @abstractmethod
    def _search(
        self,
        place: str,
        pattern: re.Pattern[str],
        window: Window,
        when: str,
        known: frozenset[str] = frozenset(),
    ) -> Sighting:
        """One look at one place. Objects with a `known` id are the same ones, seen again."""
