"""What must not move a verdict: wording, other runs' documents, offsets, order. What must: a second copy, missing proof."""

from __future__ import annotations

import copy
import json
import re
from datetime import datetime, timedelta, timezone

import pytest
from bundle_cases import load, names
from hypothesis import given, settings
from hypothesis import strategies as st
from turns import LAYOUTS, OTHER_ID, Turn, bundle, of, say, stored

from butlerctl.evidence import bundle_of
from butlerctl.inventory.operations import OPERATIONS
from butlerctl.judge import judge

ASKED = tuple(name for name in names() if load(name).bundle["intent"])
PASSING = tuple(name for name in ASKED if load(name).expect["verdict"] == "PASS")
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")
FEW = settings(max_examples=25, deadline=None)

# The same meaning, said in five ways and three languages.
SUCCESSES = (
    "Done.",
    "It's in.",
    "Added as you asked.",
    "Erledigt.",
    "Ist eingetragen.",
    "Listo, ya está.",
    "Hecho.",
)
FAILURES = (
    "That did not work.",
    "I could not do it, sorry.",
    "It failed.",
    "Das hat nicht geklappt.",
    "Es konnte nicht eingetragen werden.",
    "No se ha podido hacer.",
    "Ha fallado.",
)


def outcome(document) -> tuple[str, str | None]:
    judgement = judge(bundle_of(document))
    return str(judgement.verdict), judgement.first_broken and judgement.first_broken.check


def mapped(value, change):
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [mapped(item, change) for item in value]
    return {key: mapped(item, change) for key, item in value.items()} if isinstance(value, dict) else value


@given(st.sampled_from(sorted(OPERATIONS)), st.sampled_from(SUCCESSES), st.sampled_from(SUCCESSES))
@FEW
def test_rewording_a_true_report_changes_nothing(operation, one, other):
    verdicts = set()
    for reply in (one, other):
        document = bundle(Turn(operation))
        say(document, reply)
        verdicts.add(outcome(document))
    assert verdicts == {("PASS", None)}


@given(st.sampled_from(sorted(set(ASKED) - set(PASSING))), st.sampled_from(SUCCESSES + FAILURES))
@FEW
def test_no_wording_turns_a_failure_into_a_pass(name, reply):
    case = load(name)
    document = copy.deepcopy(case.bundle)
    for item in document["evidence"]:
        if item["kind"] == "transcript" and item["messages"][-1]["role"] == "assistant":
            item["messages"][-1]["content"] = reply
    verdict, check = outcome(document)
    if case.expect["link"] == "report":
        return  # there the wording was the fault
    assert verdict == case.expect["verdict"]
    assert verdict != "FAIL" or check is not None


OTHERS = (
    {
        "kind": "transcript",
        "complete": True,
        "messages": [
            {"role": "user", "content": "What is the weather like?"},
            {"role": "assistant", "content": "Done, I saved it!"},
        ],
    },
    {
        "kind": "exchange",
        "seen_by": "plugin",
        "tool_call_id": "of-another-run",
        "request": {"method": "POST", "url": "http://n8n/webhook/x/tasks/add/grandma", "headers": {}, "body": {"title": "x"}},
        "response": {"status": 500, "headers": {}, "body": {"message": "Error in workflow"}},
    },
    {"kind": "execution", "workflow": "L4CK3Y tasks add grandma", "status": "error", "error": {"message": "invalid_grant"}},
    {"kind": "readback", "when": "after", "api": "tasks.tasks.list", "token_of": "grandma", "tasklist": "g", "status": 500},
    {"kind": "workflow_live", "document": {"id": "g", "name": "L4CK3Y tasks add grandma", "active": False}},
    {"kind": "of a later version", "anything": [1, 2, 3]},
)  # fmt: skip


@given(st.sampled_from(ASKED), st.lists(st.sampled_from(OTHERS), min_size=1, max_size=4), st.integers(0, 12))
@settings(max_examples=60, deadline=None)
def test_documents_of_other_runs_change_nothing(name, others, at):
    case = load(name)
    if not case.bundle["intent"].get("prompt"):
        return
    document = copy.deepcopy(case.bundle)
    document["evidence"][at:at] = copy.deepcopy(others)
    assert outcome(document) == outcome(case.bundle)


