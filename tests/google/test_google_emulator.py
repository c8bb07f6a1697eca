"""The emulator on the wire: what any client of Google could tell apart."""

from __future__ import annotations

import base64
import json
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from google_home import HUSBAND, NONCE, START, WIFE, at

from butlerctl.lab.google import DROP, READ_SCOPES, Fault, OAuthClient, page, refuse
from butlerctl.lab.google.discovery import load, route

EVENTS = f"/calendar/v3/calendars/{WIFE}/events"
TASKS = f"/tasks/v1/lists/list-{WIFE}/tasks"
SHEET = f"/v4/spreadsheets/sheet-{WIFE}"


def refresh(home, grant, **more):
    form = {
        "grant_type": "refresh_token",
        "refresh_token": grant.refresh_token,
        "client_id": grant.client.id,
        "client_secret": grant.client.secret,
    }
    return home.wire.post("/token", data=form | more)


def error_of(answer):
    return answer.status_code, answer.json()["error"]


def test_the_documents_know_every_method_that_is_emulated():
    from butlerctl.lab.google.app import HANDLERS

    described = {
        method.id for name in ("calendar.v3", "tasks.v1", "sheets.v4") for method in load(name).methods
    }
    assert set(HANDLERS) <= described


def test_a_path_is_decoded_after_it_is_routed():
    found = route("POST", "/v4/spreadsheets/S/values/a%2Fb!A1%3AC1:append")
    assert found.method.id == "sheets.spreadsheets.values.append"
    assert found.path_values == {"spreadsheetId": "S", "range": "a/b!A1:C1"}


def test_a_wrong_base_path_is_a_page_of_html(home):
    answer = home.call("GET", "/calendars/x/events/y")
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=UTF-8")


def test_a_refresh_token_gives_an_access_token_with_the_granted_scopes(home):
    grant = home.emulator.grant(WIFE, scopes=READ_SCOPES)
    answer = refresh(home, grant).json()
    assert (answer["token_type"], answer["expires_in"], answer["scope"].split()) == (
        "Bearer",
        3599,
        list(READ_SCOPES),
    )


def test_a_client_may_authenticate_with_basic_auth(home):
    grant = home.emulator.grant(WIFE)
    form = {"grant_type": "refresh_token", "refresh_token": grant.refresh_token}
    assert home.wire.post("/token", data=form, auth=(grant.client.id, grant.client.secret)).status_code == 200


def test_each_way_to_be_refused_a_token_has_its_own_error(home):
    grant, gone = home.emulator.grant(WIFE), home.emulator.grant(HUSBAND)
    home.emulator.revoke(gone)
    answers = {
        "expired": refresh(home, gone),
        "unknown": refresh(home, grant, refresh_token="1//0nonsense"),
        "client": refresh(home, grant, client_id="nobody"),
        "secret": refresh(home, grant, client_secret="wrong"),
        "scope": refresh(home, grant, scope="https://www.googleapis.com/auth/drive"),
        "type": refresh(home, grant, grant_type="password"),
    }
    assert {name: (answer.status_code, answer.json()["error"]) for name, answer in answers.items()} == {
        "expired": (400, "invalid_grant"),
        "unknown": (400, "invalid_grant"),
        "client": (401, "invalid_client"),
        "secret": (401, "invalid_client"),
        "scope": (400, "invalid_scope"),
        "type": (400, "unsupported_grant_type"),
    }
    assert answers["expired"].json()["error_description"] == "Token has been expired or revoked."


def test_a_token_is_bound_to_the_client_that_got_it(home):
    grant = home.emulator.grant(WIFE)
    other = OAuthClient("other", "other-secret")
    home.emulator.grant(WIFE, client=other)
    answer = refresh(home, grant, client_id=other.id, client_secret=other.secret)
    assert error_of(answer) == (400, "invalid_grant")


def test_a_service_account_acts_for_itself_and_not_for_a_consumer(home):
    robot = "robot@project.iam.gserviceaccount.test"
    home.emulator.tokens.add_service_account(robot)

    def ask(**claims):
        payload = base64.urlsafe_b64encode(json.dumps({"iss": robot, **claims}).encode()).decode().rstrip("=")
        form = {
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
            "assertion": f"e30.{payload}.c2ln",
        }
        return home.wire.post("/token", data=form)

    scope = "https://www.googleapis.com/auth/calendar"
    token = ask(scope=scope).json()["access_token"]
    calendars = home.wire.get(
        "/calendar/v3/users/me/calendarList", headers={"Authorization": f"Bearer {token}"}
    )
    assert calendars.json()["items"] == []
    assert error_of(ask(scope=scope, sub=WIFE)) == (401, "unauthorized_client")
    assert error_of(ask(scope=scope, iss="nobody")) == (400, "invalid_grant")


