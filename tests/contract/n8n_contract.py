"""What n8n answers, held by the stand-in and by the real server: each test module brings a `stage` of its own.

`tests/cases/n8n/answers.jsonl` holds what n8n 2.30.8 answered. Compared are status, the headers that matter and the
body; ids, times and Google's own extra fields may differ.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from butlerctl.inventory.operations import Route
from butlerctl.lab.google import DROP, Answer, Fault, GoogleEmulator, page, refuse
from butlerctl.lab.n8n import Refused
from butlerctl.n8n.http import make_client
from butlerctl.workflows.template import SHIPPED, workflow
from tests.contract import n8n_workflows as small
from tests.n8n.household import bound

RECORDED = {
    entry["case"]: entry
    for line in (Path(__file__).parents[1] / "cases/n8n/answers.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
    for entry in [json.loads(line)]
}
SECRET = "example-webhook-secret"
HEADER = "X-L4CK3Y-Auth"
ADD = Route("calendar_add", "husband")
ADD_PATH = "L4CK3Y/calendar/add/husband"
# Their values are another server's; that they are there is what counts.
VOLATILE = {
    "execution",
    "etag",
    "updated",
    "created",
    "iCalUID",
    "htmlLink",
    "headers",
    "webhookUrl",
    "selfLink",
}
VOLATILE |= {"position", "webViewLink", "dateTime"}
CLIENT = make_client("http://127.0.0.1", timeout=30, reuse=False)
HEADERS = ("content-type", "www-authenticate", "access-control-allow-methods", "access-control-allow-origin")


class Stage:
    """An n8n with the credentials of `stock` and no workflow, an emulator with the husband's places."""

    patience = 0.3
    """Seconds that a client waits; the plugin's are 15."""

    def __init__(
        self, url: str, google: GoogleEmulator, n8n: Any, remove_credential: Callable[[str], Any]
    ) -> None:
        self.url = url
        self.google = google
        self.n8n = n8n
        self.remove_credential = remove_credential

    def play(self, entry: dict[str, Any]) -> httpx.Response:
        """Send the recorded request again."""
        headers = {"User-Agent": "FR4M3W0RK-Tools/1.0", **entry["headers"]}
        keys = {"right": SECRET, "wrong": "wrong", "empty": ""}
        if entry["key"] in keys:
            headers[HEADER] = keys[entry["key"]]
        sent = entry["sent"]
        content = sent.encode() if isinstance(sent, str) else None
        return CLIENT.request(entry["method"], f"{self.url}{entry['path']}", headers=headers, content=content)


def husbands_google() -> GoogleEmulator:
    google = GoogleEmulator()
    google.add_user(small.HUSBAND, timezone="Europe/Berlin")
    google.add_task_list("HUSBANDLIST", "Home", owner=small.HUSBAND)
    google.add_spreadsheet("HUSBANDSHEET", owner=small.HUSBAND, tabs={"Log": [["date", "item", "amount"]]})
    return google


def stock(google: GoogleEmulator) -> list[tuple[str, str, str, dict[str, Any]]]:
    """Id, name, type and data of every credential: the living ones, then those that cannot work or are ambiguous."""
    calendar = "googleCalendarOAuth2Api"
    kinds = {
        "Calendar": small.CALENDAR_CREDENTIAL,
        "Tasks": small.TASKS_CREDENTIAL,
        "Sheets": small.SHEETS_CREDENTIAL,
    }
    return [
        (small.HEADER_CREDENTIAL, "webhook auth", "httpHeaderAuth", {"name": HEADER, "value": SECRET}),
        *(
            (credential, f"husband Google {kind}", f"google{kind}OAuth2Api", google_tokens(google))
            for kind, credential in kinds.items()
        ),
        ("emptyCredential1", "empty", calendar, {}),
        ("neverConnected01", "never connected", calendar, {"clientId": "a", "clientSecret": "b"}),
        ("emptyHeader00001", "empty header", "httpHeaderAuth", {"name": HEADER, "value": ""}),
        ("twinCredential001", "twin", calendar, google_tokens(google)),
        ("twinCredential002", "twin", calendar, google_tokens(google)),
    ]


