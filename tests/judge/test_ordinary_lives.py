"""What stands in calendars, lists and sheets of real people: whole days, titles like facts, odd names of tabs."""

from __future__ import annotations

from datetime import UTC
from typing import Any

import pytest
from turns import Turn, bundle, of, readback, say

from butlerctl.evidence import bundle_of
from butlerctl.judge import judge, words
from butlerctl.judge.asked import asked_of
from butlerctl.judge.listed import _in_window
from butlerctl.judge.readback import events, read_reading, tab_of
from butlerctl.judge.result import ChainVerdict

HOLIDAY = {
    "id": "objholidayseconds",
    "status": "confirmed",
    "summary": "Holiday",
    "start": {"date": "2026-05-11"},
    "end": {"date": "2026-05-14"},
}


def listed(operation: str, held: list[Any], reply: str) -> dict[str, Any]:
    """A read whose answer is what the person's place holds."""
    turn = Turn(operation)
    document = bundle(turn)
    for when in ("before", "after"):
        of(document, "readback", when=when, token_of=turn.profile)["body"] = readback(
            turn, turn.profile, when, held
        )["body"]
    answer = {"ok": True, "data": {"count": len(held), "items": held}, "execution": "41"}
    of(document, "exchange")["response"]["body"] = answer
    say(document, reply)
    return document


def verdict(document: dict[str, Any]) -> tuple[ChainVerdict, object]:
    judgement = judge(bundle_of(document))
    return judgement.verdict, judgement.first_broken and judgement.first_broken.hint


@pytest.mark.parametrize(
    "reply",
    [
        "One thing: Holiday, all day from 11 May to 13 May.",
        "Holiday, from Monday 11 May 2026, 00:00 to Thursday 14 May 2026, 00:00.",
        "Holiday (11 to 13 May).",
    ],
)
def test_an_event_of_whole_days_is_told_with_its_first_and_last_day(reply):
    assert verdict(listed("calendar_list", [HOLIDAY], reply)) == (ChainVerdict.PASS, None)


def test_an_event_that_began_before_the_window_is_missed_in_a_list_without_it():
    document = listed("calendar_list", [HOLIDAY], "There is nothing.")
    of(document, "exchange")["response"]["body"] = {
        "ok": True,
        "data": {"count": 0, "items": []},
        "execution": "41",
    }
    assert verdict(document)[0] is ChainVerdict.FAIL


@pytest.mark.parametrize(
    ("first", "until", "due"),
    [
        ("2026-05-13", "2026-05-14", False),
        ("2026-05-12", "2026-05-13", True),
        ("2026-05-10", "2026-05-13", True),
        ("2026-05-10", "2026-05-12", False),
    ],
)
def test_whole_days_are_due_in_a_window_of_one_day_that_ends_at_midnight(first, until, due):
    (event,) = events({"items": [{**HOLIDAY, "start": {"date": first}, "end": {"date": until}}]}, UTC)
    day = {"start": "2026-05-12T00:00:00+02:00", "end": "2026-05-13T00:00:00+02:00"}
    assert _in_window(event, asked_of(day, UTC)) is due


def test_a_date_in_a_cell_may_be_told_as_it_stands_there():
    rows = [["14.07.2026", "Brot", "1.200,50 €"], ["bis 18 Uhr", "Käse", "3.20"]]
    reply = "Two rows: 14.07.2026 Brot 1.200,50 € and bis 18 Uhr Käse 3.20."
    assert verdict(listed("sheets_read", rows, reply)) == (ChainVerdict.PASS, None)


def test_a_title_that_reads_like_a_day_is_no_day_of_another_task():
    tasks = [
        {
            "id": "objaaaa1",
            "title": "14 December",
            "status": "needsAction",
            "due": "2026-11-17T00:00:00.000Z",
        },
        {"id": "objaaaa2", "title": "Reifen", "status": "needsAction", "due": "2026-12-14T00:00:00.000Z"},
    ]
    reply = "“14 December”, due 17 November 2026\n“Reifen”, due Monday 14 December 2026"
    assert verdict(listed("tasks_list", tasks, reply)) == (ChainVerdict.PASS, None)


@pytest.mark.parametrize(
    ("told", "tab"),
    [
        ("Log!A1:Z9", "Log"),
        ("'butler verify'!A1", "butler verify"),
        ("'Anna''s checks'!A1:Z1000", "Anna's checks"),
        ("'Hi! there'!A1", "Hi! there"),
        ("A1:Z9", ""),
    ],
)
def test_the_tab_of_a_range_is_read_as_google_writes_it(told, tab):
    document = {
        "kind": "readback",
        "api": "sheets.spreadsheets.values.get",
        "status": 200,
        "body": {"range": told},
    }
    reading = read_reading(document, UTC)
    assert reading is not None
    assert tab_of(reading) == tab


def test_what_stands_between_two_quoted_names_is_read():
    plain = words.without("- “Reifen”, due today. I also put “Öl” into the calendar.", ["Reifen"])
    assert "I also put" in plain
