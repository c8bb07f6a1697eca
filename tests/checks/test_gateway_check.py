"""`gateway check` against the lab's gateway, and each finding against facts that are wrong in one way."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from werkzeug import Request, Response

from butlerctl.checks.gateway import SeenJob, look
from butlerctl.checks.gateway_disk import PluginOnDisk, plugin_on_disk
from butlerctl.checks.gateway_finding import Verdict
from butlerctl.checks.gateway_findings import exit_code, find
from butlerctl.checks.gateway_n8n import N8nAddress, n8n_address
from butlerctl.cli.app import run
from butlerctl.errors import ExitCode
from butlerctl.gateway.operator import Invocation, Operator, Run, Session, Tool
from butlerctl.gateway.operator_cron import Job, JobRun
from butlerctl.gateway.plugin import Package, locked_packages, read_plugin, shipped_plugin
from butlerctl.gateway.webhook_tools import WebhookToolsSettings
from butlerctl.inventory.loader import load_inventory
from butlerctl.lab.conformance.script import Ask, Failure, native, words
from butlerctl.lab.conformance.servers import ScriptedModel, ScriptedWebhooks, answer_text, succeed
from butlerctl.lab.gateway.agents import Agents, OtherAgent
from butlerctl.lab.gateway.server import LabGateway
from butlerctl.lab.real.relay import Relay
from butlerctl.lab.server import LoopbackServer
from butlerctl.protocol.tools import shape_of

SHIPPED = Path(__file__).parents[2] / "inventory.yaml"
TOKEN = "token-of-the-lab-gateway"
MOST_READS = 10
READ = Ask("List.", "Nothing.", "list_calendar_events", {"profile": "husband", "limit": 1})


class Stand(NamedTuple):
    """A gateway of the lab between a scripted model and scripted webhooks."""

    url: str
    lab: LabGateway
    webhooks: ScriptedWebhooks


@contextmanager
def lab_gateway(inventory, *answers, webhook=succeed, token=TOKEN, others=()):
    with ExitStack() as resources:
        model = resources.enter_context(ScriptedModel())
        webhooks = resources.enter_context(ScriptedWebhooks())
        model.play(answers or (native(READ.call()), words("Nothing.")))
        webhooks.behave(webhook)
        hook = inventory.n8n.webhook
        tools = WebhookToolsSettings(
            webhooks.url,
            shape_of(inventory),
            hook.prefix,
            hook.header,
            "invented-secret",
            timeout=hook.timeout,
        )
        lab = LabGateway(
            model.url,
            tools,
            token=token,
            agent=inventory.gateway.agent,
            timezone=inventory.timezone,
            model=inventory.pins.model,
        )
        lab.agents = Agents(inventory.gateway.agent, others)
        resources.enter_context(closing(lab))
        yield Stand(resources.enter_context(LoopbackServer(lab.app)).url, lab, webhooks)


def pointed_at(n8n_url):
    """The shipped household, whose n8n is this one."""
    return load_inventory(SHIPPED, {"N8N_URL": n8n_url})


def looked_at(stand, *, with_turn=True):
    household = pointed_at(stand.webhooks.url)
    with Operator.connect(stand.url, TOKEN) as operator:
        return find(look(operator, household, with_turn=with_turn), household)


@pytest.fixture(scope="module")
def inventory():
    return load_inventory(SHIPPED, {})


@pytest.fixture(scope="module")
def facts(inventory):
    """A gateway at which nothing is wrong."""
    with lab_gateway(inventory) as stand, Operator.connect(stand.url, TOKEN) as operator:
        return look(operator, pointed_at(stand.webhooks.url), with_turn=True)


def verdicts(facts, inventory):
    return {finding.check: finding.verdict for finding in find(facts, inventory)}


def of(verdict, findings):
    return [finding.check for finding in findings if finding.verdict is verdict]


def broken(facts, inventory):
    return of(Verdict.BROKEN, find(facts, inventory))


def test_a_gateway_without_a_fault_is_proven_in_every_check(facts, inventory):
    findings = find(facts, inventory)
    assert of(Verdict.SKIPPED, findings) == ["gateway.plugin_files"]
    assert {finding.verdict for finding in findings} == {Verdict.PROVEN, Verdict.SKIPPED}
    assert exit_code(findings) is ExitCode.PROVEN
    assert [finding.check for finding in findings if "[" not in finding.check] == [
        "gateway.version",
        "gateway.tools_offered",
        "gateway.least_privilege",
        "gateway.plugin_manifest",
        "gateway.plugin_files",
        "gateway.plugin_settings",
        "gateway.plugin_n8n",
        "gateway.schemas",
        "gateway.model",
        "gateway.no_fallback",
        "gateway.timezone",
        "gateway.cron_retry",
        "gateway.cron_jobs",
        "gateway.loop_detection",
        "gateway.turn",
        "gateway.cron_lane",
    ]
    invoked = {finding.check for finding in findings if finding.check.startswith("gateway.invoke[")}
    assert len(invoked) == 6


def test_without_the_turns_nothing_is_claimed_about_them(facts, inventory):
    findings = find(replace(facts, turn=None, cron_turn=None), inventory)
    assert of(Verdict.UNPROVEN, findings) == ["gateway.schemas", "gateway.turn", "gateway.cron_lane"]
    assert exit_code(findings) is ExitCode.NOT_PROVEN


def test_the_check_does_not_wear_out_the_guard_against_repeated_calls(inventory):
    """The plugin refuses the eleventh same read of a session within a minute."""
    with lab_gateway(inventory) as stand:
        for _ in range(MOST_READS + 1):
            assert of(Verdict.BROKEN, looked_at(stand, with_turn=False)) == []


def test_the_probes_run_as_the_households_agent_where_another_is_the_default(inventory):
    helper = OtherAgent("helper", is_default=True)
    with lab_gateway(inventory, others=[helper]) as stand:
        findings = looked_at(stand)
    assert of(Verdict.BROKEN, findings) == []
    assert len([each for each in findings if each.check.startswith("gateway.invoke[")]) == 6


def test_the_check_leaves_no_session_and_no_job(inventory):
    with lab_gateway(inventory, others=[OtherAgent("helper")]) as stand:
        looked_at(stand)
        assert stand.lab.sessions._sessions == {}
        assert stand.lab.cron.jobs() == []


@pytest.mark.parametrize(("is_default", "who"), [(False, "helper"), (True, "helper (the default agent)")])
def test_another_agent_with_more_power_is_found(inventory, is_default, who):
    helper = OtherAgent("helper", ("exec", "write"), is_default)
    with lab_gateway(inventory, others=[helper]) as stand:
        findings = looked_at(stand, with_turn=False)
    (found,) = [finding for finding in findings if finding.verdict is Verdict.BROKEN]
    assert found.check == "gateway.least_privilege[helper]"
    assert found.seen == f"{who} also gets exec (core), write (core)"


def changed(document, value, *keys):
    """A copy of the document with this value at this place."""
    key, *rest = keys
    inner = changed(document.get(key) or {}, value, *rest) if rest else value
    return {**document, key: inner}


def with_config(facts, value, *keys):
    return replace(facts, config=changed(facts.config, value, *keys))


def with_meta(facts, value, *keys):
    run = facts.turn.run
    return replace(facts, turn=replace(facts.turn, run=replace(run, meta=changed(run.meta, value, *keys))))


def with_tools(facts, tools):
    return replace(facts, tools={"butler": tuple(tools)})


def with_given(facts, lane, given):
    return replace(facts, **{lane: replace(getattr(facts, lane), given=given)})


AGENT = {"id": "butler", "default": True}
PLUGIN = ("plugins", "entries", "fr4m3w0rk-tools", "config")
FAULTS = [
    ("another version", lambda f: replace(f, version="2026.9.6"), ["gateway.version"]),
    (
        "a tool is missing",
        lambda f: with_tools(f, f.tools["butler"][1:]),
        ["gateway.tools_offered", "gateway.plugin_manifest"],
    ),
    (
        "a core tool is offered",
        lambda f: with_tools(f, (*f.tools["butler"], Tool("exec", ""))),
        ["gateway.least_privilege"],
    ),
    (
        "another plugin took a name",
        lambda f: with_tools(f, (Tool(f.tools["butler"][0].name, "other"), *f.tools["butler"][1:])),
        ["gateway.tools_offered", "gateway.least_privilege", "gateway.plugin_manifest"],
    ),
    (
        "a tool is described otherwise",
        lambda f: with_tools(
            f, (replace(f.tools["butler"][0], description="Delete."), *f.tools["butler"][1:])
        ),
        ["gateway.plugin_manifest"],
    ),
    (
        "the model was given more than the gateway told",
        lambda f: with_given(f, "turn", {**f.turn.given, "exec": "0"}),
        ["gateway.least_privilege"],
    ),
    (
        "a job was given more than a conversation",
        lambda f: with_given(f, "cron_turn", {**f.turn.given, "exec": "0"}),
        ["gateway.least_privilege"],
    ),
    (
        "a job was given less than a conversation",
        lambda f: with_given(f, "cron_turn", {"list_tasks": f.turn.given["list_tasks"]}),
        ["gateway.cron_lane"],
    ),
    (
        "the plugin declares other settings",
        lambda f: replace(f, entry=replace(f.entry, settings={})),
        ["gateway.plugin_manifest"],
    ),
    (
        "the gateway found no such plugin",
        lambda f: replace(f, entry=replace(f.entry, name="")),
        ["gateway.plugin_manifest"],
    ),
    (
        "another prefix",
        lambda f: with_config(f, "OTHER", *PLUGIN, "prefix"),
        ["gateway.plugin_settings"],
    ),
    (
        "the test address of n8n",
        lambda f: with_config(f, "http://127.0.0.1:5678/webhook-test", *PLUGIN, "baseUrl"),
        ["gateway.plugin_settings"],
    ),
    ("no plugin configuration", lambda f: with_config(f, None, *PLUGIN), ["gateway.plugin_settings"]),
    (
        "another model",
        lambda f: with_config(
            f, {"primary": "openrouter/other", "fallbacks": []}, "agents", "defaults", "model"
        ),
        ["gateway.model"],
    ),
    (
        "a model of the agent's own",
        lambda f: with_config(f, [{**AGENT, "model": "openrouter/other"}], "agents", "list"),
        ["gateway.model"],
    ),
    (
        "another model answered",
        lambda f: with_meta(f, "other", "executionTrace", "winnerModel"),
        ["gateway.model"],
    ),
    (
        "a fallback is configured",
        lambda f: with_config(f, ["openrouter/minimax"], "agents", "defaults", "model", "fallbacks"),
        ["gateway.no_fallback"],
    ),
    (
        "a fallback was used",
        lambda f: with_meta(f, True, "executionTrace", "fallbackUsed"),
        ["gateway.no_fallback"],
    ),
    (
        "the time zone of the machine",
        lambda f: with_config(f, None, "agents", "defaults", "userTimezone"),
        ["gateway.timezone"],
    ),
    ("no cron retries", lambda f: with_config(f, None, "cron", "retry"), ["gateway.cron_retry"]),
    (
        "other waits between cron retries",
        lambda f: with_config(f, [60_000, 300_000], "cron", "retry", "backoffMs"),
        ["gateway.cron_retry"],
    ),
    (
        "cron retries after some failures only",
        lambda f: with_config(f, ["rate_limit"], "cron", "retry", "retryOn"),
        ["gateway.cron_retry"],
    ),
    (
        "cron retries after no failure",
        lambda f: with_config(f, [], "cron", "retry", "retryOn"),
        ["gateway.cron_retry"],
    ),
    ("cron is off", lambda f: replace(f, cron_enabled=False), ["gateway.cron_retry"]),
    (
        "loop detection is off",
        lambda f: with_config(f, False, "tools", "loopDetection", "enabled"),
        ["gateway.loop_detection"],
    ),
    (
        "another schema",
        lambda f: with_given(f, "turn", {**f.turn.given, "add_task": "0"}),
        ["gateway.schemas"],
    ),
    (
        "the plugin failed to load",
        lambda f: replace(f, health={"ok": True, "plugins": {"errors": [{"id": "x"}]}}),
        ["gateway.plugin_loads"],
    ),
    (
        "the turn ran in the command line instead of the gateway",
        lambda f: with_meta(f, "embedded", "transport"),
        ["gateway.turn"],
    ),
]


@pytest.mark.parametrize(("fault", "plant", "checks"), FAULTS, ids=[fault for fault, _, _ in FAULTS])
def test_each_fault_breaks_its_own_check_and_no_other(fault, plant, checks, facts, inventory):
    assert broken(plant(facts), inventory) == checks


def test_the_gateways_own_ok_does_not_hide_that_the_tool_failed(facts, inventory):
    route = next(iter(facts.invocations))
    details = {"ok": False, "boundary": "header", "error": "http_status", "message": "HTTP status 403."}
    facts = replace(facts, invocations={**facts.invocations, route: Invocation(found=True, details=details)})
    finding = next(each for each in find(facts, inventory) if each.verdict is Verdict.BROKEN)
    assert finding.check == f"gateway.invoke[{route}]"
    assert finding.seen == "header: HTTP status 403."


def said(*calls, results=()):
    """The messages of a turn with these calls (name, arguments text) and results (call id, failed)."""
    made = [
        {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": text}}
        for number, (name, text) in enumerate(calls)
    ]
    return [
        {"role": "user", "content": "…"},
        {"role": "assistant", "content": None, "tool_calls": made},
        *({"role": "tool", "tool_call_id": each, "name": READ.tool, "content": "{}", "is_error": bad} for each, bad in results),
    ]  # fmt: skip


GOOD = (READ.tool, READ.text)
ANSWERED = [("call_0", False)]


@pytest.mark.parametrize(
    ("status", "error", "messages", "words"),
    [
        ("error", {"message": "FailoverError: 402 no credit"}, [], "402 no credit"),
        ("timeout", None, [], "timeout"),
        ("ok", None, [{"role": "assistant", "content": "No events."}], "without calling it"),
        ("ok", None, said((READ.tool, '{"a')), "no JSON"),
        ("ok", None, said(("list_tasks", READ.text), results=ANSWERED), "called list_tasks where list_calendar_events was asked"),
        ("ok", None, said((READ.tool, READ.changed(profile="wife")), results=ANSWERED), 'asked for profile "husband", called with "wife"'),
        ("ok", None, said((READ.tool, READ.changed(limit=True)), results=ANSWERED), "asked for limit 1, called with true"),
        ("ok", None, said((READ.tool, READ.changed(limit="1")), results=ANSWERED), 'asked for limit 1, called with "1"'),
        ("ok", None, said((READ.tool, '{"profile": "husband"}'), results=ANSWERED), "asked for limit 1, called with null"),
        ("ok", None, said((READ.tool, "[]"), results=ANSWERED), "called with null"),
        ("ok", None, said(GOOD, GOOD, results=[("call_0", False), ("call_1", False)]), "2 calls where one was asked"),
        ("ok", None, said(GOOD, ("add_task", "{}"), results=ANSWERED), "2 calls where one was asked"),
        ("ok", None, said(GOOD), "0 of 0 results"),
        ("ok", None, said(GOOD, results=[("call_9", False)]), "0 of 1 results"),
        ("ok", None, said(GOOD, results=[*ANSWERED, ("call_9", False)]), "1 of 2 results"),
        ("ok", None, said(GOOD, results=[("call_0", True)]), "failed in a real turn"),
    ],
)  # fmt: skip
def test_a_turn_that_is_not_the_one_call_that_was_asked_for_is_broken_in_both_lanes(
    facts, inventory, status, error, messages, words
):
    turn = replace(facts.turn, run=Run("x", status, "", facts.turn.run.meta, (), error), messages=messages)
    findings = {each.check: each for each in find(replace(facts, turn=turn, cron_turn=turn), inventory)}
    for check in ("gateway.turn", "gateway.cron_lane"):
        assert findings[check].verdict is Verdict.BROKEN
        assert words in findings[check].seen
    assert "health is green" in findings["gateway.turn"].seen


def test_further_arguments_are_the_models_own_business(facts, inventory):
    text = READ.changed(start="2031-07-14T10:00:00-04:00")
    turn = replace(facts.turn, messages=said((READ.tool, text), results=ANSWERED))
    assert broken(replace(facts, turn=turn), inventory) == []


MOMENT = datetime(2031, 7, 14, 9, 5, tzinfo=UTC)
FAILED = JobRun("error", MOMENT, "FailoverError: 429 slow down", "rate_limit")
JOB = Job("1", "morning list", enabled=True, agent="butler", kind="agentTurn", last=JobRun("ok", MOMENT))


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (SeenJob(replace(JOB, last=FAILED)), "morning list failed on 2031-07-14 09:05 UTC: rate_limit"),
        (SeenJob(replace(JOB, last=FAILED, enabled=False, runs_once=True)), "morning list failed on"),
        (SeenJob(JOB, ("append_sheet_row",)), "morning list is called ok, and append_sheet_row failed in it"),
        (SeenJob(replace(JOB, model="openrouter/other")), "morning list runs with openrouter/other"),
        (
            SeenJob(replace(JOB, fallbacks=("openrouter/other",))),
            "morning list falls back to openrouter/other",
        ),
        (SeenJob(replace(JOB, tools=("add_task", "exec"))), "morning list asks for exec"),
    ],
)
def test_a_job_that_fails_or_goes_its_own_way_is_found(facts, inventory, seen, words):
    findings = find(replace(facts, jobs=(seen, SeenJob(JOB))), inventory)
    (found,) = [each for each in findings if each.verdict is Verdict.BROKEN]
    assert found.check == "gateway.cron_jobs"
    assert words in found.seen


@pytest.mark.parametrize(
    ("jobs", "words"),
    [
        ((), "no job"),
        ((SeenJob(JOB), SeenJob(replace(JOB, last=None))), "2 jobs, 1 of them ran, and no last run failed"),
        ((SeenJob(replace(JOB, last=FAILED, enabled=False)),), "1 jobs, 1 of them ran"),
        ((SeenJob(replace(JOB, name="backup", kind="command")),), "a program, not the agent, runs in backup"),
        ((SeenJob(replace(JOB, model="openrouter/deepseek/deepseek-v4-flash", tools=("fr4m3w0rk-tools",))),), "1 jobs"),
    ],
)  # fmt: skip
def test_jobs_in_order_are_proven(facts, inventory, jobs, words):
    findings = find(replace(facts, jobs=jobs), inventory)
    (found,) = [each for each in findings if each.check == "gateway.cron_jobs"]
    assert found.verdict is Verdict.PROVEN
    assert words in found.seen


def test_a_job_that_ran_is_read_from_the_gateway_with_the_tools_that_failed_in_it(inventory):
    with lab_gateway(inventory, webhook=answer_text(403, "Authorization data is wrong!", None)) as stand:
        payload = {"kind": "agentTurn", "message": "List."}
        job = stand.lab.cron.add({"name": "morning list", "payload": payload}, "butler")
        stand.lab.cron.run(job, stand.lab.take_turn)
        findings = looked_at(stand, with_turn=False)
    (found,) = [each for each in findings if each.check == "gateway.cron_jobs"]
    assert found.seen == "morning list is called ok, and list_calendar_events failed in it"


@pytest.fixture
def plugin(tmp_path):
    """The shipped plugin as it lies beside a gateway, with a package that only looks like its own."""
    folder = tmp_path / "plugin"
    shutil.copytree(shipped_plugin(), folder, ignore=shutil.ignore_patterns("node_modules"))
    package = folder / "node_modules" / "typebox"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"version": "1.1.39"}')
    return folder


def with_files(facts, files, *, changed_since=()):
    return replace(facts, plugin=PluginOnDisk(files, changed_since=changed_since))


def with_genuine_package(files):
    (locked,) = locked_packages(shipped_plugin()).values()
    return replace(files, packages={"typebox": Package(locked.version, locked.digest)})


def test_files_that_are_the_shipped_ones_are_proven(facts, inventory, plugin):
    files = with_genuine_package(read_plugin(plugin))
    assert verdicts(with_files(facts, files), inventory)["gateway.plugin_files"] is Verdict.PROVEN


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda folder: (folder / "answer.mjs").write_text("// nothing"), "differs from the shipped plugin: answer.mjs"),
        (lambda folder: (folder / "extra.mjs").write_text("// more"), "differs from the shipped plugin: extra.mjs"),
    ],
)  # fmt: skip
def test_changed_plugin_files_are_found(facts, inventory, plugin, spoil, words):
    spoil(plugin)
    files = with_genuine_package(read_plugin(plugin))
    assert files_seen(with_files(facts, files), inventory) == words


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda _: None, "the files of typebox are not those of its archive"),
        (lambda package: (package / "package.json").write_text('{"version": "1.1.0"}'), "typebox 1.1.0 is installed, and the lock has 1.1.39"),
        (shutil.rmtree, "typebox is not installed beside it"),
    ],
)  # fmt: skip
def test_another_package_than_the_locks_is_found(facts, inventory, plugin, spoil, words):
    spoil(plugin / "node_modules" / "typebox")
    assert files_seen(with_files(facts, read_plugin(plugin)), inventory) == words


def test_a_file_that_was_written_after_the_start_is_not_what_runs(facts, inventory, plugin):
    files = with_genuine_package(read_plugin(plugin))
    seen = files_seen(with_files(facts, files, changed_since=("index.mjs",)), inventory)
    assert seen == "index.mjs was written after the gateway started"


def files_seen(facts, inventory):
    (found,) = [each for each in find(facts, inventory) if each.verdict is Verdict.BROKEN]
    assert found.check == "gateway.plugin_files"
    return found.seen


class Machine(NamedTuple):
    """A folder that plays the gateway's machine: its configuration, a session that it just made, a plugin."""

    answer: dict
    session: Session
    folder: Path

    def seen(self, started=None):
        return plugin_on_disk(self.answer, self.session, started)


