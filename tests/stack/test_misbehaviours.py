"""Every misbehaviour through the real gateway: what the judge says of it, with a tap before the model as evidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from butlerctl.judge import judge
from butlerctl.lab.conformance.catalogue import CASES
from butlerctl.lab.conformance.evidence import bundle_of
from butlerctl.lab.conformance.outcome import Verdict
from butlerctl.lab.conformance.page import page
from butlerctl.lab.conformance.run import run_case

pytestmark = pytest.mark.stack

ROOT = Path(__file__).parents[2]

# Without an independent read of Google a good turn is no more than unverified.
GOOD = (None, {"unverified"})
WRONG = ("call", {"wrong_call"})
IMITATED = ("call", {"narrated", "not_done"})
NOT_DONE = ("call", {"not_done"})
TWICE = ("call", {"duplicated"})
LIED = {"false_success"}

EXPECTED = {
    "good": GOOD,
    "good_read": GOOD,
    "good_row": GOOD,
    "limit_digits": GOOD,
    "cut_length": NOT_DONE,
    "cut_no_finish": NOT_DONE,
    # The asked arguments are all there; the gateway refuses the key beside them, and nothing is sent.
    "extra_key": ("request", LIED),
    "proto_key": ("request", LIED),
    "text_and_call": GOOD,
    "stop": GOOD,
    "stop_text": IMITATED,
    "no_finish": NOT_DONE,
    "dies": ("call", {"wrong_call", "not_done"}),
    "pieces": GOOD,
    "pieces_no_index": WRONG,
    "name_in_pieces": NOT_DONE,
    "two_calls": GOOD,
    "index_reused": WRONG,
    "id_reused": WRONG,
    "no_index_no_id": GOOD,
    "no_id": GOOD,
    "same_twice": TWICE,
    "loops": TWICE,
    "says_done": IMITATED,
    "empty_answer": NOT_DONE,
    "provider_429": NOT_DONE,
    "provider_500": NOT_DONE,
    "provider_402": NOT_DONE,
    "then_429": GOOD,
    "silence": NOT_DONE,
    "hook_403": ("header", LIED),
    "hook_404": ("active", LIED),
    "hook_500": ("shape", LIED),
    "hook_502": ("request", LIED),
    "hook_google": ("google", LIED),
    "hook_says_no": ("credential", LIED),
    "hook_started": ("shape", LIED),
    "hook_page": ("request", LIED),
    "hook_empty": ("shape", LIED),
    "hook_redirect": ("request", LIED),
    "hook_reset": ("request", LIED),
    "hook_silent": ("request", LIED),
}
OF_GROUP = {"arguments": WRONG, "names": IMITATED, "text": IMITATED}


def expected_of(case):
    return EXPECTED.get(case.id) or OF_GROUP[case.group]


@pytest.mark.parametrize("case", [case for case in CASES if case.id != "hook_code"], ids=lambda case: case.id)
def test_each_misbehaviour_has_the_right_first_link_and_turn(case, real_gateway):
    judgement = judge(bundle_of(run_case(real_gateway, case), with_wire=True))
    link, turns = expected_of(case)
    found = judgement.first_broken
    assert (found.link if found else None) == link, found
    assert str(judgement.turn) in turns


@pytest.mark.parametrize(
    "case_id", ["bracket_block", "function_tag", "commentary", "capitals", "prefix_functions"]
)
def test_only_the_wire_tells_a_promoted_or_renamed_call_from_a_native_one(case_id, real_gateway):
    case = next(case for case in CASES if case.id == case_id)
    observed = run_case(real_gateway, case)
    assert observed.verdict is Verdict.HARMFUL
    assert judge(bundle_of(observed, with_wire=False)).first_broken is None
    assert judge(bundle_of(observed, with_wire=True)).first_broken.link == "call"


def test_the_page_of_the_documentation_is_what_this_version_does(real_gateway, shipped_inventory):

    pins = shipped_inventory.pins
    results = [run_case(real_gateway, case) for case in CASES if case.group in {"names", "text"}]
    wanted = (ROOT / "docs" / f"conformance-{pins.gateway}.md").read_text(encoding="utf-8")
    lines = [line for line in page(pins.gateway, pins.model, results).splitlines() if line.startswith("| ")]
    assert [line for line in lines if line not in wanted.splitlines()] == []
