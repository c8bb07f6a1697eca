from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from report_samples import (
    ALL_RUNS,
    ROUTES,
    broken_route,
    failed_run,
    good_run,
    leftover_run,
    pinned_run,
    proven_route,
    run_of_routes,
    unknown_run,
)

from butlerctl import redaction
from butlerctl.judge.result import ChainVerdict, Note
from butlerctl.redaction import register_secret
from butlerctl.report.keys import new_signer
from butlerctl.report.render import RENDERERS, render
from butlerctl.report.run import CheckResult, Leftover, Outcome, Skipped
from butlerctl.report.signing import parse_report, report_text

EVERY_FORMAT = pytest.mark.parametrize("name", RENDERERS)
SIGNER = new_signer()


def shown(run, name, signer=None, **options):
    return render(parse_report(report_text(run, signer).encode()), name, **options)


@EVERY_FORMAT
@pytest.mark.parametrize("make", [*ALL_RUNS, run_of_routes], ids=lambda make: make.__name__)
def test_every_renderer_shows_every_kind_of_run(name, make):
    assert shown(make(), name).endswith("\n")


def secret_run(secret):
    """A run with the same text in every place that holds text of others."""
    result = broken_route(ROUTES[0], seen=f"404 {secret}")
    judgement = result.judgement
    first = replace(judgement.first_broken, hint=f"use {secret}", expected=f"not {secret}")
    links = tuple(replace(link, reason=f"saw {secret}") for link in judgement.links)
    note = Note("n.n", f"note {secret}")
    judgement = replace(judgement, first_broken=first, links=links, notes=(note,))
    checks = (CheckResult("pin.x", Outcome.FAILED, f"got {secret}"),)
    return run_of_routes(
        replace(result, judgement=judgement, checks=checks),
        checks=checks,
        skipped=(Skipped("s.s", f"because {secret}"),),
        leftovers=(Leftover(ROUTES[0], "task", f"list {secret}", f"id {secret}", f"why {secret}"),),
        versions={"n8n": secret},
        target=f"http://n8n.test/{secret}",
        nonce=secret,
        workflows={secret: "ab" * 32},
    )


@EVERY_FORMAT
def test_a_secret_that_came_into_a_run_comes_out_of_no_renderer(name, monkeypatch):
    monkeypatch.setattr(redaction, "_registered", set())
    monkeypatch.setattr(redaction, "_registered_forms", None)
    register_secret("planted&<secret>")
    for signer in (None, SIGNER):
        text = shown(secret_run("planted&<secret>"), name, signer)
        assert "planted" not in text
        assert "&lt;secret" not in text


@EVERY_FORMAT
def test_a_credential_that_nobody_registered_comes_out_of_no_renderer(name):
    assert "a0AfPlanted" not in shown(secret_run("ya29.a0AfPlanted-token"), name)


def test_the_text_says_verdict_first_and_what_to_do(capsys):
    text = shown(failed_run(), "text")
    lines = text.splitlines()
    assert lines[0] == "FAIL: calendar_add/wife is broken at active (active.seen)"
    assert "  do       publish the workflow in n8n" in lines
    assert "UNSIGNED" in text
    assert shown(good_run(), "text", SIGNER).startswith("PASS: 108 of 108 links proven on 12 routes\n")
    alone = shown(run_of_routes(proven_route(ROUTES[0])), "text", SIGNER)
    assert alone.startswith("PASS: 9 of 9 links proven on 1 route\n")


@pytest.mark.parametrize("expected", ["", "a 403 of n8n"])
def test_what_to_do_repeats_nothing_that_stands_beside_it(expected):
    step = "Activate the workflow. Then probe it; a file is not the live state."
    result = broken_route(ROUTES[3], seen="HTTP 404. Really")
    said = f"{ROUTES[3]}: HTTP 404. Really{f'; expected: {expected}' if expected else ''}. {step}"
    first = replace(result.judgement.first_broken, hint=said, expected=expected)
    run = run_of_routes(replace(result, judgement=replace(result.judgement, first_broken=first)))
    text = shown(run, "text").splitlines()
    assert text.count(f"  do       {step}") == 1
    assert sum("HTTP 404. Really" in line for line in text) == 1
    assert f"<dd>{step}</dd>" in shown(run, "html")