def google_tokens(google: GoogleEmulator) -> dict[str, Any]:
    grant = google.grant(small.HUSBAND)
    tokens = {"access_token": google.access_token(grant), "refresh_token": grant.refresh_token}
    return {"clientId": grant.client.id, "clientSecret": grant.client.secret, "oauthTokenData": tokens}


def assert_like(entry: dict[str, Any], answer: httpx.Response) -> None:
    assert answer.status_code == entry["status"]
    for name in HEADERS:
        assert answer.headers.get(name) == entry["answer_headers"].get(name), name
    if entry["answer_headers"].get("transfer-encoding") == "chunked":
        assert answer.headers["transfer-encoding"] == "chunked"
    got = _body(answer)
    if isinstance(got, dict):
        got.pop("stacktrace", None)
    differences = list(_differences(entry["answer"], got, ""))
    assert differences == [], differences


def _body(answer: httpx.Response) -> Any:
    text = (
        answer.text.split("<br>")[0]
        if "ResponseError" in answer.text and "<br>" in answer.text
        else answer.text
    )
    try:
        return json.loads(text)
    except ValueError:
        return text


def _differences(want: Any, got: Any, where: str) -> Iterator[str]:
    """Where two bodies differ. What Google returns may carry fields more or less."""
    from_google = where.startswith((".result", ".items", ".data"))
    if isinstance(want, dict) and isinstance(got, dict):
        if not from_google and want.keys() != got.keys():
            yield f"{where}: {sorted(want)} is not {sorted(got)}"
        for key in want.keys() & got.keys() - VOLATILE:
            yield from _differences(want[key], got[key], f"{where}.{key}")
    elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        for at, (one, other) in enumerate(zip(want, got, strict=True)):
            yield from _differences(one, other, f"{where}.{at}")
    elif want != got and not (from_google and _same_in_google(want, got, where)):
        yield f"{where}: {want!r} is not {got!r}"


def _same_in_google(want: Any, got: Any, where: str) -> bool:
    """The recordings were made with an emulator that evaluated no cell and kept a due time as it was sent."""
    if where.endswith(".id"):
        return type(want) is type(got)
    if where.endswith(".due"):
        return want[:10] == got[:10]
    return where.endswith(".amount") and float(want) == got


def cases(*prefixes: str, but: tuple[str, ...] = ()) -> list[str]:
    return [name for name in RECORDED if name.startswith(prefixes) and name not in but]


ALONE = ("hook-inactive", "hook-inactive-noauth", "hook-GET-after-GET-wf", "hook-17MB", "hook-17MB-noauth")


@pytest.mark.parametrize("case", cases("hook-", "options-", but=ALONE))
def test_a_request_to_a_registered_webhook_is_answered_as_n8n_answers(case, stage):
    stage.n8n.import_workflow(small.chain(small.webhook(ADD_PATH), small.respond(small.ECHO)))
    assert_like(RECORDED[case], stage.play(RECORDED[case]))


@pytest.mark.parametrize("case", ["hook-inactive", "hook-inactive-noauth"])
def test_an_inactive_workflow_answers_as_an_unknown_path_does(case, stage):
    stage.n8n.import_workflow(small.chain(small.webhook(ADD_PATH), small.respond(small.ECHO)), active=False)
    assert_like(RECORDED[case], stage.play(RECORDED[case]))


def test_the_same_path_may_have_a_workflow_for_each_method(stage):
    for method in ("POST", "GET"):
        stage.n8n.import_workflow(
            small.chain(small.webhook(ADD_PATH, method=method), small.respond(small.ECHO))
        )
    assert_like(RECORDED["hook-GET-after-GET-wf"], stage.play(RECORDED["hook-GET-after-GET-wf"]))


@pytest.mark.parametrize("case", ["hook-17MB", "hook-17MB-noauth"])
def test_a_body_beyond_the_limit_is_refused_before_the_key_is_looked_at(case, stage):
    stage.n8n.import_workflow(small.chain(small.webhook(ADD_PATH), small.respond(small.ECHO)))
    body = json.dumps({"a": "x" * 17_000_000})
    assert_like(RECORDED[case], stage.play(RECORDED[case] | {"sent": body}))