def test_a_document_of_another_day_changes_nothing():
    document = bundle(Turn())
    yesterday = copy.deepcopy(of(document, "exchange"))
    yesterday |= {"at": "2026-05-03T10:00:00+02:00"}
    yesterday["response"] |= {"status": 502, "body": ""}
    document["evidence"].append(yesterday)
    assert outcome(document) == ("PASS", None)


@given(st.sampled_from(ASKED), st.integers(-11, 13))
@settings(max_examples=60, deadline=None)
def test_the_offset_in_which_instants_are_written_changes_nothing(name, hours):
    case = load(name)
    zone = timezone(timedelta(hours=hours))

    def shift(text: str) -> str:
        return INSTANT.sub(lambda found: datetime.fromisoformat(found[0]).astimezone(zone).isoformat(), text)

    document = copy.deepcopy(case.bundle)
    for item in document["evidence"]:
        if item["kind"] == "readback" and "calendar" in item["api"]:
            item["body"] = mapped(item["body"], shift)
        elif item["kind"] == "exchange" and "/calendar/" in item["request"]["url"]:
            item["response"]["body"] = mapped(item["response"]["body"], shift)
    assert outcome(document) == outcome(case.bundle)


@given(st.sampled_from(names()), st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_the_order_of_documents_of_different_kinds_changes_nothing(name, random):
    case = load(name)
    by_kind: dict[str, list] = {}
    for item in case.bundle["evidence"]:
        by_kind.setdefault(item["kind"], []).append(item)
    kinds = [item["kind"] for item in case.bundle["evidence"]]
    random.shuffle(kinds)
    assert outcome({**case.bundle, "evidence": [by_kind[kind].pop(0) for kind in kinds]}) == outcome(
        case.bundle
    )


@given(
    st.sampled_from(sorted(name for name, item in OPERATIONS.items() if item.writes)),
    st.sampled_from(sorted(LAYOUTS)),
)
@FEW
def test_a_second_copy_is_always_found(operation, layout):
    turn = Turn(operation, layout=layout)
    document = bundle(turn)
    body = of(document, "readback", when="after")["body"]
    body.get("items", body.get("values")).append(stored(turn, OTHER_ID))
    assert outcome(document) == ("FAIL", "google.single_copy")


@pytest.mark.parametrize("name", ASKED)
def test_dropping_evidence_never_turns_a_failure_into_a_pass(name):
    case = load(name)
    for at in range(len(case.bundle["evidence"])):
        left = case.bundle["evidence"][:at] + case.bundle["evidence"][at + 1 :]
        verdict, _ = outcome({**case.bundle, "evidence": left})
        if case.expect["verdict"] == "FAIL":
            assert verdict in {"FAIL", "UNKNOWN"}
        else:
            assert verdict in {case.expect["verdict"], "UNKNOWN"}


@pytest.mark.parametrize("name", PASSING)
def test_a_pass_needs_the_call_and_the_read_after_it(name):
    case = load(name)
    intent = case.bundle["intent"]
    domain = OPERATIONS[intent["operation"]].domain
    for item in case.bundle["evidence"]:
        decisive = item["kind"] == "transcript" or (
            item["kind"] == "readback"
            and item["when"] == "after"
            and item["token_of"] == intent["profile"]
            and item["api"].startswith(domain)
        )
        if decisive:
            left = [other for other in case.bundle["evidence"] if other is not item]
            assert outcome({**case.bundle, "evidence": left}) == ("UNKNOWN", None)


def test_the_order_in_which_repeats_were_recorded_does_not_hide_the_worst():
    good = of(bundle(Turn()), "transcript")
    bad = copy.deepcopy(good)
    bad["messages"][1:] = [{"role": "assistant", "content": "Done!"}]
    for repeats in ([good, bad], [bad, good]):
        document = bundle(Turn())
        document["evidence"] = [
            item for item in document["evidence"] if item["kind"] != "transcript"
        ] + repeats
        assert outcome(document) == ("FAIL", "call.toolcall_structured")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 999) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(names()), st.data())
@settings(max_examples=150, deadline=None)
def test_damaged_documents_are_judged_without_an_exception(name, data):
    """Any field of any document may hold anything: evidence comes from foreign systems."""
    document = copy.deepcopy(load(name).bundle)
    item = data.draw(st.sampled_from(document["evidence"]))
    places = [(item, key) for key in item if key != "kind"]
    places += [(value, key) for value in item.values() if isinstance(value, dict) for key in value]
    holder, key = data.draw(st.sampled_from(places))
    holder[key] = data.draw(JSON)
    json.dumps(judge(bundle_of(document)).as_json())
