"""The command line itself: help, version, unknown options, streams that are closed or full."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from butlerctl.cli.app import app, run
from tests.lab.shell import Shell


def all_commands():
    """Every command and sub-command, as it is typed."""
    root = get_command(app)
    context = typer.Context(root)
    for name in root.list_commands(context):
        yield (name,)
        yield from ((name, each) for each in getattr(root.get_command(context, name), "commands", {}))


COMMANDS = list(all_commands())
WIDTH = 80


@pytest.mark.parametrize("command", [(), *COMMANDS], ids=" ".join)
def test_help_is_complete_and_fits_on_the_screen(tmp_path, command):
    ended = Shell(tmp_path).run(*command, "--help")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0].startswith(f"Usage: {' '.join(('butlerctl', *command))} ")
    assert lines[2].strip()
    assert max(map(len, lines)) <= WIDTH
    assert not any(line.endswith("...") for line in lines[1:])  # how a summary looks that was cut off
    assert re.search(r"<(str|path|int|float)\b", ended.out) is None


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_an_unknown_option_is_a_usage_error(command, capsys):
    assert run([*command, "--no-such-option"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "No such option: --no-such-option" in said.err


@pytest.mark.parametrize("command", [(), *COMMANDS], ids=" ".join)
def test_every_command_tells_the_version(command, capsys):
    assert run([*command, "--version"]) == 0
    assert capsys.readouterr().out == "butlerctl 0.1.0\n"


def test_an_unknown_command_is_a_usage_error_with_a_guess(capsys):
    assert run(["verfy"]) == 2
    assert "Did you mean 'verify'?" in capsys.readouterr().err


# Commands that print: help, a list, data with findings, something wrong.
PRINTING = [
    ["--help"],
    ["lab", "faults"],
    ["lint-workflows", "--format", "json"],
    ["lint-workflows", "--rule", "all"],
]


@pytest.mark.parametrize("command", PRINTING, ids=" ".join)
def test_a_reader_that_goes_away_ends_a_command_without_a_word(shell, command):
    reading, writing = os.pipe()
    os.close(reading)
    with shell.start(*command, stdout=writing) as process:
        os.close(writing)
        _, talk = process.communicate(timeout=30)
    assert process.returncode == 141
    assert "Error" not in talk
    assert "Traceback" not in talk


def test_a_run_whose_progress_nobody_reads_goes_on_to_its_end(shell):
    reading, writing = os.pipe()
    os.close(reading)
    with shell.start("verify", "--lab", "--only", "calendar_add/wife", stderr=writing) as process:
        os.close(writing)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "nothing was left behind in Google" in out


@pytest.mark.parametrize("command", PRINTING[1:3], ids=" ".join)
def test_a_full_disk_behind_the_output_is_told_in_one_line(shell, command):
    with Path("/dev/full").open("w") as full:
        ended = shell.run(*command, stdout=full)
    assert ended.code == 75
    assert ended.err.splitlines()[-1] == "butlerctl: the output cannot be written: No space left on device"


@pytest.mark.parametrize(("closed", "code"), [(">&-", 1), ("2>&-", 1), (">&- 2>&-", 1)])
def test_with_a_closed_stream_the_exit_code_still_tells(shell, closed, code):
    script = f'"$PYTHON" -m butlerctl lint-workflows {closed}'
    environ = {**shell.environ, "PYTHON": sys.executable}
    ended = subprocess.run(["sh", "-c", script], env=environ, capture_output=True, text=True, check=False)
    assert ended.returncode == code
    assert "Traceback" not in ended.stderr
    assert "workflows checked" not in ended.stderr or "2>&-" not in closed


@pytest.mark.parametrize("command", [["diagnose", "-"], ["protocol", "normalize", "-", "--registry", "-", "--adapter", "openai_chat"]], ids=" ".join)  # fmt: skip
def test_an_empty_standard_input_is_bad_input(shell, command):
    ended = shell.run(*command, typed="")
    assert (ended.code, ended.out) == (78, "")
    assert ended.err.startswith("butlerctl: ")
    assert len(ended.err.splitlines()) <= 2


def test_nothing_at_all_shows_the_help_and_is_a_usage_error(shell):
    ended = shell.run()
    assert ended.code == 2
    assert "Prove that a household's AI butler really did what it says." in ended.err + ended.out