@pytest.mark.parametrize("case", cases("fail-", "last", "ok-", "respond"))
def test_every_response_mode_and_failure_is_answered_as_n8n_answers(case, stage):
    path = RECORDED[case]["path"].removeprefix("/webhook/")
    stage.n8n.import_workflow(small.SMALL[path])
    assert_like(RECORDED[case], stage.play(RECORDED[case]))


def test_a_second_owner_of_a_path_cannot_be_activated(stage):
    stage.n8n.import_workflow(small.SMALL["x/onreceived"])
    with pytest.raises(Refused) as refused:
        stage.n8n.import_workflow(small.SMALL["x/onreceived"] | {"id": "second"})
    recorded = RECORDED["activate-duplicate-path"]
    assert (refused.value.status, refused.value.message) == (
        recorded["status"],
        recorded["answer"]["message"],
    )


def _operation(case: str) -> str:
    domain, verb = RECORDED[case]["path"].removeprefix("/webhook/L4CK3Y/").split("/")[:2]
    return f"{domain}_{verb}"


def _method(operation: str) -> str:
    return {"calendar": "calendar.events.*", "tasks": "tasks.tasks.*", "sheets": "sheets.*"}[
        operation.split("_", maxsplit=1)[0]
    ]


def plant(stage: Stage, failure: str, operation: str) -> None:
    """What Google did in the recorded case."""
    method = _method(operation)
    kind = failure.removeprefix("refresh-").removeprefix("token-")
    if kind in ("invalid_grant", "invalid_client", "500") and kind != failure:
        status = {"invalid_grant": 400, "invalid_client": 401, "500": 500}[kind]
        body = json.dumps({"error": kind} if kind != "500" else {}).encode()
        stage.google.faults.plant(Fault("token", Answer(status, body), work=0))
        stage.google.expire_access_tokens()
        return
    planted = {
        "drop": lambda: Fault(method, DROP, work=0),
        "html200": lambda: page(method),
        "empty200": lambda: Fault(method, Answer(200), work=0),
        "empty204": lambda: Fault(method, Answer(204), work=0),
    }
    status = int(failure[:3]) if failure[:3].isdigit() else 0
    reason = {"403scope": "insufficientPermissions", "403rate": "rateLimitExceeded"}.get(
        failure, "backendError"
    )
    stage.google.faults.plant(planted[failure]() if failure in planted else refuse(method, status, reason))


@pytest.mark.parametrize("case", [*cases("g-fail-"), *cases("g-empty-")])
def test_a_failure_of_google_without_an_error_output_is_an_empty_200(case, stage):
    operation = _operation(case)
    path = RECORDED[case]["path"].removeprefix("/webhook/")
    stage.n8n.import_workflow(small.simple(operation, path))
    failure = case.removeprefix("g-fail-").removeprefix("sheets-").removeprefix("tasks-").removeprefix("401-")
    if not case.startswith("g-empty-"):
        plant(stage, "401" if failure == "always" else failure, operation)
    assert_like(RECORDED[case], stage.play(RECORDED[case]))


@pytest.mark.parametrize(
    "case",
    cases("g-ok-calendar_add-husband", "g-ok-tasks_add-husband", "g-ok-sheets_append-husband", "g-refresh"),
)
def test_the_google_nodes_make_the_calls_that_n8n_makes(case, stage):
    if case == "g-refresh":
        stage.google.expire_access_tokens()
    stage.n8n.import_workflow(
        small.simple(_operation(case), RECORDED[case]["path"].removeprefix("/webhook/"))
    )
    assert_like(RECORDED[case], stage.play(RECORDED[case]))


