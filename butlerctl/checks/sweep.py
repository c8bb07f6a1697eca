"""Leftovers of interrupted runs: what the ledger says was asked for and is not known to be gone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from butlerctl.checks.canary import NONCE_PATTERN
from butlerctl.checks.cleanup import Cleanup, clean
from butlerctl.errors import ButlerctlError, ExitCode, Leftover, combine
from butlerctl.google.interface import SWEEP_MARGIN, Hit, Sighting, SystemOfRecord
from butlerctl.ledger import Asked, Ledger, Window

Systems = Mapping[tuple[str, str], SystemOfRecord]


@dataclass(frozen=True, slots=True)
class Sweep:
    """What became of every nonce that was looked for. `strangers` carry a nonce that no ledger knows."""

    cleanups: tuple[Cleanup, ...] = ()
    strangers: tuple[Hit, ...] = ()
    damaged_lines: tuple[int, ...] = ()
    problems: tuple[ButlerctlError, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """0 when nothing is left; 4 when a person has to look at something."""
        codes = [cleanup.exit_code for cleanup in self.cleanups]
        codes += [problem.exit_code for problem in self.problems]
        if self.strangers or self.damaged_lines:
            codes.append(ExitCode.LEFTOVER)
        return combine(codes or [ExitCode.PROVEN])


def sweep(ledger: Ledger, systems: Systems, *, many: bool = False, now: datetime | None = None) -> Sweep:
    """Remove the leftovers of earlier runs, with all guards, and write down what is gone.

    One search for each person and domain covers all nonces; only those with a hit are looked at one by one.
    """
    journal = ledger.journal()
    due = journal.open_canaries(now or datetime.now(UTC))
    gone = frozenset(journal.gone_since())
    cleanups: list[Cleanup] = []
    for domain in dict.fromkeys(asked.domain for asked in due):
        own = [asked for asked in due if asked.domain == domain]
        places = [system for (name, _), system in systems.items() if name == domain]
        cleanups += _domain(ledger, own, places, gone, many=many)
    return Sweep(tuple(cleanups), damaged_lines=journal.damaged)


def _domain(
    ledger: Ledger,
    due: Sequence[Asked],
    systems: Sequence[SystemOfRecord],
    gone: frozenset[str],
    *,
    many: bool,
) -> list[Cleanup]:
    known = {system.profile for system in systems}
    lost = [asked for asked in due if asked.profile not in known]
    due = [asked for asked in due if asked.profile in known]
    cleanups = [Cleanup(asked, problem=_unknown(asked)) for asked in lost]
    if not due:
        return cleanups
    pattern = re.compile("|".join(re.escape(asked.nonce) for asked in due))
    sighting = _search(systems, pattern, _window_of(due))
    if sighting.problem:
        return cleanups + [Cleanup(asked, problem=sighting.problem) for asked in due]
    found = {hit.nonce for hit in sighting.hits}
    for asked in due:
        if asked.nonce in found:
            cleanups.append(clean(asked, systems, ledger, many=many))
        else:
            if asked.nonce not in gone:
                ledger.gone(asked.nonce)
            cleanups.append(Cleanup(asked, gone=True))
    return cleanups


def strangers(systems: Systems, now: datetime) -> Sweep:
    """Without a ledger nothing is deleted: everything that looks like a canary is only reported."""
    sighting = _search(
        list(systems.values()), re.compile(NONCE_PATTERN), Window(now, now).widened(SWEEP_MARGIN)
    )
    return Sweep(strangers=sighting.found, problems=(sighting.problem,) if sighting.problem else ())


def _search(systems: Sequence[SystemOfRecord], pattern: re.Pattern[str], window: Window) -> Sighting:
    sighting = Sighting()
    for system in systems:
        sighting += system.scan(pattern, window)
    return sighting


def _window_of(due: Sequence[Asked]) -> Window:
    start = min(asked.window.start for asked in due)
    end = max(asked.window.end for asked in due)
    return Window(start, end).widened(SWEEP_MARGIN)


def _unknown(asked: Asked) -> Leftover:
    return Leftover(
        f"{asked.nonce} was asked for in {asked.domain} of {asked.profile}, who is no longer in the inventory",
        hint=f"look for {asked.nonce} by hand",
    )
