from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from report_samples import failed_run, good_run, unknown_run

from butlerctl.cli.app import run as butlerctl
from butlerctl.errors import BadInput
from butlerctl.inventory.loader import load_inventory
from butlerctl.report.current import current_workflows
from butlerctl.report.keys import load_signer, new_signer, save_key
from butlerctl.report.signing import write_report

HOUSE = Path(__file__).parents[2]


@pytest.fixture(name="key")
def _key(tmp_path):
    save_key(new_signer(), tmp_path / "signing.pem")
    return tmp_path / "signing.pem"


@pytest.fixture(name="report")
def _report(tmp_path, key):
    def write(run=None, signer=None, age=timedelta(0)):
        started = datetime.now(UTC) - age
        run = replace(run or good_run(), started=started, finished=started + timedelta(seconds=2))
        write_report(tmp_path / "report.json", run, load_signer(key) if signer is None else signer or None)
        return str(tmp_path / "report.json")

    return write


@pytest.fixture(name="verify")
def _verify(key, capsys):
    def verify(file, *options):
        code = butlerctl(["report", "verify", file, "--key", f"{key}.pub", *options])
        said = capsys.readouterr()
        assert "Traceback" not in said.out + said.err
        return code, said.out, said.err

    return verify


def test_a_good_report_is_accepted_and_what_was_not_asked_is_named(report, verify):
    code, out, err = verify(report())
    assert (code, err) == (0, "")
    assert out.startswith("accepted: PASS: 108 of 108 links proven on 12 routes\n")
    assert "not asked: target, workflows, nonce" in out


@pytest.mark.parametrize("make", [failed_run, unknown_run])
def test_a_run_that_did_not_pass_is_refused_with_exit_code_1(report, verify, make):
    code, out, _ = verify(report(make()))
    assert code == 1
    assert out.startswith("refused: the run is ")
    assert out.count("\n") == 1


def test_an_unsigned_report_is_refused(report, verify):
    assert verify(report(signer=False)) == (1, "refused: the report is unsigned\n", "")


def test_a_flipped_bit_is_refused(report, verify):
    file = Path(report())
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    code, out, _ = verify(str(file))
    assert code == 1
    assert out.startswith("refused: ")


def test_a_report_of_another_key_is_refused(report, verify):
    code, out, _ = verify(report(signer=new_signer()))
    assert code == 1
    assert "a key that is not trusted here" in out


def test_a_stale_a_foreign_and_an_unasked_report_are_refused_line_by_line(report, verify):
    options = ("--max-age", "30m", "--target", "http://other.test", "--nonce", "mine")
    code, out, _ = verify(report(age=timedelta(hours=1)), *options)
    assert code == 1
    assert [line.split(":")[0] for line in out.splitlines()] == ["refused"] * 3


def test_the_answer_in_json_names_each_check(report, verify):
    code, out, _ = verify(report(failed_run()), "--format", "json", "--nonce", "mine")
    answer = json.loads(out)
    assert code == 1
    assert not answer["accepted"]
    assert [refusal["check"] for refusal in answer["refusals"]] == ["policy.result", "policy.nonce"]
    assert answer["run"]["verdict"] == "FAIL"


@pytest.mark.parametrize("content", ["", "{", "<html>", "[]", '{"_type":"x"}', "\x00"])
def test_a_file_that_is_no_report_is_refused_by_verify_and_show_alike(tmp_path, verify, capsys, content):
    file = tmp_path / "file"
    file.write_text(content)
    assert verify(str(file))[0] == 1
    assert butlerctl(["report", "show", str(file)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--max-age", "soon"), 2, "--max-age soon"),
        (("--max-age", "9999999999d"), 2, "--max-age"),
        (("--key", "/nowhere/key.pub"), 78, "cannot be read"),
        (("--inventory", "/nowhere/inventory.yaml"), 78, "cannot be read"),
        (("--workflows", "/nowhere"), 2, "holds no export"),
    ],
)
def test_a_wrong_option_is_one_clear_line(report, verify, options, code, said):
    got, out, err = verify(report(), *options)
    assert (got, out) == (code, "")
    assert said in err


def test_verify_without_a_key_is_a_usage_error(report, capsys):
    assert butlerctl(["report", "verify", report()]) == 2
    assert "--key" in capsys.readouterr().err


def test_a_report_that_is_not_there_is_a_bad_input(verify):
    assert verify("/nowhere/report.json")[0] == 78


@pytest.fixture(name="household")
def _household(tmp_path, monkeypatch):
    """The shipped inventory and exports, every reference of the environment given."""
    folder = tmp_path / "house"
    folder.mkdir()
    shutil.copy(HOUSE / "inventory.yaml", folder)
    shutil.copytree(HOUSE / "workflows", folder / "workflows", ignore=shutil.ignore_patterns("[!a-z]*"))
    for name in re.findall(r"\$\{([A-Z0-9_]+)", (folder / "inventory.yaml").read_text()):
        monkeypatch.setenv(
            name, "https://n8n.example.test" if name == "N8N_URL" else f"value-of-{name.lower()}"
        )
    return load_inventory(folder / "inventory.yaml", os.environ)