def variant(name: str) -> dict[str, Any]:
    """The broken calendar workflow of a recorded `v-` or `w-` case."""
    kind = "googleCalendarOAuth2Api"
    google = small.google("calendar_add")
    named = "husband Google Calendar"
    document = small.simple("calendar_add", f"x/{name}")
    hook, node, format_, respond = document["nodes"]
    credentials = {
        "v/google-placeholder": {"id": "<WIFE_CALENDAR_CRED_ID>", "name": named},
        "v/google-nonexistent": {"id": "doesNotExist0000", "name": named},
        "v/google-emptyid": {"id": "", "name": named},
        "v/google-nullid": {"id": None, "name": "no such name"},
        "v/wrongtype": {"id": small.TASKS_CREDENTIAL, "name": "no such name"},
        "w/placeholder-PUT-match": {"id": "<WIFE_CALENDAR_CRED_ID>", "name": named},
        "w/placeholder-nomatch": {"id": "<WIFE_CALENDAR_CRED_ID>", "name": "no such name"},
        "w/nonexistent-nomatch": {"id": "doesNotExist0000", "name": "no such name"},
        "w/placeholder-noname": {"id": "<WIFE_CALENDAR_CRED_ID>"},
        "w/placeholder-two-with-name": {"id": "<WIFE_CALENDAR_CRED_ID>", "name": "twin"},
        "w/wrong-name-right-id": {"id": small.CALENDAR_CREDENTIAL, "name": "some other name"},
        "w/cred-empty": {"id": "emptyCredential1", "name": "empty"},
        "w/cred-never-connected": {"id": "neverConnected01", "name": "never connected"},
    }
    if name in credentials:
        node["credentials"] = {kind: credentials[name]}
    elif name == "v/google-nocreds":
        del node["credentials"]
    elif name == "v/google-disabled":
        node["disabled"] = True
    elif name == "v/continue-error":
        node["onError"] = "continueRegularOutput"
        node["parameters"]["calendar"] = {"__rl": True, "value": "nobody@example.test", "mode": "id"}
    elif name == "v/cal-placeholder":
        node["parameters"]["calendar"] = {**google["parameters"]["calendar"], "value": "<WIFE_CALENDAR_ID>"}
    elif name == "v/format-missing-conn":
        del document["connections"]["Format response"]
    elif name == "v/lastnode-google-fails":
        node["parameters"]["calendar"] = {"__rl": True, "value": "nobody@example.test", "mode": "id"}
        return small.chain(small.webhook("x/v/lastnode-google-fails", "lastNode"), node, format_)
    elif name == "v/list-placeholder":
        return small.simple("tasks_add", "x/v/list-placeholder", parameters=_placeholder_list())
    elif name == "v/sheet-placeholder":
        book = small.simple("sheets_append", "x/v/sheet-placeholder")
        book["nodes"][1]["parameters"]["documentId"] = {
            "__rl": True,
            "value": "<WIFE_SPREADSHEET_ID>",
            "mode": "id",
        }
        return book
    else:
        _change_webhook(name, hook)
    del respond
    return document


def _placeholder_list() -> dict[str, Any]:
    return small.google("tasks_add")["parameters"] | {"task": "<HUSBAND_TASKS_LIST_ID>"}


def _change_webhook(name: str, hook: dict[str, Any]) -> None:
    kind = "httpHeaderAuth"
    if name == "v/header-authnone":
        hook["parameters"]["authentication"] = "none"
    elif name == "v/header-nocreds":
        del hook["credentials"]
    elif name == "v/header-placeholder":
        hook["credentials"] = {kind: {"id": "<WEBHOOK_CRED_ID>", "name": "webhook auth"}}
    elif name == "w/header-placeholder-nomatch":
        hook["credentials"] = {kind: {"id": "<WEBHOOK_CRED_ID>", "name": "no such name"}}
    elif name == "w/hdr-empty-value":
        hook["credentials"] = {kind: {"id": "emptyHeader00001", "name": "empty header"}}
    elif name == "v/webhook-disabled":
        hook["disabled"] = True
    else:
        raise AssertionError(name)


