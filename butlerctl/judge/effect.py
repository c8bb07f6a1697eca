"""What the independent reads of Google prove about one operation."""

from __future__ import annotations

from dataclasses import dataclass

from butlerctl.evidence import Document
from butlerctl.judge.readback import Stored


@dataclass(frozen=True, slots=True)
class Fault:
    """A field of the object that is not as asked: the check that it breaks, what was asked and what is stored."""

    check: str
    expected: str
    seen: str


@dataclass(frozen=True, slots=True)
class Effect:
    """What Google holds because of the operation.

    `known`: a read of the person's own place, after the turn, decides. For a write `found` are the objects of
    the turn in the own place, `elsewhere` those with whose account, `stale` that such an object was there before.
    For a read `equal` says whether the answer is what the place holds, `like` whose place it equals instead;
    `items` are what the place holds, or what was answered when the place was not read.
    """

    known: bool = False
    found: tuple[Stored, ...] = ()
    elsewhere: tuple[tuple[str, Stored], ...] = ()
    stale: bool = False
    faults: tuple[Fault, ...] = ()
    equal: bool | None = None
    difference: str = ""
    like: str = ""
    items: tuple[Stored, ...] = ()
    indistinct: bool = False
    documents: tuple[Document, ...] = ()

    @property
    def as_asked(self) -> bool:
        """Exactly one object, in the right place, with the asked fields; or an answer equal to the place."""
        if self.equal is not None:
            return self.known and self.equal
        return self.known and len(self.found) == 1 and not self.faults and not self.elsewhere

    @property
    def copies(self) -> int:
        return len(self.found) + len(self.elsewhere)

    @property
    def absent(self) -> bool:
        return self.known and self.equal is None and not self.copies
