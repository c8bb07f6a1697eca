"""The commit hook, run by the real pre-commit on a git repository made here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]


@pytest.fixture
def repository(tmp_path):
    """A repository with the shipped exports, whose hook is this project's own, with `language: system`."""
    folder = tmp_path / "household"
    shutil.copytree(ROOT / "workflows", folder / "workflows", ignore=shutil.ignore_patterns("*.py"))
    shutil.copy(ROOT / "inventory.yaml", folder)
    (folder / "workflows" / "package.json").write_text('{"name": "no workflow"}\n')
    hook = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())[0]
    hook |= {"language": "system", "entry": f"{sys.executable} -m {hook['entry']}"}
    (folder / ".pre-commit-config.yaml").write_text(
        yaml.safe_dump({"repos": [{"repo": "local", "hooks": [hook]}]})
    )
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    return folder


def environment(folder):
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PRE_COMMIT_HOME": str(folder.parent / "pre-commit"),
        "XDG_CACHE_HOME": str(folder.parent / "cache"),
        "GIT_CONFIG_GLOBAL": os.devnull,
    }


def git(folder, *arguments):
    subprocess.run(["git", *arguments], cwd=folder, env=environment(folder), check=True, capture_output=True)


def commit_hook(folder):
    command = [sys.executable, "-m", "pre_commit", "run", "--verbose", "--color", "never"]
    return subprocess.run(
        command, cwd=folder, env=environment(folder), capture_output=True, text=True, check=False
    )


def test_a_commit_with_placeholders_is_stopped_with_their_places(repository):
    result = commit_hook(repository)
    assert result.returncode == 1
    assert "workflows/calendar_add_wife.json:" in result.stdout
    assert "12 workflows checked, 1 skipped: 10 errors, 12 warnings" in result.stdout


def test_a_commit_without_them_goes_through(repository):
    for path in (repository / "workflows").glob("*.json"):
        text = path.read_text()
        for token in ("WIFE_CALENDAR_CRED_ID", "WIFE_TASKS_CRED_ID", "WIFE_SHEETS_CRED_ID"):
            text = text.replace(f"<{token}>", f"{token.title().replace('_', '')}00000000"[:16])
        path.write_text(
            text.replace("<WIFE_SPREADSHEET_ID>", "c2hlZXQ").replace("<HUSBAND_TASKS_LIST_ID>", "bGlzdA")
        )
    git(repository, "add", ".")
    result = commit_hook(repository)
    assert result.returncode == 0, result.stdout
    assert "12 workflows checked, 1 skipped: 12 warnings" in result.stdout


def test_a_commit_of_other_json_is_none_of_its_business(repository):
    git(
        repository,
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.test",
        "commit",
        "--quiet",
        "--message",
        "x",
    )
    (repository / "workflows" / "package.json").write_text('{"name": "still no workflow"}\n')
    git(repository, "add", ".")
    result = commit_hook(repository)
    assert result.returncode == 0, result.stdout
    assert "0 workflows checked, 1 skipped" in result.stdout