@pytest.mark.parametrize("case", cases("v-", "w-", but=("w-cred-deleted-hook",)))
def test_a_broken_workflow_is_refused_rebound_or_answered_as_n8n_does(case, stage):
    name = case[0] + "/" + case[2:].removesuffix("-noauth").removesuffix("-hook").removesuffix("-activate")
    document = variant(name)
    recorded = RECORDED[case]
    if case.endswith("-activate") or recorded["status"] == 404:
        with pytest.raises(Refused) as refused:
            stage.n8n.import_workflow(document)
        activation = RECORDED[case.removesuffix("-hook").removesuffix("-activate") + "-activate"]
        assert (refused.value.status, refused.value.message) == (
            activation["status"],
            activation["answer"]["message"],
        )
    else:
        stage.n8n.import_workflow(document)
    if not case.endswith("-activate"):
        assert_like(recorded, stage.play(recorded))


def test_a_deleted_credential_leaves_the_workflow_active_and_its_calls_fail(stage):
    recorded = RECORDED["w-cred-deleted-hook"]
    stage.n8n.import_workflow(small.simple("tasks_add", recorded["path"].removeprefix("/webhook/")))
    stage.remove_credential(small.TASKS_CREDENTIAL)
    assert_like(recorded, stage.play(recorded))


# The exports, in place of the recorded set that they were built from.

EXPORTS = replace(SHIPPED, timezone="Europe/Berlin", header_credential=small.HEADER_CREDENTIAL)
PERSON = replace(
    SHIPPED.people[0],
    task_lists={"Home": "HUSBANDLIST"},
    spreadsheet="HUSBANDSHEET",
    tabs=("Log", "NoSuchTab"),
    credentials={
        "calendar": small.CALENDAR_CREDENTIAL,
        "tasks": small.TASKS_CREDENTIAL,
        "sheets": small.SHEETS_CREDENTIAL,
    },
)
REASONS = {
    "400": "bad_request",
    "401": "unauthorized",
    "403disabled": "forbidden",
    "403rate": "forbidden",
    "403scope": "forbidden",
    "404": "not_found",
    "410": "bad_request",
    "429": "rate_limited",
    "500": "server_error",
    "503": "unavailable",
    "drop": "connection_failed",
    "token-500": "server_error",
    "token-invalid_client": "invalid_client",
    "token-invalid_grant": "invalid_grant",
}


def import_exports(stage: Stage, **credentials: str) -> dict[str, str]:
    """The husband's exports; operation -> workflow id."""
    person = replace(PERSON, credentials=PERSON.credentials | credentials)
    return {
        route.operation: stage.n8n.import_workflow(bound(workflow(route, person, EXPORTS)))
        for route, _ in SHIPPED.routes
        if route.profile == "husband"
    }


def assert_like_recorded_set(entry: dict[str, Any], answer: httpx.Response) -> None:
    """As `assert_like`; the exports say more than the recorded set about refused fields, and give a reason."""
    own = answer.json()
    want = json.loads(json.dumps(entry["answer"]))
    for document in (own, want):
        error = document.get("error", {})
        error.pop("reason", None)
        error.pop("details", None)
        if "[line" in str(error.get("message")):
            error["message"] = error["message"].partition(" [line")[0]
    assert answer.status_code == entry["status"]
    assert answer.headers["content-type"] == entry["answer_headers"]["content-type"]
    assert list(_differences(want, own, "")) == []


GUARDED = cases("guarded-ok-", "guarded-empty-", "guarded-bad-", "guarded-exec-")


@pytest.mark.parametrize("case", [name for name in GUARDED if "wife" not in name])
def test_the_exports_answer_and_refuse_as_the_recorded_set_did(case, stage):
    import_exports(stage)
    recorded = RECORDED[case]
    if case == "guarded-exec-fail":
        plant(stage, "403scope", "calendar_add")
    if case in (
        "guarded-ok-calendar_list-husband",
        "guarded-ok-tasks_list-husband",
        "guarded-ok-sheets_read-husband",
    ):
        adding = case.replace("_list-", "_add-").replace("_read-", "_append-")
        stage.play(RECORDED[adding])
    if case == "guarded-bad-json-syntax":
        assert_like(recorded, stage.play(recorded))
    else:
        assert_like_recorded_set(recorded, stage.play(recorded))


