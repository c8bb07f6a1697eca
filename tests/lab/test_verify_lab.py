"""The main job as a user runs it: one process, a lab, twelve routes, a signed report."""

from __future__ import annotations

import re

import pytest

from butlerctl.judge.result import LINKS
from tests.lab.shell import Shell
from tests.lab.terminal import on_terminal

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
ANY_CONTROL = re.compile(r"\x1b\[|\r(?!\n)")
ROUTE = "sheets_read/wife"  # the cheapest route there is


@pytest.fixture(scope="module")
def proof(tmp_path_factory):
    """`verify --lab --format json`, run once for the tests of this file."""
    shell = Shell(tmp_path_factory.mktemp("proof"))
    ended = shell.run("verify", "--lab", "--format", "json", "--report", "reports/verify.json")
    return shell, ended


def test_the_lab_proves_all_nine_links_of_all_twelve_routes(proof):
    _, ended = proof
    assert (ended.code, ended.err) == (0, "")
    links = [verdict for route in ended.document["routes"] for verdict in route["links"].values()]
    assert links == ["proven"] * 108


def test_the_json_answer_has_the_promised_shape(proof):
    _, ended = proof
    answer = ended.document
    assert {"verdict", "run", "routes", "leftovers", "report"} <= answer.keys()
    assert (answer["verdict"], answer["leftovers"], answer["first_broken"]) == ("PASS", [], None)
    assert answer["run"]["lab"] is True
    assert answer["run"]["versions"] == {"butlerctl": "0.1.0", "gateway": "2026.6.11", "n8n": "2.30.8"}
    for route in answer["routes"]:
        assert {"operation", "profile", "links", "first_broken"} <= route.keys()
        assert list(route["links"]) == list(LINKS)
        assert route["first_broken"] is None
    assert len({(route["operation"], route["profile"]) for route in answer["routes"]}) == 12


def test_report_verify_accepts_the_report_with_the_key_that_was_printed(proof):
    shell, ended = proof
    report = ended.document["report"]
    accepted = shell.run("report", "verify", report["path"], "--key", report["public_key"])
    assert (accepted.code, accepted.err) == (0, "")
    assert accepted.out.startswith("accepted: PASS: 108 of 108 links proven on 12 routes")
    assert report["key_id"] in accepted.out


def test_the_report_is_about_the_workflows_of_the_run(proof):
    shell, ended = proof
    report = ended.document["report"]
    shown = shell.run("report", "show", report["path"])
    assert shown.code == 0
    assert "calendar_add/wife" in shown.out
    named = shell.run("report", "verify", report["path"], "--key", report["public_key"], "--target", "http://n8n.example.test")  # fmt: skip
    assert named.code == 1
    assert "refused: the report is about http://127.0.0.1" in named.out


def test_nothing_of_the_lab_stays_in_the_state_folder_but_the_report(shell):
    assert shell.run("verify", "--lab", "--only", ROUTE).code == 0
    kept = [path for path in shell.state.rglob("*") if path.is_file()]
    assert {path.suffix for path in kept} == {".json", ".pub"}
    assert {path.parent.name for path in kept} == {"reports"}
    assert list((shell.folder / "tmp").iterdir()) == []


def test_in_a_pipe_a_line_a_route_goes_to_stderr_and_the_result_to_stdout(shell):
    ended = shell.run("verify", "--lab", "--only", "tasks_*")
    assert ended.code == 0
    assert sorted(ended.err.splitlines()) == [
        f"{route:<18}  nine links proven"
        for route in ("tasks_add/husband", "tasks_add/wife", "tasks_list/husband", "tasks_list/wife")
    ]
    first, left, report, check = ended.out.splitlines()
    assert re.fullmatch(r"PASS: 36 of 36 links proven on 4 routes in \d+\.\d s", first)
    assert left == "nothing was left behind in Google"
    assert report.startswith("report ")
    assert ", signed with key " in report
    # The printed line is a command that works as it stands.
    assert shell.run(*check.removeprefix("check it with: butlerctl ").split()).code == 0


