from __future__ import annotations

import json
import time

import pytest
from bundle_cases import BundleCase, disagreements, load, names

from butlerctl.evidence import bundle_of
from butlerctl.judge import judge
from butlerctl.judge.hints import CHECKS
from butlerctl.judge.result import LINKS, Verdict

# Secrets that the cases carry in headers.
SECRETS = ("test-secret-not-real", "key-not-real")


@pytest.fixture(scope="module", params=names())
def case(request) -> BundleCase:
    return load(request.param)


def test_the_judge_says_what_the_case_expects(case):
    assert disagreements(judge(bundle_of(case.bundle)).as_json(), case.expect) == []


def test_no_secret_of_a_bundle_is_repeated(case):
    judgement = judge(bundle_of(case.bundle))
    said = repr(judgement) + json.dumps(judgement.as_json())
    assert not [secret for secret in SECRETS if secret in said]


def test_every_verdict_names_a_known_check_and_rests_on_evidence(case):
    judgement = judge(bundle_of(case.bundle))
    assert [link.link for link in judgement.links] == list(LINKS)
    for link in judgement.links:
        if link.verdict in {Verdict.PROVEN, Verdict.BROKEN}:
            assert link.check in CHECKS
            assert link.reason
            assert link.rests_on


def test_after_the_first_broken_link_nothing_is_reached(case):
    judgement = judge(bundle_of(case.bundle))
    if judgement.first_broken is None:
        assert not [link for link in judgement.links if link.verdict in {Verdict.BROKEN, Verdict.NOT_REACHED}]
        return
    at = LINKS.index(judgement.first_broken.link)
    assert judgement.links[at].verdict is Verdict.BROKEN
    assert {link.verdict for link in judgement.links[:at]} <= {Verdict.PROVEN, Verdict.UNPROVEN}
    assert {link.verdict for link in judgement.links[at + 1 :]} <= {Verdict.NOT_REACHED}


def test_all_cases_are_judged_within_two_seconds_of_processor_time():
    bundles = [bundle_of(load(name).bundle) for name in names()]
    started = time.process_time()
    for bundle in bundles:
        judge(bundle)
    assert time.process_time() - started < 2
