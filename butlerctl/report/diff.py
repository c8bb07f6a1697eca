"""What changed between two runs. Times, ids and nonces always change and say nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from butlerctl.report.run import Run


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: what, and how it was in the first and in the second report (empty: not there)."""

    what: str
    before: str
    after: str


def compare(before: Run, after: Run) -> list[Change]:
    """Every difference between two runs, the most important first."""
    return [
        Change(what, old, new) for what, old, new in _pairs(_aspects(before), _aspects(after)) if old != new
    ]


def _pairs(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for what in dict.fromkeys((*before, *after)):
        yield what, before.get(what, ""), after.get(what, "")


def _aspects(run: Run) -> dict[str, str]:
    aspects = {"verdict": str(run.verdict)}
    for result in run.routes:
        for link in result.judgement.links:
            aspects[f"{result.route}: {link.link}"] = _said(str(link.verdict), link.check)
        aspects[f"{result.route}: turn"] = str(result.judgement.turn)
        aspects[f"{result.route}: claim"] = str(result.judgement.claim)
    aspects |= {f"check {check.check}": _said(check.outcome, check.detail) for check in run.all_checks}
    aspects |= {f"left over in {leftover.where}": leftover.id for leftover in run.leftovers}
    aspects |= {"target": run.target, "inventory": run.inventory_digest}
    aspects |= {f"version of {name}": version for name, version in run.versions.items()}
    return aspects | {f"workflow {name}": digest for name, digest in run.workflows.items()}


def _said(verdict: str, check: str) -> str:
    return verdict if verdict in ("proven", "not_reached", "passed") or not check else f"{verdict} ({check})"