def test_a_missing_scope_is_told_from_a_bad_token(home):
    grant = home.emulator.grant(WIFE, scopes=READ_SCOPES)
    token = home.emulator.access_token(grant)
    answer = home.wire.post(EVENTS, headers={"Authorization": f"Bearer {token}"}, json={})
    assert answer.status_code == 403
    assert answer.json()["error"]["errors"][0]["reason"] == "insufficientPermissions"
    assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]
    home.emulator.expire_access_tokens(WIFE)
    answer = home.wire.get(EVENTS, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


def test_revoking_a_grant_stops_its_access_tokens(home):
    grant = home.emulator.grant(WIFE)
    headers = {"Authorization": f"Bearer {home.emulator.access_token(grant)}"}
    assert home.wire.get(TASKS, headers=headers).status_code == 200
    home.emulator.revoke(grant)
    assert home.wire.get(TASKS, headers=headers).status_code == 401


def test_errors_speak_the_dialect_of_their_api(home):
    calendar = home.call("GET", EVENTS + "/nothinghere").json()["error"]
    tasks = home.call("GET", TASKS + "/nothinghere").json()["error"]
    sheets = home.call("GET", "/v4/spreadsheets/unknown/values/A1").json()["error"]
    assert [sorted(error) for error in (calendar, tasks, sheets)] == [
        ["code", "errors", "message"],
        ["code", "errors", "message", "status"],
        ["code", "message", "status"],
    ]


def test_n8n_adds_and_lists_an_event(home):
    body = {
        "start": {"dateTime": "2026-07-04T08:00:00Z", "timeZone": "Europe/Berlin"},
        "end": {"dateTime": "2026-07-04T09:00:00Z", "timeZone": "Europe/Berlin"},
        "description": "personal",
        "summary": "Dentist",
        "recurrence": [],
    }
    event = home.call("POST", EVENTS.replace("@", "%40"), json=body).json()
    assert (event["status"], event["organizer"]["email"]) == ("confirmed", WIFE)
    query = "timeMin=2026-07-04T00:00:00Z&timeMax=2026-07-05T00:00:00Z&singleEvents=true&orderBy=startTime"
    listed = home.call("GET", f"{EVENTS}?{query}&maxResults=50").json()["items"]
    assert [item["id"] for item in listed] == [event["id"]]


def test_n8n_appends_a_row_in_its_own_roundabout_way(home):
    properties = home.call("GET", SHEET + "?fields=sheets.properties").json()
    assert sorted(properties) == ["sheets"]
    tab = properties["sheets"][0]["properties"]
    rendering = "valueRenderOption=FORMATTED_VALUE&dateTimeRenderOption=FORMATTED_STRING"
    before = home.call("GET", f"{SHEET}/values/'Log'?{rendering}").json()["values"]
    longer = {"appendDimension": {"sheetId": tab["sheetId"], "dimension": "ROWS", "length": 1}}
    home.call("POST", SHEET + ":batchUpdate", json={"requests": [longer]})
    target = f"Log!{len(before) + 1}:{len(before) + 1}"
    written = home.call(
        "PUT",
        f"{SHEET}/values/{target}?valueInputOption=USER_ENTERED",
        json={"range": target, "values": [["2026-07-04", "milk", "3.10"]]},
    ).json()
    assert written["updatedRange"] == "Log!A2:C2"
    raw = home.call(
        "GET",
        f"{SHEET}/values/'Log'?valueRenderOption=UNFORMATTED_VALUE&dateTimeRenderOption=FORMATTED_STRING",
    ).json()
    assert (raw["range"], raw["values"][1]) == ("Log!A1:Z1001", ["2026-07-04", "milk", 3.1])


def test_unknown_fields_are_dropped_by_calendar_and_rejected_by_tasks_and_sheets(home):
    event = {"summary": "x", "start": at(START), "end": at(START), "colour": "red"}
    assert home.call("POST", EVENTS, json=event).status_code == 200
    assert home.call("POST", TASKS, json={"title": "x", "colour": "red"}).status_code == 400
    assert home.call("GET", f"{SHEET}/values/Log?colour=red").status_code == 400
    home.emulator.switches.calendar_unknown_fields = "reject"
    home.emulator.switches.tasks_sheets_unknown_fields = "drop"
    assert home.call("POST", EVENTS, json=event).status_code == 400
    assert home.call("POST", TASKS, json={"title": "x", "colour": "red"}).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        EVENTS + "?maxResults=many",
        EVENTS + "?maxResults=0",
        EVENTS + "?orderBy=colour",
        EVENTS + "?timeMin=tomorrow",
        EVENTS + "?singleEvents=maybe",
        EVENTS + "?orderBy=startTime",
        EVENTS + "?timeMin=2026-07-05T00:00:00Z&timeMax=2026-07-04T00:00:00Z",
        EVENTS + "?pageToken=nonsense",
        TASKS + "?dueMin=2026-07-05",
    ],
)
def test_a_bad_parameter_is_a_400(home, path):
    home.add_event("there is something to list")
    home.add_task("there is something to list", due="2026-07-05T00:00:00Z")
    assert home.call("GET", path).status_code == 400


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"summary": 7}', b'{"start": {"dateTime": "Invalid date"}}'])
def test_a_body_that_is_no_event_is_a_400(home, body):
    assert home.call("POST", EVENTS, content=body).status_code == 400


