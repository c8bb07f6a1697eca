"""One finding about a gateway, and the few words in which checks make one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """`UNPROVEN` was to be shown and was not; `SKIPPED` cannot be looked at from here, and other checks stand for it."""

    PROVEN = "proven"
    BROKEN = "broken"
    UNPROVEN = "unproven"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class GatewayFinding:
    """One check: its verdict, what was seen and what to do."""

    check: str
    verdict: Verdict
    seen: str
    hint: str = ""

    def as_json(self) -> dict[str, str]:
        return {"check": self.check, "verdict": str(self.verdict), "seen": self.seen, "hint": self.hint}


def finding(check: str, ok: bool, seen: str, hint: str) -> GatewayFinding:
    return GatewayFinding(check, Verdict.PROVEN if ok else Verdict.BROKEN, seen, "" if ok else hint)


def unproven(check: str, seen: str, hint: str) -> GatewayFinding:
    return GatewayFinding(check, Verdict.UNPROVEN, seen, hint)


def skipped(check: str, seen: str) -> GatewayFinding:
    return GatewayFinding(check, Verdict.SKIPPED, seen)


def at(document: Any, *keys: str) -> Any:
    """What stands at this place of a document; None where there is nothing."""
    for key in keys:
        document = document.get(key) if isinstance(document, Mapping) else None
    return document
