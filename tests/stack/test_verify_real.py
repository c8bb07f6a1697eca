"""The whole chain with nothing but real servers before Google: OpenClaw with the plugin, and n8n."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from butlerctl.errors import ExitCode
from tests.stack.conftest import ROOT

pytestmark = pytest.mark.stack


@pytest.mark.timeout(900)
@pytest.mark.usefixtures("gateway_packages", "n8n_packages")
def test_all_nine_links_of_all_twelve_routes_are_proven_and_nothing_is_left_behind(tmp_path):
    report = tmp_path / "verify.json"
    command = ["verify", "--lab", "--engine", "real", "--inventory", str(ROOT / "inventory.yaml")]
    done = subprocess.run(
        [sys.executable, "-m", "butlerctl", *command, "--report", str(report), "--state-dir", str(tmp_path)],
        cwd=ROOT,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == ExitCode.PROVEN, done.stdout + done.stderr
    assert "PASS: 108 of 108 links proven on 12 routes" in done.stdout
    assert "nothing was left behind" in done.stdout
    assert json.loads(report.read_text(encoding="utf-8"))