def test_a_partial_response_holds_only_the_asked_fields(home):
    home.add_event("Dentist")
    answer = home.call("GET", EVENTS + "?fields=items(summary,start/dateTime),timeZone").json()
    assert answer == {
        "timeZone": "America/New_York",
        "items": [{"summary": "Dentist", "start": {"dateTime": "2026-12-14T10:00:00-05:00"}}],
    }
    assert home.call("GET", EVENTS + "?fields=items(").status_code == 200
    assert home.call("GET", EVENTS + "?fields=)").status_code == 400


def test_a_method_that_is_not_emulated_says_so(home):
    assert home.call("POST", f"/calendar/v3/calendars/{WIFE}/clear").status_code == 501


def test_a_batch_update_is_all_or_nothing(home):
    good = {"addSheet": {"properties": {"title": "New"}}}
    bad = {"addSheet": {"properties": {"title": "log"}}}
    answer = home.call("POST", SHEET + ":batchUpdate", json={"requests": [good, bad]})
    assert error_of(answer)[0] == 400
    assert "requests[1]" in answer.json()["error"]["message"]
    assert "already exists" in answer.json()["error"]["message"]
    titles = [sheet["properties"]["title"] for sheet in home.call("GET", SHEET).json()["sheets"]]
    assert titles == ["Log", "butler verify"]


def test_a_row_can_be_deleted_by_index_and_it_is_the_index_that_counts(home):
    for name in ("one", "two", "three"):
        home.add_row(name)
    span = {"sheetId": 1, "dimension": "ROWS", "startIndex": 2, "endIndex": 3}
    home.call("POST", SHEET + ":batchUpdate", json={"requests": [{"deleteDimension": {"range": span}}]})
    assert home.rows()[1:] == [["one"], ["three"]]


def test_find_and_replace_by_text_regex_and_range(home):
    home.add_row("Milk", "milk bread", "100")
    path = SHEET + ":batchUpdate"

    def replace(**body):
        answer = home.call("POST", path, json={"requests": [{"findReplace": body}]})
        return answer.json()["replies"][0]["findReplace"] if answer.status_code == 200 else answer.status_code

    counts = replace(find="milk", replacement="tea", sheetId=1)
    assert counts == {"valuesChanged": 2, "rowsChanged": 1, "sheetsChanged": 1, "occurrencesChanged": 2}
    assert replace(find="TEA", replacement="x", matchCase=True, allSheets=True) == {}
    assert replace(
        find=r"(t)ea.*", replacement=r"\1", searchByRegex=True, matchEntireCell=True, allSheets=True
    )
    assert home.rows()[1] == ["t", "t", "100"]
    only = {"sheetId": 1, "startRowIndex": 1, "endRowIndex": 2, "startColumnIndex": 2, "endColumnIndex": 3}
    assert replace(find="0", replacement="", range=only)["occurrencesChanged"] == 2
    assert home.rows()[1] == ["t", "t", "1"]
    assert [
        replace(find="(", searchByRegex=True, sheetId=1),
        replace(find="x"),
        replace(find="", sheetId=1),
    ] == [
        400,
        400,
        400,
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Log", "Log!A1:Z1000"),
        ("'butler verify'", "'butler verify'!A1:Z1000"),
        ("log!b2:C3", "Log!B2:C3"),
        ("Log!A:C", "Log!A1:C1000"),
        ("Log!2:2", "Log!A2:Z2"),
        ("Log!B2:C", "Log!B2:C1000"),
        ("Log!B7", "Log!B7"),
        ("B7:C8", "Log!B7:C8"),
    ],
)
def test_a_range_is_understood_and_shown_in_full(home, text, shown):
    assert home.call("GET", f"{SHEET}/values/{text}").json()["range"] == shown


