"""Rules of the house that a machine can hold."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

REGISTRY_HOSTS = re.compile(
    r"pypi\.org|pythonhosted\.org|registry\.npmjs\.org|registry\.yarnpkg\.com|deb\.debian\.org"
)
MACHINE_PATHS = re.compile(r"(?<![\w.])/(work|root|home/(?!node/)[a-z]+)/[a-z.]")
THIS_FILE = Path(__file__).resolve()


def project_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode != 0:
        pytest.skip("no git checkout")
    return [path for line in listed.stdout.splitlines() if (path := ROOT / line).is_file()]


def texts() -> list[tuple[Path, str]]:
    found = []
    for path in project_files():
        if path.resolve() == THIS_FILE:
            continue
        try:
            found.append((path, path.read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            continue
    return found


def test_no_file_names_a_package_registry_or_a_path_of_some_machine():
    offenders = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path, text in texts()
        for pattern in (REGISTRY_HOSTS, MACHINE_PATHS)
        if (match := pattern.search(text))
    ]
    assert offenders == []


def test_locks_hold_hashes_and_no_addresses():
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in lock
    assert lock.count("--hash=sha256:") >= lock.count("==")
    for path, text in texts():
        if path.name == "package-lock.json":
            assert '"resolved"' not in text, path
    assert not [path for path in project_files() if path.name in {"uv.lock", "poetry.lock", "Pipfile.lock"}]


def test_every_runtime_dependency_has_its_line_in_the_docs():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    for requirement in project["dependencies"]:
        name = re.split(r"[\[<>=~ ]", requirement)[0]
        assert f"| `{name}` |" in page, name


def test_every_tool_of_development_is_named_in_the_docs():
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]["dev"]
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8").split("For development:")[1]
    names = [re.split(r"[<>=~; ]", tool)[0] for tool in tools]
    assert [name for name in names if name.removeprefix("pytest-") not in page and "types-" not in name] == []


def test_the_readme_shows_its_two_commands_first_and_the_makefile_has_them():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in ("verify", "test"):
        assert f"make {target}" in readme[:900]
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_every_command_has_help_and_its_module_is_imported_only_when_asked_for():
    from butlerctl.cli.registry import COMMANDS

    for name in COMMANDS:
        shown = subprocess.run(
            [sys.executable, "-m", "butlerctl", name, "--help"], capture_output=True, text=True, check=False
        )
        assert shown.returncode == 0, (name, shown.stderr)
        assert "Usage: butlerctl" in shown.stdout


HEAVY = ("googleapiclient", "google.auth", "httpx", "rich", "pydantic", "cryptography", "asyncio", "werkzeug",
         "importlib.metadata", "pkg_resources", "jsonschema", "securesystemslib")  # fmt: skip


@pytest.mark.parametrize("arguments", [["--version"], ["lint-workflows", str(ROOT / "workflows")]])
def test_a_light_command_imports_no_heavy_client(arguments):
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "butlerctl", *arguments],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert ran.returncode in {0, 1}, ran.stderr[-500:]
    imported = {
        line.rpartition("|")[2].strip() for line in ran.stderr.splitlines() if line.startswith("import time:")
    }
    assert [name for name in HEAVY if name in imported] == []
