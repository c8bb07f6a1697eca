"""One finding about a gateway, and the few words in which checks make one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from butlerctl.judge.result import Verdict


@dataclass(frozen=True, slots=True)
class GatewayFinding:
    """One check: `proven`, `broken` or `unproven`, what was seen and what to do."""

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


def at(document: Any, *keys: str) -> Any:
    """What stands at this place of a document; None where there is nothing."""
    for key in keys:
        document = document.get(key) if isinstance(document, Mapping) else None
    return document
