"""The readers: what they find, what they write down, and what they say when Google does not answer."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from datetime import UTC, timedelta

import pytest
import trustme
from google_home import HUSBAND, NONCE, START, WIFE, WINDOW, at
from werkzeug.serving import make_server

from butlerctl.errors import BadInput, NothingChecked, NotPermitted, TryAgain, Unreachable, UsageProblem
from butlerctl.google.calendar import CalendarRecord
from butlerctl.google.client import Account
from butlerctl.google.sheets import SheetsRecord
from butlerctl.google.tasks import TasksRecord
from butlerctl.lab.google import READ_SCOPES, Fault, Switches, page, refuse
from butlerctl.lab.google.errors import Answer

TIMES = {"start": at(START), "end": at(START + timedelta(hours=1))}


def look(system, **options):
    return system.find(NONCE, WINDOW, when="after", **options)


def test_a_readback_of_a_calendar_holds_the_window_and_only_what_carries_the_nonce(home):
    home.add_event("Private appointment")
    event = home.add_event(f"butler check {NONCE}")
    sighting = look(home.calendar())
    (document,) = sighting.readbacks
    assert {key: document[key] for key in ("kind", "when", "api", "token_of", "calendarId", "status")} == {
        "kind": "readback",
        "when": "after",
        "api": "calendar.events.list",
        "token_of": "wife",
        "calendarId": WIFE,
        "status": 200,
    }
    assert document["query"] == {
        "timeMin": "2026-12-12T15:00:00Z",
        "timeMax": "2026-12-16T16:00:00Z",
        "singleEvents": True,
        "showDeleted": False,
    }
    assert [item["id"] for item in document["body"]["items"]] == [event["id"]]
    assert document["body"]["timeZone"] == "America/New_York"
    assert document["searched"] == {"pages": 1, "objects": 2}
    assert "Private" not in json.dumps(sighting.readbacks)


def test_the_own_calendar_seen_again_as_primary_is_no_copy(home):
    home.add_event(NONCE)
    sighting = look(home.calendar())
    assert (len(sighting.hits), len(sighting.readbacks)) == (1, 1)


def test_an_event_that_strayed_into_the_primary_calendar_is_found_there(home):
    home.emulator.add_calendar("family", owner=WIFE)
    home.add_event(NONCE)
    sighting = look(CalendarRecord(home.account(), "family", patience=0))
    assert [hit.container for hit in sighting.hits] == ["primary"]
    assert [(doc["calendarId"], "misplaced" in doc) for doc in sighting.readbacks] == [
        ("family", False),
        ("primary", True),
    ]


def test_a_nonce_in_the_description_is_found_too(home):
    home.add_event("Dentist", description=f"as asked, {NONCE}")
    assert [hit.title for hit in look(home.calendar()).hits] == ["Dentist"]


def test_copies_are_all_found(home):
    for _ in range(3):
        home.add_event(NONCE)
    assert len(look(home.calendar()).hits) == 3


def test_a_list_is_read_to_its_last_page_even_past_an_empty_one(home):
    home.emulator.knobs.page_cap, home.emulator.knobs.empty_first_page = 40, True
    for number in range(90):
        home.add_event(f"event {number}", start=at(START), end=at(START))
    home.add_event(NONCE)
    for number in range(45):
        home.add_task(f"task {number}")
    home.add_task(NONCE)
    assert look(home.calendar()).readbacks[0]["searched"] == {"pages": 4, "objects": 91}
    assert look(home.tasks()).readbacks[0]["searched"] == {"pages": 3, "objects": 46}
    assert (len(look(home.calendar()).hits), len(look(home.tasks()).hits)) == (1, 1)


def test_a_list_without_an_end_is_a_problem_and_not_an_absence(home):
    home.emulator.knobs.page_cap = 1
    for number in range(51):
        home.add_task(f"task {number}")
    sighting = look(home.tasks())
    assert isinstance(sighting.problem, NothingChecked)
    with pytest.raises(NothingChecked, match="50 pages"):
        _ = sighting.hits


def test_an_expected_object_is_waited_for_while_the_list_trails_behind(home):
    home.emulator.knobs.list_lag = 0.5
    home.add_event(NONCE)
    patient = CalendarRecord(home.account(), WIFE, patience=5.0)
    assert look(patient).hits == ()
    assert len(look(patient, expected=True).hits) == 1


def test_the_readback_of_the_verify_tab_is_the_whole_tab(home):
    home.add_row("2026-12-01", "milk", "3.10")
    home.add_row(f"{NONCE}-a", f"{NONCE}-b", f"{NONCE}-c")
    (document,) = look(home.sheets()).readbacks
    assert document["query"]["range"] == "butler verify"
    assert document["body"]["values"] == [
        ["date", "item", "amount"],
        ["2026-12-01", "milk", 3.1],
        [f"{NONCE}-a", f"{NONCE}-b", f"{NONCE}-c"],
    ]


def test_an_empty_calendar_list_and_tab_are_read_as_empty(home):
    home.emulator.add_spreadsheet("empty", owner=WIFE, tabs={"butler verify": []})
    empty_sheet = SheetsRecord(home.account(), "empty", [], "butler verify", patience=0)
    for system in (home.calendar(), home.tasks(), empty_sheet):
        sighting = look(system)
        assert (sighting.hits, sighting.readbacks[0]["status"]) == ((), 200)


def test_a_read_of_a_calendar_holds_what_the_list_operation_should_answer(home):
    home.add_event("later", start=at(START + timedelta(minutes=30)), end=at(START + timedelta(hours=2)))
    home.add_event("earlier")
    home.add_event(
        "next day", start=at(START + timedelta(days=1)), end=at(START + timedelta(days=1, hours=1))
    )
    asked = {"start": START.isoformat(), "end": (START + timedelta(hours=3)).isoformat()}
    (document,) = home.calendar().read(asked, when="before").readbacks
    assert [item["summary"] for item in document["body"]["items"]] == ["earlier", "later"]
    (document,) = home.calendar().read(asked | {"limit": 1}, when="before").readbacks
    assert [item["summary"] for item in document["body"]["items"]] == ["earlier"]
    assert document["query"]["timeMin"] == START.isoformat()


def test_a_read_of_tasks_shows_the_open_ones_of_the_asked_list(home):
    home.add_task("open")
    home.add_task("done", status="completed")
    home.add_task("weeds", tasklist=f"garden-{WIFE}")
    for arguments, titles in (({}, ["open"]), ({"list": "Garden"}, ["weeds"])):
        (document,) = home.tasks().read(arguments, when="after").readbacks
        assert [item["title"] for item in document["body"]["items"]] == titles
    with pytest.raises(UsageProblem, match="no task list Party"):
        home.tasks().read({"list": "Party"}, when="after")


def test_a_read_of_a_sheet_holds_the_header_and_at_most_the_asked_rows(home):
    for number in range(3):
        home.add_row("2026-12-01", "milk", number, tab="Log")
    (document,) = home.sheets().read({"sheet": "Log", "limit": 2}, when="after").readbacks
    assert document["body"]["values"] == [
        ["date", "item", "amount"],
        ["2026-12-01", "milk", 0],
        ["2026-12-01", "milk", 1],
    ]
    with pytest.raises(UsageProblem, match="no tab Taxes"):
        home.sheets().read({"sheet": "Taxes"}, when="after")


def test_a_dead_grant_is_told_with_what_to_do_about_it(home):
    grant = home.emulator.grant(WIFE, scopes=READ_SCOPES)
    home.emulator.revoke(grant)
    sighting = look(CalendarRecord(home.account_of(grant), WIFE, patience=0))
    assert isinstance(sighting.problem, NotPermitted)
    assert "invalid_grant" in sighting.problem.message
    assert "7 days" in sighting.problem.hint
    (document,) = sighting.readbacks
    assert (document["status"], document["body"]["error"]) == (401, "invalid_grant")


def test_a_deleted_client_is_told_from_a_dead_grant(home):
    grant = home.emulator.grant(WIFE)
    home.emulator.tokens.delete_client(grant.client)
    sighting = look(CalendarRecord(home.account_of(grant), WIFE, patience=0))
    assert isinstance(sighting.problem, NotPermitted)
    assert "OAuth client was deleted" in sighting.problem.hint


def test_a_demand_to_sign_in_again_is_translated(home):
    answer = Answer(400, b'{"error": "invalid_grant", "error_subtype": "invalid_rapt"}')
    home.emulator.faults.plant(Fault("token", answer=answer, work=0))
    sighting = look(home.calendar())
    assert isinstance(sighting.problem, NotPermitted)
    assert "sign in again" in sighting.problem.message
    assert "gcloud" not in sighting.problem.message


def test_a_token_endpoint_in_trouble_is_worth_another_try(home):
    home.emulator.faults.plant(refuse("token", 503, "backendError"))
    assert isinstance(look(home.calendar()).problem, TryAgain)


def test_an_access_token_that_google_forgot_is_renewed_without_a_word(home):
    calendar = home.calendar()
    assert look(calendar).problem is None
    home.emulator.expire_access_tokens()
    assert look(calendar).problem is None
    assert home.methods().count("token") == 2


@pytest.mark.parametrize(
    ("status", "reason", "kind", "words"),
    [
        (403, "rateLimitExceeded", TryAgain, "quota"),
        (403, "quotaExceeded", TryAgain, "quota"),
        (429, "rateLimitExceeded", TryAgain, "quota"),
        (500, "backendError", TryAgain, "quota"),
        (403, "insufficientPermissions", NotPermitted, "scope"),
        (403, "accessNotConfigured", NotPermitted, "switch the API on"),
        (403, "forbidden", NotPermitted, "shared"),
        (401, "authError", NotPermitted, "new credential"),
        (404, "notFound", BadInput, "cannot see it"),
        (400, "badRequest", BadInput, "inventory"),
    ],
)
def test_each_refusal_has_its_own_meaning(home, status, reason, kind, words):
    home.emulator.faults.plant(refuse("calendar.*", status, reason, "said Google"))
    sighting = look(home.calendar())
    assert type(sighting.problem) is kind
    assert words in sighting.problem.hint
    assert sighting.readbacks[0]["status"] == status
    assert sighting.readbacks[0]["body"]["error"]["message"] == "said Google"


def test_sheets_send_no_list_of_errors_and_are_understood_all_the_same(home):
    home.emulator.faults.plant(refuse("sheets.*", 429, "", "Quota exceeded for quota metric", times=1))
    home.emulator.faults.plant(refuse("sheets.*", 403, "", "The caller does not have permission", times=1))
    sheets = home.sheets()
    assert isinstance(look(sheets).problem, TryAgain)
    assert isinstance(look(sheets).problem, NotPermitted)


def test_a_read_is_repeated_after_a_passing_failure(home):
    home.add_event(NONCE)
    home.emulator.faults.plant(refuse("calendar.events.list", 503, "backendError", times=1))
    assert len(look(home.calendar(retries=1)).hits) == 1


@pytest.mark.parametrize(
    "fault", [page("*"), Fault("*", Answer(200, b""), work=0), Fault("*", Answer(200, b"{}"), work=0)]
)
def test_a_page_in_googles_place_is_not_an_answer_of_google(home, fault):
    home.emulator.faults.plant(fault)
    sighting = look(home.calendar())
    assert isinstance(sighting.problem, Unreachable | NotPermitted)
    assert sighting.found == ()


@pytest.mark.parametrize("status", [200, 404, 503])
def test_a_page_of_something_in_front_of_google_is_told_apart(home, status):
    home.emulator.faults.plant(page("calendar.*", status=status))
    sighting = look(home.calendar())
    assert isinstance(sighting.problem, Unreachable)
    assert "something else answers" in sighting.problem.hint


def test_a_wrong_base_address_is_told_apart(home):
    account = home.account()
    account._base = home.url + "/somewhere"
    account._credentials._token_uri = home.url + "/token"
    sighting = look(CalendarRecord(account, WIFE, patience=0))
    assert isinstance(sighting.problem, Unreachable)
    assert "page instead of JSON" in sighting.problem.message


def test_a_closed_port_is_unreachable(home):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    account = home.account(url=url)
    sighting = look(CalendarRecord(account, WIFE, patience=0))
    assert isinstance(sighting.problem, Unreachable)
    assert sighting.readbacks[0]["status"] is None


def test_a_host_name_that_does_not_exist_is_unreachable(home):
    account = home.account(url="http://google.invalid")
    assert isinstance(look(CalendarRecord(account, WIFE, patience=0)).problem, Unreachable)


def test_silence_is_unreachable_after_the_timeout(home):
    home.emulator.faults.plant(Fault("calendar.events.list", delay=1.0))
    sighting = look(home.calendar(timeout=0.2))
    assert isinstance(sighting.problem, Unreachable)
    assert "in time" in sighting.problem.message


def test_a_certificate_of_nobody_is_a_tls_problem(home):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    server = make_server("127.0.0.1", 0, home.emulator, threaded=True, ssl_context=context)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        account = home.account(url=f"https://127.0.0.1:{server.server_port}")
        sighting = look(CalendarRecord(account, WIFE, patience=0))
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert isinstance(sighting.problem, Unreachable)
    assert "TLS" in sighting.problem.message


def test_a_proxy_in_the_environment_does_not_take_loopback(home, monkeypatch):
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    home.add_event(NONCE)
    assert len(look(home.calendar()).hits) == 1


@pytest.mark.parametrize(
    ("token", "words"),
    [
        ("ya29.not-json", "not JSON"),
        ("[]", "not JSON"),
        ('{"type": "service_account", "private_key": "sEcReT-kEy"}', "no credential of a person"),
        ('{"installed": {"client_secret": "sEcReT-kEy"}}', "no credential of a person"),
        ('{"client_id": "a", "client_secret": "sEcReT-kEy"}', "lacks refresh_token"),
    ],
)
def test_a_token_that_is_none_is_refused_without_a_word_of_it(token, words):
    with pytest.raises(BadInput, match=words) as caught:
        Account("wife", token)
    assert "sEcReT" not in caught.value.message + caught.value.hint
    assert "ya29" not in caught.value.message


@pytest.mark.parametrize("as_text", [False, True])
def test_a_credential_that_names_its_scopes_says_whether_it_may_delete(home, as_text):
    def account(*names):
        info = json.loads(home.emulator.grant(WIFE).authorized_user())
        scopes = [f"https://www.googleapis.com/auth/{name}" for name in names]
        return Account("wife", json.dumps(info | {"scopes": " ".join(scopes) if as_text else scopes}))

    reading = account("calendar.events.readonly", "tasks.readonly", "spreadsheets.readonly")
    mixed = account("calendar.events.owned", "tasks.readonly")
    domains = ("calendar", "tasks", "sheets")
    assert [reading.may_write(domain) for domain in domains] == [False, False, False]
    assert [mixed.may_write(domain) for domain in domains] == [True, False, False]
    assert account().may_write("calendar")


def test_no_secret_of_the_account_is_in_a_readback(home):
    grant = home.emulator.grant(WIFE)
    account = home.account_of(grant)
    sightings = [look(CalendarRecord(account, WIFE, patience=0))]
    access_token = account._credentials.token
    home.emulator.faults.plant(
        refuse("*", 500, "x", f"{grant.refresh_token} {access_token} {grant.client.secret}")
    )
    sightings.append(look(CalendarRecord(account, WIFE, patience=0)))
    text = json.dumps([sighting.readbacks for sighting in sightings])
    assert not [part for part in (grant.refresh_token, access_token, grant.client.secret) if part in text]


def test_one_account_serves_many_threads(home):
    home.add_event(NONCE)
    home.add_task(NONCE)
    account = home.account()
    systems = [
        CalendarRecord(account, WIFE, patience=0),
        TasksRecord(account, {"A": f"list-{WIFE}"}, patience=0),
    ]
    counts = []

    def work():
        counts.extend(len(look(system).hits) for system in systems * 3)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [1] * 36


def test_the_other_persons_calendar_is_not_there_for_this_person(home):
    sighting = look(CalendarRecord(home.account(WIFE), HUSBAND, patience=0))
    assert isinstance(sighting.problem, BadInput)
    assert "cannot see it" in sighting.problem.hint


def test_a_day_in_another_zone_is_asked_for_in_utc(home):
    (document,) = look(home.calendar()).readbacks
    assert WINDOW.start.tzinfo is UTC
    assert document["query"]["timeMin"].endswith("Z")


def test_the_switches_start_at_their_documented_defaults():
    assert Switches().event_zone == "calendar"
    assert (Switches().deleted_task, Switches().due_date, Switches().append_table) == (
        "flag",
        "written",
        "last",
    )
