"""Every planted fault is named by its link and route, accuses nobody else, leaves nothing, and reads the same when saved."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from fault_runs import INVENTORY, ROOT, Outcome, all_single, places, run_single, run_together, table

from butlerctl.inventory.operations import OPERATIONS
from butlerctl.judge.result import LINKS
from butlerctl.lab.faults import FAULTS, Planted, link_of

PLACES_OF_LINKS = dict(
    zip(
        LINKS,
        (
            "calendar_add/wife", "tasks_list/husband", "sheets_append/wife",
            "calendar_list/husband", "tasks_add/wife", "sheets_read/husband",
            "calendar_add/husband", "tasks_add/husband", "sheets_append/husband",
        ),
        strict=True,
    )
)  # fmt: skip


def batches() -> Iterator[list[Planted]]:
    """Every fault once: up to six in one lab, one a round trip. The places change from fault to fault."""
    waiting = [Planted(name, _turned(name, at)) for at, name in enumerate(FAULTS)]
    while waiting:
        batch: dict[tuple[str, str], Planted] = {}
        for planted in waiting:
            batch.setdefault((OPERATIONS[planted.route.operation].domain, planted.route.profile), planted)
        waiting = [planted for planted in waiting if planted not in batch.values()]
        yield list(batch.values())


def _turned(name: str, at: int):
    found = places(name)
    return found[at % len(found)]


BATCHES = list(batches())


def faults_of(outcome: Outcome) -> list[str]:
    """What is wrong with an outcome; empty when nothing is."""
    return [
        what
        for what, wrong in {
            "another link": not outcome.is_exact,
            "another route": outcome.at != str(outcome.planted.route),
            "bystanders": bool(outcome.bystanders),
            "leftovers": outcome.leftovers > 0,
            "judged otherwise when saved": bool(outcome.changed_by_saving),
        }.items()
        if wrong
    ]


def test_every_link_has_faults_of_several_kinds():
    kinds = {link: sum(link_of(name) == link for name in FAULTS) for link in LINKS}
    assert min(kinds.values()) >= 5, kinds


@pytest.mark.parametrize("faults", BATCHES, ids=range(len(BATCHES)))
def test_each_of_several_faults_is_named_on_its_own_route(faults):
    wrong = {str(outcome): found for outcome in run_together(faults) if (found := faults_of(outcome))}
    assert wrong == {}


@pytest.mark.parametrize("link", LINKS)
def test_the_command_line_names_the_first_fault_of_each_link(link, tmp_path):
    place = PLACES_OF_LINKS[link]
    command = [
        sys.executable, "-m", "butlerctl", "verify", "--lab", "--fault", f"{link}@{place}", "--only", place,
        "--report", str(tmp_path / "report.json"), "--inventory", str(INVENTORY.path), "--format", "json",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False, timeout=60)
    said = json.loads(done.stdout)
    (route,) = (each for each in said["routes"] if f"{each['operation']}/{each['profile']}" == place)
    operation, _, profile = place.partition("/")
    assert done.returncode == 1, done.stderr
    assert said["verdict"] == "FAIL"
    assert said["leftovers"] == []
    assert route["first_broken"]["link"] == link
    assert route["first_broken"]["route"] == {"operation": operation, "profile": profile}
    assert (tmp_path / "report.json").exists()


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_the_whole_matrix_of_single_faults(capsys):
    singles = all_single()
    with ProcessPoolExecutor(2 * (os.cpu_count() or 1), mp_context=get_context("spawn")) as pool:
        outcomes = list(pool.map(run_single, singles))
    wrong = {str(outcome): found for outcome in outcomes if (found := faults_of(outcome))}
    with capsys.disabled():
        print("", table(outcomes), *(f"{found}: {outcome}" for outcome, found in wrong.items()), sep="\n")
    assert len(outcomes) >= 400
    exact = sum(outcome.is_exact for outcome in outcomes)
    named = [outcome for outcome in outcomes if outcome.first]
    assert exact >= 0.99 * len(outcomes)
    assert [str(each) for each in named if not each.is_exact] == []
    assert [str(each) for each in named if each.at != str(each.planted.route)] == []
    assert [
        str(each) for each in outcomes if each.bystanders or each.leftovers or each.changed_by_saving
    ] == []
