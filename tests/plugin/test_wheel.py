"""An installation from a wheel has all that the checkout has of the plugin: no checkout is needed for the real engine."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from butlerctl.lab.real.npm import project_files

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "extensions" / "FR4M3W0RK-tools"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The Python of an environment into which the wheel was installed; its dependencies are those of this one."""
    folder = tmp_path_factory.mktemp("wheel")
    run(
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "--target",
        "wheel",
        "--directory",
        folder / "dist",
        cwd=ROOT,
    )
    (wheel,) = (folder / "dist").glob("*.whl")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    python = folder / "venv" / "bin" / "python"
    (packages,) = (folder / "venv").glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        wheel,
    )
    return python


def run(*command, cwd=None):
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_installed_plugin_is_found_and_is_the_checkouts_without_its_tests(installed, tmp_path):
    script = "from butlerctl.gateway.plugin import shipped_plugin; print(shipped_plugin())"
    found = Path(run(installed, "-c", script, cwd=tmp_path).strip())
    assert found.is_relative_to(installed.parents[1])
    expected = {path for path in project_files(PLUGIN) if path.parts[0] != "test"}
    assert {path.relative_to(found) for path in found.rglob("*") if path.is_file()} == expected
    assert [path for path in expected if (found / path).read_bytes() != (PLUGIN / path).read_bytes()] == []


def test_the_installed_command_runs(installed, tmp_path):
    assert run(installed.parent / "butlerctl", "--version", cwd=tmp_path).startswith("butlerctl ")
