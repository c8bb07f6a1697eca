"""What butlerctl cannot know of a version of n8n stands in its report, and keeps nothing from being proven."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from butlerctl.inventory.loader import load_inventory
from butlerctl.lab.faults import plant, read_fault
from butlerctl.lab.stack import Lab
from butlerctl.n8n.versions import TESTED, limits_of
from butlerctl.progress import Nobody
from butlerctl.verify import Assignment, verify

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def lab():
    with Lab(load_inventory(ROOT / "inventory.yaml", os.environ)) as running:
        yield running


def prove(lab, state):
    routes = tuple(route for route in lab.inventory.routes if str(route) == "tasks_list/wife")
    result = verify(lab.inventory, Assignment(routes, state, lab=True), Nobody())
    reasons = {skipped.check: skipped.reason for skipped in result.run.skipped}
    return result.run, {
        check: why for check, why in reasons.items() if check.startswith(("credential.", "active.", "n8n."))
    }


def test_the_pinned_version_leaves_one_thing_open(lab, tmp_path):
    run, reasons = prove(lab, tmp_path)
    assert (run.verdict, run.versions["n8n"]) == ("PASS", "2.30.8")
    assert reasons.keys() == {"active.executed_version"}


def test_on_n8n_1_the_report_says_what_n8n_does_not_tell(lab, tmp_path):
    lab.n8n.rest.version = "1.123.81"
    run, reasons = prove(lab, tmp_path)
    lab.n8n.rest.version = "2.30.8"
    assert {link.verdict for route in run.routes for link in route.judgement.links} == {"proven"}
    assert reasons.keys() == {"credential.exists", "active.executed_version"}
    assert "n8n 1 lists no credentials" in reasons["credential.exists"]


def test_an_n8n_that_still_runs_the_version_before_is_told_by_the_execution(tmp_path):
    with Lab(load_inventory(ROOT / "inventory.yaml", os.environ)) as lab:
        lab.n8n.rest.version, lab.n8n.workflows.lag = "2.41.1", 60.0
        (workflow,) = (each for each in lab.n8n.workflows if each.name == "L4CK3Y tasks list wife")
        before = workflow.versions[workflow.saved]
        noted = [{**node, "notesInFlow": False} for node in before.nodes]
        lab.n8n.workflows.update(workflow.id, {"nodes": noted, "connections": before.connections})
        run, _ = prove(lab, tmp_path)
    (route,) = run.routes
    first = route.judgement.first_broken
    assert (first.check, first.seen) == (
        "active.executed_version",
        f"the request ran in version {before.id}, n8n publishes {workflow.published}",
    )


def test_on_the_pinned_version_the_nodes_that_ran_tell_it(tmp_path):
    with Lab(load_inventory(ROOT / "inventory.yaml", os.environ)) as lab:
        plant(lab, read_fault("active.older_runs@tasks_list/wife", lab.inventory))
        run, _ = prove(lab, tmp_path)
    (route,) = run.routes
    first = route.judgement.first_broken
    assert (first.check, first.seen) == (
        "active.executed_version",
        "the request did not run what n8n publishes: it differs in Check input",
    )


def test_a_key_that_may_not_list_credentials_is_said_in_the_report(lab, tmp_path):
    keys = lab.n8n.rest.keys
    before = dict(keys)
    for key, scopes in before.items():
        keys[key] = scopes - {"credential:list"}
    run, reasons = prove(lab, tmp_path)
    keys.update(before)
    assert run.verdict == "PASS"
    assert "the API key lacks the scope for GET /api/v1/credentials" in reasons["credential.exists"]


@pytest.mark.parametrize(
    ("version", "checks"),
    [
        ("1.123.81", ["credential.exists", "active.executed_version"]),
        ("1.123.4", ["credential.exists", "active.executed_version"]),
        ("1.50.0", ["credential.exists", "active.executed_version", "n8n.version"]),
        ("2.27.4", ["active.executed_version"]),
        ("2.30.8", ["active.executed_version"]),
        ("2.30.11", ["active.executed_version"]),
        ("2.28.6", ["active.executed_version", "n8n.version"]),
        ("2.35.0", ["active.settings", "n8n.version"]),
        ("2.41.1", ["active.settings"]),
        ("3.0.0", ["n8n.version"]),
        ("next", ["n8n.version"]),
        (None, ["n8n.version"]),
    ],
)
def test_the_table_holds_what_each_version_leaves_open(version, checks):
    assert [limit.check for limit in limits_of(version)] == checks
    if "n8n.version" in checks and version not in ("next", None):
        assert all(tested in limits_of(version)[-1].why for tested in TESTED)