@pytest.fixture
def machine(tmp_path, plugin):
    config, transcript = tmp_path / "openclaw.json", tmp_path / "5f2d.jsonl"
    config.write_text("{}")
    transcript.write_text('{"type":"session","version":3,"id":"5f2d"}\n')
    answer = {
        "path": str(config),
        "hash": hashlib.sha256(b"{}").hexdigest(),
        "config": {"plugins": {"load": {"paths": [str(plugin)]}}},
    }
    return Machine(answer, Session("5f2d", str(transcript)), plugin)


def test_a_folder_here_counts_where_the_gateways_own_files_are_readable(machine):
    assert machine.seen().files.folder == machine.folder


@pytest.mark.parametrize(
    "elsewhere",
    [
        lambda m: m._replace(session=Session("5f2d", str(m.folder / "nosuch.jsonl"))),
        lambda m: m._replace(session=Session("5f2d", "")),
        lambda m: m._replace(session=Session("another", m.session.file)),
        lambda m: m._replace(answer={**m.answer, "hash": "0"}),
        lambda m: m._replace(answer={**m.answer, "path": str(m.folder)}),
        lambda m: m._replace(answer={name: value for name, value in m.answer.items() if name != "path"}),
    ],
)
def test_a_folder_of_the_same_path_here_does_not_count_for_a_gateway_elsewhere(machine, elsewhere):
    """Through a tunnel the gateway's paths name other files here, if any."""
    seen = elsewhere(machine).seen()
    assert (seen.files, seen.why_not) == (None, "the plugin's files are not readable from here")


