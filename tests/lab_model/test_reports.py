"""What the model says after a tool answered: what happened, in the language of the request, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from model_household import COUPLE, offered, rules

from butlerctl.lab.model.butler import Answer, read_situation

ENGLISH = "Add 'Tennis' to the wife's calendar on 4 July 2027 from 10:00 to 11:00."
ARGUMENTS = {
    "profile": "wife",
    "summary": "Tennis",
    "start": "2027-07-04T10:00:00-04:00",
    "end": "2027-07-04T11:00:00-04:00",
}
CREATED = {
    "ok": True,
    "data": {
        "id": "abc123",
        "summary": "Tennis",
        "start": {"dateTime": "2027-07-04T14:00:00Z"},
        "end": {"dateTime": "2027-07-04T15:00:00Z"},
    },
}


def said(prompt: str, tool: str, arguments: dict[str, Any], answer: Any) -> str:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    content = answer if isinstance(answer, str) else json.dumps(answer)
    messages = [
        rules("2026-07-08", "America/New_York"),
        {"role": "user", "content": prompt},
        {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "c1", "content": content},
    ]
    spoken = read_situation(messages, offered(COUPLE)).answer()
    assert not spoken.calls
    return spoken.text


def test_a_success_names_the_object_its_time_in_the_household_and_its_id() -> None:
    text = said(ENGLISH, "add_calendar_event", ARGUMENTS, CREATED)
    assert text == "Done: “Tennis” is in wife's calendar, Sunday 4 July 2027, 10:00 to 11:00 (id abc123)."


def test_the_time_that_is_told_is_the_one_of_the_answer_and_not_the_one_that_was_asked() -> None:
    later = {
        **CREATED["data"],
        "start": {"dateTime": "2027-07-04T15:00:00Z"},
        "end": {"dateTime": "2027-07-04T16:00:00Z"},
    }
    assert "11:00 to 12:00" in said(ENGLISH, "add_calendar_event", ARGUMENTS, {"ok": True, "data": later})


@pytest.mark.parametrize(
    ("prompt", "word"),
    [
        ("Trag 'Tennis' am 4. Juli 2027 von 10 bis 11 Uhr in den Kalender meiner Frau ein", "Erledigt"),
        ("Ajoute « Tennis » au calendrier de ma femme le 4 juillet 2027 de 10h à 11h", "C'est fait"),
        ("Añade «Tennis» al calendario de mi mujer el 4 de julio de 2027 de 10:00 a 11:00", "Hecho"),
    ],
)
def test_the_report_is_in_the_language_of_the_request(prompt: str, word: str) -> None:
    assert said(prompt, "add_calendar_event", ARGUMENTS, CREATED).startswith(word)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (
            {"ok": False, "error": "http_status", "message": "HTTP status 403.", "status": 403},
            "HTTP status 403.",
        ),
        (
            {"ok": False, "error": {"code": "google_error", "message": "Forbidden"}},
            "Forbidden (google_error)",
        ),
        ({"error": {"code": "invalid_args", "message": "start: is no time"}}, "start: is no time"),
        ("Tool add_calendar_event not found", "Tool add_calendar_event not found"),
        ({"message": "Workflow was started"}, "Workflow was started"),
        ("", "gave no reason"),
    ],
)
def test_a_failure_is_told_with_its_reason(answer: Any, reason: str) -> None:
    text = said(ENGLISH, "add_calendar_event", ARGUMENTS, answer)
    assert text.startswith("I could not add “Tennis” for wife. It failed: ")
    assert reason in text


def test_an_ok_without_an_id_is_not_sold_as_a_success() -> None:
    assert said(ENGLISH, "add_calendar_event", ARGUMENTS, {"ok": True, "data": {}}).startswith(
        "I cannot confirm"
    )


def test_a_list_is_told_whole_with_count_titles_and_times() -> None:
    items = [{"id": "e1", "summary": "Tennis", "start": "2027-07-04T10:00:00-04:00", "end": "2027-07-04T11:00:00-04:00"}, {"id": "e2", "summary": "Holiday", "start": {"date": "2027-07-05"}, "end": {"date": "2027-07-07"}}]  # fmt: skip
    answer = {"ok": True, "data": {"count": 2, "complete": False, "items": items}}
    lines = said(
        "What does the wife have next week?", "list_calendar_events", {"profile": "wife"}, answer
    ).split("\n")
    assert lines[0] == "wife has 2 event(s):"
    assert lines[1] == "- “Tennis”, Sunday 4 July 2027, 10:00 to 11:00 (id e1)"
    assert "Holiday" in lines[2]
    assert lines[3] == "There may be more: the list is not complete."


def test_an_empty_list_is_told_as_empty() -> None:
    answer = {"ok": True, "data": {"count": 0, "complete": True, "items": []}}
    assert (
        said("List the wife's tasks", "list_tasks", {"profile": "wife"}, answer)
        == "wife has 0 task(s) on the list."
    )


def test_rows_are_told_with_their_sum() -> None:
    items = [{"row_number": 2, "date": "2027-07-04", "item": "milk", "amount": "1.25"}, {"row_number": 3, "date": "2027-07-05", "item": "bread", "amount": 2.5}]  # fmt: skip
    answer = {"ok": True, "data": {"count": 2, "complete": True, "items": items}}
    text = said("Read the wife's sheet Log", "read_sheet", {"profile": "wife", "sheet": "Log"}, answer)
    assert text.split("\n") == ["wife's sheet has 2 row(s):", "- 2027-07-04 | milk | 1.25", "- 2027-07-05 | bread | 2.5", "Total of amount: 3.75"]  # fmt: skip


def test_an_answer_to_a_question_completes_the_request() -> None:
    messages = [
        rules("2026-07-08", "America/New_York"),
        {"role": "user", "content": "Add 'Tennis' to the calendar on 4 July 2027 from 10:00 to 11:00."},
        {"role": "assistant", "content": "Whose is it? I know: husband, wife."},
        {"role": "user", "content": "My wife's."},
    ]
    answer = read_situation(messages, offered(COUPLE)).answer()
    assert answer.calls[0][0] == "add_calendar_event"
    assert json.loads(answer.calls[0][1]) == ARGUMENTS


def test_only_answers_since_the_last_request_are_reported() -> None:
    function = {"name": "add_calendar_event", "arguments": json.dumps(ARGUMENTS)}
    messages = [
        rules("2026-07-08", "America/New_York"),
        {"role": "user", "content": ENGLISH},
        {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "c1", "content": json.dumps(CREATED)},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Thanks!"},
    ]
    assert read_situation(messages, offered(COUPLE)).answer() == Answer(
        "I look after calendars, task lists and sheets. What can I do for you?"
    )


def test_an_empty_request_is_answered_without_a_call() -> None:
    assert not read_situation([], []).answer().calls
