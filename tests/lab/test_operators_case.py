"""A lab in one process, butlerctl in another that knows only an inventory and the environment."""

from __future__ import annotations

import signal
import stat
import subprocess

import pytest

from tests.lab.shell import Shell


def state_files(shell):
    return list((shell.folder / "state").rglob("lab.json"))


@pytest.fixture(scope="module")
def operator(tmp_path_factory):
    """A shell beside a lab, and what `lab env` says of it."""
    shell = Shell(tmp_path_factory.mktemp("operator"))
    with shell.lab() as environ:
        yield shell, environ


def test_verify_without_lab_gives_the_same_result_from_another_process(operator):
    shell, environ = operator
    owner = Shell(shell.folder / "owner")
    assert owner.run("keys", "new").code == 0
    ended = owner.run("verify", "--format", "json", environ=environ)
    assert (ended.code, ended.err) == (0, "")
    answer = ended.document
    assert [set(route["links"].values()) for route in answer["routes"]] == [{"proven"}] * 12
    assert (answer["verdict"], answer["leftovers"], answer["run"]["lab"]) == ("PASS", [], False)
    assert answer["run"]["target"] == environ["N8N_URL"]
    report = answer["report"]
    asked = ("report", "verify", report["path"], "--key", report["public_key"])
    accepted = owner.run(*asked, "--inventory", owner.inventory, environ=environ)
    assert accepted.code == 0
    assert accepted.out.endswith("  not asked: nonce\n")


def test_a_verification_in_two_parts_is_joined_to_one_report_about_everything(operator):
    shell, environ = operator
    owner = Shell(shell.folder / "parted")
    assert owner.run("keys", "new").code == 0
    key = owner.folder / "state" / "keys" / "signing.pem.pub"
    for only, name in (("calendar_*", "one.json"), ("tasks_*,sheets_*", "other.json")):
        asked = ("verify", "--only", only, "--nonce", "pipeline-17", "--report", name)
        assert owner.run(*asked, environ=environ).code == 0
    joined = owner.run("report", "merge", "one.json", "other.json", "--key", key, environ=environ)
    assert (joined.code, joined.err) == (0, "")
    assert joined.out.startswith("PASS: 108 of 108 links proven on 12 routes\njoined of 2 reports: ")
    (whole,) = (owner.state / "reports").iterdir()
    believed = owner.run(
        *("report", "verify", whole, "--key", key, "--inventory", owner.inventory, "--nonce", "pipeline-17"),
        environ=environ,
    )
    assert believed.out.startswith("accepted: PASS: 108 of 108")
    assert "not asked" not in believed.out


def test_a_live_run_without_a_key_is_unsigned_says_so_and_is_refused(operator):
    shell, environ = operator
    ended = shell.run("verify", "--only", "sheets_read/wife", "--report", "unsigned.json", environ=environ)
    assert ended.code == 0
    assert "report unsigned.json, NOT SIGNED" in ended.out
    assert shell.run("keys", "new", "own.pem").code == 0
    refused = shell.run("report", "verify", "unsigned.json", "--key", "own.pem.pub")
    assert (refused.code, refused.out) == (1, "refused: the report is unsigned\n")


def test_probe_and_roundtrip_work_with_the_same_environment(operator):
    shell, environ = operator
    probed = shell.run("probe", environ=environ)
    assert (probed.code, probed.err) == (0, "")
    assert len(probed.out.splitlines()) == 12
    travelled = shell.run("roundtrip", "tasks_*/wife", environ=environ)
    assert travelled.code == 0
    assert travelled.out.splitlines()[-1] == "nothing was left behind in Google"


def test_the_shell_form_of_lab_env_can_be_evaluated(operator):
    shell, environ = operator
    printed = shell.run("lab", "env").out
    script = f"{printed}\nfor name in {' '.join(environ)}; do printenv $name; done"
    evaluated = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert evaluated.stdout.splitlines() == list(environ.values())


def test_the_file_of_a_running_lab_is_for_its_owner_alone(operator):
    shell, _ = operator
    (file,) = state_files(shell)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_second_lab_of_the_same_inventory_is_told_about_the_first(operator):
    shell, environ = operator
    second = shell.run("lab", "up")
    assert second.code == 75
    assert second.err.startswith("butlerctl: a lab of this inventory runs already\n  hint: ")
    assert shell.run("lab", "env", "--format", "json").document == environ


def test_two_labs_with_state_folders_of_their_own_run_at_once(operator):
    shell, environ = operator
    other = Shell(shell.folder / "other")
    with other.lab() as theirs:
        assert theirs["N8N_URL"] != environ["N8N_URL"]
        for one, its in ((shell, environ), (other, theirs)):
            assert one.run("verify", "--only", "sheets_read/wife", environ=its).code == 0
    assert shell.run("lab", "env", "--format", "json").document == environ


def test_lab_env_without_a_lab_says_how_to_start_one(shell):
    ended = shell.run("lab", "env")
    assert (ended.code, ended.out) == (3, "")
    assert (
        ended.err == "butlerctl: no lab runs for this inventory\n  hint: start one with `butlerctl lab up`\n"
    )


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_lab_cleanly(shell, ending):
    with shell.start("lab", "up") as lab:
        assert lab.stdout.readline() == "the lab is up\n"
        assert state_files(shell)
        lab.send_signal(ending)
        _, talk = lab.communicate(timeout=10)
    assert lab.returncode == 0
    assert talk.endswith("the lab is down\n")
    assert state_files(shell) == []
    assert shell.run("lab", "env").code == 3


def test_a_lab_that_was_killed_is_not_taken_for_a_running_one(shell):
    with shell.start("lab", "up") as lab:
        assert lab.stdout.readline() == "the lab is up\n"
        lab.kill()
    assert state_files(shell)
    assert shell.run("lab", "env").code == 3
    with shell.lab() as environ:
        assert environ["N8N_URL"].startswith("http://127.0.0.1:")


def test_a_lab_with_a_planted_fault_fails_verify_in_another_process(shell):
    with shell.lab("--fault", "header@tasks_list/husband") as environ:
        ended = shell.run("verify", "--only", "tasks_list", environ=environ)
    assert ended.code == 1
    assert "tasks_list/husband is broken at header" in ended.out
    assert "tasks_list/wife is" not in ended.out
