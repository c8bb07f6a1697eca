"""`gateway check` and the tap against the real OpenClaw; its configuration file that ships."""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from dataclasses import replace

import pytest

from butlerctl.checks.gateway import look
from butlerctl.checks.gateway_findings import find
from butlerctl.gateway.tap_record import describe
from butlerctl.judge.result import Verdict
from butlerctl.lab.conformance.cases_webhook import PLUGIN_SECONDS
from butlerctl.lab.conformance.questions import EVENT
from butlerctl.lab.conformance.run import AGENT
from butlerctl.lab.conformance.script import Ask, native, words
from butlerctl.lab.conformance.servers import succeed
from butlerctl.lab.real.npm import NODE, install, install_project
from tests.stack.conftest import ROOT

pytestmark = pytest.mark.stack

PLUGIN = ROOT / "extensions" / "FR4M3W0RK-tools"
READ = Ask("List.", "Nothing.", "list_calendar_events", {"profile": "husband", "limit": 1})


@pytest.fixture
def household(shipped_inventory):
    """The shipped household, with the short patience of the bench's plugin."""
    webhook = replace(shipped_inventory.n8n.webhook, timeout=PLUGIN_SECONDS)
    return replace(shipped_inventory, n8n=replace(shipped_inventory.n8n, webhook=webhook))


def test_every_check_is_proven_on_the_real_gateway(real_gateway, household):
    real_gateway.model.play([native(READ.call()), words(READ.done)])
    real_gateway.webhooks.behave(succeed)
    facts = look(real_gateway.operator, household, plugin_folder=None, with_turn=True)
    findings = find(facts, household)
    assert [finding for finding in findings if finding.verdict is not Verdict.PROVEN] == []
    assert len(findings) == 19


def test_the_tap_sees_a_native_call_and_no_key(real_gateway):
    real_gateway.model.play([native(EVENT.call()), words(EVENT.done)])
    real_gateway.webhooks.behave(succeed)
    real_gateway.wire.clear()
    key = f"agent:{AGENT}:{uuid.uuid4().hex}"
    real_gateway.operator.create_session(AGENT, key)
    real_gateway.operator.run(AGENT, key, EVENT.prompt, run_id=uuid.uuid4().hex, timeout=30)
    assert "native call add_calendar_event (arguments are strict JSON)" in describe(real_gateway.wire[0])
    assert "no-key-on-loopback" not in json.dumps(real_gateway.wire)


@pytest.fixture(scope="module")
def openclaw(real_gateway, shipped_inventory, tmp_path_factory):
    """The command line of the pinned gateway, with a state of its own."""
    del real_gateway  # it is installed by then
    home = tmp_path_factory.mktemp("openclaw")
    node = install(NODE, os.environ)
    command = install(f"openclaw@{shipped_inventory.pins.gateway}", os.environ) / "openclaw"
    environ = {
        "PATH": f"{node}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "OPENCLAW_STATE_DIR": str(home / "state"),
        "OPENCLAW_GATEWAY_TOKEN": "invented-token",
        "OPENCLAW_NO_UPDATE_CHECK": "1",
    }

    def run(*arguments, **more):
        return subprocess.run(
            [str(command), *arguments], env={**environ, **more}, capture_output=True, text=True, check=False
        )

    return run


def test_the_manifest_is_what_the_gateways_own_tool_makes_of_the_plugin(openclaw):
    folder = install_project(PLUGIN, os.environ)
    entry = ("--entry", str(folder / "index.mjs"), "--root", str(folder))
    for command in (("build", *entry, "--check"), ("validate", *entry)):
        done = openclaw("plugins", *command)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_gateway_takes_the_configuration_that_ships(openclaw, tmp_path):
    folder = install_project(PLUGIN, os.environ)
    text = (PLUGIN / "openclaw.json").read_text(encoding="utf-8")
    config = json.loads(text.replace("/opt/fr4m3w0rk-tools", str(folder)))
    (tmp_path / "openclaw.json").write_text(json.dumps(config), encoding="utf-8")
    done = openclaw("config", "validate", "--json", OPENCLAW_CONFIG_PATH=str(tmp_path / "openclaw.json"))
    assert json.loads(done.stdout)["valid"] is True, done.stdout