def test_the_text_names_what_was_not_run_what_is_left_and_what_is_not_proven():
    assert "active.credentials: the API key may not list credentials" in shown(good_run(), "text")
    assert "calendar event evt-1 in wife@example.test" in shown(leftover_run(), "text")
    assert "credential: no read-back" in shown(unknown_run(), "text")
    assert "but pin.n8n failed" in shown(pinned_run(), "text")
    assert "the lab, not a household" in shown(good_run(lab=True), "text")
    assert shown(run_of_routes(), "text").startswith("UNKNOWN: nothing was checked\n")


def test_several_broken_routes_are_counted_and_the_first_is_named():
    run = run_of_routes(proven_route(ROUTES[0]), broken_route(ROUTES[1], "header"), broken_route(ROUTES[2]))
    headline = "FAIL: 2 of 3 routes are broken, the first is calendar_list/wife at header (header.seen)"
    assert shown(run, "text").splitlines()[0] == headline


def test_colours_are_for_terminals_only():
    assert "\x1b" not in shown(failed_run(), "text")
    assert "\x1b[1;31m" in shown(failed_run(), "text", colour=True)


def test_what_was_seen_never_steers_the_readers_terminal():
    run = run_of_routes(broken_route(ROUTES[0], seen="404 \x1b[2J\r\n\x07 \u202e gone"))
    text = shown(run, "text")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", text)


class Page(HTMLParser):
    """Collects what a page would load, its tags, and its text."""

    def __init__(self):
        super().__init__()
        self.tags, self.loads, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.loads += [value for name, value in attrs if name in {"src", "href", "action", "style"}]

    def handle_data(self, data):
        self.text.append(data)


def page_of(run):
    page = Page()
    text = shown(run, "html", SIGNER)
    page.feed(text)
    return page, text


@pytest.mark.parametrize("make", ALL_RUNS, ids=lambda make: make.__name__)
def test_the_page_needs_nothing_but_itself(make):
    page, text = page_of(make())
    assert page.loads == []
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    assert "default-src 'none'" in text
    assert "url(" not in text
    assert "@import" not in text


def test_the_page_is_made_for_light_and_dark():
    _, text = page_of(good_run())
    assert "color-scheme: light dark" in text
    assert "prefers-color-scheme: dark" in text


def test_the_page_holds_a_mark_for_every_link():
    page, text = page_of(failed_run())
    assert text.count('aria-label="proven"') == 103
    assert text.count('aria-label="broken"') == 1
    assert text.count('aria-label="not reached"') == 4
    assert "calendar_add/wife is broken at active" in page.text


def test_text_of_others_cannot_become_a_part_of_the_page():
    evil = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
    page, _ = page_of(secret_run(evil))
    assert "script" not in page.tags
    assert "img" not in page.tags
    assert page.loads == []
    assert any(evil in text for text in page.text)


def junit(run):
    return ET.fromstring(shown(run, "junit"))  # noqa: S314 - our own output


def test_junit_has_a_suite_a_route_and_a_case_a_link():
    root = junit(good_run())
    names = [suite.attrib["name"] for suite in root]
    assert names == [*map(str, ROUTES), "run"]
    assert [suite.attrib["tests"] for suite in root] == ["9"] * 12 + ["1"]
    assert root.attrib["tests"] == "109"
    assert (root.attrib["failures"], root.attrib["errors"]) == ("0", "0")


