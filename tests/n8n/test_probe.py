"""The probes: what they send, what they do not send, and that nothing is ever written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import pytest

from butlerctl.checks.live import read_live
from butlerctl.checks.probe import FORBIDDEN, Subject, probe
from butlerctl.inventory.operations import OPERATIONS, Route
from butlerctl.lab.n8n import READ_SCOPES, gateway_page, json_answer, redirect
from butlerctl.n8n.api import N8nApi
from butlerctl.n8n.webhooks import Target
from butlerctl.workflows.input_check import acts_only_on_checked_input
from butlerctl.workflows.template import exports
from tests.n8n.household import BINDINGS, HEADER, SECRET, USER_AGENT, bound, household

ADD = Route("calendar_add", "wife")
READ = Route("sheets_read", "husband")
ROOT = Path(__file__).parents[2]
PROBES = ["registered", "without_key", "wrong_key", "answering"]


@pytest.fixture
def home():
    with household() as built:
        yield built


def run(home, *, api=True, exports_=None, url=None):
    """All probes of all routes, with or without n8n's word about what is live."""
    ought = exports_ or home.exports
    found = {}
    if api:
        with N8nApi(home.url, home.api_key) as client:
            found = read_live(client, ought, "L4CK3Y").workflows
    reads = {"sheets_read": {"sheet": "Log", "limit": 1}}
    subjects = [
        Subject(
            route,
            route.webhook_path("L4CK3Y"),
            export,
            found.get(route),
            reads.get(route.operation, {"limit": 1}),
        )
        for route, export in ought.items()
    ]
    return probe(Target(url or home.url, HEADER, SECRET, USER_AGENT, 5.0), subjects)


def written(home):
    return [entry for entry in home.google.log if entry.verb != "GET" and entry.method != "token"]


def statuses(documents):
    return [item["response"]["status"] if "response" in item else item["skipped"] for item in documents]


def test_a_healthy_household_is_registered_guarded_and_answering_on_all_routes(home):
    found = run(home)
    assert len(found) == 12
    for route, documents in found.items():
        assert [item["probe"] for item in documents] == PROBES
        expected = 400 if OPERATIONS[route.operation].writes else 200
        assert statuses(documents) == [204, 403, 403, expected], route
    assert written(home) == []
    assert SECRET not in json.dumps([list(documents) for documents in found.values()])


def test_the_forbidden_input_is_refused_by_every_operation(home):
    for route in home.exports:
        answer = home.call(route.webhook_path("L4CK3Y"), FORBIDDEN)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_args")


def test_a_webhook_without_authentication_is_never_called_without_the_key(home):
    document = deepcopy(home.exports[ADD])
    document["nodes"][0]["parameters"]["authentication"] = "none"
    home.n8n.import_workflow(document)
    found = run(home)[ADD]
    assert statuses(found)[0] == 204
    assert statuses(found)[1] == statuses(found)[2]
    assert "authentication none" in statuses(found)[1]
    assert "the published version is not the export" in statuses(found)[3]
    assert [each for each in home.n8n.executions if each.workflow.name.endswith("calendar add wife")] == []


def test_without_an_api_key_the_export_decides_and_no_write_route_gets_the_key(home):
    found = run(home, api=False)
    assert statuses(found[ADD])[:3] == [204, 403, 403]
    assert "not known" in statuses(found[ADD])[3]
    assert statuses(found[READ]) == [204, 403, 403, 200]
    opened = {route: deepcopy(export) for route, export in home.exports.items()}
    opened[ADD]["nodes"][0]["parameters"]["authentication"] = "none"
    assert (
        "the export has a webhook with authentication none"
        in statuses(run(home, api=False, exports_=opened)[ADD])[1]
    )


def test_a_write_route_whose_live_workflow_differs_from_the_export_does_not_get_the_key(home):
    document = deepcopy(home.exports[ADD])
    document["nodes"][1]["parameters"]["jsCode"] = "return [{ json: { valid: true, bad: [], args: {} } }];"
    home.n8n.import_workflow(document)
    found = run(home)[ADD]
    assert statuses(found)[:3] == [204, 403, 403]
    assert "the published version is not the export" in statuses(found)[3]
    assert written(home) == []


