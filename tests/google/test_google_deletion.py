"""Deleting a test object: what the guards refuse, and what the calls look like on the wire."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from google_home import HUSBAND, NONCE, START, WIFE, WINDOW, at

from butlerctl.errors import Leftover, NotPermitted
from butlerctl.lab.google import DROP, READ_SCOPES, Fault, refuse


def only(hits):
    assert len(hits) == 1
    return hits[0]


def found(system, **options):
    return only(system.find(NONCE, WINDOW, when="after", **options).hits)


def test_an_event_is_found_confirmed_deleted_and_seen_gone(home, asked):
    event = home.add_event(f"butler check {NONCE}")
    calendar = home.calendar()
    hit = found(calendar)
    confirmation = calendar.confirm(hit, asked())
    assert (confirmation.refusals, confirmation.etag) == ((), event["etag"])
    removal = calendar.delete(confirmation)
    assert removal.refusals == ()
    assert removal.problem is None
    after = calendar.gone(NONCE, [hit], WINDOW)
    assert after.hits == ()
    assert [doc["api"] for doc in after.readbacks] == ["calendar.events.get", "calendar.events.list"]
    assert after.readbacks[0]["body"]["status"] == "cancelled"
    deletes = [entry for entry in home.emulator.log if entry.verb == "DELETE"]
    assert [(entry.headers["if-match"], entry.query) for entry in deletes] == [
        (event["etag"], "sendUpdates=none")
    ]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"attendees": [{"email": "guest@example.test"}]}, "attendees"),
        ({"recurrence": ["RRULE:FREQ=DAILY;COUNT=3"]}, "recurs"),
    ],
)
def test_an_event_that_involves_more_than_the_test_is_refused(home, asked, more, words):
    zone = {"timeZone": "America/New_York"}
    times = {"start": at(START) | zone, "end": at(START + timedelta(hours=1)) | zone}
    home.add_event(f"butler check {NONCE}", **times, **more)
    calendar = home.calendar()
    for hit in calendar.find(NONCE, WINDOW, when="after").hits:
        assert words in " ".join(calendar.confirm(hit, asked()).refusals)


def test_an_event_that_was_there_before_the_ask_is_refused(home, asked):
    home.add_event(f"butler check {NONCE}")
    calendar = home.calendar()
    later = asked(t0=datetime.now(UTC) + timedelta(minutes=5))
    assert calendar.confirm(found(calendar), later).refusals == (
        "it was created before the butler was asked",
    )


def test_a_renamed_event_is_refused(home, asked):
    event = home.add_event(f"butler check {NONCE}")
    calendar = home.calendar()
    hit = found(calendar)
    home.call("PATCH", f"/calendar/v3/calendars/{WIFE}/events/{event['id']}", json={"summary": "Our trip"})
    assert calendar.confirm(hit, asked()).refusals == ("the title no longer carries the nonce",)


def test_an_event_outside_the_allowed_calendar_is_found_and_refused(home, asked):
    home.emulator.add_calendar("family@group.calendar.example.test", owner=WIFE)
    home.add_event(f"butler check {NONCE}")
    calendar = home.calendar()
    calendar_of_family = type(calendar)(calendar._account, "family@group.calendar.example.test", patience=0)
    hit = found(calendar_of_family)
    assert hit.container == "primary"
    assert (
        "calendar primary is not the one of the inventory"
        in calendar_of_family.confirm(hit, asked()).refusals
    )


def test_an_event_a_year_and_more_away_is_refused(home, asked):
    home.add_event(f"butler check {NONCE}")
    calendar = home.calendar()
    hit = found(calendar)
    far = WINDOW.widened(timedelta(0))
    far = replace(far, start=far.start + timedelta(days=400), end=far.end + timedelta(days=400))
    assert calendar.confirm(hit, asked(window=far)).refusals == (
        "its time is more than 370 days from the asked one",
    )


def test_an_event_that_is_edited_between_the_look_and_the_delete_stays(home, asked):
    event = home.add_event(f"butler check {NONCE}")
    calendar = home.calendar()
    confirmation = calendar.confirm(found(calendar), asked())
    path = f"/calendar/v3/calendars/{WIFE}/events/{event['id']}"
    home.call("PATCH", path, json={"description": "keep this"})
    removal = calendar.delete(confirmation)
    assert removal.refusals == ("it was changed while butlerctl looked at it",)
    assert home.call("GET", path).json()["status"] == "confirmed"


def test_a_412_on_an_event_that_is_gone_is_an_own_delete_seen_twice(home, asked):
    event = home.add_event(f"butler check {NONCE}")
    home.emulator.switches.repeated_delete = 412
    home.emulator.faults.plant(Fault("calendar.events.delete", answer=DROP, times=1))
    calendar = home.calendar()
    removal = calendar.delete(calendar.confirm(found(calendar), asked()))
    assert (removal.refusals, removal.problem) == ((), None)
    statuses = [entry.status for entry in home.emulator.log if entry.verb == "DELETE"]
    assert statuses == [None, 412]
    assert calendar.gone(NONCE, [], WINDOW).hits == ()
    assert [item.live for item in home.emulator.objects_with(event["id"])] == [False]


@pytest.mark.parametrize("domain", ["calendar", "tasks"])
def test_a_delete_whose_answer_is_lost_is_a_success(home, asked, domain):
    home.add_event(NONCE) if domain == "calendar" else home.add_task(NONCE)
    system = getattr(home, domain)()
    method = {"calendar": "calendar.events.delete", "tasks": "tasks.tasks.delete"}[domain]
    home.emulator.faults.plant(Fault(method, answer=DROP, times=1))
    hit = found(system)
    removal = system.delete(system.confirm(hit, asked(domain)))
    assert (removal.refusals, removal.problem) == ((), None)
    assert system.gone(NONCE, [hit], WINDOW).hits == ()


def test_a_delete_that_google_refuses_is_a_problem_and_the_object_stays(home, asked):
    home.add_event(NONCE)
    home.emulator.faults.plant(refuse("calendar.events.delete", 503, "backendError"))
    calendar = home.calendar()
    hit = found(calendar)
    removal = calendar.delete(calendar.confirm(hit, asked()))
    assert removal.problem is not None
    assert removal.problem.exit_code == 75
    assert home.methods().count("calendar.events.delete") == 1
    assert calendar.gone(NONCE, [hit], WINDOW).hits


def test_a_reading_credential_says_that_it_cannot_delete(home, asked):
    home.add_event(NONCE)
    calendar = home.calendar(scopes=READ_SCOPES)
    assert not calendar.may_delete
    removal = calendar.delete(calendar.confirm(found(calendar), asked()))
    assert isinstance(removal.problem, NotPermitted)
    assert "scope" in removal.problem.hint


@pytest.mark.parametrize("after_delete", ["flag", "404"])
def test_a_task_is_deleted_and_seen_gone(home, asked, after_delete):
    home.emulator.switches.deleted_task = after_delete
    home.add_task(f"butler check {NONCE}", due="2026-12-14T00:00:00Z")
    tasks = home.tasks()
    hit = found(tasks)
    removal = tasks.delete(tasks.confirm(hit, asked("tasks")))
    assert (removal.refusals, removal.problem) == ((), None)
    assert tasks.gone(NONCE, [hit], WINDOW).hits == ()


def test_a_task_without_a_preflight_is_refused(home, asked):
    home.add_task(NONCE)
    tasks = home.tasks()
    refusals = tasks.confirm(found(tasks), asked("tasks", preflight=False)).refusals
    assert refusals == ("no search before the ask showed that the nonce was new",)


def test_a_task_that_is_older_than_the_ask_is_refused(home, asked):
    home.add_task(NONCE)
    tasks = home.tasks()
    later = asked("tasks", t0=datetime.now(UTC) + timedelta(minutes=5))
    assert tasks.confirm(found(tasks), later).refusals == ("it was there before the butler was asked",)


def test_an_assigned_task_is_refused(home, asked):
    home.add_task(NONCE)
    task = home.emulator.store.task_lists[f"list-{WIFE}"].tasks[0].body
    task["assignmentInfo"] = {"surfaceType": "DOCUMENT"}
    tasks = home.tasks()
    assert tasks.confirm(found(tasks), asked("tasks")).refusals == (
        "it was assigned from a document or a chat",
    )


def test_a_renamed_task_is_refused(home, asked):
    task = home.add_task(NONCE)
    tasks = home.tasks()
    hit = found(tasks)
    home.call("PATCH", f"/tasks/v1/lists/list-{WIFE}/tasks/{task['id']}", json={"title": "Buy milk"})
    assert tasks.confirm(hit, asked("tasks")).refusals == ("the title no longer carries the nonce",)


def test_a_task_in_a_list_that_the_inventory_does_not_name_is_not_even_found(home):
    home.emulator.add_task_list("private", "Private", owner=WIFE)
    home.add_task(NONCE, tasklist="private")
    assert home.tasks().find(NONCE, WINDOW, when="after").hits == ()


def test_a_task_in_another_list_of_the_inventory_is_found_with_that_list(home, asked):
    home.add_task(NONCE, tasklist=f"garden-{WIFE}")
    tasks = home.tasks()
    sighting = tasks.find(NONCE, WINDOW, when="after")
    assert [doc["tasklist"] for doc in sighting.readbacks] == [f"list-{WIFE}", f"garden-{WIFE}"]
    hit = only(sighting.hits)
    assert tasks.delete(tasks.confirm(hit, asked("tasks"))).problem is None
    assert tasks.gone(NONCE, [hit], WINDOW).hits == ()


def test_a_row_is_cleared_by_content_even_after_it_moved(home, asked):
    home.add_row("2026-12-01", "milk", "3.10")
    home.add_row(f"{NONCE}-a", f"{NONCE}-b", f"{NONCE}-c")
    sheets = home.sheets()
    confirmation = sheets.confirm(found(sheets), asked("sheets"))
    assert (confirmation.refusals, confirmation.expected_cells) == ((), 3)
    above = {"range": {"sheetId": 1, "dimension": "ROWS", "startIndex": 1, "endIndex": 2}}
    path = f"/v4/spreadsheets/sheet-{WIFE}"
    home.call("POST", path + ":batchUpdate", json={"requests": [{"insertDimension": above}]})
    home.call(
        "PUT",
        path + "/values/'butler verify'!A2?valueInputOption=RAW",
        json={"values": [["a", "new", "row"]]},
    )
    removal = sheets.delete(confirmation)
    assert (removal.remains, removal.problem) == ((), None)
    assert sheets.gone(NONCE, [], WINDOW).hits == ()
    assert home.rows() == [["date", "item", "amount"], ["a", "new", "row"], ["2026-12-01", "milk", "3.1"]]


def test_cells_without_the_nonce_stay_and_are_reported(home, asked):
    home.add_row(f"{NONCE}-a", "3.10", "")
    sheets = home.sheets()
    removal = sheets.delete(sheets.confirm(found(sheets), asked("sheets")))
    assert removal.remains == ("cells of butler verify!2 without the nonce: 3.1",)
    assert home.rows() == [["date", "item", "amount"], ["", "3.1"]]


def test_a_row_in_another_tab_is_found_and_never_cleared(home, asked):
    home.add_row(f"{NONCE}-a", "groceries", tab="Log")
    home.add_row("2026-12-01", "secret present", tab="Log")
    sheets = home.sheets()
    sighting = sheets.find(NONCE, WINDOW, when="after")
    hit = only(sighting.hits)
    assert sheets.confirm(hit, asked("sheets")).refusals == (
        "it is in the tab Log, and butlerctl clears cells only in butler verify",
    )
    assert "secret present" not in str(sighting.readbacks)


def test_a_clearing_that_is_sent_twice_counts_as_done(home, asked):
    home.add_row(f"{NONCE}-a", f"{NONCE}-b", f"{NONCE}-c")
    home.emulator.faults.plant(Fault("sheets.spreadsheets.batchUpdate", answer=DROP, times=1))
    sheets = home.sheets()
    removal = sheets.delete(sheets.confirm(found(sheets), asked("sheets")))
    assert (removal.remains, removal.problem) == ((), None)
    assert sheets.gone(NONCE, [], WINDOW).hits == ()


def test_another_number_of_cleared_cells_is_an_alarm(home, asked):
    home.add_row(f"{NONCE}-a", f"{NONCE}-b", f"{NONCE}-c")
    sheets = home.sheets()
    confirmation = sheets.confirm(found(sheets), asked("sheets"))
    home.add_row(f"{NONCE} somebody copied this")
    removal = sheets.delete(confirmation)
    assert isinstance(removal.problem, Leftover)
    assert "4 cells" in removal.problem.message


def test_another_persons_places_are_never_reached(home):
    home.add_event(NONCE, user=HUSBAND)
    home.add_task(NONCE, user=HUSBAND)
    home.add_row(NONCE, user=HUSBAND)
    for system in (home.calendar(), home.tasks(), home.sheets()):
        assert system.find(NONCE, WINDOW, when="after").hits == ()


def test_no_forbidden_call_is_ever_made(home, asked):
    home.add_event(NONCE)
    home.add_task(NONCE)
    home.add_row(NONCE)
    before = len(home.emulator.log)
    for domain in ("calendar", "tasks", "sheets"):
        system = getattr(home, domain)()
        hit = found(system)
        system.delete(system.confirm(hit, asked(domain)))
        system.gone(NONCE, [hit], WINDOW)
    log = home.emulator.log[before:]
    forbidden = ("clear", "deleteSheet", "deleteDimension")
    assert not [entry for entry in log if entry.method.endswith(".clear")]
    assert not [entry for entry in log for word in forbidden if word in entry.body]
    assert [entry.verb for entry in log if entry.verb == "DELETE"] == ["DELETE", "DELETE"]
