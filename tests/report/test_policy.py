from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from report_samples import (
    ALL_RUNS,
    NOW,
    ROUTES,
    WORKFLOWS,
    good_run,
    leftover_run,
    proven_route,
    run_of_routes,
)

from butlerctl.report.keys import new_signer, public_key_of
from butlerctl.report.policy import Policy, verify_report
from butlerctl.report.run import CheckResult, Outcome
from butlerctl.report.signing import report_text, sign
from butlerctl.report.statement import payload_of

SIGNER = new_signer()
KEY = public_key_of(SIGNER)
POLICY = Policy(trusted=(KEY,))


def verify(run, now=NOW, **asked):
    return verify_report(report_text(run, SIGNER).encode(), replace(POLICY, **asked), now)


def checks(verification):
    assert verification.accepted is not bool(verification.refusals)
    assert all("\n" not in refusal.message for refusal in verification.refusals)
    return [refusal.check for refusal in verification.refusals]


def test_a_good_report_is_accepted_and_its_run_and_key_returned():
    verification = verify(good_run())
    assert checks(verification) == []
    assert verification.run.counts.links_in_all == 108
    assert verification.key is KEY


def test_everything_that_can_be_asked_may_be_asked_at_once():
    verification = verify(
        good_run(),
        target="https://n8n.example.test/",
        workflows=WORKFLOWS,
        nonce="BTLR-7Q2M4X9KPA",
        inventory_digest="ef" * 32,
        max_age=timedelta(minutes=6),
    )
    assert checks(verification) == []


@pytest.mark.parametrize(
    ("make", "check", "named"),
    [
        (ALL_RUNS[1], "policy.result", "calendar_add/wife: active is broken"),
        (ALL_RUNS[2], "policy.result", "107 of 108 links proven"),
        (ALL_RUNS[3], "policy.leftover", "wife@example.test"),
        (ALL_RUNS[4], "policy.result", "2.30.8 is pinned"),
        (run_of_routes, "policy.result", "0 of 0 links proven on 0 routes"),
    ],
)
def test_a_good_signature_over_a_bad_result_is_refused(make, check, named):
    verification = verify(make())
    assert checks(verification) == [check]
    assert named in verification.refusals[0].message


def test_a_warning_is_refused_too():
    pin = CheckResult("pin.n8n", Outcome.WARNED, "the version is not known")
    verification = verify(good_run(checks=(pin,)))
    assert checks(verification) == ["policy.result"]
    assert "pin.n8n" in verification.refusals[0].message


@pytest.mark.parametrize(
    ("age", "accepted"),
    [
        (timedelta(hours=24), True),
        (timedelta(hours=24, milliseconds=1), False),
        (timedelta(seconds=3.5) - timedelta(minutes=5), True),
        (timedelta(minutes=-5, milliseconds=-1), False),
    ],
)
def test_a_report_is_believed_for_a_day_and_never_from_the_future(age, accepted):
    run = good_run()
    verification = verify(run, now=run.started + age)
    assert verification.accepted is accepted
    assert checks(verification) == ([] if accepted else ["policy.age"])


def test_the_allowed_age_is_the_verifiers_choice():
    run = good_run()
    now = run.started + timedelta(days=9)
    assert "9 days ago; 24 h are allowed" in verify(run, now=now).refusals[0].message
    assert verify(run, now=now, max_age=timedelta(days=10)).accepted


def test_a_run_that_ends_in_the_future_is_refused():
    run = good_run()
    late = replace(run, finished=NOW + timedelta(minutes=5, milliseconds=1))
    assert checks(verify(late)) == ["policy.age"]
    assert verify(replace(run, finished=NOW + timedelta(minutes=5))).accepted


def test_a_run_that_took_no_time_is_no_contradiction():
    assert verify(replace(good_run(), finished=good_run().started)).accepted


@pytest.mark.parametrize(
    ("age", "said"),
    [
        (timedelta(minutes=119), "119 min ago; 60 min are allowed"),
        (timedelta(hours=71), "71 h ago"),
        (timedelta(hours=72), "3 days ago"),
        (timedelta(hours=2), "2 h ago"),
    ],
)
def test_an_age_is_told_in_the_unit_that_fits(age, said):
    run = good_run()
    assert said in verify(run, now=run.started + age, max_age=timedelta(hours=1)).refusals[0].message


def test_several_leftovers_are_counted():
    run = leftover_run()
    assert "more)" not in verify(run).refusals[0].message
    assert "(and 2 more)" in verify(replace(run, leftovers=run.leftovers * 3)).refusals[0].message


