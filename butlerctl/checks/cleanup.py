"""Removing a canary: guards on a fresh look, the ledger before the write, an own search after it.

Used at the end of a round trip and by `sweep`. What becomes of the clean-up never changes what was verified.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from butlerctl.errors import ButlerctlError, ExitCode, Leftover, combine
from butlerctl.google.interface import (
    SWEEP_MARGIN,
    Hit,
    Readback,
    Sighting,
    SystemOfRecord,
    pattern_of,
)
from butlerctl.ledger import Asked, Ledger

MOST_HITS = 3
"""More objects with one nonce than this are not deleted unasked."""


@dataclass(frozen=True, slots=True)
class Refused:
    """An object that stays, or that leaves something behind, and why."""

    hit: Hit
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cleanup:
    """What became of the objects of one nonce."""

    asked: Asked
    removed: tuple[Hit, ...] = ()
    """Seen before, and seen gone after."""
    refused: tuple[Refused, ...] = ()
    gone: bool = False
    """An own search after everything found nothing any more."""
    problem: ButlerctlError | None = None
    readbacks: tuple[Readback, ...] = ()
    """The deletes and the searches after them."""

    @property
    def nonce(self) -> str:
        return self.asked.nonce

    @property
    def exit_code(self) -> ExitCode:
        """0 gone, 4 something remains, or the code of the problem that kept butlerctl from looking."""
        codes = [self.problem.exit_code] if self.problem else []
        if self.refused or not (self.gone or self.problem):
            codes.append(ExitCode.LEFTOVER)
        return combine(codes or [ExitCode.PROVEN])


@dataclass(frozen=True, slots=True)
class _Step:
    """What became of one object."""

    hit: Hit
    reasons: tuple[str, ...] = ()
    problem: ButlerctlError | None = None
    readbacks: tuple[Readback, ...] = ()


def clean(asked: Asked, systems: Sequence[SystemOfRecord], ledger: Ledger, *, many: bool = False) -> Cleanup:
    """Delete what carries this nonce in any of `systems` (all profiles of its domain), and see that it is gone.

    `many` allows more than MOST_HITS objects. What Google refuses is in the result, not raised.
    """
    found: list[tuple[SystemOfRecord, Hit]] = []
    for system in systems:
        sighting = system.scan(pattern_of(asked.nonce), asked.window.widened(SWEEP_MARGIN))
        if sighting.problem:
            return Cleanup(asked, problem=sighting.problem)
        found += [(system, hit) for hit in sighting.hits]
    if len(found) > MOST_HITS and not many:
        reason = (
            f"{len(found)} objects carry this nonce; more than {MOST_HITS} are deleted only by sweep --yes"
        )
        return _too_many(asked, ledger, [hit for _, hit in found], reason)
    steps = [_remove(asked, system, hit, ledger) for system, hit in found]
    return _conclude(asked, ledger, steps, _look_again(asked, systems, found))


def _too_many(asked: Asked, ledger: Ledger, hits: list[Hit], reason: str) -> Cleanup:
    refused = tuple(Refused(hit, (reason,)) for hit in hits)
    _record(asked, ledger, refused)
    return Cleanup(asked, refused=refused)


def _remove(asked: Asked, system: SystemOfRecord, hit: Hit, ledger: Ledger) -> _Step:
    if not system.may_delete:
        return _Step(hit, ("butlerctl's credential may only read: remove it by hand",))
    confirmation = system.confirm(hit, asked)
    if confirmation.problem or confirmation.refusals or confirmation.is_gone:
        return _Step(hit, confirmation.refusals, confirmation.problem)
    ledger.deleting(asked.nonce, hit.object_id, confirmation.etag)
    removal = system.delete(confirmation)
    return _Step(hit, removal.refusals + removal.remains, removal.problem, removal.readbacks)


def _look_again(
    asked: Asked, systems: Sequence[SystemOfRecord], found: Sequence[tuple[SystemOfRecord, Hit]]
) -> Sighting:
    window = asked.window.widened(SWEEP_MARGIN)
    after = Sighting()
    for system in systems:
        hits = [hit for owner, hit in found if owner is system]
        after += system.gone(asked.nonce, hits, window)
    return after


def _conclude(asked: Asked, ledger: Ledger, steps: Sequence[_Step], after: Sighting) -> Cleanup:
    """The own search decides, not the answers to the deletes; only an alarm outlives it."""
    refused = [Refused(step.hit, step.reasons) for step in steps if step.reasons]
    explained = {entry.hit.object_id for entry in refused}
    left = {hit.object_id: hit for hit in after.found}
    problems = [step.problem for step in steps if step.problem]
    if not after.problem and not left:
        problems = [problem for problem in problems if isinstance(problem, Leftover)]
    elif not problems:
        silent = [hit for key, hit in left.items() if key not in explained]
        refused += [Refused(hit, ("it is still there after the delete",)) for hit in silent]
    gone = not left and not after.problem
    _record(asked, ledger, refused)
    if gone:
        ledger.gone(asked.nonce)
    stays = {*left, *explained}
    removed = [step.hit for step in steps if step.hit.object_id not in stays]
    return Cleanup(
        asked=asked,
        removed=() if after.problem else tuple(removed),
        refused=tuple(refused),
        gone=gone,
        problem=after.problem or next(iter(problems), None),
        readbacks=tuple(doc for step in steps for doc in step.readbacks) + after.readbacks,
    )


def _record(asked: Asked, ledger: Ledger, refused: Sequence[Refused]) -> None:
    for entry in refused:
        ledger.refused(asked.nonce, entry.hit.object_id, entry.hit.link, entry.reasons)
