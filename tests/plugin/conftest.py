from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from butlerctl.errors import ButlerctlError
from butlerctl.lab.real.npm import install_project

SOURCE = Path(__file__).parents[2] / "extensions" / "FR4M3W0RK-tools"


@pytest.fixture(scope="session")
def plugin_folder():
    """A copy of the plugin with its packages. Without node or npm: skipped aloud, and failed under CI."""
    try:
        if shutil.which("node") is None:
            pytest.skip("NOT TESTED: the plugin (there is no node)")
        return install_project(SOURCE, os.environ)
    except ButlerctlError as error:
        reason = f"NOT TESTED: the plugin ({error.message})"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
