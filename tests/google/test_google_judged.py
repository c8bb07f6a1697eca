"""What the readers write down, in the eyes of the judge: right place, wrong place, twice, not at all."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from google_home import HUSBAND, NONCE, START, WIFE, WINDOW, at

from butlerctl.evidence import Bundle, Intent
from butlerctl.google.calendar import CalendarRecord
from butlerctl.judge import judge
from butlerctl.lab.google import refuse

ARGUMENTS = {
    "calendar_add": {
        "summary": NONCE,
        "start": START.isoformat(),
        "end": (START + timedelta(hours=1)).isoformat(),
    },
    "tasks_add": {"title": NONCE, "due": "2026-12-14"},
    "sheets_append": {"sheet": "butler verify", "values": [f"{NONCE}-a", f"{NONCE}-b", f"{NONCE}-c"]},
}
TOOLS = {"calendar_add": "add_calendar_event", "tasks_add": "add_task", "sheets_append": "append_sheet_row"}


def system_of(home, operation, user=WIFE):
    return getattr(home, operation.partition("_")[0])(user)


def make(home, operation, *, user=WIFE, **more):
    """Do what the butler was asked for; `more` puts it elsewhere."""
    if operation == "calendar_add":
        return home.add_event(NONCE, user=user, **more)
    if operation == "tasks_add":
        return home.add_task(NONCE, due="2026-12-14T00:00:00Z", user=user, **more)
    return home.add_row(*ARGUMENTS[operation]["values"], user=user, **more)


def judged(home, operation, act, own=None):
    """The verdict on a turn that answered well, with the readers' own evidence before and after it."""
    own = own or system_of(home, operation)
    systems = [own, system_of(home, operation, HUSBAND)]
    before = [doc for system in systems for doc in system.find(NONCE, WINDOW, when="before").readbacks]
    made = act() or {}
    arguments = {"profile": "wife", **ARGUMENTS[operation]}
    answer = {
        "ok": True,
        "data": {"id": made.get("id", "butler verify!A2"), **ARGUMENTS[operation]},
        "execution": "7",
    }
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": TOOLS[operation], "arguments": json.dumps(arguments)},
    }
    transcript = {
        "kind": "transcript",
        "complete": True,
        "messages": [
            {"role": "user", "content": "please"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": json.dumps(answer)},
            {"role": "assistant", "content": "Done, it has been added."},
        ],
    }
    after = [doc for system in systems for doc in system.find(NONCE, WINDOW, when="after").readbacks]
    intent = Intent(operation, "wife", TOOLS[operation], arguments, "please")
    evidence = (*before, transcript, *after)
    result = judge(Bundle(intent, evidence, datetime.now(UTC), ZoneInfo("America/New_York")))
    return str(result.verdict), result


@pytest.mark.parametrize("operation", ARGUMENTS)
def test_one_object_in_the_right_place_is_confirmed(home, operation):
    verdict, result = judged(home, operation, lambda: make(home, operation))
    assert (verdict, str(result.turn)) == ("PASS", "confirmed")


@pytest.mark.parametrize("operation", ARGUMENTS)
def test_nothing_at_all_is_refuted(home, operation):
    verdict, result = judged(home, operation, lambda: None)
    assert (verdict, str(result.turn)) == ("FAIL", "refuted")
    assert result.first_broken.link == "google"


@pytest.mark.parametrize("operation", ARGUMENTS)
def test_two_copies_are_a_duplicate(home, operation):
    verdict, result = judged(home, operation, lambda: (make(home, operation), make(home, operation))[0])
    assert (verdict, str(result.turn)) == ("FAIL", "duplicated")


@pytest.mark.parametrize("operation", ARGUMENTS)
def test_the_other_persons_place_is_the_wrong_one(home, operation):
    verdict, result = judged(home, operation, lambda: make(home, operation, user=HUSBAND))
    assert (verdict, str(result.turn)) == ("FAIL", "mismatched")
    assert result.first_broken.link == "credential"


@pytest.mark.parametrize(
    ("operation", "elsewhere"),
    [("tasks_add", {"tasklist": f"garden-{WIFE}"}), ("sheets_append", {"tab": "Log"})],
)
def test_another_list_or_tab_of_the_same_person_is_the_wrong_one(home, operation, elsewhere):
    verdict, _ = judged(home, operation, lambda: make(home, operation, **elsewhere))
    assert verdict == "FAIL"


def test_the_primary_calendar_is_the_wrong_one_when_another_was_meant(home):
    home.emulator.add_calendar("family", owner=WIFE)
    own = CalendarRecord(home.account(), "family", patience=0)
    verdict, _ = judged(home, "calendar_add", lambda: make(home, "calendar_add"), own)
    assert verdict == "FAIL"
    home.call(
        "DELETE",
        f"/calendar/v3/calendars/{WIFE}/events/" + own.find(NONCE, WINDOW, when="after").hits[0].object_id,
    )
    verdict, _ = judged(home, "calendar_add", lambda: make(home, "calendar_add", calendar="family"), own)
    assert verdict == "PASS"


def test_an_hour_later_is_another_time(home):
    later = START + timedelta(hours=1)
    act = lambda: make(home, "calendar_add", start=at(later), end=at(later + timedelta(hours=1)))  # noqa: E731
    verdict, result = judged(home, "calendar_add", act)
    assert (verdict, result.first_broken.check) == ("FAIL", "google.right_time")


def test_the_same_instant_with_another_offset_is_the_same_time(home):
    times = {
        "start": {"dateTime": "2026-12-14T16:00:00+01:00"},
        "end": {"dateTime": "2026-12-14T17:00:00+01:00"},
    }
    assert judged(home, "calendar_add", lambda: make(home, "calendar_add", **times))[0] == "PASS"


@pytest.mark.parametrize(("status", "check"), [(401, "harness.reader_token"), (503, "harness.readback")])
def test_a_failing_reader_is_never_held_against_the_butler(home, status, check):
    def act():
        made = make(home, "calendar_add")
        home.emulator.faults.plant(refuse("calendar.events.list", status, "backendError"))
        return made

    verdict, result = judged(home, "calendar_add", act)
    assert (verdict, result.first_broken) == ("UNKNOWN", None)
    assert check in {note.check for note in result.notes}