def test_junit_counts_broken_as_failure_unproven_as_error_and_not_reached_as_skipped():
    root = junit(failed_run())
    suite = next(suite for suite in root if suite.attrib["name"] == "calendar_add/wife")
    assert {kind: suite.attrib[kind] for kind in ("tests", "failures", "errors", "skipped")} == {
        "tests": "9",
        "failures": "1",
        "errors": "0",
        "skipped": "4",
    }
    assert "publish the workflow" in suite.find("testcase/failure").attrib["message"]
    assert junit(unknown_run()).attrib["errors"] == "1"


def test_junit_fails_for_a_leftover_a_pin_and_an_empty_run():
    assert junit(leftover_run()).attrib["failures"] == "1"
    assert junit(pinned_run()).attrib["failures"] == "1"
    assert junit(run_of_routes(skipped=())).attrib["errors"] == "1"
    assert junit(run_of_routes()).attrib["errors"] == "1"
    assert junit(replace(good_run(), routes=good_run().routes[1:])).attrib["errors"] == "1"


def test_junit_fails_for_a_route_that_the_judge_fails_without_a_broken_link():
    result = proven_route(ROUTES[0])
    failed = replace(result, judgement=replace(result.judgement, verdict=ChainVerdict.FAIL))
    assert junit(run_of_routes(failed)).attrib["failures"] == "1"


def test_junit_carries_any_text_that_n8n_may_answer():
    root = junit(run_of_routes(broken_route(ROUTES[0], seen="\x00\x1b <b> & \ufffe 😀")))
    assert "😀" in root.find("testsuite/testcase/failure").text


METRIC = re.compile(r"(# (HELP|TYPE) )?butlerctl_[a-z_]+(\{[a-z_=\",/]*\})? .+")


def test_the_metrics_have_a_sample_a_link_and_no_changing_label():
    text = shown(failed_run(), "prometheus")
    lines = text.splitlines()
    assert all(METRIC.fullmatch(line) for line in lines)
    assert "butlerctl_run_success 0" in lines
    assert 'butlerctl_check_success{check="active",op="calendar_add",profile="wife"} 0' in lines
    assert sum(line.startswith("butlerctl_check_success{") for line in lines) == 108
    assert "example.test" not in text
    assert "RUN" not in text
    assert "butlerctl_run_success 1" in shown(good_run(), "prometheus")


def test_the_page_about_reports_names_every_metric():
    page = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(butlerctl_[a-z_]+)", page))
    assert named == set(re.findall(r"^# TYPE (\w+)", shown(good_run(), "prometheus"), re.MULTILINE))


def test_json_is_the_statement_itself():
    assert json.loads(shown(good_run(), "json", SIGNER)) == json.loads(report_text(good_run()))


def of_another_hand(text):
    """A statement that somebody else wrote: in it may stand what butlerctl itself would have replaced."""
    document = json.loads(parse_report(report_text(failed_run()).encode()).payload)
    own = document["predicate"]["butlerctl"]
    own["id"] = own["target"] = own["versions"]["n8n"] = text
    for route in own["routes"]:
        route["profile"] += text
    return parse_report(json.dumps(document).encode())


@pytest.mark.parametrize(
    "text", ["\ud800", "\x00\x1b[2J\x9b\r", "</title>\x1b<script>", '"\\\n} 1'], ids=ascii
)
def test_whatever_stands_in_a_report_of_another_hand_can_be_shown(text):
    report = of_another_hand(text)
    page = render(report, "html")
    assert re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", page) is None
    assert "<script" not in page
    assert ET.fromstring(render(report, "junit")).get("name") == "butlerctl"  # noqa: S314 - our own output
    metrics = render(report, "prometheus")
    assert metrics.encode("utf-8").decode("utf-8") == metrics
    label = r'\w+="(?:\\[\\"n]|[^"\\\n])*"'
    for line in metrics.removesuffix("\n").split("\n"):
        assert line.startswith("# ") or re.fullmatch(
            rf"butlerctl_\w+(\{{{label}(,{label})*\}})? \d+(\.\d+)?", line
        )
