"""Whatever is wrong with the input: one clear line, the exit code of its kind, never a traceback, nothing written."""

from __future__ import annotations

import os
import re
import resource
import socket
from datetime import date
from zoneinfo import ZoneInfo

import pytest

from butlerctl.checks.canary import new_canary
from butlerctl.checks.connect import connect
from butlerctl.checks.roundtrip import Parties, travel
from butlerctl.errors import Unreachable
from butlerctl.evidence import Bundle
from butlerctl.gateway.openclaw import OpenClawGateway
from butlerctl.inventory.loader import load_inventory
from butlerctl.judge import judge
from butlerctl.lab.google.emulator import READ_SCOPES
from butlerctl.lab.google.faults import page
from butlerctl.lab.stack import BUTLERCTL_CLIENT, Lab
from butlerctl.ledger import FILE_NAME, Ledger
from butlerctl.progress import Nobody
from butlerctl.state import state_folder
from tests.lab import odd_servers
from tests.lab.shell import ROOT, Shell

ROUTE = ("--only", "calendar_add/wife")


def assert_one_clear_line(ended, code, *words):
    """What is wrong, perhaps with what would be right below it; not a word more."""
    assert ended.code == code, (ended.out, ended.err)
    assert ended.out == ""
    first, *rest = ended.err.splitlines()
    assert first.startswith("butlerctl: ")
    assert [line[:8] for line in rest] in ([], ["  hint: "])
    assert re.search(r"Traceback|Error\(|<[a-z]+>| object at ", ended.err) is None
    for word in words:
        assert word in ended.err


