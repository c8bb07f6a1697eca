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
# What the operator has to do, where the same check has several causes.
STEPS = {
    "call.not_offered": "See that the turn offers the tool for this person",
    "call.wrong_profile": "profile = ",
    "call.truncated": "Raise the output limit",
    "route.test_url": "production webhooks live under /webhook/",
    "request.nowhere": "start n8n or correct the port",
    "request.moved": "final address",
    "request.gate": "sign-in gate",
    "request.timeout": "Look for the object before anything is sent again",
    "request.body_lost": "unchanged",
    "header.missing": "webhook secret on the gateway's side",
    "header.wrong": "webhook secret on the gateway's side",
    "header.changed": "choose the export's credential",
    "header.renamed": "choose the export's credential",
    "header.no_credential": "does not exist in n8n: choose it there again",
    "header.open": "Header Auth",
    "header.bots_export": "Ignore Bots",
    "header.addresses": "IP list",
    "active.inactive": "inactive. Activate (publish)",
    "active.archived": "restore it in n8n first",
    "active.never_imported": "import it (butlerctl plan, then apply)",
    "active.unserved": "Deactivate and activate it again, or restart n8n",
    "active.moved": "/moved; the export's is POST",
    "active.method": "GET",
    "active.draft": "the published one is the export's",
    "active.old_version": "the saved one is the export's",
    "active.edited": "differs from the export in settings",
    "active.formatter_skipped": "differs from the export in connections",
    "active.another_owner": "a copy of somebody",
    "active.two_owners": "Unpublish all but the right one",
    "credential.revoked": "Reconnect",
    "credential.rebound": "as in the export",
    "credential.unknown": "or create it",
    "credential.type": "of the node's own type",
    "credential.scope": "quota",
    "credential.place": "as in the export",
    "credential.place_export": "which is not",
    "google.rate_limit": "too many requests",
    "google.written_twice": "Remove the surplus copy",
    "google.no_due": "days as plain days",
    "google.columns": "maps columns",
    "shape.started": "respond by its Respond node",
    "shape.formatter_skipped": "before, or beside, its formatter",
    "report.extra_deed": "Nothing of that was done",
}


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
    outcomes = run_together(faults)
    assert {str(outcome): found for outcome in outcomes if (found := faults_of(outcome))} == {}
    steps = {outcome.hint: STEPS.get(outcome.planted.name, "") for outcome in outcomes}
    assert {hint: step for hint, step in steps.items() if step not in hint} == {}


def test_the_steps_are_of_faults_that_exist():
    assert set(STEPS) <= set(FAULTS)


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