def test_a_load_path_without_the_plugin_is_told(machine):
    machine.answer["config"] = {"plugins": {"load": {"paths": [str(machine.folder / "test")]}}}
    assert "holds the plugin fr4m3w0rk-tools" in machine.seen().why_not


def test_only_what_was_written_after_the_start_is_told(machine):
    before, after = datetime.fromtimestamp(1, UTC), datetime(2100, 1, 1, tzinfo=UTC)
    assert "index.mjs" in machine.seen(before).changed_since
    assert machine.seen(after).changed_since == ()


@pytest.mark.parametrize(
    ("plugin", "inventory_url", "same"),
    [
        ("http://127.0.0.1:5678", "http://localhost:5678/", True),
        ("http://N8N.example.test", "http://n8n.example.test:80", True),
        ("https://n8n.example.test/base/", "https://n8n.example.test/base", True),
        ("http://n8n.example.test", "http://ops:Passw0rd@n8n.example.test", True),
        ("http://127.0.0.1:5678", "http://127.0.0.1:5679", False),
        ("http://n8n:5678", "http://127.0.0.1:5678", False),
        ("http://n8n.example.test", "https://n8n.example.test", False),
        ("", "http://127.0.0.1:5678", False),
    ],
)
def test_two_spellings_of_an_address_are_one(plugin, inventory_url, same):
    assert N8nAddress(plugin, inventory_url).is_same is same