@pytest.mark.parametrize(
    "text", ["Nope!A1", "Nope", "Log!A0", "Log!A1:", "Log!-", "Log!AAA9999", "Log!A2000"]
)
def test_a_range_that_is_nowhere_is_a_400(home, text):
    assert home.call("GET", f"{SHEET}/values/{text}").status_code == 400


def test_writing_needs_an_input_option_and_room(home):
    rows = {"values": [["a", "b", "c"]]}
    answer = home.call("PUT", f"{SHEET}/values/Log!A2", json=rows)
    assert answer.json()["error"]["message"] == "'valueInputOption' is required but not specified"
    assert home.call("PUT", f"{SHEET}/values/Log!A2:B2?valueInputOption=RAW", json=rows).status_code == 400
    assert home.call("PUT", f"{SHEET}/values/Log!A2?valueInputOption=RAW", json=rows).status_code == 200


def test_a_fault_before_the_work_leaves_everything_as_it_was(home):
    home.emulator.faults.plant(refuse("tasks.tasks.insert", 429, "rateLimitExceeded", times=1))
    assert home.call("POST", TASKS, json={"title": NONCE}).status_code == 429
    assert home.emulator.objects_with(NONCE) == []
    assert home.call("POST", TASKS, json={"title": NONCE}).status_code == 200


def test_a_fault_after_the_work_leaves_the_object_behind(home):
    fault = home.emulator.faults.plant(refuse("calendar.events.*", 503, "backendError"))
    fault.work = 1
    body = {"summary": NONCE, "start": at(START), "end": at(START)}
    assert home.call("POST", EVENTS, json=body).status_code == 503
    home.emulator.faults.clear()
    assert len(home.emulator.objects_with(NONCE)) == 1


def test_an_answer_can_be_dropped_before_or_after_the_work(home):
    for work in (0, 1):
        home.emulator.faults.plant(Fault("tasks.tasks.insert", answer=DROP, work=work, times=1))
        with pytest.raises(httpx.RemoteProtocolError):
            home.call("POST", TASKS, json={"title": NONCE})
        assert len(home.emulator.objects_with(NONCE)) == work
    assert [entry.status for entry in home.emulator.log] == [None, None]


def test_a_fault_can_lie_double_change_delay_and_send_a_page(home):
    faults = home.emulator.faults
    lie = faults.plant(Fault("tasks.tasks.insert", forget=True, times=1))
    assert home.call("POST", TASKS, json={"title": NONCE}).json()["id"]
    assert home.emulator.objects_with(NONCE) == []
    assert lie.struck == 1
    faults.plant(Fault("tasks.tasks.insert", work=2, times=1))
    home.call("POST", TASKS, json={"title": NONCE})
    assert len(home.emulator.objects_with(NONCE)) == 2
    faults.plant(
        Fault("tasks.tasks.insert", rewrite=lambda body: body | {"title": "else"}, delay=0.02, times=1)
    )
    assert home.call("POST", TASKS, json={"title": "this"}).json()["title"] == "else"
    faults.plant(page("tasks.tasks.list", times=1))
    assert home.call("GET", TASKS).text == "<html>Sign in</html>"


def test_a_fault_can_be_for_one_person_only(home):
    home.emulator.faults.plant(refuse("tasks.tasks.list", 500, "backendError", user=HUSBAND))
    assert home.call("GET", TASKS).status_code == 200
    assert home.call("GET", f"/tasks/v1/lists/list-{HUSBAND}/tasks", user=HUSBAND).status_code == 500


