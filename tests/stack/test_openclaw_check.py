"""`gateway check` and the tap against the real OpenClaw; its configuration file that ships."""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from butlerctl.checks.gateway import look
from butlerctl.checks.gateway_disk import plugin_on_disk
from butlerctl.checks.gateway_finding import Verdict
from butlerctl.checks.gateway_findings import find
from butlerctl.gateway.operator import Session
from butlerctl.gateway.tap_record import describe
from butlerctl.inventory.loader import load_inventory
from butlerctl.lab.conformance.cases_webhook import PLUGIN_SECONDS
from butlerctl.lab.conformance.questions import EVENT
from butlerctl.lab.conformance.run import AGENT, spoilt_bench
from butlerctl.lab.conformance.script import Ask, native, words
from butlerctl.lab.conformance.servers import succeed
from butlerctl.lab.real.npm import NODE, install, install_project
from tests.stack.conftest import ROOT

pytestmark = pytest.mark.stack

PLUGIN = ROOT / "extensions" / "FR4M3W0RK-tools"
READ = Ask("List.", "Nothing.", "list_calendar_events", {"profile": "husband", "limit": 1})


@pytest.fixture
def household(real_gateway):
    """The shipped household, with the n8n and the short patience of the bench's plugin."""
    return household_of(real_gateway)


def household_of(bench):
    household = load_inventory(ROOT / "inventory.yaml", {"N8N_URL": bench.webhooks.url})
    webhook = replace(household.n8n.webhook, timeout=PLUGIN_SECONDS)
    return replace(household, n8n=replace(household.n8n, webhook=webhook))


def findings_on(bench, household, *, with_turn=True):
    bench.model.play([native(READ.call()), words(READ.done)])
    bench.webhooks.behave(succeed)
    return find(look(bench.operator, household, with_turn=with_turn), household)


def verdicts(findings, verdict):
    return [finding for finding in findings if finding.verdict is verdict]


def test_every_check_is_proven_on_the_real_gateway(real_gateway, household):
    """Its files too: this machine is shown to be the gateway's own."""
    findings = findings_on(real_gateway, household)
    assert [finding for finding in findings if finding.verdict is not Verdict.PROVEN] == []
    assert len(findings) == 22


def test_the_check_leaves_no_session_and_no_job(real_gateway, household):
    before = sessions_at(real_gateway)
    findings_on(real_gateway, household)
    assert sessions_at(real_gateway) - before == set()
    assert "butlerctl gateway check" not in [job.name for job in real_gateway.operator.cron.jobs()]


def sessions_at(bench):
    answer = bench.operator._connection.call("sessions.list", {"limit": 1000})
    return {session["key"] for session in answer["sessions"]}


def test_a_gateway_whose_files_are_elsewhere_is_proven_without_them(real_gateway, household):
    """As through a tunnel: the paths that it tells are not on this machine."""
    config = real_gateway.operator.config()
    session = Session("5f2d", "/nosuch/5f2d.jsonl")
    seen = plugin_on_disk(config, session, real_gateway.operator.started)
    assert (seen.files, seen.why_not) == (None, "the plugin's files are not readable from here")


@pytest.mark.slow
def test_a_default_agent_with_more_power_is_found_and_the_probes_stay_the_households(shipped_inventory):
    """And a plugin whose id has capital letters, which newer gateways do not configure."""

    def add_helper(config):
        config["agents"]["list"][0]["default"] = False
        config["agents"]["list"].append({"id": "helper", "default": True})

    pins = shipped_inventory.pins
    with spoilt_bench("mixed_case_id", pins.gateway, pins.model, os.environ, add_helper) as bench:
        household = household_of(bench)
        findings = findings_on(bench, household)
    broken = {finding.check: finding.seen for finding in verdicts(findings, Verdict.BROKEN)}
    assert "exec (core)" in broken["gateway.least_privilege[helper]"]
    assert broken["gateway.least_privilege[helper]"].startswith("helper (the default agent) also gets ")
    assert set(broken) == {
        "gateway.least_privilege[helper]",
        "gateway.tools_offered",
        "gateway.least_privilege",
        "gateway.plugin_manifest",
        "gateway.plugin_settings",
    }
    probes = [finding.verdict for finding in findings if finding.check.startswith("gateway.invoke[")]
    assert probes == [Verdict.PROVEN] * 6


def test_house_rules_that_change_reach_the_next_session(real_gateway):
    """So a lab that runs over midnight tells its agent the new day.

    The file stays: the gateway takes a workspace whose file is gone for a lost one, and refuses every turn.
    """
    workspace = Path(real_gateway.operator.config()["config"]["agents"]["defaults"]["workspace"])
    said = []
    for day in ("2031-07-13", "2031-07-14"):
        (workspace / "AGENTS.md").write_text(f"Today is {day}.", encoding="utf-8")
        real_gateway.model.play([words(READ.done)])
        key = f"agent:{AGENT}:{uuid.uuid4().hex}"
        real_gateway.operator.create_session(AGENT, key)
        real_gateway.operator.run(AGENT, key, READ.prompt, run_id=uuid.uuid4().hex, timeout=30)
        real_gateway.operator.delete_session(key)
        said.append(f"Today is {day}." in json.dumps(real_gateway.model.asked[0]["messages"][0]))
    assert said == [True, True]


def test_the_tap_sees_a_native_call_and_no_key(real_gateway):
    real_gateway.model.play([native(EVENT.call()), words(EVENT.done)])
    real_gateway.webhooks.behave(succeed)
    real_gateway.wire.clear()
    key = f"agent:{AGENT}:{uuid.uuid4().hex}"
    real_gateway.operator.create_session(AGENT, key)
    real_gateway.operator.run(AGENT, key, EVENT.prompt, run_id=uuid.uuid4().hex, timeout=30)
    assert "native call add_calendar_event (arguments are strict JSON)" in describe(
        real_gateway.wire.exchanges[0]
    )
    assert "no-key-on-loopback" not in json.dumps(real_gateway.wire.exchanges)


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