def test_on_a_terminal_a_table_of_routes_and_links_fills_in(shell):
    code, screen = on_terminal(shell, "verify", "--lab", "--only", ROUTE)
    assert code == 0
    plain = COLOUR.sub("", screen)
    assert all(link in plain for link in LINKS)
    assert re.search(rf"{ROUTE}( +✓){{9}}", plain)
    assert COLOUR.search(screen)
    assert "PASS: 9 of 9 links proven on 1 route in" in plain


def test_the_table_fits_on_a_terminal_of_80_columns(shell):
    code, screen = on_terminal(shell, "verify", "--lab", "--only", ROUTE, columns=80)
    assert code == 0
    plain = COLOUR.sub("", screen)
    assert "call rout requ head acti cred goog shap repo" in plain
    assert re.search(rf"{ROUTE}( +✓){{9}}", plain)


def test_no_color_keeps_the_table_and_takes_its_colours(shell):
    code, screen = on_terminal(shell, "verify", "--lab", "--only", ROUTE, NO_COLOR="1")
    assert code == 0
    colours = {match[0] for match in COLOUR.finditer(screen)} - {"\x1b[0m", "\x1b[1m", "\x1b[2m"}
    assert colours == set()
    assert re.search(rf"{ROUTE}( +✓){{9}}", COLOUR.sub("", screen))


@pytest.mark.parametrize("environ", [{"TERM": "dumb"}, {"CI": "true"}], ids=["dumb", "ci"])
def test_nothing_moves_on_a_terminal_that_cannot_or_under_ci(shell, environ):
    code, screen = on_terminal(shell, "verify", "--lab", "--only", ROUTE, **environ)
    assert code == 0
    assert not ANY_CONTROL.search(screen)
    assert f"{ROUTE}  nine links proven\n" in screen


def test_the_routes_are_chosen_by_globs_joined_or_repeated(shell):
    ended = shell.run("verify", "--lab", "--format", "json", "--only", "sheets_*/wife,calendar_list", "--only", "*_add/hus*")  # fmt: skip
    assert ended.code == 0
    assert [f"{route['operation']}/{route['profile']}" for route in ended.document["routes"]] == [
        "calendar_list/husband", "calendar_list/wife", "calendar_add/husband", "tasks_add/husband",
        "sheets_read/wife", "sheets_append/wife",
    ]  # fmt: skip


def test_a_lab_run_can_be_signed_with_a_key_of_ones_own(shell):
    made = shell.run("keys", "new", "own.pem", "--type", "ed25519")
    assert made.code == 0
    ended = shell.run("verify", "--lab", "--only", ROUTE, "--sign", "own.pem", "--report", "r.json")
    assert ended.code == 0
    assert "check it with: butlerctl report verify r.json --key own.pem.pub" in ended.out
    assert not (shell.folder / "r.json.pub").exists()
    assert shell.run("report", "verify", "r.json", "--key", "own.pem.pub").code == 0


def test_a_planted_fault_is_named_with_link_route_and_what_to_do(shell):
    ended = shell.run("verify", "--lab", "--only", "calendar_*/wife", "--fault", "active@calendar_add/wife")
    assert ended.code == 1
    assert "calendar_add/wife is broken at active (active." in ended.out
    assert "    do        " in ended.out
    assert "nothing was left behind in Google" in ended.out
    report = re.search(r"^check it with: butlerctl (.*)$", ended.out, re.MULTILINE)
    refused = shell.run(*report[1].split())
    assert refused.code == 1
    assert "refused: the run is FAIL: calendar_add/wife: active is broken" in refused.out


def test_the_saved_evidence_of_a_broken_run_leads_diagnose_to_the_same_link(shell):
    ended = shell.run("verify", "--lab", "--only", "tasks_add/wife", "--fault", "shape@tasks_add/wife", "--save-evidence", "seen", "--format", "json")  # fmt: skip
    assert ended.code == 1
    again = shell.run("diagnose", "seen/tasks_add_wife", "--format", "json")
    assert again.code == 1
    assert again.document["first_broken"] == ended.document["routes"][0]["first_broken"]
    assert again.document["links"] == ended.document["routes"][0]["links"]