@pytest.mark.parametrize("plugin", ["http://n8n.example.test:5678", "http://n8n:5678?key=Passw0rd"])
def test_an_address_is_shown_without_its_password(facts, inventory, plugin):
    facts = replace(facts, n8n=N8nAddress(plugin, "http://ops:Passw0rd@n8n.example.test:5678"))
    (found,) = [each for each in find(facts, inventory) if each.check == "gateway.plugin_n8n"]
    assert "http://n8n.example.test:5678" in found.seen
    assert "Passw0rd" not in found.seen


def test_another_address_of_n8n_is_not_called_the_inventorys(facts, inventory):
    facts = replace(facts, n8n=N8nAddress("http://n8n:5678", "http://127.0.0.1:5678"))
    (found,) = [each for each in find(facts, inventory) if each.verdict is Verdict.UNPROVEN]
    assert found.check == "gateway.plugin_n8n"
    assert "http://n8n:5678, the inventory's n8n is http://127.0.0.1:5678" in found.seen
    shown = replace(facts, n8n=replace(facts.n8n, execution="17"))
    assert verdicts(shown, inventory)["gateway.plugin_n8n"] is Verdict.PROVEN


@pytest.mark.parametrize(
    ("started", "found"),
    [
        (lambda: datetime.now(UTC).isoformat(), "17"),
        (lambda: "2020-01-01T00:00:00.000Z", ""),
        (lambda: None, ""),
    ],
)
def test_an_execution_of_a_probe_shows_that_two_addresses_lead_to_one_n8n(facts, started, found):
    def serve(environ, start_response):
        rest = Request(environ)
        assert rest.path == "/api/v1/executions/17"
        document = {"id": 17, "status": "success", "startedAt": started(), "workflowId": "w", "data": {}}
        return Response(json.dumps(document), content_type="application/json")(environ, start_response)

    route = next(iter(facts.invocations))
    invocations = {route: Invocation(found=True, details={"ok": True, "execution": "17"})}
    config = changed(facts.config, "http://n8n:5678", *PLUGIN, "baseUrl")
    with LoopbackServer(serve) as n8n:
        household = load_inventory(SHIPPED, {"N8N_URL": n8n.url, "N8N_API_KEY": "invented-key"})
        assert n8n_address(config, household, invocations).execution == found
    assert n8n_address(config, household, invocations).execution == ""  # nobody answers any more