def test_the_token_endpoint_can_fail_too(home):
    home.emulator.faults.plant(refuse("token", 500, "backendError", times=1))
    assert refresh(home, home.emulator.grant(WIFE)).status_code == 500


def test_many_clients_at_once_lose_and_mix_nothing(home):
    home.emulator.add_spreadsheet("busy", owner=WIFE, tabs={"Log": [["n"]]})
    token = home.emulator.access_token(home.emulator.grant(WIFE))

    def work(start):
        with httpx.Client(base_url=home.url, trust_env=False, verify=False) as client:  # noqa: S501 - plain HTTP
            client.headers["Authorization"] = f"Bearer {token}"
            for number in range(start, start + 10):
                client.post(TASKS, json={"title": f"task {number}"})
                path = "/v4/spreadsheets/busy/values/Log:append?valueInputOption=RAW"
                client.post(path, json={"values": [[number]]})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(0, 40, 10)))
    titles = [item["title"] for item in home.call("GET", TASKS + "?maxResults=100").json()["items"]]
    rows = home.call("GET", "/v4/spreadsheets/busy/values/Log!A2:A").json()["values"]
    assert sorted(titles) == sorted(f"task {number}" for number in range(40))
    assert sorted(int(row[0]) for row in rows) == list(range(40))


def test_the_log_keeps_no_credentials(home):
    grant = home.emulator.grant(WIFE)
    token = refresh(home, grant).json()["access_token"]
    home.wire.get(TASKS, headers={"Authorization": f"Bearer {token}"})
    text = repr(home.emulator.log)
    assert not [secret for secret in (token, grant.refresh_token, grant.client.secret) if secret in text]


def test_events_can_be_replaced_patched_and_found_again(home):
    event = home.add_event("Dentist", description="bring card")
    path = f"{EVENTS}/{event['id']}"
    patched = home.call("PATCH", path, json={"description": None, "location": "Main St"}).json()
    assert ("description" in patched, patched["location"], patched["summary"]) == (
        False,
        "Main St",
        "Dentist",
    )
    whole = {"summary": "Doctor", "start": patched["start"], "end": patched["end"]}
    replaced = home.call("PUT", path, json=whole, headers={"If-Match": patched["etag"]}).json()
    assert ("location" in replaced, replaced["summary"]) == (False, "Doctor")
    assert home.call("PUT", path, json=whole, headers={"If-Match": patched["etag"]}).status_code == 412
    assert [item["id"] for item in home.call("GET", EVENTS + "?q=doctor").json()["items"]] == [event["id"]]
    assert home.call("GET", EVENTS + "?iCalUID=nobody").json()["items"] == []


def test_a_task_can_be_completed_reopened_and_moved_to_another_day(home):
    task = home.add_task("Taxes", due="2026-12-04T00:00:00Z")
    path = f"{TASKS}/{task['id']}"
    done = home.call("PATCH", path, json={"status": "completed"}).json()
    assert "completed" in done
    later = home.call("PUT", path, json={"title": "Taxes", "due": "2026-12-05T00:00:00Z"}).json()
    assert (later["status"], later["due"], "completed" in later) == (
        "needsAction",
        "2026-12-05T00:00:00.000Z",
        False,
    )
    assert home.call("POST", TASKS, json={"title": "x" * 1025}).status_code == 400
    assert home.call("PATCH", path, json={"status": "perhaps"}).status_code == 400


def test_everybody_sees_the_own_lists_and_calendars(home):
    home.emulator.add_calendar("family", owner=HUSBAND, acl={WIFE: "reader"})
    lists = home.call("GET", "/tasks/v1/users/@me/lists").json()["items"]
    assert [item["title"] for item in lists] == ["Household", "Garden"]
    assert home.call("GET", f"/tasks/v1/users/@me/lists/list-{WIFE}").json()["title"] == "Household"
    assert home.call("GET", "/tasks/v1/lists/@default/tasks").status_code == 200
    calendars = home.call("GET", "/calendar/v3/users/me/calendarList").json()["items"]
    assert [(item["id"], item["accessRole"]) for item in calendars] == [(WIFE, "owner"), ("family", "reader")]