def test_an_export_that_does_not_check_its_input_does_not_get_the_key_even_when_it_is_what_runs(home):
    document = deepcopy(home.exports[ADD])
    document["connections"]["Webhook"]["main"][0][0]["node"] = "Google Calendar"
    home.n8n.import_workflow(document)
    found = run(home, exports_={**home.exports, ADD: document})[ADD]
    assert "not behind the input check" in statuses(found)[3]
    assert written(home) == []


def test_a_draft_in_the_editor_does_not_change_what_is_probed(home):
    draft = deepcopy(home.exports[ADD])
    draft["nodes"][0]["parameters"]["authentication"] = "none"
    home.n8n.workflows.save(home.workflows[ADD], draft)
    assert statuses(run(home)[ADD]) == [204, 403, 403, 400]


def test_an_unpublished_workflow_is_not_registered_and_gets_no_key(home):
    home.n8n.workflows.unpublish(home.workflows[ADD])
    found = run(home)[ADD]
    assert found[0]["response"]["headers"]["access-control-allow-methods"] == "OPTIONS"
    assert statuses(found) == [204, 404, 404, "nothing is published"]


def test_a_workflow_that_moved_to_another_path_is_found_by_its_id(home):
    document = deepcopy(home.exports[ADD])
    document["nodes"][0]["parameters"]["path"] = "L4CK3Y/calendar/add/spouse"
    home.n8n.import_workflow(document)
    with N8nApi(home.url, home.api_key) as client:
        live = read_live(client, home.exports, "L4CK3Y")
    assert live.workflow_ids()[ADD] == document["id"]
    shown = live.evidence(ADD)[0]
    assert shown["document"]["nodes"][0]["parameters"]["path"] == "L4CK3Y/calendar/add/spouse"
    assert shown["digest_saved"] == shown["digest_published"]


def test_live_evidence_tells_the_saved_from_the_published_version(home):
    draft = deepcopy(home.exports[ADD])
    draft["nodes"][0]["parameters"]["path"] = "L4CK3Y/calendar/add/spouse"
    home.n8n.workflows.save(home.workflows[ADD], draft)
    with N8nApi(home.url, home.api_key) as client:
        documents = read_live(client, home.exports, "L4CK3Y").evidence(ADD)
    assert documents[0]["digest_saved"] != documents[0]["digest_published"]
    assert "shared" not in documents[0]["document"]
    assert {"id", "name", "type"} == documents[1]["document"]["data"][0].keys()


def test_a_key_that_may_not_list_credentials_leaves_them_unknown(home):
    key = home.n8n.create_api_key(["workflow:list", "workflow:read"])
    with N8nApi(home.url, key) as client:
        live = read_live(client, home.exports, "L4CK3Y")
    assert live.credentials is None
    assert "lacks the scope for GET /api/v1/credentials" in live.unseen
    assert len(live.workflows) == 12


def test_an_n8n_that_lists_no_credentials_leaves_them_unknown_and_says_why(home):
    home.n8n.rest.version = "1.123.81"
    with N8nApi(home.url, home.api_key) as client:
        live = read_live(client, home.exports, "L4CK3Y")
    assert live.credentials is None
    assert "this n8n has no GET /api/v1/credentials" in live.unseen
    assert len(live.workflows) == 12


@pytest.mark.parametrize(
    ("webhook_id", "parameters", "seen"),
    [
        ("any", {"multipleMethods": True, "httpMethod": ["GET", "POST"]}, True),
        ("L4CK3Y", {"path": "calendar/:what/wife"}, True),
        ("any", {"httpMethod": "GET"}, False),
        ("any", {"path": "calendar/:what/wife"}, False),
    ],
)
def test_a_second_owner_of_a_path_is_seen_in_every_form_in_which_n8n_takes_it(
    home, webhook_id, parameters, seen
):
    document = deepcopy(home.exports[ADD]) | {"id": "strangers0000001", "name": "a stranger"}
    document["nodes"][0]["webhookId"] = webhook_id
    document["nodes"][0]["parameters"].update(parameters)
    second = home.n8n.workflows.create(document, "strangers0000001")
    second.published = second.saved
    with N8nApi(home.url, home.api_key) as client:
        rivals = read_live(client, home.exports, "L4CK3Y").rivals[ADD]
    assert [rival.id for rival in rivals] == (["strangers0000001"] if seen else [])


