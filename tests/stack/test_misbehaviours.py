"""Every misbehaviour through the real gateway: what the judge says of it, with a tap before the model as evidence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from butlerctl.judge import judge
from butlerctl.lab.conformance.catalogue import CASES
from butlerctl.lab.conformance.evidence import bundle_of
from butlerctl.lab.conformance.outcome import Verdict
from butlerctl.lab.conformance.page import page
from butlerctl.lab.conformance.recorded import RECORDS, changes, dump, load

pytestmark = pytest.mark.stack

ROOT = Path(__file__).parents[2]

# Without an independent read of Google a good turn is no more than unverified.
GOOD = (None, "unverified")
WRONG = ("call", "wrong_call")
NARRATED = ("call", "narrated")
NOT_DONE = ("call", "not_done")
TWICE = ("call", "duplicated")

EXPECTED = {
    "good": GOOD,
    "good_read": GOOD,
    "good_row": GOOD,
    "limit_digits": GOOD,
    # The gateway drops the call, and its own words to the user admit it.
    "cut_length": NOT_DONE,
    "cut_no_finish": NOT_DONE,
    # The asked arguments are all there; the gateway refuses the key beside them, and nothing is sent.
    "extra_key": ("request", "false_success"),
    "proto_key": ("request", "false_success"),
    "text_and_call": GOOD,
    "stop": GOOD,
    "stop_text": NARRATED,
    "no_finish": NOT_DONE,
    # What had come of the call by then is on the wire, and is no JSON.
    "dies": WRONG,
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
    "says_done": NARRATED,
    "empty_answer": NOT_DONE,
    "provider_429": NOT_DONE,
    "provider_500": NOT_DONE,
    "provider_400": NOT_DONE,
    "provider_401": NOT_DONE,
    "provider_402": NOT_DONE,
    "then_429": GOOD,
    "silence": NOT_DONE,
    # The gateway repairs these names and runs the call: the model made none under the tool's name, and says that it is done.
    "capitals": NARRATED,
    "prefix_functions": NARRATED,
    "suffix_number": NARRATED,
    "prefix_path": NARRATED,
    "blank": NARRATED,
    "name_in_id": NARRATED,
    # The gateway takes the markup for a broken answer and tells the user that it could not answer.
    "tool_call_tag": NOT_DONE,
    "tool_call_xml": NOT_DONE,
    "hook_403": ("header", "false_success"),
    "hook_404": ("active", "false_success"),
    "hook_500": ("shape", "false_success"),
    "hook_502": ("request", "false_success"),
    "hook_google": ("google", "false_success"),
    "hook_says_no": ("credential", "false_success"),
    "hook_started": ("shape", "false_success"),
    # A 403 in a 200 is Google's, passed on by a workflow that does not look: n8n's own comes as a status.
    "hook_code": ("credential", "false_success"),
    "hook_page": ("request", "false_success"),
    "hook_empty": ("shape", "false_success"),
    "hook_redirect": ("request", "false_success"),
    "hook_reset": ("request", "false_success"),
    "hook_silent": ("request", "false_success"),
    "plugin_no_contracts": NOT_DONE,
    "plugin_no_packages": NOT_DONE,
    "plugin_mixed_case": GOOD,
    "plugin_throws": ("request", "false_success"),
    "plugin_not_named": NOT_DONE,
    "plugin_no_schema": NOT_DONE,
    "plugin_core_name": NARRATED,
    "plugin_unchecked": GOOD,
    "plugin_unchecked_403": ("header", "false_success"),
    "plugin_unchecked_404": ("active", "false_success"),
    "plugin_unchecked_500": ("shape", "false_success"),
    "plugin_unchecked_no": ("credential", "false_success"),
    "plugin_unchecked_started": ("shape", "false_success"),
}
OF_GROUP = {"arguments": WRONG, "names": NOT_DONE, "text": NARRATED}
# Each of these copies of the plugin takes a start of the gateway for one case.
SLOW = {"no_contracts", "no_packages", "mixed_case_id"}


def expected_of(case):
    return EXPECTED.get(case.id) or OF_GROUP[case.group]


def parameters(cases):
    marks = {True: pytest.mark.slow, False: ()}
    return [pytest.param(case, id=case.id, marks=marks[case.plugin in SLOW]) for case in cases]


@pytest.mark.parametrize("case", parameters(CASES))
def test_each_misbehaviour_has_the_right_first_link_and_turn(case, observations):
    judgement = judge(bundle_of(observations.of(case), with_wire=True))
    found = judgement.first_broken
    assert (found.link if found else None, str(judgement.turn)) == expected_of(case), found


@pytest.mark.parametrize(
    "case_id", ["bracket_block", "function_tag", "commentary", "capitals", "prefix_functions"]
)
def test_only_the_wire_tells_a_promoted_or_renamed_call_from_a_native_one(case_id, observations):
    observed = observations.of(next(case for case in CASES if case.id == case_id))
    assert observed.result.verdict is Verdict.HARMFUL
    assert judge(bundle_of(observed, with_wire=False)).first_broken is None
    assert judge(bundle_of(observed, with_wire=True)).first_broken.link == "call"


@pytest.mark.parametrize(
    "case", parameters(case for case in CASES if case.id in {"plugin_no_contracts", "plugin_no_packages"})
)
def test_a_plugin_that_the_gateway_does_not_take_offers_nothing(case, observations):
    """The gateway lists it all the same, so that only what the agent gets tells the truth."""
    assert observations.of(case).offered == ()


def test_this_version_does_what_is_recorded_of_it(observations, shipped_inventory):
    """The record is the page of the documentation too. `make stack-full` writes both anew."""
    pins = shipped_inventory.pins
    if os.environ.get("BUTLERCTL_WRITE_DOCS"):
        results = [observations.of(case).result for case in CASES]
        (RECORDS / f"{pins.gateway}.json").write_text(dump(results), encoding="utf-8")
        text = page(f"OpenClaw {pins.gateway}", pins.model, results)
        (ROOT / "docs" / f"conformance-{pins.gateway}.md").write_text(text, encoding="utf-8")
    seen = [observations.of(case).result for case in CASES if case.plugin not in SLOW]
    seen += [result for result in observations.known() if result.case.plugin in SLOW]
    assert [change.line() for change in changes(seen, load(pins.gateway))] == []
