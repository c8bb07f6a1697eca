"""Angle brackets that are no placeholders, and placeholders that look like anything but."""

from __future__ import annotations

import pytest

from butlerctl.workflows.engine import lint_documents

SILENT = [
    ("a comparison", "code", {"jsCode": "if (h < 0 || h >= 24) { return []; }"}),
    ("a pattern", "set", {"value": "={{ $json.page.match(/<main[^>]*>(.*?)<\\/main>/)[1] }}"}),
    ("strip tags", "filter", {"value": "={{ $json.mail.replace(/<[^>]+>/g, ' ') }}"}),
    ("a quote pattern", "code", {"jsCode": "const q = /^(>|<).+(>|<) wrote:$/m;"}),
    ("closed XML", "set", {"value": "<DOCNUM>4711</DOCNUM>"}),
    ("XML with an underscore", "set", {"value": "<FIRST_NAME>Ada</FIRST_NAME>"}),
    ("prompt words", "agent", {"text": "Answer with <SCROLL> or <STOP>."}),
    ("a prompt tag", "agent", {"text": "<OFFER>{{ $json.body }}<OFFER>"}),
    ("a mail header", "stickyNote", {"content": "from=<NOBODY>\nReceived: by mx"}),
    ("vocabulary", "agent", {"systemMessage": "Keep <USER_GIVEN_LINK> exactly as it came."}),
    ("a default", "twilio", {"message": "={{ $json.nick ?? '<none>' }}"}),
    ("slack", "agent", {"text": "Write links as <address|label>."}),
    ("outlook", "html", {"html": "<!--[if mso]><xml><o:Settings></o:Settings></xml><![endif]-->"}),
    ("snake tags", "agent", {"text": "<rows_to_check>{{ $json.rows }}</rows_to_check>"}),
    ("a value token", "if", {"value": "={{ $json.kind === 'photo' ? '<PIC>' : '' }}"}),
    ("a typo", "respondToWebhook", {"responseBody": "<doctype html>\n<html><body>ok</body></html>"}),
    ("an address", "emailSend", {"fromEmail": "House Butler <butler@haus.test>"}),
    ("a note", "stickyNote", {"content": "curl -X POST http://<MY_SERVER>/webhook/x"}),
    ("a JavaScript template", "code", {"jsCode": "return `${BASE_URL}/x`;"}),
    ("a framework constant", "set", {"value": "window.__NEXT_DATA__"}),
    ("the name of a field", "set", {"assignments": {"assignments": [{"name": "your_email", "value": "x"}]}}),
    ("a cached name", "set", {"sheet": {"__rl": True, "value": "abc", "cachedResultName": "YOUR_SHEET"}}),
    ("a form's hint", "formTrigger", {"fields": [{"placeholder": "your-name"}]}),
    ("an option of Sheets", "set", {"value": "INSERT_ROWS"}),
    (
        "a random id maker",
        "set",
        {"value": "={{ 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, f) }}"},
    ),
]
FOUND = [
    ("doubled", {"url": '={{ "https://<<your-mirror-host>>/v2/" + $json.tag }}'}, {("BW105", "error")}),
    ("blanks", {"value": "<< PUT YOUR TOKEN HERE >>"}, {("BW102", "error")}),
    ("words", {"url": "https://api.haus.test/v1/<Your Account ID>/posts"}, {("BW105", "error")}),
    ("whole", {"fileToWatch": "<file_id>"}, {("BW102", "error")}),
    ("segments", {"url": "https://git.haus.test/<group>/<project>/issues"}, {("BW105", "error")}),
    ("a scar", {"calendar": {"__rl": True, "value": "<<SHIFT_CALENDAR_ID_REMOVED>>"}}, {("BW102", "error")}),
    (
        "a broken expression",
        {"url": "=https://api.haus.test<<FILE_PATH_REMOVED>> $json.q }}"},
        {("BW105", "error")},
    ),
    (
        "kebab",
        {"redirectUrl": "=https://<your-host>/hook/<uuid-of-node>/{{ $json.s }}"},
        {("BW105", "error")},
    ),
    ("upper snake", {"task": "<HUSBAND_TASKS_LIST_ID>"}, {("BW102", "error")}),
    ("no brackets", {"documentId": "YOUR_SHEET_ID"}, {("BW102", "error")}),
    ("n8n's own", {"value": "<__PLACEHOLDER_VALUE__your sheet__>"}, {("BW102", "error")}),
    ("n8n's own in a prompt", {"text": "<__PLACEHOLDER_VALUE__your prompt__>"}, {("BW102", "error")}),
    ("n8n's own label", {"value": "<__PLACEHOLDER__: the sheet__>"}, {("BW102", "error")}),
    ("mustache", {"value": "{{SHEET_ID}}"}, {("BW102", "error")}),
    ("dunder", {"value": "__API_KEY__"}, {("BW102", "error")}),
    ("square", {"value": "[INSERT YOUR KEY]"}, {("BW102", "error")}),
    ("in a sentence", {"value": "post to YOUR_CHANNEL now"}, {("BW105", "warning")}),
    (
        "a bearer",
        {"headers": [{"name": "Authorization", "value": "Bearer <API_TOKEN>"}]},
        {("BW105", "error")},
    ),
    ("in a list", {"ids": [["<LIST_ID>"]]}, {("BW102", "error")}),
]
IDS = [
    "TASKS_API",
    "XXXXXXXX",
    "={{ $env.CAL_CRED }}",
    "<CRED_ID>",
    "todo",
    "REPLACE_ME",
    "your-credential-id",
]