def test_when_nobody_answers_the_first_probe_the_others_are_not_sent(home):
    found = run(home, url="http://127.0.0.1:9")[ADD]
    assert statuses(found) == [None, *["nobody answered the first probe"] * 3]


@pytest.mark.parametrize("answer", [gateway_page(502), redirect("https://gate.example.test/")])
def test_what_answers_in_front_of_n8n_is_kept_as_it_is(home, answer):
    home.n8n.switches.in_front = lambda path: answer if path.startswith("/webhook/") else None
    found = run(home)[ADD]
    assert statuses(found) == [answer.status] * 4


@pytest.mark.parametrize("name", sorted(exports()))
def test_every_export_acts_only_on_checked_input(name):
    assert acts_only_on_checked_input(json.loads(exports()[name]))


def _way_around(document):
    document["connections"]["Input ok?"]["main"][1] = [
        {"node": "Google Calendar", "type": "main", "index": 0}
    ]


def _second_way(document):
    document["connections"]["Webhook"]["main"][0].append(
        {"node": "Google Calendar", "type": "main", "index": 0}
    )


def _over_the_error_output(document):
    document["connections"]["Check input"]["main"][1] = [
        {"node": "Google Calendar", "type": "main", "index": 0}
    ]


def _no_gate(document):
    document["connections"]["Check input"]["main"][0][0]["node"] = "Google Calendar"


def _gate_disabled(document):
    document["nodes"][2]["disabled"] = True


def _gate_of_something_else(document):
    document["nodes"][2]["parameters"]["conditions"]["conditions"][0]["leftValue"] = "={{ true }}"


@pytest.mark.parametrize(
    "change",
    [_way_around, _second_way, _over_the_error_output, _no_gate, _gate_disabled, _gate_of_something_else],
)
def test_any_way_around_the_input_check_is_seen(change):
    document = bound(json.loads(exports()["calendar_add_wife.json"]))
    change(document)
    assert not acts_only_on_checked_input(document)


def butlerctl(home, *arguments, inventory=ROOT / "inventory.yaml", **more):
    environ = {
        **os.environ,
        "N8N_URL": home.url,
        "N8N_API_KEY": home.api_key,
        "N8N_WEBHOOK_SECRET": SECRET,
        **{token.strip("<>"): value for token, value in BINDINGS.items()},
        **more,
    }
    return subprocess.run(
        [sys.executable, "-m", "butlerctl", "probe", *arguments, "--inventory", str(inventory)],
        env=environ,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )


def test_the_command_says_proven_for_every_route_and_exits_0(home):
    result = butlerctl(home)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("proven: request, header, active") == 12
    assert result.stderr == ""
    assert SECRET not in result.stdout


def test_what_is_not_proven_has_its_reason_also_where_every_probe_was_sent(home, tmp_path):
    text = (ROOT / "inventory.yaml").read_text(encoding="utf-8")
    for line in ("  api_key: ${N8N_API_KEY}\n", "    secret: ${N8N_WEBHOOK_SECRET}\n"):
        assert line in text
        text = text.replace(line, "")
    inventory = tmp_path / "inventory.yaml"
    inventory.write_text(
        text.replace("directory: workflows", f"directory: {ROOT / 'workflows'}"), encoding="utf-8"
    )
    result = butlerctl(home, "calendar_list/wife", inventory=inventory)
    assert result.returncode == 3
    first, *reasons = result.stdout.splitlines()
    assert first == "calendar_list/wife  not proven: request, header, active, shape"
    assert [reason.split(":")[0] for reason in reasons] == ["  request", "  header", "  active", "  shape"]
    assert "  header: no request with the right key to calendar_list/wife" in reasons
    assert result.stderr.splitlines() == [
        "butlerctl: n8n.api_key is not set: which version n8n serves stays unknown",
        "butlerctl: n8n.webhook.secret is not set: no request carries the key",
    ]