def test_a_job_that_a_killed_check_left_is_none_of_the_households(inventory):
    with lab_gateway(inventory) as stand:
        payload = {"kind": "agentTurn", "message": "List."}
        stand.lab.cron.add(
            {"name": "butlerctl gateway check", "enabled": False, "payload": payload}, "butler"
        )
        findings = looked_at(stand, with_turn=False)
    (found,) = [each for each in findings if each.check == "gateway.cron_jobs"]
    assert found.seen == "no job"


@pytest.fixture
def asked(monkeypatch, capsys):
    """Run the command against a gateway; its exit code and what it printed."""

    def ask(url, *options, n8n="http://127.0.0.1:9"):
        monkeypatch.setenv("OPENCLAW_GATEWAY_URL", url)
        monkeypatch.setenv("OPENCLAW_GATEWAY_TOKEN", TOKEN)
        monkeypatch.setenv("N8N_URL", n8n)
        code = run(["gateway", "check", "--inventory", str(SHIPPED), *options])
        return code, capsys.readouterr()

    return ask


def test_the_command_proves_a_good_gateway(asked, inventory):
    with lab_gateway(inventory) as stand:
        code, printed = asked(stand.url, n8n=stand.webhooks.url)
    assert code == ExitCode.PROVEN, printed.out
    assert "proven   gateway.turn: a real turn called list_calendar_events" in printed.out
    assert "skipped  gateway.plugin_files: the plugin's files are not readable from here" in printed.out
    assert TOKEN not in printed.out + printed.err


