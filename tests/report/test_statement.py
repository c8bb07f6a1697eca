from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files

import pytest
from jsonschema import Draft202012Validator
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

from butlerctl.errors import Refused
from butlerctl.judge.result import ChainVerdict, Verdict
from butlerctl.report.run import CheckResult, Outcome, RouteResult
from butlerctl.report.statement import contradictions, payload_of, run_of


def statement(run):
    return json.loads(payload_of(run))


@pytest.mark.parametrize("make", ALL_RUNS, ids=lambda make: make.__name__)
def test_a_run_survives_the_way_through_its_statement(make):
    run = make()
    payload = payload_of(run)
    read = run_of(payload)
    assert payload_of(read) == payload
    assert read.verdict == run.verdict
    assert read.counts == run.counts
    assert contradictions(payload, read) == []


def test_the_verdict_and_the_duration_follow_from_what_was_seen():
    assert [str(make().verdict) for make in ALL_RUNS] == ["PASS", "FAIL", "UNKNOWN", "PASS", "FAIL"]
    passed = CheckResult("pin.n8n", Outcome.PASSED)
    failed = CheckResult("pin.n8n", Outcome.FAILED)
    assert good_run(checks=(passed,)).verdict is ChainVerdict.PASS
    assert run_of_routes(replace(proven_route(ROUTES[0]), checks=(failed,))).verdict is ChainVerdict.FAIL
    assert good_run().seconds == 3.5
    assert good_run().lab is False


def test_the_statement_is_an_in_toto_test_result_over_the_workflow_digests():
    document = statement(good_run())
    assert document["_type"] == "https://in-toto.io/Statement/v1"
    assert document["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    assert {entry["name"]: entry["digest"]["sha256"] for entry in document["subject"]} == WORKFLOWS
    assert document["predicate"]["result"] == "PASSED"
    assert len(document["predicate"]["passedTests"]) == 108
    assert "header.seen[calendar_add/wife]" in document["predicate"]["passedTests"]


def test_the_lists_name_broken_and_unproven_links_and_leave_out_what_was_not_reached():
    document = statement(ALL_RUNS[1]())["predicate"]
    assert document["failedTests"] == ["active.seen[calendar_add/wife]"]
    assert document["result"] == "FAILED"
    assert not any(
        "google.seen[calendar_add/wife]" in document[name] for name in ("passedTests", "warnedTests")
    )
    unknown = statement(ALL_RUNS[2]())["predicate"]
    assert unknown["warnedTests"] == ["credential.seen[sheets_append/wife]"]
    assert unknown["result"] == "WARNED"


def test_a_leftover_leaves_the_verdict_and_takes_away_the_clean_result():
    run = leftover_run()
    assert run.verdict is ChainVerdict.PASS
    assert statement(run)["predicate"]["result"] == "WARNED"
    assert statement(run)["predicate"]["warnedTests"] == ["cleanup.leftover[calendar_add/wife]"]


def test_a_run_without_routes_is_unknown_and_never_passed():
    empty = run_of_routes()
    assert empty.verdict is ChainVerdict.UNKNOWN
    assert statement(empty)["predicate"]["result"] == "FAILED"


def test_a_route_that_was_planned_and_is_missing_makes_the_run_unknown():
    whole = good_run()
    assert replace(whole, routes=whole.routes[:-1]).verdict is ChainVerdict.UNKNOWN


def test_a_route_that_the_judge_fails_is_never_passed_whatever_its_links_say():
    result = proven_route(ROUTES[0])
    failed = replace(result, judgement=replace(result.judgement, verdict=ChainVerdict.FAIL))
    assert run_of_routes(failed).verdict is ChainVerdict.FAIL
    assert statement(run_of_routes(failed))["predicate"]["result"] == "FAILED"


def test_a_link_named_twice_never_proves_a_route():
    result = proven_route(ROUTES[0])
    links = result.judgement.links
    broken_first = (replace(links[0], verdict=Verdict.BROKEN), *links)
    twice = RouteResult(result.route, replace(result.judgement, links=broken_first))
    assert twice.verdict is ChainVerdict.FAIL
    again = RouteResult(result.route, replace(result.judgement, links=(links[0], *links)))
    assert again.verdict is ChainVerdict.UNKNOWN


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        (("predicate", "result"), "WARNED", "result"),
        (("predicate", "passedTests"), [], "passedTests"),
        (("predicate", "butlerctl", "verdict"), "UNKNOWN", "verdict"),
        (("predicate", "butlerctl", "counts", "routes"), 11, "counts"),
        (("predicate", "butlerctl", "counts", "links", "proven"), 107, "counts"),
        (("predicate", "butlerctl", "routes", 3, "verdict"), "UNKNOWN", "verdict of calendar_add/wife"),
        (("predicate", "butlerctl", "routes", 3, "verdict"), "FAIL", "verdict"),
        (("predicate", "butlerctl", "routes", 3, "links", 4, "verdict"), "broken", "failedTests"),
    ],
)
def test_a_statement_that_does_not_follow_from_its_own_links_is_found_out(path, value, named):
    document = statement(good_run())
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    payload = json.dumps(document).encode()
    assert named in contradictions(payload, run_of(payload))


def every_field_of(document, path=()):
    if isinstance(document, dict):
        for name, value in document.items():
            yield (*path, name)
            yield from every_field_of(value, (*path, name))
    elif isinstance(document, list) and document:
        yield from every_field_of(document[0], (*path, 0))


def test_a_statement_with_any_field_missing_or_of_the_wrong_type_is_refused_with_one_line():
    template = statement(leftover_run(finished=NOW))
    optional = {"versions"}
    for path in every_field_of(template):
        for damage in ("remove", "wrong type"):
            document = json.loads(json.dumps(template))
            place = document
            for step in path[:-1]:
                place = place[step]
            if path[-2:-1] and path[-2] in optional and damage == "remove":
                continue
            if damage == "remove":
                del place[path[-1]]
            else:
                place[path[-1]] = 3.5 if path[-1] != "seconds" else "3.5"
            with pytest.raises(Refused) as refusal:
                run_of(json.dumps(document).encode())
            assert "\n" not in refusal.value.message


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"_type":1,"_type":1}',
        b'{"a":NaN}',
        b"null",
        b"1" * 5000,
        b'{"_type":"https://in-toto.io/Statement/v1"}',
    ],
)
def test_bytes_that_are_no_statement_are_refused_and_never_crash(data):
    with pytest.raises(Refused):
        run_of(data)


def test_the_schema_of_the_statement_is_a_valid_schema():
    schema = json.loads(
        files("butlerctl.report").joinpath("statement.schema.json").read_text(encoding="utf-8")
    )
    Draft202012Validator.check_schema(schema)


def test_an_impossible_date_is_refused():
    payload = payload_of(good_run()).replace(b"2026-11-30T14:00:01.250Z", b"2026-13-30T14:00:01.250Z")
    with pytest.raises(Refused, match="no date"):
        run_of(payload)


def test_a_lone_surrogate_in_what_was_seen_does_not_stop_the_report():
    result = proven_route(ROUTES[0])
    links = (replace(result.judgement.links[0], reason="\ud800 seen"), *result.judgement.links[1:])
    run = run_of_routes(replace(result, judgement=replace(result.judgement, links=links)))
    assert run_of(payload_of(run)).routes[0].judgement.links[0].reason == "? seen"