def test_the_command_names_the_broken_route_and_exits_1(home):
    home.n8n.workflows.unpublish(home.workflows[ADD])
    result = butlerctl(home, "calendar_*", "--format", "json")
    assert result.returncode == 1
    document = json.loads(result.stdout)
    assert document["verdict"] == "FAIL"
    broken = [route for route in document["routes"] if route["first_broken"]]
    assert [(each["operation"], each["profile"]) for each in broken] == [("calendar_add", "wife")]
    assert broken[0]["first_broken"]["check"] == "active.registered"
    assert len(document["routes"]) == 4


@pytest.mark.parametrize("status", [401, 403])
def test_a_proxy_that_refuses_is_not_taken_for_n8n_that_does_not_know_the_key(home, status):
    refusal = json_answer(status, {"message": "Forbidden"})
    home.n8n.switches.in_front = lambda path: refusal if path.startswith("/webhook/") else None
    result = butlerctl(home, "calendar_list/wife")
    assert result.returncode == 1
    assert "Something in front of it said this" in result.stdout
    assert "the webhook's header credential in n8n" not in result.stdout


def open_webhook(home):
    document = deepcopy(home.exports[ADD]) | {"id": "openToAnybody001", "name": "open to anybody"}
    document["nodes"][0]["parameters"].pop("authentication")
    document["nodes"][0]["parameters"]["path"] = "open/to/anybody"
    document["connections"]["Webhook"]["main"] = []
    home.n8n.import_workflow(document)


def test_n8ns_own_audit_is_told_on_demand_and_changes_no_verdict(home):
    open_webhook(home)
    key = home.n8n.create_api_key([*READ_SCOPES, "credential:list", "securityAudit:generate"])
    result = butlerctl(home, "calendar_add/wife", "--audit", N8N_API_KEY=key)
    assert result.returncode == 0, result.stderr
    told = [line for line in result.stdout.splitlines() if line.startswith("n8n's audit: ")]
    assert told[0] == (
        'n8n\'s audit: the workflow "open to anybody" (openToAnybody001) has a webhook without authentication: "Webhook"'
    )
    assert "communityPackagesEnabled: off" in told[1]
    told = butlerctl(home, "calendar_add/wife", "--audit", "--format", "json", N8N_API_KEY=key)
    assert len(json.loads(told.stdout)["audit"]) == 4


def test_an_audit_that_the_key_may_not_ask_for_is_said_before_anything_is_probed(home):
    result = butlerctl(home, "calendar_add/wife", "--audit")
    assert (result.returncode, result.stdout) == (77, "")
    assert "n8n.api_key needs securityAudit:generate" in result.stderr


def test_the_command_exits_75_when_n8n_is_not_there(home):
    result = butlerctl(home, N8N_URL="http://127.0.0.1:9")
    assert result.returncode == 75
    assert result.stdout == ""
    assert result.stderr.startswith("butlerctl: n8n did not answer at http://127.0.0.1:9")
    assert "Traceback" not in result.stderr


def test_the_command_names_the_credential_behind_a_failed_read(home):
    home.google.revoke(home.grants["wife", "tasks"])
    home.google.expire_access_tokens("wife@example.test")
    result = butlerctl(home, "tasks_list/wife")
    assert result.returncode == 1
    assert "broken at credential (credential.token_valid)" in result.stdout
    assert "needs to be reconnected" in result.stdout


def test_an_answer_of_a_read_route_that_is_not_the_contracts_is_broken_at_shape(home):
    home.n8n.switches.instead["L4CK3Y/calendar/list/wife"] = json_answer(
        200, {"message": "Workflow was started"}
    )
    result = butlerctl(home, "calendar_list/wife")
    assert result.returncode == 1
    assert "broken at shape (shape.fields)" in result.stdout