def run_in(household):
    bindings = {name: each.value.get() for name, each in household.workflows.placeholders.items()}
    files = [household.workflows.directory / route.workflow_file for route in household.routes]
    return good_run(workflows=current_workflows(files, bindings), inventory_digest=household.digest)


def test_a_report_is_held_against_the_inventory_and_its_bound_exports(household, report, verify):
    file = report(run_in(household))
    code, out, err = verify(file, "--inventory", str(household.path))
    assert (code, err) == (0, "")
    assert "not asked: nonce\n" in out


def test_a_workflow_changed_after_the_run_is_named(household, report, verify):
    file = report(run_in(household))
    export = household.workflows.directory / "tasks_add_wife.json"
    document = json.loads(export.read_text())
    document["nodes"][0]["parameters"]["path"] = "elsewhere"
    export.write_text(json.dumps(document))
    code, out, _ = verify(file, "--inventory", str(household.path))
    assert (code, out) == (1, "refused: the workflow tasks_add_wife was changed after the run\n")


def test_another_binding_is_another_workflow(household, report, verify, monkeypatch):
    file = report(run_in(household))
    monkeypatch.setenv("WIFE_TASKS_CRED_ID", "somebody-elses")
    _, out, _ = verify(file, "--inventory", str(household.path))
    changed = [line.split()[3] for line in out.splitlines()]
    assert changed == ["tasks_add_wife", "tasks_list_wife"]


def test_an_export_that_cannot_be_read_is_one_clear_line(household, report, verify):
    file = report(run_in(household))
    (household.workflows.directory / "tasks_add_wife.json").write_text("{")
    code, _, err = verify(file, "--inventory", str(household.path))
    assert code == 78
    assert "tasks_add_wife.json is not the export of one workflow" in err


def test_two_reports_are_compared(tmp_path, report, capsys):
    before = Path(report()).rename(tmp_path / "before.json")
    after = report(failed_run())
    assert butlerctl(["report", "diff", str(before), str(before)]) == 0
    assert capsys.readouterr().out == ""
    assert butlerctl(["report", "diff", str(before), after]) == 1
    assert capsys.readouterr().out.startswith("verdict: PASS -> FAIL\n")
    assert butlerctl(["report", "diff", str(before), after, "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)[0] == {"what": "verdict", "before": "PASS", "after": "FAIL"}


def test_a_report_is_shown_in_every_format(report, capsys):
    for name, begin in {
        "text": "PASS",
        "json": "{",
        "html": "<!doctype",
        "junit": "<?xml",
        "prometheus": "#",
    }.items():
        assert butlerctl(["report", "show", report(), "--format", name]) == 0
        assert capsys.readouterr().out.startswith(begin)


def test_a_report_file_is_replaced_as_a_whole_and_leaves_no_draft(tmp_path, report):
    report()
    report(failed_run())
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "report.json",
        "signing.pem",
        "signing.pem.pub",
    ]


def test_a_report_that_cannot_be_written_is_one_clear_line(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(BadInput, match="cannot be written: Is a directory"):
        write_report(tmp_path / "folder", good_run())
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


def test_keys_are_made_shown_and_never_overwritten(tmp_path, capsys):
    file = str(tmp_path / "new" / "k.pem")
    assert butlerctl(["keys", "new", file, "--type", "ed25519"]) == 0
    key_id = re.search(r"key id +([0-9a-f]{64})", capsys.readouterr().out)[1]
    assert butlerctl(["keys", "show", f"{file}.pub", "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["key_id"], shown["type"]) == (key_id, "ed25519")
    assert butlerctl(["keys", "show", file]) == 0
    out = capsys.readouterr().out
    assert key_id in out
    assert "PRIVATE" not in out
    assert butlerctl(["keys", "new", file]) == 78
    assert "not overwritten" in capsys.readouterr().err


def test_keys_lie_in_the_state_folder_unless_told_otherwise(tmp_path, capsys):
    state = ("--state-dir", str(tmp_path / "state"))
    assert butlerctl(["keys", "new", *state]) == 0
    assert (tmp_path / "state" / "keys" / "signing.pem").stat().st_mode & 0o777 == 0o600
    assert butlerctl(["keys", "show", *state]) == 0
    assert "BEGIN PUBLIC KEY" in capsys.readouterr().out


def test_nothing_heavy_is_imported_until_a_report_is_signed_or_checked():
    script = (
        "import sys, butlerctl.report.render, butlerctl.report.policy, butlerctl.report.keys\n"
        "import butlerctl.report.signing, butlerctl.cli.report, butlerctl.cli.keys\n"
        "print({'cryptography', 'securesystemslib', 'jsonschema', 'yaml', 'rich'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True, cwd=HOUSE, timeout=60
    )
    assert done.stdout.strip() == "set()"


def test_a_report_is_checked_by_the_real_program(report, key):
    command = [sys.executable, "-m", "butlerctl", "report", "verify", report(), "--key", f"{key}.pub"]
    done = subprocess.run(command, capture_output=True, check=False, text=True, cwd=HOUSE, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("accepted: ")
