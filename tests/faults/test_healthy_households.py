"""Healthy households raise no alarm: all links are proven, whatever lives there, and it stays untouched."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from fault_runs import changed_by_saving, is_proven, judged
from varied_households import foreign_objects, household

from butlerctl.lab.stack import Lab
from butlerctl.progress import Nobody
from butlerctl.verify import Assignment, verify

SLICE = range(1000, 1010)
ALL = range(300)


def alarms(seed: int) -> list[str]:
    """What is wrong after a verification of this household; empty when nothing is."""
    with TemporaryDirectory() as folder:
        case = household(seed, Path(folder) / "home")
        with Lab(case.inventory) as lab:
            case.disturb(lab)
            before = foreign_objects(lab)
            assignment = Assignment(lab.inventory.routes, Path(folder), lab=True, today=case.today)
            done = verify(lab.inventory, assignment, Nobody())
            after = foreign_objects(lab)
            left = sum(stored.live for stored in lab.google.objects_with("BTLR-"))
        unproven = [
            f"{route}: {said.first_broken or [link for link in said.links if link.verdict != 'proven']}"
            for route, said in judged(done).items()
            if not is_proven(said)
        ]
        touched = [f"{place} was touched" for place in before if before[place] != after[place]]
        leftovers = [f"{left} leftovers"] if left or done.run.leftovers else []
        saved = [
            f"{route} is judged otherwise when saved"
            for route in changed_by_saving(done, Path(folder) / "out")
        ]
        found = [*unproven, *touched, *leftovers, *saved]
        return [f"household {seed} ({case.traits})", *found] if found else []


@pytest.mark.parametrize("seed", SLICE)
def test_a_healthy_household_raises_no_alarm(seed):
    assert alarms(seed) == []


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_three_hundred_healthy_households_raise_no_alarm(capsys):
    with ProcessPoolExecutor(2 * (os.cpu_count() or 1), mp_context=get_context("spawn")) as pool:
        found = [alarm for alarm in pool.map(alarms, ALL) if alarm]
    with capsys.disabled():
        print("", f"healthy households: {len(ALL)}, with an alarm: {len(found)}", *found, sep="\n")
    assert found == []