def test_a_client_that_gives_up_leaves_a_workflow_that_goes_on(stage):
    stage.n8n.import_workflow(small.simple("calendar_add", ADD_PATH))
    stage.google.faults.plant(Fault("calendar.events.insert", delay=stage.patience + 0.5))
    recorded = RECORDED["g-ok-calendar_add-husband"]
    with make_client(stage.url, timeout=stage.patience) as client, pytest.raises(httpx.ReadTimeout):
        client.post(
            f"{stage.url}/webhook/{ADD_PATH}", content=recorded["sent"],
            headers={HEADER: SECRET, "Content-Type": "application/json"},
        )  # fmt: skip
    summary = json.loads(recorded["sent"])["summary"]
    assert stage.google.objects_with(summary) == []
    deadline = time.monotonic() + 10
    while not stage.google.objects_with(summary) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(stage.google.objects_with(summary)) == 1


def _failure(case: str) -> tuple[str, str]:
    """`guarded-fail-calendar_add-403scope` -> its operation and its failure."""
    operation, failure = case.removeprefix("guarded-fail-").split("-", 1)
    return operation, failure


@pytest.mark.parametrize("case", [name for name in cases("guarded-fail-") if not name.endswith("bad-tab")])
def test_every_failure_of_google_is_a_502_with_its_reason(case, stage):
    import_exports(stage)
    operation, failure = _failure(case)
    plant(stage, failure, operation)
    answer = stage.play(RECORDED[case])
    assert_like_recorded_set(RECORDED[case], answer)
    if case != "guarded-fail-tasks_list-html200":  # n8n's node hides this one
        assert answer.json()["error"]["reason"] == REASONS.get(failure, "bad_answer")


@pytest.mark.parametrize("case", ["guarded-fail-bad-tab", "guarded-fail-append-bad-tab"])
def test_a_tab_that_google_does_not_have_is_named(case, stage):
    import_exports(stage)
    answer = stage.play(RECORDED[case])
    assert_like_recorded_set(RECORDED[case], answer)
    assert answer.json()["error"]["reason"] == "not_found"


@pytest.mark.parametrize(
    ("case", "credential", "reason"),
    [
        ("guarded-cred-placeholder", "<NOBODYS_CRED_ID>", "credential_missing"),
        ("guarded-cred-notoken", "neverConnected01", "not_connected"),
    ],
)
def test_a_credential_that_cannot_sign_is_a_502_that_says_so(case, credential, reason, stage):
    stage.remove_credential(small.CALENDAR_CREDENTIAL)
    import_exports(stage, calendar=credential)
    answer = stage.play(RECORDED[case] | {"path": f"/webhook/{ADD_PATH}"})
    want = RECORDED[case]["answer"]["error"]["message"].replace("<WIFE_CALENDAR_CRED_ID>", credential)
    error = answer.json()["error"]
    assert (answer.status_code, error["message"], error["reason"]) == (502, want, reason)


def test_a_row_that_cannot_be_read_back_is_a_502_that_says_it_was_written(stage):
    import_exports(stage)
    read = "sheets.spreadsheets.values.get"
    stage.google.faults.plant(Fault(read, times=1))  # the read before the append, as it is
    stage.google.faults.plant(refuse(read, 500, "backendError"))
    answer = stage.play(RECORDED["guarded-ok-sheets_append-husband"])
    error = answer.json()["error"]
    assert (answer.status_code, error["stage"], error["written"]) == (502, "read_back", True)
    assert error["reason"] == "server_error"
    assert len(stage.google.objects_with("milk")) == 1


def test_a_fault_of_the_workflow_itself_is_a_500_workflow_error(stage):
    workflow_id = import_exports(stage)["calendar_add"]
    broken = bound(workflow(ADD, PERSON, EXPORTS))
    broken["nodes"][1]["parameters"]["jsCode"] = "throw new Error('boom');"
    stage.n8n.workflows.update(workflow_id, broken)
    answer = stage.play(RECORDED["guarded-ok-calendar_add-husband"])
    assert answer.status_code == 500
    assert answer.json()["error"] == {
        "code": "workflow_error",
        "message": "boom [line 1]",
        "operation": "calendar_add",
        "profile": "husband",
    }
