"""Rendering: bound placeholders get their values, nothing else moves."""

from __future__ import annotations

import copy

import pytest

from butlerctl.errors import BadInput
from butlerctl.workflows.render import placeholders_of, render

DOCUMENT = {
    "name": "tasks list",
    "nodes": [
        {
            "name": "Note",
            "type": "n8n-nodes-base.stickyNote",
            "parameters": {"content": "put <LIST_ID> here"},
        },
        {
            "name": "Google Tasks",
            "type": "n8n-nodes-base.googleTasks",
            "notes": "needs <LIST_ID>",
            "parameters": {"task": "<LIST_ID>", "url": "https://tasks.haus.test/<LIST_ID>/x", "n": 3},
            "credentials": {"googleTasksOAuth2Api": {"id": "<CRED_ID>", "name": "wife Google Tasks"}},
        },
    ],
    "connections": {},
    "settings": {"errorWorkflow": "<ERROR_WORKFLOW>"},
}


def test_bound_tokens_are_replaced_whole_and_inside_a_text():
    bound = render(DOCUMENT, {"LIST_ID": "abc", "CRED_ID": "n4ui6lMQScwyqK2W"})
    node = bound["nodes"][1]
    assert node["parameters"] == {"task": "abc", "url": "https://tasks.haus.test/abc/x", "n": 3}
    assert node["credentials"]["googleTasksOAuth2Api"]["id"] == "n4ui6lMQScwyqK2W"


def test_notes_unbound_tokens_and_the_original_are_left_alone():
    before = copy.deepcopy(DOCUMENT)
    bound = render(DOCUMENT, {"LIST_ID": "abc"})
    assert before == DOCUMENT
    assert bound["nodes"][0] == DOCUMENT["nodes"][0]
    assert bound["nodes"][1]["notes"] == "needs <LIST_ID>"
    assert [item.name for item in placeholders_of(bound)] == ["CRED_ID", "ERROR_WORKFLOW"]


def test_a_credential_id_that_is_the_bare_word_is_bound_too():
    document = {"nodes": [{"name": "G", "credentials": {"googleApi": {"id": "SHEETS_CRED_ID"}}}]}
    assert render(document, {"SHEETS_CRED_ID": "1"})["nodes"][0]["credentials"]["googleApi"]["id"] == "1"


@pytest.mark.parametrize("value", ["", "={{ $env.X }}", "a' + b", "x\ny"])
def test_a_value_that_would_change_the_code_around_its_token_is_refused_without_showing_it(value):
    document = {"nodes": [{"name": "Code", "parameters": {"jsCode": "const id = '<LIST_ID>';"}}]}
    with pytest.raises(BadInput) as caught:
        render(document, {"LIST_ID": value})
    assert "LIST_ID" in caught.value.message
    assert not value or value not in caught.value.message + caught.value.hint
