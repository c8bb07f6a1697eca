"""Planted faults through the whole verification on a fresh lab, and what became of each."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from butlerctl.evidence import read_bundles
from butlerctl.inventory.loader import load_inventory
from butlerctl.inventory.operations import OPERATIONS, Route
from butlerctl.judge import judge, strict_verdict
from butlerctl.judge.result import LINKS, ChainVerdict, Judgement
from butlerctl.lab.faults import FAULTS, Planted, link_of, plant
from butlerctl.lab.stack import Lab
from butlerctl.progress import Nobody
from butlerctl.report.evidence_files import save_bundles
from butlerctl.verify import Assignment, Verification, verify
from tests.forgetting import secrets_forgotten

ROOT = Path(__file__).parents[2]
INVENTORY = load_inventory(ROOT / "inventory.yaml", {})


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a verification said of one planted fault. `first` and `at` are empty when nothing was named."""

    planted: Planted
    first: str
    at: str
    hint: str
    bystanders: tuple[str, ...]
    """Routes without a fault that are not proven from end to end."""
    leftovers: int
    """Test objects that are alive in the emulator afterwards."""
    changed_by_saving: tuple[str, ...]
    """Routes that `diagnose` judges otherwise from their saved bundle."""
    seconds: float

    @property
    def link(self) -> str:
        return link_of(self.planted.name)

    @property
    def is_exact(self) -> bool:
        return self.first == self.link

    def __str__(self) -> str:
        return (
            f"{self.planted.name}@{self.planted.route}: first {self.first or 'nothing'} at {self.at or 'no route'}"
            f" ({self.hint[:160]}); bystanders {', '.join(self.bystanders) or 'none'};"
            f" {self.leftovers} leftovers; changed by saving: {', '.join(self.changed_by_saving) or 'none'}"
        )


def places(name: str) -> list[Route]:
    """The routes of the shipped household that a fault can strike."""
    strikes = FAULTS[name].strikes
    return [route for route in INVENTORY.routes if strikes(OPERATIONS[route.operation])]


def all_single() -> list[Planted]:
    return [Planted(name, route) for name in FAULTS for route in places(name)]


def run_single(planted: Planted) -> Outcome:
    """One fault, verified on the four routes of its domain: its own, its neighbour, and another person's."""
    domain = OPERATIONS[planted.route.operation].domain
    routes = [route for route in INVENTORY.routes if OPERATIONS[route.operation].domain == domain]
    with secrets_forgotten():
        return run_together([planted], routes)[0]


def run_together(faults: Sequence[Planted], routes: Iterable[Route] = INVENTORY.routes) -> list[Outcome]:
    """Several faults in one lab, on routes of their own."""
    began = time.monotonic()
    with Lab(INVENTORY) as lab, tempfile.TemporaryDirectory() as folder:
        done = verified(lab, faults, routes, Path(folder))
        left = sum(stored.live for stored in lab.google.objects_with("BTLR-"))
        changed = tuple(changed_by_saving(done, Path(folder) / "evidence"))
    struck = {planted.route for planted in faults}
    harmed = tuple(
        str(route) for route, said in judged(done).items() if route not in struck and not is_proven(said)
    )
    seconds = time.monotonic() - began
    return [
        _outcome(planted, judged(done)[planted.route], harmed, left, changed, seconds) for planted in faults
    ]


def verified(lab: Lab, faults: Iterable[Planted], routes: Iterable[Route], folder: Path) -> Verification:
    for planted in faults:
        plant(lab, planted)
    return verify(lab.inventory, Assignment(tuple(routes), folder, lab=True), Nobody())


def judged(done: Verification) -> dict[Route, Judgement]:
    return {result.route: result.judgement for result in done.run.routes}


def is_proven(judgement: Judgement) -> bool:
    return strict_verdict(judgement) is ChainVerdict.PASS


def changed_by_saving(done: Verification, folder: Path) -> Iterable[str]:
    """The routes whose saved bundle is judged otherwise than the live run."""
    save_bundles(done.bundles, folder)
    for route, live in judged(done).items():
        (bundle,) = read_bundles(folder / f"{route.operation}_{route.profile}")
        if essence(judge(bundle)) != essence(live):
            yield str(route)


def essence(judgement: Judgement) -> object:
    """What a live run and a diagnosis have to agree on."""
    first = judgement.first_broken
    return (
        judgement.verdict,
        first and (first.link, first.check, first.route, first.hint),
        [(link.link, link.verdict) for link in judgement.links],
        judgement.turn,
        judgement.claim,
    )


def _outcome(
    planted: Planted,
    judgement: Judgement,
    bystanders: tuple[str, ...],
    leftovers: int,
    changed: tuple[str, ...],
    seconds: float,
) -> Outcome:
    first = judgement.first_broken
    link, at, hint = (first.link, str(first.route), first.hint) if first else ("", "", "")
    return Outcome(planted, link, at, hint, bystanders, leftovers, changed, seconds)


def table(outcomes: Sequence[Outcome]) -> str:
    """One line a link, and their sum."""
    head = ("planted", "exact", "right route", "wrong link", "unnamed", "bystanders", "leftovers", "max s")
    rows = [("link", *head)]
    for link in (*LINKS, "all"):
        found = [each for each in outcomes if link in (each.link, "all")]
        rows.append((link, *map(str, _counts(found))))
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows
    )


def _counts(found: Sequence[Outcome]) -> tuple[object, ...]:
    return (
        len(found),
        sum(each.is_exact for each in found),
        sum(each.at == str(each.planted.route) for each in found),
        sum(bool(each.first) and not each.is_exact for each in found),
        sum(not each.first for each in found),
        sum(bool(each.bystanders) for each in found),
        sum(each.leftovers for each in found),
        f"{max((each.seconds for each in found), default=0):.1f}",
    )
