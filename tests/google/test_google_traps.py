"""The traps of Google's semantics, each through the real client against the emulator."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from google_home import HUSBAND, NONCE, START, WIFE, WINDOW, at
from googleapiclient.errors import HttpError

from butlerctl.lab.google import DROP, Fault, refuse
from butlerctl.lab.google.cells import enter

EVENTS = f"/calendar/v3/calendars/{WIFE}/events"
SHEET = f"/v4/spreadsheets/sheet-{WIFE}"


def times(start, end):
    return {"start": {"dateTime": start}, "end": {"dateTime": end}}


def reason_of(answer):
    error = answer.json()["error"]
    return error["code"], error["errors"][0]["reason"], error["message"]


def test_trap_1_an_instant_comes_back_with_another_offset(home):
    event = home.add_event("x", **times("2026-12-14T16:00:00+01:00", "2026-12-14T17:00:00+01:00"))
    assert event["start"] == {"dateTime": "2026-12-14T10:00:00-05:00", "timeZone": "America/New_York"}
    listed = home.call("GET", EVENTS + "?timeZone=Asia/Tokyo").json()
    assert (listed["timeZone"], listed["items"][0]["start"]["dateTime"]) == (
        "Asia/Tokyo",
        "2026-12-15T00:00:00+09:00",
    )
    home.emulator.switches.event_zone = "as_written"
    assert home.call("GET", EVENTS).json()["items"][0]["start"]["dateTime"] == "2026-12-14T16:00:00+01:00"


def test_trap_2_a_weekly_event_keeps_its_hour_over_a_change_of_the_clocks(home):
    zone = {"timeZone": "America/New_York"}
    home.add_event(
        "weekly",
        start={"dateTime": "2026-10-28T09:00:00"} | zone,
        end={"dateTime": "2026-10-28T10:00:00"} | zone,
        recurrence=["RRULE:FREQ=WEEKLY;COUNT=2"],
    )
    items = home.call("GET", EVENTS + "?singleEvents=true&timeZone=UTC").json()["items"]
    assert [item["start"]["dateTime"] for item in items] == ["2026-10-28T13:00:00Z", "2026-11-04T14:00:00Z"]


def test_trap_3_a_whole_day_has_an_exclusive_end_and_counts_in_the_calendars_zone(home):
    home.add_event("holiday", start={"date": "2026-12-24"}, end={"date": "2026-12-25"})

    def between(start, end):
        return len(home.call("GET", f"{EVENTS}?timeMin={start}&timeMax={end}").json()["items"])

    assert between("2026-12-25T04:59:00Z", "2026-12-25T06:00:00Z") == 1
    assert between("2026-12-25T05:00:00Z", "2026-12-26T00:00:00Z") == 0
    assert between("2026-12-24T00:00:00Z", "2026-12-24T05:00:00Z") == 0
    same_day = {"summary": "x", "start": {"date": "2026-12-24"}, "end": {"date": "2026-12-24"}}
    assert home.call("POST", EVENTS, json=same_day).status_code == 400


def test_trap_4_only_the_next_page_token_says_that_a_list_ends(home):
    for number in range(21):
        home.add_task(f"task {number}")
    path = f"/tasks/v1/lists/list-{WIFE}/tasks"
    first = home.call("GET", path).json()
    assert (len(first["items"]), "nextPageToken" in first) == (20, True)
    second = home.call("GET", path, params={"pageToken": first["nextPageToken"]}).json()
    assert (len(second["items"]), "nextPageToken" in second) == (1, False)
    assert len(home.call("GET", path + "?maxResults=1000").json()["items"]) == 21


def test_trap_5_a_list_may_trail_behind_a_get(home):
    home.emulator.knobs.list_lag = 60
    event = home.add_event(NONCE)
    assert home.call("GET", EVENTS).json()["items"] == []
    assert home.call("GET", f"{EVENTS}/{event['id']}").status_code == 200


def test_trap_6_no_search_by_words_is_ever_sent(home):
    home.calendar().find(NONCE, WINDOW, when="after")
    assert not [entry for entry in home.emulator.log if "q=" in entry.query]


def test_trap_7_a_deleted_event_can_still_be_got(home):
    event = home.add_event(NONCE)
    home.call("DELETE", f"{EVENTS}/{event['id']}")
    assert home.call("GET", f"{EVENTS}/{event['id']}").json()["status"] == "cancelled"
    assert home.call("GET", EVENTS).json()["items"] == []
    assert len(home.call("GET", EVENTS + "?showDeleted=true").json()["items"]) == 1
    assert len(home.call("GET", EVENTS + "?updatedMin=2026-01-01T00:00:00Z").json()["items"]) == 1


def test_trap_8_deleting_twice_unknown_ids_and_used_ids_differ(home):
    event = home.add_event(NONCE, id="abcde12345")
    path = f"{EVENTS}/{event['id']}"
    assert home.call("DELETE", path).status_code == 204
    assert reason_of(home.call("DELETE", path))[:2] == (410, "deleted")
    assert reason_of(home.call("DELETE", EVENTS + "/neverwas"))[:2] == (404, "notFound")
    again = {"id": "abcde12345", "start": at(START), "end": at(START)}
    assert reason_of(home.call("POST", EVENTS, json=again))[:2] == (409, "duplicate")
    assert home.call("POST", EVENTS, json=again | {"id": "UPPER"}).status_code == 400


def test_trap_9_no_access_no_writing_and_no_scope_are_three_answers(home):
    home.emulator.add_calendar("theirs", owner=HUSBAND, acl={WIFE: "reader"})
    body = {"start": at(START), "end": at(START)}
    unseen = home.call("GET", f"/calendar/v3/calendars/{HUSBAND}/events")
    assert reason_of(unseen) == (404, "notFound", "Not Found")
    readonly = home.call("POST", "/calendar/v3/calendars/theirs/events", json=body)
    assert reason_of(readonly) == (
        403,
        "requiredAccessLevel",
        "You need to have writer access to this calendar.",
    )


def test_trap_10_a_series_is_shown_once_or_as_its_instances(home):
    zone = {"timeZone": "America/New_York"}
    master = home.add_event(
        NONCE,
        start={"dateTime": "2026-10-28T09:00:00"} | zone,
        end={"dateTime": "2026-10-28T10:00:00"} | zone,
        recurrence=["RRULE:FREQ=DAILY;COUNT=3"],
    )
    assert [item["id"] for item in home.call("GET", EVENTS).json()["items"]] == [master["id"]]
    single = home.call("GET", EVENTS + "?singleEvents=true&orderBy=startTime").json()["items"]
    assert [item["id"].partition("_")[2] for item in single] == [
        "20261028T130000Z",
        "20261029T130000Z",
        "20261030T130000Z",
    ]
    assert {item["recurringEventId"] for item in single} == {master["id"]}
    one = f"{EVENTS}/{single[1]['id']}"
    assert home.call("GET", one).json()["summary"] == NONCE
    assert home.call("DELETE", one).status_code == 204
    assert len(home.call("GET", EVENTS + "?singleEvents=true").json()["items"]) == 2
    home.call("DELETE", f"{EVENTS}/{master['id']}")
    assert home.call("GET", EVENTS + "?singleEvents=true").json()["items"] == []


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (times("2026-12-14T10:00:00", "2026-12-14T11:00:00"), "Missing time zone definition for start time."),
        (times("2026-12-14T11:00:00Z", "2026-12-14T10:00:00Z"), "The specified time range is empty."),
        (
            {"start": {"date": "2026-12-14"}, "end": {"dateTime": "2026-12-14T10:00:00Z"}},
            "Start and end times must either both be date or both be dateTime.",
        ),
        ({"start": at(START)}, "Missing end time."),
        (
            {"start": at(START) | {"timeZone": "Mars/Base"}, "end": at(START)},
            "Invalid time zone definition for start time.",
        ),
        (
            times("2026-12-14T10:00:00Z", "2026-12-14T11:00:00Z") | {"recurrence": ["RRULE:FREQ=DAILY"]},
            "Missing time zone definition for start time.",
        ),
        (
            times("2026-12-14T10:00:00Z", "2026-12-14T11:00:00Z") | {"recurrence": ["RRULE:FREQ=SOMETIMES"]},
            "Invalid recurrence rule.",
        ),
    ],
)
def test_trap_11_bad_times_are_refused_in_googles_words(home, body, message):
    answer = home.call("POST", EVENTS, json=body)
    assert (answer.status_code, answer.json()["error"]["message"]) == (400, message)


@pytest.mark.parametrize(("switch", "day"), [("written", "2026-12-04"), ("utc", "2026-12-05")])
def test_trap_12_a_task_keeps_only_the_day_of_its_due(home, switch, day):
    home.emulator.switches.due_date = switch
    task = home.add_task("x", due="2026-12-04T23:30:00-05:00")
    assert task["due"] == f"{day}T00:00:00.000Z"
    path = f"/tasks/v1/lists/list-{WIFE}/tasks"
    assert home.call("POST", path, json={"title": "x", "due": "2026-12-04"}).status_code == 400


def test_trap_13_a_task_hidden_by_googles_own_apps_is_found(home):
    home.add_task(NONCE, status="completed")
    home.emulator.store.task_lists[f"list-{WIFE}"].tasks[0].body["hidden"] = True
    path = f"/tasks/v1/lists/list-{WIFE}/tasks"
    assert "items" not in home.call("GET", path).json()
    assert len(home.tasks().find(NONCE, WINDOW, when="after").hits) == 1


def test_trap_14_append_looks_for_the_table(home):
    rows = {"values": [["a", "b"]]}
    home.emulator.add_spreadsheet(
        f"sheet-{WIFE}", owner=WIFE, tabs={"Tab": [[], [], ["", "", "k", "v"], ["", "", 1, 2]]}
    )

    def append(target):
        return home.call("POST", f"{SHEET}/values/{target}:append?valueInputOption=RAW", json=rows).json()

    appended = append("Tab")
    assert (appended["tableRange"], appended["updates"]["updatedRange"]) == ("Tab!C3:D4", "Tab!C5:D5")
    assert append("Tab!A1")["updates"]["updatedRange"] == "Tab!A1:B1"
    missing = home.call("POST", f"{SHEET}/values/Nope!A1:append?valueInputOption=RAW", json=rows)
    assert (missing.status_code, missing.json()["error"]["message"]) == (
        400,
        "Unable to parse range: Nope!A1",
    )


@pytest.mark.parametrize(("switch", "target"), [("last", "A5"), ("first", "A3")])
def test_trap_14_a_blank_row_makes_two_tables(home, switch, target):
    home.emulator.switches.append_table = switch
    home.emulator.add_spreadsheet(f"sheet-{WIFE}", owner=WIFE, tabs={"Tab": [["h"], ["one"], [], ["two"]]})
    answer = home.call("POST", f"{SHEET}/values/Tab:append?valueInputOption=RAW", json={"values": [["x"]]})
    assert answer.json()["updates"]["updatedRange"] == f"Tab!{target}"


@pytest.mark.parametrize(
    ("typed", "formatted", "raw"),
    [
        ("007", "7", 7),
        ("3.10", "3.1", 3.1),
        ("1,234.5", "1234.5", 1234.5),
        ("2026-12-04", "2026-12-04", 46360),
        ("12/4/2026", "12/4/2026", 46360),
        ("2026-13-04", "2026-13-04", "2026-13-04"),
        ("true", "TRUE", True),
        ("'007", "007", "007"),
        ("=1+1", "#ERROR!", "#ERROR!"),
        ("milk", "milk", "milk"),
        (7, "7", 7),
        (False, "FALSE", False),
    ],
)
def test_trap_15_typed_values_are_read_as_a_person_types_them(typed, formatted, raw):
    cell = enter(typed, "USER_ENTERED")
    assert (cell.formatted(), cell.render("UNFORMATTED_VALUE", "SERIAL_NUMBER")) == (formatted, raw)


def test_trap_15_raw_values_stay_as_they_are():
    assert enter("007", "RAW").render("UNFORMATTED_VALUE", "SERIAL_NUMBER") == "007"
    assert enter("=1+1", "USER_ENTERED").render("FORMULA", "SERIAL_NUMBER") == "=1+1"
    assert enter("2026-12-04", "USER_ENTERED").render("UNFORMATTED_VALUE", "FORMATTED_STRING") == "2026-12-04"
    assert enter("", "RAW") is None


def test_trap_16_empty_cells_are_trimmed_and_an_empty_range_has_no_values(home):
    assert "values" not in home.call("GET", f"{SHEET}/values/Log!A2:C9").json()
    home.call("PUT", f"{SHEET}/values/Log!A4:C4?valueInputOption=RAW", json={"values": [["", "x", ""]]})
    assert home.call("GET", f"{SHEET}/values/Log!A2:C9").json()["values"] == [[], [], ["", "x"]]
    columns = home.call("GET", f"{SHEET}/values/Log!A1:C4?majorDimension=COLUMNS").json()
    assert columns["values"] == [["date"], ["item", "", "", "x"], ["amount"]]


def test_trap_17_a_row_above_moves_all_that_are_below(home):
    home.add_row(NONCE)
    above = {"range": {"sheetId": 1, "dimension": "ROWS", "startIndex": 1, "endIndex": 2}}
    home.call("POST", SHEET + ":batchUpdate", json={"requests": [{"insertDimension": above}]})
    (hit,) = home.sheets().find(NONCE, WINDOW, when="after").hits
    assert hit.body["row"] == 3


def test_trap_18_a_shared_sheet_that_may_only_be_read_and_an_unknown_one_differ(home):
    home.emulator.add_spreadsheet("shared", owner=HUSBAND, tabs={"Log": []}, acl={WIFE: "reader"})
    home.emulator.add_spreadsheet("closed", owner=HUSBAND, tabs={"Log": []})
    write = "/values/Log:append?valueInputOption=RAW"

    def error(path, verb="GET"):
        answer = home.call(
            verb, f"/v4/spreadsheets/{path}", **({"json": {"values": [["x"]]}} if verb == "POST" else {})
        )
        return answer.status_code, answer.json().get("error", {}).get("message")

    assert error("shared/values/Log") == (200, None)
    assert error("shared" + write, "POST") == (403, "The caller does not have permission")
    assert error("closed/values/Log") == (403, "The caller does not have permission")
    assert error("unknown/values/Log") == (404, "Requested entity was not found.")


def test_trap_19_primary_is_the_users_own_calendar(home):
    event = home.add_event(NONCE)
    primary = home.call("GET", "/calendar/v3/calendars/primary/events").json()["items"]
    assert [item["id"] for item in primary] == [event["id"]]
    others = home.call("GET", "/calendar/v3/calendars/primary/events", user=HUSBAND).json()["items"]
    assert others == []


def insert(account, *, retries=0, **more):
    body = {"summary": NONCE, "start": at(START), "end": at(START + timedelta(hours=1))} | more
    request = account.events().insert(calendarId=WIFE, body=body)
    return request.execute(http=account._connection(), num_retries=retries)


def copies(home):
    return len(home.emulator.objects_with(NONCE))


def test_a_repeated_insert_makes_two_events_and_a_chosen_id_makes_one(home):
    account = home.account()
    fault = home.emulator.faults.plant(refuse("calendar.events.insert", 503, "backendError", times=1))
    fault.work = 1
    insert(account, retries=1)
    assert copies(home) == 2
    home.emulator.faults.plant(Fault("calendar.events.insert", answer=fault.answer, times=1))
    with pytest.raises(HttpError) as caught:
        insert(account, retries=1, id="abcde12345", summary="one")
    assert caught.value.resp.status == 409
    assert len(home.emulator.objects_with("abcde12345")) == 1


def test_a_lost_answer_makes_the_client_send_the_insert_twice_by_itself(home):
    home.emulator.faults.plant(Fault("calendar.events.insert", answer=DROP, times=1))
    insert(home.account())
    assert copies(home) == 2


def test_a_second_clearing_finds_nothing_and_says_so_without_a_count(home):
    home.add_row(NONCE)
    request = {"findReplace": {"find": NONCE, "replacement": "", "sheetId": 1}}
    replies = [
        home.call("POST", SHEET + ":batchUpdate", json={"requests": [request]}).json()["replies"][0]
        for _ in range(2)
    ]
    assert replies[0]["findReplace"]["valuesChanged"] == 1
    assert replies[1] == {"findReplace": {}}


def test_the_created_time_is_googles_own(home):
    event = home.add_event("x", created="2020-01-01T00:00:00Z")
    assert datetime.fromisoformat(event["created"]).year > 2020
