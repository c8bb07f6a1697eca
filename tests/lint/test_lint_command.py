"""`butlerctl lint-workflows` as an operator runs it: a process, its output, its exit code."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BASE = json.loads((Path(__file__).parent / "base.json").read_text(encoding="utf-8"))
SECRET = "7f3a9c21e8b44d60aa17"


@pytest.fixture
def lint(tmp_path):
    """Run the command in a folder of its own; `lint.in_project` runs it on the shipped exports."""

    def run(*arguments, stdin=b"", cwd=tmp_path, **environment):
        environ = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "XDG_CACHE_HOME": str(tmp_path / ".cache"),
            **environment,
        }
        command = [sys.executable, "-m", "butlerctl", "lint-workflows", *map(str, arguments)]
        return subprocess.run(command, input=stdin, capture_output=True, cwd=cwd, env=environ, check=False)

    return run


def write(folder, name="a.json", **changes):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps({**BASE, **changes}, indent=2), encoding="utf-8")
    return folder / name


@pytest.fixture
def household(tmp_path):
    """The shipped inventory and exports, in a folder that a test may change."""
    shutil.copy(ROOT / "inventory.yaml", tmp_path)
    shutil.copytree(ROOT / "workflows", tmp_path / "workflows", ignore=shutil.ignore_patterns("*.py"))
    return tmp_path


def findings(result):
    return json.loads(result.stdout)["findings"]


def codes(result):
    return [finding["code"] for finding in findings(result)]


def test_the_shipped_exports_have_ten_placeholders_and_twelve_inactive_flags_and_nothing_else(lint):
    result = lint("--format", "json", cwd=ROOT)
    found = findings(result)
    placeholders = [item for item in found if item["code"] in ("BW101", "BW102", "BW105")]
    assert result.returncode == 1
    assert len(placeholders) == 10
    assert len({(item["file"], item["message"].split("<")[1].split(">")[0]) for item in placeholders}) == 10
    assert [item["code"] for item in found if item not in placeholders] == ["BW203"] * 12
    assert all(item["line"] > 1 and item["column"] > 1 for item in found)
    assert json.loads(result.stdout)["checked"] == 12


def test_each_message_says_what_the_placeholder_is_bound_to(lint):
    messages = [item["message"] for item in findings(lint("--format", "json", "--select", "BW10", cwd=ROOT))]
    assert all("(bound to ${" in message for message in messages)


def test_bound_placeholders_are_no_findings_and_their_values_are_shown_nowhere(lint):
    values = {
        "WIFE_CALENDAR_CRED_ID": "WifeCal000000001",
        "WIFE_TASKS_CRED_ID": "WifeTas000000001",
        "WIFE_SHEETS_CRED_ID": "WifeShe000000001",
        "WIFE_SPREADSHEET_ID": "sheet-of-the-wife",
    }
    result = lint("--bound", "--format", "json", cwd=ROOT, **values)
    assert {item["message"].split("<")[1][:21] for item in findings(result) if item["code"] != "BW203"} == {
        "HUSBAND_TASKS_LIST_ID"
    }
    assert b"HUSBAND_TASKS_LIST_ID" in result.stderr
    assert not any(value.encode() in result.stdout + result.stderr for value in values.values())


def test_a_placeholder_of_two_files_is_listed_with_every_place(lint):
    result = lint("--placeholders", "--format", "json", cwd=ROOT)
    tokens = {item["token"]: item for item in json.loads(result.stdout)}
    assert len(tokens) == 5
    assert tokens["WIFE_SHEETS_CRED_ID"]["reference"] == "${WIFE_SHEETS_CRED_ID}"
    assert len(tokens["WIFE_SHEETS_CRED_ID"]["places"]) == 3
    assert b"5 tokens in 8 files" in lint("--placeholders", cwd=ROOT).stdout


def test_the_json_has_exactly_the_keys_that_were_promised(lint, tmp_path):
    document = json.loads(lint(write(tmp_path, active=False), "--format", "json").stdout)
    assert list(document) == ["findings", "checked", "skipped"]
    keys = "code severity message file line column end_line end_column pointer node help"
    assert list(document["findings"][0]) == keys.split()


def test_a_clean_file_is_0_a_warning_is_0_unless_asked_for(lint, tmp_path):
    assert lint(write(tmp_path)).returncode == 0
    inactive = write(tmp_path, active=False)
    assert lint(inactive).returncode == 0
    assert lint(inactive, "--fail-on", "warning").returncode == 1
    assert lint(inactive, "--fail-on", "warning", "--exit-zero").returncode == 0


def test_nothing_checked_is_3_and_a_named_file_that_is_no_workflow_is_1(lint, tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "other.json").write_text("{}")
    assert lint("x").returncode == 3
    assert lint("x/other.json").returncode == 1
    assert lint("x", "--format", "sarif").returncode == 3


def test_a_commit_hook_lets_other_json_pass_and_says_that_it_skipped_it(lint, tmp_path):
    (tmp_path / "package.json").write_text("{}")
    result = lint("package.json", "--from-hook")
    assert result.returncode == 0
    assert b"0 workflows checked, 1 skipped" in result.stdout


def test_without_a_path_and_without_an_inventory_it_says_what_to_name(lint, tmp_path):
    result = lint(cwd=tmp_path)
    assert result.returncode == 2
    assert b"name files or folders" in result.stderr


def test_a_broken_inventory_is_78_in_one_line(lint, tmp_path):
    (tmp_path / "inventory.yaml").write_text("version: 1\nnonsense: true\n")
    result = lint(write(tmp_path))
    assert result.returncode == 78
    assert b"Traceback" not in result.stderr


def test_an_unknown_code_is_a_usage_error(lint, tmp_path):
    result = lint(write(tmp_path), "--select", "BW9")
    assert result.returncode == 2
    assert b"no rule begins with BW9" in result.stderr


def test_standard_input_is_linted_with_a_dash(lint):
    result = lint("-", "--format", "json", stdin=json.dumps({**BASE, "active": False}).encode())
    assert [(item["code"], item["file"]) for item in findings(result)] == [("BW203", "<stdin>")]


def test_select_and_ignore_take_codes_and_prefixes(lint, household):
    assert set(codes(lint("--select", "BW1", "--format", "json"))) == {"BW101", "BW102"}
    assert set(codes(lint("--select", "bw101,BW203", "--format", "json"))) == {"BW101", "BW203"}
    assert codes(lint("--ignore", "BW1,BW2", "--format", "json")) == []
    quiet = lint("--per-file-ignores", "*_wife.json:BW1", "--select", "BW1", "--format", "json")
    assert {item["file"].split("_")[-1] for item in findings(quiet)} == {"husband.json"}


def test_the_inventory_selects_ignores_and_sets_the_severity_of_an_inactive_flag(lint, household):
    inventory = household / "inventory.yaml"
    text = inventory.read_text()
    inventory.write_text(text.replace("expect_active: warn", "expect_active: error"))
    assert {item["severity"] for item in findings(lint("--select", "BW203", "--format", "json"))} == {"error"}
    inventory.write_text(
        text.replace("expect_active: warn", "expect_active: ignore")
        + "lint:\n  ignore: [BW102]\n  per_file_ignores:\n    'calendar_*': [BW101]\n"
    )
    found = findings(lint("--format", "json"))
    assert {item["code"] for item in found} == {"BW101"}
    assert not any("calendar" in item["file"] for item in found)


def test_a_changed_inventory_is_not_served_from_memory(lint, household):
    assert lint().returncode == 1
    inventory = household / "inventory.yaml"
    inventory.write_text(inventory.read_text() + "lint:\n  ignore: [BW1]\n")
    assert lint().returncode == 0
    inventory.write_text(inventory.read_text() + "nonsense: 1\n")
    assert lint().returncode == 78


def test_an_unwritable_cache_is_no_obstacle(lint, household):
    (household / ".cache").write_text("a file where a folder should be")
    assert lint().returncode == 1


def test_a_missing_file_of_the_twelve_is_named_with_its_path(lint, household):
    (household / "workflows" / "tasks_add_wife.json").unlink()
    missing = [item for item in findings(lint("--format", "json")) if item["code"] == "BW301"]
    assert len(missing) == 1
    assert "tasks_add/wife" in missing[0]["message"]
    assert "L4CK3Y/tasks/add/wife" in missing[0]["message"]
    assert missing[0]["file"] == "inventory.yaml"
    assert missing[0]["line"] > 1


def test_one_staged_file_is_compared_with_the_whole_folder_but_only_it_is_reported(lint, household):
    wife, husband = (household / "workflows" / f"calendar_add_{name}.json" for name in ("wife", "husband"))
    wife.write_text(wife.read_text().replace("calendar/add/wife", "calendar/add/husband"))
    result = lint(
        "--from-hook", "workflows/calendar_add_wife.json", "--format", "json", "--select", "BW2,BW3"
    )
    assert {item["code"] for item in findings(result)} == {"BW203", "BW210", "BW304"}
    assert {item["file"] for item in findings(result)} == {"workflows/calendar_add_wife.json"}
    assert husband.name in result.stdout.decode()


def test_a_baseline_silences_what_it_knows_and_nothing_new(lint, household):
    made = lint("--baseline", "known.json", "--write-baseline")
    assert made.returncode == 0
    assert lint("--baseline", "known.json").returncode == 0
    assert b"22 in the baseline" in lint("--baseline", "known.json").stdout
    path = household / "workflows" / "tasks_list_husband.json"
    path.write_text("\n\n" + path.read_text().replace('"nodes": [', '"nodes": [\n', 1))
    assert lint("--baseline", "known.json").returncode == 0, "moved lines are no news"
    path.write_text(path.read_text().replace("<HUSBAND_TASKS_LIST_ID>", "<ANOTHER_LIST_ID>"))
    result = lint("--baseline", "known.json", "--format", "json")
    assert set(codes(result)) == {"BW102", "BW108"}


def test_a_file_that_is_no_baseline_is_78(lint, tmp_path):
    (tmp_path / "b.json").write_text("[]")
    assert lint(write(tmp_path / "w"), "--baseline", "b.json").returncode == 78
    assert lint(tmp_path / "w", "--baseline", "gone.json").returncode == 78


def test_a_suppression_in_the_notes_silences_one_rule_and_is_counted(lint, tmp_path):
    nodes = json.loads(json.dumps(BASE["nodes"]))
    nodes[0]["notes"] = "butlerctl: ignore BW203 -- switched on by hand in summer"
    result = lint(write(tmp_path, active=False, nodes=nodes))
    assert result.returncode == 0
    assert b"no findings (1 suppressed)" in result.stdout


def test_the_page_of_a_rule_is_printed(lint):
    page = lint("--rule", "bw101").stdout.decode()
    assert page.startswith("## BW101: credential id is a placeholder")
    assert "Fix:" in page
    assert b"BW604" in lint("--rule", "all").stdout
    assert lint("--rule", "BW999").returncode == 2


def test_nothing_blinks_when_the_output_is_no_terminal(lint, tmp_path):
    assert b"\x1b" not in lint(write(tmp_path, active=False)).stdout


def test_what_a_file_holds_cannot_drive_the_terminal(lint, tmp_path):
    nodes = [{"name": "evil\x1b[2J\nnode", "type": "t", "parameters": {"x": "<LIST_ID>"}}]
    result = lint(write(tmp_path, nodes=nodes, connections={}))
    assert result.returncode == 1
    assert b"\x1b" not in result.stdout


@pytest.mark.parametrize("format_", ["full", "concise", "json", "sarif", "github", "gitlab", "junit"])
@pytest.mark.parametrize("indent", [2, None])
def test_a_secret_is_on_no_output_in_no_format(lint, tmp_path, format_, indent):
    header = {"name": "X-API-Key", "value": SECRET}
    token = "ghp_" + SECRET + SECRET[:16]
    node = {
        "name": "HTTP",
        "type": "n8n-nodes-base.httpRequest",
        "parameters": {
            "a": "<LIST_ID>",
            "headers": {"parameters": [header]},
            "token": token,
            "b": "<OTHER_ID>",
        },
    }
    document = {**BASE, "nodes": [*BASE["nodes"], node]}
    (tmp_path / "a.json").write_text(json.dumps(document, indent=indent))
    result = lint("a.json", "--format", format_, "--pedantic")
    assert b"BW501" in result.stdout
    assert SECRET.encode() not in result.stdout + result.stderr


def test_the_linter_follows_no_secret_of_the_inventory(lint, tmp_path):
    result = lint(cwd=ROOT, N8N_WEBHOOK_SECRET=SECRET, N8N_API_KEY=SECRET)
    cached = b"".join(path.read_bytes() for path in (tmp_path / ".cache").rglob("*.json"))
    assert b"L4CK3Y" in cached
    assert SECRET.encode() not in result.stdout + result.stderr + cached