def findings(node_type="set", parameters=None, credentials=None, **more):
    node = {"name": "N", "type": f"n8n-nodes-base.{node_type}", "parameters": parameters or {}, **more}
    if credentials:
        node["credentials"] = credentials
    report = lint_documents({"a.json": {"nodes": [node], "connections": {}}})
    return {(f.code, str(f.severity)) for f in report.findings if f.code.startswith("BW1")}


@pytest.mark.parametrize(
    ("node_type", "parameters"), [case[1:] for case in SILENT], ids=[c[0] for c in SILENT]
)
def test_what_only_looks_like_a_placeholder_is_left_alone(node_type, parameters):
    assert findings(node_type, parameters) == set()


@pytest.mark.parametrize(("parameters", "expected"), [case[1:] for case in FOUND], ids=[c[0] for c in FOUND])
def test_a_placeholder_is_found_in_any_notation(parameters, expected):
    assert findings("httpRequest", parameters) == expected


@pytest.mark.parametrize("value", IDS)
def test_the_shape_of_a_credential_id_tells(value):
    assert findings(credentials={"smtp": {"id": value, "name": "d"}}) == {("BW101", "error")}


@pytest.mark.parametrize("value", ["n4ui6lMQScwyqK2W", "17", 17, "5e9fc05b-fdec-570d-9dc5-8adfc8dec760"])
def test_ids_that_n8n_makes_are_well(value):
    assert findings(credentials={"smtp": {"id": value, "name": "d"}}) == set()


def test_escaped_brackets_hide_nothing():
    report = lint_documents(
        {"a.json": {"nodes": [{"name": "N", "parameters": {"x": "<LIST_ID>"}}], "connections": {}}}
    )
    assert [finding.token for finding in report.findings] == ["<LIST_ID>"]


def test_equal_tokens_of_a_file_are_one_finding_that_lists_the_places():
    nodes = [{"name": name, "type": "t", "parameters": {"task": "<LIST_ID>"}} for name in "ABC"]
    report = lint_documents({"a.json": {"nodes": nodes, "connections": {}}})
    assert [finding.code for finding in report.findings] == ["BW102"]
    assert "also at lines" in report.findings[0].message