def test_the_command_answers_in_json_and_exits_1_when_something_is_broken(asked, inventory):
    refusing = answer_text(403, "Authorization data is wrong!", None)
    with lab_gateway(inventory, webhook=refusing) as stand:
        code, printed = asked(stand.url, "--format", "json", n8n=stand.webhooks.url)
    findings = {finding["check"]: finding for finding in json.loads(printed.out)}
    assert code == ExitCode.BROKEN
    assert findings["gateway.invoke[calendar_list/wife]"]["seen"].startswith("header: ")
    assert findings["gateway.turn"]["verdict"] == "broken"


def test_a_provider_that_fails_breaks_the_turns_and_nothing_else(asked, inventory):
    with lab_gateway(inventory, Failure(402, "no credit")) as stand:
        code, printed = asked(stand.url, n8n=stand.webhooks.url)
    assert code == ExitCode.BROKEN
    assert [line.split(":")[0] for line in printed.out.splitlines() if line.startswith("broken")] == [
        "broken   gateway.turn",
        "broken   gateway.cron_lane",
    ]


def test_what_was_not_looked_at_is_not_proven(asked, inventory):
    with lab_gateway(inventory) as stand:
        code, printed = asked(stand.url, "--no-turn", n8n=stand.webhooks.url)
    assert code == ExitCode.NOT_PROVEN
    assert "unproven gateway.turn" in printed.out


