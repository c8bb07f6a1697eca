"""What a version of the gateway is known to make of each misbehaviour, and what changed since.

The record of a version stands in `records/`; `make stack-full` writes it anew, with the page of the documentation.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from butlerctl.lab.conformance.case import Case
from butlerctl.lab.conformance.catalogue import CASES
from butlerctl.lab.conformance.outcome import Outcome, Result, Verdict

STAND_IN = "stand-in"
RECORDS = Path(__file__).parent / "records"
_RANK = {Verdict.RIGHT: 0, Verdict.HARMLESS: 1, Verdict.HARMFUL: 2}


@dataclass(frozen=True, slots=True)
class Change:
    """A result that is not as recorded; `was` is None for a case without a record."""

    was: Result | None
    now: Result

    @property
    def is_worse(self) -> bool:
        """Without a record only harm counts."""
        if self.was is None:
            return self.now.verdict is Verdict.HARMFUL
        return _RANK[self.now.verdict] > _RANK[self.was.verdict]

    def line(self) -> str:
        was = f"was {_told(self.was)}" if self.was else "has no record"
        return f"{'worse' if self.is_worse else 'changed'}: {self.now.case.id} {was}, is {_told(self.now)}"

    def as_json(self) -> dict[str, Any]:
        was = self.was.as_json() if self.was else None
        return {"case": self.now.case.id, "worse": self.is_worse, "was": was, "now": self.now.as_json()}


def load(version: str) -> tuple[Result, ...] | None:
    """The record of this version, in the order of the catalogue; None without one."""
    path = RECORDS / f"{version}.json"
    if not path.is_file():
        return None
    rows: Mapping[str, Mapping[str, str]] = json.loads(path.read_text(encoding="utf-8"))
    return tuple(_result(case, rows[case.id]) for case in CASES if case.id in rows)


def dump(results: Iterable[Result]) -> str:
    """The text of a record. The same results give the same bytes."""
    rows = {
        result.case.id: {
            "outcome": str(result.outcome),
            "by": result.by,
            "requests": result.requests,
            "verdict": str(result.verdict),
        }
        for result in results
    }
    return (
        "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items()) + "\n}\n"
    )


def changes(results: Sequence[Result], recorded: Sequence[Result] | None) -> tuple[Change, ...]:
    """What is not as recorded, what is worse first. Without a record of the version: what is harmful."""
    known = {result.case.id: result for result in recorded or ()}
    found = [Change(known.get(now.case.id), now) for now in results if known.get(now.case.id) != now]
    told = [change for change in found if change.is_worse or recorded is not None]
    return tuple(sorted(told, key=lambda change: not change.is_worse))


def _result(case: Case, row: Mapping[str, str]) -> Result:
    return Result(case, Outcome(row["outcome"]), row["by"], row["requests"], Verdict(row["verdict"]))


def _told(result: Result) -> str:
    by = f" ({result.by})" if result.by else ""
    return f"{result.verdict}: {result.outcome}{by}, {result.requests} requests"
