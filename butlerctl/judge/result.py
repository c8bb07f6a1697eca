"""What the judge says: link verdicts, the first broken link, the turn, the claim."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from butlerctl.inventory.operations import Route

LINKS = ("call", "route", "request", "header", "active", "credential", "google", "shape", "report")


class Verdict(StrEnum):
    """The verdict of a link."""

    PROVEN = "proven"
    BROKEN = "broken"
    UNPROVEN = "unproven"
    NOT_REACHED = "not_reached"


class ChainVerdict(StrEnum):
    PASS = "PASS"  # noqa: S105 - a verdict, not a password
    FAIL = "FAIL"
    UNKNOWN = "UNKNOWN"


class Turn(StrEnum):
    """What became of one request to the agent."""

    CONFIRMED = "confirmed"
    MISMATCHED = "mismatched"
    REFUTED = "refuted"
    DUPLICATED = "duplicated"
    WRONG_CALL = "wrong_call"
    LOST_OBSERVATION = "lost_observation"
    UNEXPLAINED_EFFECT = "unexplained_effect"
    FALSE_SUCCESS = "false_success"
    FAILED_HONEST = "failed_honest"
    NARRATED = "narrated"
    NOT_DONE = "not_done"
    UNVERIFIED = "unverified"
    NONE = "none"


class Claim(StrEnum):
    """What the agent's last words assert, held against the evidence."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class LinkVerdict:
    """One link: its verdict, the check that decided, and the digests of the evidence it rests on."""

    link: str
    verdict: Verdict
    check: str = ""
    reason: str = ""
    rests_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FirstBroken:
    """The first broken boundary. `expected` and `seen` are redacted before they come here.

    `hint` is the whole advice in one line; `next_step` is its last part, for outputs that show the rest apart.
    """

    link: str
    check: str
    route: Route | None
    hint: str
    expected: str = ""
    seen: str = ""
    next_step: str = ""

    def as_json(self) -> dict[str, Any]:
        route = self.route
        return {
            "link": self.link,
            "check": self.check,
            "route": route and {"operation": route.operation, "profile": route.profile},
            "hint": self.hint,
        }


@dataclass(frozen=True, slots=True)
class Note:
    """Something worth a person's eye that breaks no link."""

    check: str
    hint: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judge's whole answer to one bundle."""

    verdict: ChainVerdict
    first_broken: FirstBroken | None
    links: tuple[LinkVerdict, ...]
    turn: Turn
    claim: Claim
    notes: tuple[Note, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The result object that `butlerctl diagnose --format json` prints."""
        return {
            "verdict": str(self.verdict),
            "first_broken": self.first_broken and self.first_broken.as_json(),
            "links": {link.link: str(link.verdict) for link in self.links},
            "turn": str(self.turn),
            "claim": str(self.claim),
            "notes": [{"check": note.check, "hint": note.hint} for note in self.notes],
        }
