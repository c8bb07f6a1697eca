"""What the gateway ran against what the model wrote: a difference breaks `call`, and the run value counts behind it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turns import Turn, arguments, bundle, call_message, of

from butlerctl.evidence import bundle_of
from butlerctl.judge import judge
from butlerctl.judge.executed import changes
from butlerctl.judge.transcript import judge_transcript

TURN = Turn(operation="tasks_add")
ASKED = {"profile": "anna", **arguments(TURN)}
WRITTEN = json.dumps(ASKED)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_characters="<"), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@given(st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), VALUES, max_size=4))
def test_what_is_written_and_run_unchanged_has_no_change(value):
    assert changes(json.dumps(value), json.loads(json.dumps(value))) == ()


@pytest.mark.parametrize(
    ("written", "ran", "at"),
    [
        ('{"profile": "wife"}', {"profile": "husband"}, "profile"),
        ('{"limit": 9007199254740993}', {"limit": 9007199254740992}, "limit"),
        ('{"limit": 9007199254740993.0}', {"limit": 9007199254740992}, "limit"),
        ('{"values": ["a", 12345678901234567890]}', {"values": ["a", 12345678901234567000]}, "values[1]"),
        ('{"amount": 0.12345678901234567890}', {"amount": 0.12345678901234568}, "amount"),
        ('{"limit": "5"}', {"limit": 5}, "limit"),
        ('{"limit": 1}', {"limit": True}, "limit"),
        ('{"limit": null}', {"limit": 0}, "limit"),
        ('{"limit": null}', {}, "limit"),
        ('{"a": 1}', {"a": 1, "b": 2}, "b"),
        ('{"values": [1, 2]}', {"values": [1]}, "values"),
        ('{"values": "[1]"}', {"values": [1]}, "values"),
        ('{"summary": "Cafe\\u0301"}', {"summary": "Café"}, "summary"),
        ('"{}"', {}, "the arguments"),
        ("", {"a": 1}, "a"),
    ],
)
def test_every_other_value_is_a_change_and_named(written, ran, at):
    assert [change.at for change in changes(written, ran)] == [at]


@pytest.mark.parametrize(
    ("written", "ran"),
    [
        ('{"amount": 1.0}', {"amount": 1}),
        ('{"amount": 3.20}', {"amount": 3.2}),
        ('{"amount": 1e2}', {"amount": 100}),
        ('{"amount": -0}', {"amount": 0}),
        ('{"summary": "\\u00e9"}', {"summary": "é"}),
        (" ", {}),
    ],
)
def test_the_same_number_or_text_in_other_letters_is_no_change(written, ran):
    assert changes(written, ran) == ()


def test_what_was_masked_on_one_side_alone_is_not_compared():
    assert changes('{"title": "pay", "note": "token <redacted>"}', {"title": "pay", "note": "token x"}) == ()
    assert changes('{"title": "pay"}', {"title": "<redacted>"}) == ()


def run(document, written=WRITTEN, executed=None, more=()):
    messages = of(document, "transcript")["messages"]
    messages[1] = call_message("add_task", written)
    messages[1]["tool_calls"][0]["executed_arguments"] = ASKED if executed is None else executed
    messages[1:1] = more
    return judge(bundle_of(document))


def test_a_call_that_was_run_as_it_was_written_is_proven():
    judgement = run(bundle(TURN))
    assert judgement.verdict == "PASS"
    assert judgement.links[0].verdict == "proven"


@pytest.mark.parametrize(
    ("written", "executed"),
    [
        (ASKED, {**ASKED, "profile": "bert"}),
        ({**ASKED, "profile": "bert"}, ASKED),
        (ASKED, {**ASKED, "title": f"{ASKED['title']} "}),
        (ASKED, {**ASKED, "list": "Household"}),
    ],
)
def test_a_call_that_was_run_otherwise_breaks_the_call_whichever_of_both_was_asked_for(written, executed):
    judgement = run(bundle(TURN), json.dumps(written), executed)
    assert judgement.first_broken.check == "call.arguments_unchanged"
    assert "the gateway ran add_task with" in judgement.first_broken.seen


def test_what_was_run_is_what_counts_behind_the_call():
    """The changed title went to the webhook: nothing was lost on that way."""
    document = bundle(TURN)
    ran = {**ASKED, "title": "Changed"}
    of(document, "exchange")["request"]["body"] = {
        key: value for key, value in ran.items() if key != "profile"
    }
    judgement = run(document, WRITTEN, ran)
    assert judgement.first_broken.check == "call.arguments_unchanged"
    assert judgement.turn == "wrong_call"


def failed_attempt(written, executed, *, failed):
    call = call_message("add_task", written, "c0")
    call["tool_calls"][0]["executed_arguments"] = executed
    content = "Validation failed for tool" if failed else json.dumps({"ok": True, "data": {"id": "t0"}})
    result = {
        "role": "tool",
        "tool_call_id": "c0",
        "content": content,
        **({"is_error": True} if failed else {}),
    }
    return [call, result]


@pytest.mark.parametrize(
    ("written", "executed", "check"),
    [
        (WRITTEN[:-9], {"profile": "anna"}, "call.args_json"),
        (f"{WRITTEN},", ASKED, "call.args_json"),
        (json.dumps({**ASKED, "list": 1}), {**ASKED, "list": "1"}, "call.arguments_unchanged"),
    ],
)
def test_a_call_that_failed_and_was_made_again_is_past_but_one_that_ran_is_not(written, executed, check):
    again = run(bundle(TURN), more=failed_attempt(written, executed, failed=True))
    assert (again.verdict, again.first_broken) == ("PASS", None)
    ran = run(bundle(TURN), more=failed_attempt(written, executed, failed=False))
    assert ran.first_broken.check == check


def test_another_call_that_was_repaired_and_run_is_found_too():
    document = bundle(TURN)
    extra = failed_attempt(
        '{"profile": "anna", "title": "Milk",}', {"profile": "anna", "title": "Milk"}, failed=False
    )
    assert run(document, more=extra).first_broken.check == "call.args_json"


def test_a_transcript_alone_tells_it_as_well():
    document = of(bundle(TURN), "transcript")
    document["messages"][1]["tool_calls"][0]["executed_arguments"] = {**ASKED, "profile": "bert"}
    judgement = judge_transcript(document)
    assert judgement.verdict == "FAIL"
    assert judgement.first_broken.check == "call.arguments_unchanged"
    assert "call.arguments_unchanged" in [note.check for note in judgement.notes]
