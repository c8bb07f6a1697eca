"""What the README shows is what the command says, but for times and keys."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.lab.shell import Shell

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
CHANGING = {r"in \d+\.\d s": "in … s", r"key [0-9a-f]{16}": "key …"}


def lines_of(text):
    for changing, mark in CHANGING.items():
        text = re.sub(changing, mark, text)
    return [line.rstrip() for line in text.splitlines() if line != "…"]


def test_the_output_that_the_readme_shows_is_the_commands(tmp_path):
    (block,) = re.findall(
        r"<!-- output: .+? -->\n```\n(.+?)```", README.read_text(encoding="utf-8"), re.DOTALL
    )
    command, shown = block.split("\n", 1)
    program, *argv = shlex.split(command.removeprefix("$ "))
    ended = Shell(tmp_path).run(*argv)
    assert (program, ended.code) == ("butlerctl", 1)
    said = lines_of(ended.err + ended.out)
    assert [line for line in lines_of(shown) if line not in said] == []


def test_make_verify_believes_its_report_also_where_the_user_has_a_key(tmp_path):
    shell = Shell(tmp_path)
    assert shell.run("keys", "new").code == 0
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = makefile.split("\nverify:")[1].split("\n\n")[0]
    verify, check = re.findall(r"@\$\(BIN\)/butlerctl (.+)", recipe)
    (tmp_path / "reports").mkdir()
    assert shell.run(*shlex.split(verify), "--only", "tasks_add/wife").code == 0
    checked = shell.run(*shlex.split(check))
    assert (checked.code, checked.out.split(":")[0]) == (0, "accepted")
