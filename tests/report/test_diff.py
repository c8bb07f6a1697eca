from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from report_samples import ROUTES, WORKFLOWS, failed_run, good_run, leftover_run, proven_route, run_of_routes

from butlerctl.report.diff import Change, compare


def test_two_runs_with_the_same_findings_do_not_differ():
    again = good_run(id="another", nonce="another")
    again = replace(
        again, started=again.started + timedelta(days=1), finished=again.finished + timedelta(days=1)
    )
    assert compare(good_run(), again) == []


def test_a_link_that_broke_is_named_after_the_verdict():
    changes = compare(good_run(), failed_run())
    assert changes[0] == Change("verdict", "PASS", "FAIL")
    assert Change("calendar_add/wife: active", "proven", "broken (active.seen)") in changes
    assert Change("calendar_add/wife: turn", "confirmed", "failed_honest") in changes


def test_workflows_versions_and_leftovers_are_compared_too():
    changed = leftover_run(
        workflows=WORKFLOWS | {"calendar_add_wife": "9" * 64},
        versions={"n8n": "2.41.1", "butlerctl": "0.1.0"},
    )
    assert [(change.what, change.after) for change in compare(good_run(), changed)] == [
        ("version of n8n", "2.41.1"),
        ("version of openclaw", ""),
        ("workflow calendar_add_wife", "9" * 64),
        ("left over in wife@example.test", "evt-1"),
    ]


def test_a_route_that_is_new_is_told_link_by_link():
    changes = compare(run_of_routes(), run_of_routes(proven_route(ROUTES[0])))
    assert Change("calendar_list/husband: google", "", "proven") in changes