def test_no_gateway_is_to_be_tried_again_and_a_wrong_token_is_not_permitted(asked, inventory):
    code, printed = asked("http://127.0.0.1:9")
    assert code == ExitCode.TRY_AGAIN
    assert printed.err.startswith("butlerctl: the gateway at http://127.0.0.1:9 does not answer")
    with lab_gateway(inventory, token="another-token") as stand:
        code, _ = asked(stand.url)
    assert code == ExitCode.NOT_PERMITTED


class Cut:
    """A way to a gateway that is cut at the nth webhook, for those who hold it by then."""

    def __init__(self, url, nth):
        self._port, self._nth = urlsplit(url).port, nth
        self._relay, self._open, self._webhooks = Relay(), [], 0
        self.url = f"http://127.0.0.1:{self._relay.serve(self._pass_on)}"

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self._relay.close()

    def answer(self, request):
        self._webhooks += 1
        if self._webhooks == self._nth:
            for loop, transport in self._open:
                loop.call_soon_threadsafe(transport.abort)
        return succeed(request)

    async def _pass_on(self, reader, writer):
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._open.append((asyncio.get_running_loop(), writer.transport))
        await asyncio.gather(pump(reader, up_writer), pump(up_reader, writer))


async def pump(reader, writer):
    while piece := await reader.read(65536):
        writer.write(piece)
        await writer.drain()
    writer.close()