def assert_wrote_nothing(shell):
    ledgers = list((shell.folder / "state").rglob(FILE_NAME))
    assert all(ledger.read_bytes() == b"" for ledger in ledgers)
    assert list((shell.folder / "tmp").iterdir()) == []


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A shell in a folder full of things that are not what they are taken for."""
    shell = Shell(tmp_path_factory.mktemp("desk"))
    files = {
        "empty": b"",
        "page": odd_servers.PAGE.encode(),
        "list.json": b"[1]",
        "null.json": b"null",
        "binary": b"\xff\xfe\x00\x01",
        "deep.json": b"[" * 100_000,
        "broken.yaml": b"version: 1\n  gateway: [\n",
        "two.yaml": b"version: 1\n---\nversion: 1\n",
    }
    for name, content in files.items():
        (shell.folder / name).write_bytes(content)
    (shell.folder / "folder").mkdir()
    return shell


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        # the inventory
        ("verify --inventory broken.yaml", 78, ["broken.yaml:2: no YAML"]),
        ("lab up --inventory two.yaml", 78, ["two.yaml:2: no YAML"]),
        ("probe --inventory empty", 78, ["empty: the file is empty", "version: 1"]),
        ("sweep --inventory nowhere.yaml", 78, ["nowhere.yaml: cannot be read", "--inventory FILE"]),
        ("roundtrip --inventory folder", 78, ["folder: cannot be read: Is a directory"]),
        ("lab env --inventory binary", 78, ["binary: is not UTF-8"]),
        ("verify --inventory list.json", 78, ["list.json:1: the file: must be a mapping"]),
        # secrets and routes
        ("verify", 78, ["inventory.yaml:", "the environment has no ", "set "]),
        ("sweep", 78, ["google_token: the environment has no BUTLERCTL_GOOGLE_TOKEN_HUSBAND"]),
        ("verify --lab --only calendar_add/nobody", 2, ["no route is called 'calendar_add/nobody'", "calendar_add/wife"]),
        ("probe nothing", 2, ["no route is called 'nothing'"]),
        ("verify --fault active@calendar_add/wife", 2, ["--fault needs --lab"]),
        ("verify --engine real", 2, ["--engine needs --lab", "the household of the inventory itself"]),
        ("verify --lab --tap-record folder", 2, ["--tap-record is for a household"]),
        ("verify --tap-record nowhere", 78, ["nowhere: no such folder", "butlerctl tap --record"]),
        ("verify --lab --nonce ghp_0123456789abcdefghijABCDEFGHIJ", 2, ["--nonce looks like a secret", "plain letters"]),
        ("verify --engine stand-in", 2, ["--engine needs --lab"]),
        ("verify --lab --fault nonsense@calendar_add/wife", 2, ["no fault is called nonsense", "lab faults"]),
        ("verify --lab --fault google.twice@calendar_list/wife", 2, ["cannot strike", "calendar_add, tasks_add"]),
        ("lab up --fault active@calendar_add/nobody", 2, ["no route is called calendar_add/nobody"]),
        # where something is to be written, and keys
        ("verify --lab --report folder", 78, ["folder: cannot be written: Is a directory", "--report"]),
        ("verify --lab --report empty/report.json", 78, ["empty/report.json: cannot be written"]),
        ("verify --lab --report /proc/report.json", 78, ["/proc/report.json: cannot be written"]),
        ("verify --lab --save-evidence empty", 78, ["empty: cannot be made", "--save-evidence"]),
        ("verify --lab --state-dir empty", 78, ["the state folder cannot be made", "--state-dir"]),
        ("verify --lab --sign nowhere.pem", 78, ["nowhere.pem: cannot be read", "keys new"]),
        ("verify --lab --sign folder", 78, ["folder: cannot be read: Is a directory"]),
        ("keys new folder", 78, ["folder exists and is not overwritten"]),
        ("keys show", 78, ["signing.pem: cannot be read", "keys new"]),
        ("keys show page", 78, ["page is no public key"]),
        # documents
        ("diagnose empty", 78, ["empty: not JSON"]),
        ("diagnose page", 78, ["page: not JSON"]),
        ("diagnose list.json", 78, ["list.json: a bundle is a JSON object, this is a list"]),
        ("diagnose folder", 78, ["folder: no bundle.json"]),
        ("diagnose nowhere", 78, ["nowhere: No such file or directory"]),
        ("diagnose deep.json", 78, ["deep.json: JSON that is nested too deep"]),
        ("transcript null.json", 78, ["null.json: not a transcript of a known form"]),
        ("transcript binary", 78, ["binary: not UTF-8 text"]),
        ("report show page", 1, ["page: invalid report"]),
        ("report show nowhere", 78, ["nowhere: cannot be read"]),
        ("report diff empty empty", 1, ["empty: invalid report"]),
        ("report verify page --key empty", 78, ["empty is no public key"]),
        ("protocol normalize page --registry page --adapter openai_chat", 78, ["page is no JSON"]),
        ("protocol dispatch list.json --registry list.json --results list.json", 78, ["registry"]),
        ("lint-workflows --inventory broken.yaml", 78, ["broken.yaml:2: no YAML"]),
        ("lint-workflows --select NOPE", 2, ["no rule begins with NOPE"]),
        ("model check --url http://127.0.0.1:1/v1 --model m", 75, ["http://127.0.0.1:1/v1", "refused"]),
        ("tap --to nonsense --record new", 78, ["'nonsense' must begin with http"]),
        ("tap --to http://127.0.0.1:1 --record empty", 78, ["empty: File exists", "--record"]),
    ],
)  # fmt: skip
def test_wrong_files_values_and_options_are_told_in_one_line(desk, command, code, words):
    assert_one_clear_line(desk.run(*command.split()), code, *words)
    assert_wrote_nothing(desk)


@pytest.mark.parametrize("only", ["", ",", "calendar_add/wife,"])
def test_an_empty_name_of_a_route_is_never_taken_for_all_of_them(desk, only):
    assert_one_clear_line(desk.run("verify", "--lab", "--only", only), 2, "no route is called ''")


def test_a_port_in_use_is_told_in_one_line(desk):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = desk.run("tap", "--to", "http://127.0.0.1:1", "--record", "taps", "--port", port)
    assert_one_clear_line(ended, 78, f"port {port} cannot be used", "without --port")


@pytest.fixture(scope="module")
def household(tmp_path_factory):
    """A shell beside a healthy lab, whose settings a test spoils one at a time."""
    shell = Shell(tmp_path_factory.mktemp("household"))
    with Lab(load_inventory(shell.inventory, {})) as lab:
        yield shell, lab


N8N, GATEWAY, GOOGLE = "N8N_URL", "OPENCLAW_GATEWAY_URL", "BUTLERCTL_GOOGLE_URL"


@pytest.mark.parametrize(
    ("variable", "value", "code", "words"),
    [
        (N8N, "http://127.0.0.1:1", 75, ["n8n did not answer at http://127.0.0.1:1", "n8n.url"]),
        (GATEWAY, "http://127.0.0.1:1", 75, ["gateway at http://127.0.0.1:1 does not answer", "gateway.url"]),
        (GOOGLE, "http://127.0.0.1:1", 75, ["Google, for husband: cannot be reached: Connection refused"]),
        (N8N, "http://n8n.invalid", 75, ["ENOTFOUND n8n.invalid"]),
        (N8N, "nonsense", 78, ["inventory.yaml:15: n8n.url: ${N8N_URL} is no address"]),
        (GATEWAY, "http://[bad", 78, ["inventory.yaml:9: gateway.url: ${OPENCLAW_GATEWAY_URL} is no address"]),
        (GOOGLE, "ftp://127.0.0.1", 78, ["google.url: ${BUTLERCTL_GOOGLE_URL:-} is no address"]),
        (N8N, "", 78, ["n8n.url: the environment has no N8N_URL"]),
        ("N8N_API_KEY", "not-the-key-4711", 77, ["the API key was refused", "where n8n.api_key points"]),
        ("N8N_API_KEY", "two\nlines-4711", 78, ["n8n.api_key: ${N8N_API_KEY} cannot stand in an HTTP header"]),
        ("OPENCLAW_GATEWAY_TOKEN", "not-the-token-4711", 77, ["refuses the token", "gateway.token"]),
        ("OPENCLAW_GATEWAY_TOKEN", "umläut-4711", 78, ["gateway.token: ${OPENCLAW_GATEWAY_TOKEN} cannot stand"]),
        ("N8N_WEBHOOK_SECRET", "space-at-the-end-4711 ", 78, ["n8n.webhook.secret: ${N8N_WEBHOOK_SECRET}"]),
        ("BUTLERCTL_GOOGLE_TOKEN_WIFE", "no-json-4711", 78, ["google_token of wife is not JSON", "authorized-user"]),
        ("BUTLERCTL_GOOGLE_TOKEN_WIFE", '{"type": "service_account", "x": "4711"}', 78, ["no credential of a person"]),
        ("BUTLERCTL_GOOGLE_TOKEN_WIFE", '{"client_id": "4711"}', 78, ["lacks client_secret, refresh_token"]),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_told_in_one_line_before_anything_is_written(
    household, variable, value, code, words
):
    shell, lab = household
    ended = shell.run("verify", *ROUTE, environ=lab.environ() | {variable: value})
    assert_one_clear_line(ended, code, *words)
    assert "4711" not in ended.err
    assert_wrote_nothing(shell)


@pytest.mark.parametrize("variable", [N8N, GATEWAY, GOOGLE])
@pytest.mark.parametrize("stranger", [odd_servers.page, odd_servers.redirect, odd_servers.untrusted])
def test_something_else_in_the_place_of_a_party_is_told_from_it(household, variable, stranger):
    shell, lab = household
    with stranger() as url:
        ended = shell.run("verify", *ROUTE, environ=lab.environ() | {variable: url})
    party = {N8N: "n8n", GATEWAY: "gateway", GOOGLE: "Google"}[variable]
    assert_one_clear_line(ended, 75, party)
    if stranger is odd_servers.untrusted:
        assert "CERTIFICATE_VERIFY_FAILED" in ended.err
    assert_wrote_nothing(shell)


@pytest.mark.parametrize("command", ["probe", "roundtrip", "plan"])
def test_every_command_that_needs_n8n_says_where_it_did_not_answer(household, command):
    shell, lab = household
    ended = shell.run(command, environ=lab.environ() | {N8N: "http://127.0.0.1:1"})
    assert_one_clear_line(ended, 75, "n8n did not answer at http://127.0.0.1:1", "n8n.url")
    assert_wrote_nothing(shell)


def test_the_check_of_the_gateway_says_where_none_answered(household):
    shell, lab = household
    ended = shell.run("gateway", "check", environ=lab.environ() | {GATEWAY: "http://127.0.0.1:1"})
    assert_one_clear_line(ended, 75, "gateway at http://127.0.0.1:1 does not answer", "gateway.url")


def test_the_token_of_the_gateway_does_not_follow_a_redirect(household):
    shell, lab = household
    heard = []
    with odd_servers.answering(200, "{}", heard=heard) as elsewhere:
        with odd_servers.answering(302, Location=elsewhere) as url:
            shell.run("verify", *ROUTE, environ=lab.environ() | {GATEWAY: url})
        with odd_servers.answering(302, Location=elsewhere.replace("http", "ws")) as url:
            shell.run("verify", *ROUTE, environ=lab.environ() | {GATEWAY: url})
    assert heard == []


def test_an_api_key_of_n8n_without_the_scope_is_told_from_a_wrong_one(household):
    shell, lab = household
    weak = lab.n8n.create_api_key(["credential:list"])
    ended = shell.run("verify", *ROUTE, environ=lab.environ() | {"N8N_API_KEY": weak})
    assert_one_clear_line(ended, 77, "the API key lacks the scope", "workflow:list")


def test_butlerctls_own_google_token_that_was_revoked_is_no_verdict_about_the_household(household):
    shell, lab = household
    grant = lab.google.grant(lab.account("wife").email, client=BUTLERCTL_CLIENT)
    lab.google.revoke(grant)
    own = lab.environ() | {"BUTLERCTL_GOOGLE_TOKEN_WIFE": grant.authorized_user()}
    ended = shell.run("verify", *ROUTE, environ=own)
    assert_one_clear_line(ended, 77, "Google, for wife: token refused: invalid_grant", "7 days")
    assert grant.refresh_token not in ended.err


def test_butlerctls_own_google_token_without_a_scope_leaves_the_link_open(household):
    shell, lab = household
    calendar_only = tuple(scope for scope in READ_SCOPES if "calendar" in scope)
    grant = lab.google.grant(lab.account("wife").email, client=BUTLERCTL_CLIENT, scopes=calendar_only)
    own = lab.environ() | {"BUTLERCTL_GOOGLE_TOKEN_WIFE": grant.authorized_user()}
    ended = shell.run("verify", "--only", "tasks_add/wife", "--format", "json", environ=own)
    assert (ended.code, ended.document["verdict"]) == (77, "UNKNOWN")
    assert "insufficientPermissions" in ended.document["problems"][0]
    assert ended.document["leftovers"] == []
    assert_wrote_nothing(shell)


def test_google_that_stops_answering_before_anything_was_asked_says_try_again(household):
    shell, lab = household
    lab.google.faults.plant(page("calendar.events.list", client=BUTLERCTL_CLIENT.id))
    try:
        ended = shell.run("verify", *ROUTE, "--format", "json", environ=lab.environ())
    finally:
        lab.google.faults.clear()
    assert (ended.code, ended.document["verdict"]) == (75, "UNKNOWN")
    assert "the answer is not JSON" in ended.document["problems"][0]
    assert_wrote_nothing(shell)


def test_a_place_that_google_does_not_know_is_a_fault_of_the_inventory(household, tmp_path):
    shell, lab = household
    text = shell.inventory.read_text(encoding="utf-8").replace(
        "calendar: wife@example.test", "calendar: wief@example.test"
    )
    (tmp_path / "inventory.yaml").write_text(
        text.replace("directory: workflows", f"directory: {ROOT}/workflows")
    )
    ended = Shell(tmp_path, tmp_path / "inventory.yaml").run("verify", *ROUTE, environ=lab.environ())
    assert ended.code == 78
    assert "Google, for wife: 404 notFound" in ended.out
    assert "nothing was left behind in Google" in ended.out


def test_an_export_that_is_missing_or_no_json_is_named(household, tmp_path):
    shell, lab = household
    text = shell.inventory.read_text(encoding="utf-8")
    (tmp_path / "inventory.yaml").write_text(text)
    other = Shell(tmp_path, tmp_path / "inventory.yaml")
    assert_one_clear_line(other.run("verify", *ROUTE, environ=lab.environ()), 78, "calendar_add_wife.json")
    (tmp_path / "workflows").mkdir()
    (tmp_path / "workflows" / "calendar_add_wife.json").write_text("{")
    assert_one_clear_line(other.run("verify", *ROUTE, environ=lab.environ()), 78, "calendar_add_wife.json")


def test_a_ledger_that_cannot_be_opened_stops_the_run(household, tmp_path):
    _, lab = household
    other = Shell(tmp_path)
    folder = state_folder(other.inventory, tmp_path / "state")
    (folder / FILE_NAME).mkdir()
    stopped = other.run("verify", *ROUTE, environ=lab.environ())
    assert_one_clear_line(
        stopped, 78, f"{FILE_NAME}: the ledger cannot be used: Is a directory", "--state-dir"
    )


# A process without room leaves torn files of bytecode in the checkout, and every later import of them fails.
KEEP_NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}


def no_room():
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def little_room():
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def test_a_disk_without_room_stops_the_run_before_the_agent_is_asked(household, tmp_path):
    _, lab = household
    before = len(lab.google.objects_with("BTLR-"))
    environ = {**lab.environ(), **KEEP_NO_BYTECODE}
    stopped = Shell(tmp_path).run("verify", *ROUTE, environ=environ, preexec_fn=no_room)
    assert_one_clear_line(stopped, 78, "the ledger cannot be used: File too large", "make room")
    assert len(lab.google.objects_with("BTLR-")) == before


def test_a_report_that_finds_no_room_keeps_no_result_from_being_shown(shell):
    ended = shell.run(
        *("verify", "--lab", "--only", "sheets_read/wife", "--report", "r.json"),
        environ=KEEP_NO_BYTECODE,
        preexec_fn=little_room,
    )
    assert ended.code == 78
    assert ended.out.startswith("PASS: 9 of 9 links proven on 1 route")
    assert ended.err.splitlines()[-1] == "butlerctl: r.json: cannot be written: File too large"
    assert list(shell.folder.glob("*r.json*")) == []


def test_an_agent_that_could_not_be_asked_is_no_verdict_about_google(household, tmp_path):
    """The gateway goes away between the first look and the question: nothing may be concluded from an empty search."""
    _, lab = household
    profile = lab.inventory.profiles["wife"]
    canary = new_canary("tasks", profile, ZoneInfo("America/New_York"), date(2026, 12, 1))
    gone = OpenClawGateway("http://127.0.0.1:1", "token", agent="butler")
    with connect(lab.inventory) as clients, Ledger(tmp_path) as ledger:
        parties = Parties(gone, clients.api, {}, clients.systems["tasks", "wife"], ())
        trip = travel(parties, canary, lab.inventory.routes, ledger, Nobody())
    assert {type(problem) for problem in trip.problems} == {Unreachable}
    assert trip.cleanup.gone
    for route, request in trip.requests.items():
        judged = judge(Bundle(intent=request.as_intent(), evidence=trip.evidence[route]))
        assert (judged.verdict, judged.first_broken) == ("UNKNOWN", None)


def test_a_secret_file_that_cannot_be_read_is_named_and_never_shown(household, tmp_path):
    shell, lab = household
    text = shell.inventory.read_text(encoding="utf-8").replace("${OPENCLAW_GATEWAY_TOKEN}", "file:token")
    text = text.replace("directory: workflows", f"directory: {ROOT}/workflows")
    (tmp_path / "inventory.yaml").write_text(text)
    other = Shell(tmp_path, tmp_path / "inventory.yaml")
    assert_one_clear_line(
        other.run("verify", *ROUTE, environ=lab.environ()), 78, "gateway.token: cannot read file:token"
    )
    (tmp_path / "token").write_text(lab.environ()["OPENCLAW_GATEWAY_TOKEN"] + os.linesep)
    assert other.run("verify", *ROUTE, environ=lab.environ()).code == 0
