"""What a link says about one operation, before the chain is put together."""

from __future__ import annotations

from dataclasses import dataclass

from butlerctl.evidence import Document
from butlerctl.inventory.operations import Route
from butlerctl.judge.result import Verdict


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict of one link. `reason` tells what was seen; `expected` what would be right; `advice` is special advice
    that comes before the check's general next step.
    """

    verdict: Verdict
    check: str
    reason: str
    expected: str = ""
    advice: str = ""
    documents: tuple[Document, ...] = ()
    route: Route | None = None
    link: str = ""


def proven(check: str, reason: str, *documents: Document) -> Finding:
    return Finding(Verdict.PROVEN, check, reason, documents=documents)


def unproven(check: str, reason: str, *documents: Document) -> Finding:
    return Finding(Verdict.UNPROVEN, check, reason, documents=documents)


def broken(check: str, seen: str, *documents: Document, expected: str = "", advice: str = "") -> Finding:
    return Finding(Verdict.BROKEN, check, seen, expected, advice, documents)
