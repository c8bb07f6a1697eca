"""Who answered: every recorded answer of n8n is known for n8n's own, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from butlerctl.lab.n8n import gateway_page, redirect, sign_in_page
from butlerctl.lab.n8n.answers import editor_page
from butlerctl.n8n.answers import Kind, classify

LINES = (Path(__file__).parents[1] / "cases/n8n/answers.jsonl").read_text(encoding="utf-8").splitlines()
RECORDED = {entry["case"]: entry for entry in map(json.loads, LINES)}
# `/webhook-waiting/` and an unknown preflight path are pages of n8n's server, not answers of a webhook.
PAGES = {"hook-waiting-url", "respond-text"}

KINDS = {
    "hook-unknown-path": Kind.NOT_REGISTERED,
    "hook-inactive": Kind.NOT_REGISTERED,
    "hook-test-url": Kind.NOT_REGISTERED,
    "hook-GET-on-POST-auth": Kind.WRONG_METHOD,
    "hook-missing-header": Kind.REFUSED,
    "hook-wrong-value": Kind.REFUSED,
    "w-hdr-empty-value-hook": Kind.NO_AUTH_DATA,
    "hook-invalid-json": Kind.BAD_BODY,
    "hook-17MB": Kind.FAULT,
    "options-origin-noacrm": Kind.PREFLIGHT,
    "options-preflight-unknown": Kind.PREFLIGHT,
    "fail-responseNode": Kind.EMPTY,
    "fail-lastNode": Kind.WORKFLOW_ERROR,
    "respond-node-with-onReceived": Kind.RESPOND_NODE,
    "respondNode-absent": Kind.RESPOND_NODE,
    "ok-onReceived": Kind.JSON,
    "hook-waiting-url": Kind.PAGE,
    "guarded-ok-calendar_add-husband": Kind.CONTRACT,
    "guarded-bad-calendar_add-0": Kind.CONTRACT,
    "guarded-fail-calendar_add-404": Kind.CONTRACT,
}


def read(entry):
    body = entry["answer"] if isinstance(entry["answer"], str) else json.dumps(entry["answer"])
    return classify(entry["status"], entry["answer_headers"], body, method=entry["method"])


@pytest.mark.parametrize("case", KINDS)
def test_a_recorded_answer_is_known_for_what_it_is(case):
    assert read(RECORDED[case]).kind is KINDS[case]


def test_every_recorded_answer_of_a_webhook_is_n8ns_own():
    answered = {
        name: entry
        for name, entry in RECORDED.items()
        if entry["status"] and entry["path"].startswith("/webhook")
    }
    assert len(answered) == 285
    assert {name for name, entry in answered.items() if not read(entry).kind.by_n8n} == PAGES


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (redirect("https://gate.example.test/"), Kind.REDIRECT),
        (gateway_page(502), Kind.GATEWAY),
        (gateway_page(504), Kind.GATEWAY),
        (sign_in_page(), Kind.PAGE),
        (editor_page("2.30.8"), Kind.EDITOR),
    ],
)
def test_what_stands_in_front_of_n8n_is_not_n8n(answer, kind):
    reading = classify(answer.status, dict(answer.headers), answer.body.decode())
    assert reading.kind is kind
    assert not reading.kind.by_n8n


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (404, {"code": 404, "message": 'Active version not found for workflow with id "x"'}, Kind.STALE),
        (404, {"code": 404, "message": 'Published version not found for workflow with id "x"'}, Kind.STALE),
        (500, {"code": 0, "message": "Cannot read properties of undefined (reading 'node')"}, Kind.CONFLICT),
        (500, {"code": 0, "message": "The execution was cancelled because it timed out"}, Kind.TIMED_OUT),
        (403, "IP is not whitelisted to access the webhook!", Kind.REFUSED),
        (502, "", Kind.GATEWAY),
        (502, {"ok": False, "error": {"code": "google_error"}}, Kind.CONTRACT),
        (200, "plain words", Kind.TEXT),
        (403, {"code": 403, "message": "Authorization data is wrong!"}, Kind.REFUSED),
        (503, {"code": 503, "message": "Database is not ready!"}, Kind.NOT_READY),
    ],
)
def test_an_answer_is_read_by_code_and_message(status, body, kind):
    found = classify(status, {}, body if isinstance(body, str) else json.dumps(body)).kind
    assert found is kind
    assert found.by_n8n is (kind is not Kind.GATEWAY)


def test_an_n8n_that_is_starting_is_n8n():
    headers = {"content-type": "text/html; charset=utf-8"}
    assert classify(200, headers, "n8n is starting up. Please wait").kind is Kind.NOT_READY


FOREIGN = [
    (404, {"detail": "Not Found"}),
    (404, {"message": "Not Found"}),
    (404, "404 page not found"),
    (404, ""),
    (401, "401 Unauthorized"),
    (401, {"message": "Unauthorized"}),
    (403, {"message": "Forbidden"}),
    (403, {"code": 403, "message": "blocked by policy"}),
    (429, {"message": "API rate limit exceeded"}),
    (500, {"message": "An unexpected error occurred"}),
]


@pytest.mark.parametrize(("status", "body"), FOREIGN)
def test_what_a_gateway_says_as_json_or_as_plain_words_is_not_n8ns(status, body):
    text = body if isinstance(body, str) else json.dumps(body)
    kind = classify(
        status, {"content-type": "application/json" if text[:1] == "{" else "text/plain"}, text
    ).kind
    assert kind is Kind.FOREIGN
    assert not kind.by_n8n


@pytest.mark.parametrize("status", [502, 503, 504])
@pytest.mark.parametrize("body", ['{"message": "no healthy upstream"}', "upstream connect error", ""])
def test_a_gateways_own_status_is_a_gateways_in_any_form(status, body):
    assert classify(status, {}, body).kind is Kind.GATEWAY


def test_a_preflight_that_a_proxy_answers_by_itself_is_not_n8ns():
    own = {"Access-Control-Allow-Methods": "OPTIONS, POST"}
    configured = {"Access-Control-Allow-Methods": "GET, POST, OPTIONS", "Access-Control-Allow-Origin": "*"}
    assert classify(204, own, "", method="OPTIONS").kind is Kind.PREFLIGHT
    assert classify(204, configured, "", method="OPTIONS").kind is Kind.FOREIGN