def test_what_was_not_asked_is_known():
    assert POLICY.open_questions == ("target", "workflows", "nonce")
    assert replace(POLICY, target="http://a.test", nonce="n").open_questions == ("workflows",)


def test_a_run_that_ended_before_it_began_is_refused():
    run = good_run()
    assert checks(verify(replace(run, finished=run.started - timedelta(seconds=1)))) == ["policy.age"]


@pytest.mark.parametrize(
    "target",
    [
        "http://n8n.example.test",
        "https://n8n.example.test:5678",
        "https://other.example.test",
        "https://n8n.example.test/n8n",
        "https://n8n.example.test:port",
    ],
)
def test_a_report_about_another_target_is_refused(target):
    assert checks(verify(good_run(), target=target)) == ["policy.target"]


def test_a_target_is_the_same_however_it_is_written():
    assert verify(good_run(), target="https://N8N.example.test:443/").accepted
    assert verify(good_run(target="http://n8n.test:80/n8n/"), target="http://n8n.test/n8n").accepted


def test_a_changed_a_missing_and_a_foreign_workflow_are_each_named():
    now = dict(WORKFLOWS) | {"calendar_add_wife": "0" * 64, "calendar_add_guest": "1" * 64}
    del now["tasks_add_wife"]
    verification = verify(good_run(), workflows=now)
    assert checks(verification) == ["policy.workflows"] * 3
    assert [refusal.message for refusal in verification.refusals] == [
        "the report says nothing of the workflow calendar_add_guest",
        "the workflow calendar_add_wife was changed after the run",
        "the report is about a workflow that is not here: tasks_add_wife",
    ]


def test_a_report_over_no_workflow_is_refused():
    assert checks(verify(good_run(workflows={}))) == ["policy.workflows"]


def test_another_inventory_is_refused():
    assert checks(verify(good_run(), inventory_digest="00" * 32)) == ["policy.inventory"]


def test_a_report_that_answers_another_challenge_is_refused():
    assert checks(verify(good_run(), nonce="another")) == ["policy.nonce"]


def test_a_report_with_fewer_routes_than_planned_is_refused():
    run = good_run()
    assert set(checks(verify(replace(run, routes=run.routes[1:])))) == {"policy.plan", "policy.result"}


def test_a_signed_statement_whose_counts_do_not_add_up_is_refused():
    document = json.loads(payload_of(good_run()))
    document["predicate"]["butlerctl"]["counts"]["links"]["proven"] = 109
    data = json.dumps(sign(json.dumps(document).encode(), SIGNER)).encode()
    verification = verify_report(data, POLICY, NOW)
    assert checks(verification) == ["policy.counts"]


def test_a_signed_failure_that_calls_itself_passed_is_refused():
    document = json.loads(payload_of(ALL_RUNS[1]()))
    document["predicate"]["result"] = "PASSED"
    document["predicate"]["butlerctl"]["verdict"] = "PASS"
    data = json.dumps(sign(json.dumps(document).encode(), SIGNER)).encode()
    assert checks(verify_report(data, POLICY, NOW)) == ["policy.counts", "policy.result"]


def test_a_signed_text_that_is_no_statement_is_refused_without_being_believed():
    for payload in (b"hello", b"{}", b'{"_type":"x"}'):
        data = json.dumps(sign(payload, SIGNER)).encode()
        verification = verify_report(data, POLICY, NOW)
        assert checks(verification) == ["policy.type"]
        assert verification.run is None


def test_a_bad_signature_ends_the_check_before_anything_is_parsed():
    other = public_key_of(new_signer())
    verification = verify(good_run(), trusted=(other,))
    assert checks(verification) == ["policy.signature"]
    assert verification.run is None


@pytest.mark.parametrize(
    "data", [b"", b"<html>", b"{}", b"\xff", b"[" * 100_000, report_text(good_run()).encode()]
)
def test_what_is_no_signed_report_is_refused_and_never_raises(data):
    verification = verify_report(data, POLICY, NOW)
    assert checks(verification) == ["policy.signature"]


def test_all_that_is_wrong_is_said_at_once():
    run = leftover_run()
    verification = verify(run, now=run.started + timedelta(days=2), target="http://x.test", nonce="n")
    assert checks(verification) == ["policy.leftover", "policy.age", "policy.target", "policy.nonce"]


def test_a_part_of_the_routes_is_accepted_when_no_more_was_asked():
    assert verify(run_of_routes(proven_route(ROUTES[0]))).accepted