@pytest.mark.parametrize("nth", [3, 7, 8], ids=["a probe", "the turn", "the job"])
def test_a_lost_connection_ends_the_check_and_leaves_nothing(asked, inventory, nth):
    with lab_gateway(inventory) as stand, Cut(stand.url, nth) as way:
        stand.webhooks.behave(way.answer)
        code, printed = asked(way.url, n8n=stand.webhooks.url)
        assert code == ExitCode.TRY_AGAIN
        assert printed.err.startswith("butlerctl: the gateway closed the connection")
        assert stand.lab.sessions._sessions == {}
        assert stand.lab.cron.jobs() == []


def test_an_agent_that_the_gateway_lacks_is_named(asked, inventory):
    with lab_gateway(inventory) as stand:
        stand.lab.agents = Agents("steward", [OtherAgent("helper")])
        code, printed = asked(stand.url, n8n=stand.webhooks.url)
    assert code == ExitCode.BAD_INPUT
    assert "the gateway has no agent butler; it has: steward, helper" in printed.err


def test_the_labs_gateway_is_proven(asked):
    code, printed = asked("http://127.0.0.1:9", "--lab")
    assert code == ExitCode.PROVEN, printed.out
    assert "proven   gateway.cron_lane" in printed.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--page", "page.md"], "--page is a part of --conformance"),
        (["--conformance"], "--conformance needs --lab"),
        (["--engine", "real"], "--engine real needs --lab"),
    ],
)
def test_options_that_need_another_are_a_usage_problem(asked, options, words):
    code, printed = asked("http://127.0.0.1:9", *options)
    assert code == ExitCode.USAGE
    assert words in printed.err
