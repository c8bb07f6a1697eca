"""`gateway check` against the lab's gateway, and each finding against facts that are wrong in one way."""

from __future__ import annotations

import json
import shutil
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from butlerctl.checks.gateway import look
from butlerctl.checks.gateway_findings import exit_code, find
from butlerctl.cli.app import run
from butlerctl.errors import ExitCode
from butlerctl.gateway.operator import Invocation, Operator, Run, Tool
from butlerctl.gateway.plugin import read_plugin, shipped_plugin
from butlerctl.gateway.webhook_tools import WebhookToolsSettings
from butlerctl.inventory.loader import load_inventory
from butlerctl.judge.result import Verdict
from butlerctl.lab.conformance.script import Ask, Failure, native, words
from butlerctl.lab.conformance.servers import ScriptedModel, ScriptedWebhooks, answer_text, succeed
from butlerctl.lab.gateway.server import LabGateway
from butlerctl.lab.server import LoopbackServer
from butlerctl.protocol.tools import shape_of

SHIPPED = Path(__file__).parents[2] / "inventory.yaml"
TOKEN = "token-of-the-lab-gateway"
READ = Ask("List.", "Nothing.", "list_calendar_events", {"profile": "husband", "limit": 1})


@contextmanager
def lab_gateway(inventory, *answers, webhook=succeed, token=TOKEN):
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
        resources.enter_context(closing(lab))
        yield resources.enter_context(LoopbackServer(lab.app)).url


@pytest.fixture(scope="module")
def inventory():
    return load_inventory(SHIPPED, {})


@pytest.fixture(scope="module")
def plugin_copy(tmp_path_factory):
    """The shipped plugin with its package, as it lies beside a gateway."""
    folder = tmp_path_factory.mktemp("gateway") / "plugin"
    shutil.copytree(shipped_plugin(), folder, ignore=shutil.ignore_patterns("node_modules"))
    (folder / "node_modules" / "typebox").mkdir(parents=True)
    return folder


@pytest.fixture(scope="module")
def facts(inventory, plugin_copy):
    """A gateway at which nothing is wrong."""
    with lab_gateway(inventory) as url, Operator.connect(url, TOKEN) as operator:
        return look(operator, inventory, plugin_folder=plugin_copy, with_turn=True)


def verdicts(facts, inventory):
    return {finding.check: finding.verdict for finding in find(facts, inventory)}


def broken(facts, inventory):
    return [check for check, verdict in verdicts(facts, inventory).items() if verdict is Verdict.BROKEN]


def test_a_gateway_without_a_fault_is_proven_in_every_check(facts, inventory):
    findings = find(facts, inventory)
    assert {finding.verdict for finding in findings} == {Verdict.PROVEN}
    assert exit_code(findings) is ExitCode.PROVEN
    assert {finding.check for finding in findings} >= {
        "gateway.version",
        "gateway.tools_offered",
        "gateway.least_privilege",
        "gateway.plugin_manifest",
        "gateway.plugin_files",
        "gateway.plugin_settings",
        "gateway.schemas",
        "gateway.model",
        "gateway.no_fallback",
        "gateway.timezone",
        "gateway.cron_retry",
        "gateway.loop_detection",
        "gateway.turn",
    }
    invoked = {finding.check for finding in findings if finding.check.startswith("gateway.invoke[")}
    assert len(invoked) == 6


def test_without_the_turn_and_the_files_nothing_is_claimed_about_them(facts, inventory):
    findings = verdicts(replace(facts, turn=None, plugin=None), inventory)
    unproven = {check for check, verdict in findings.items() if verdict is Verdict.UNPROVEN}
    assert unproven == {
        "gateway.schemas",
        "gateway.turn",
        "gateway.plugin_files",
        "gateway.plugin_manifest",
    }
    assert exit_code(find(replace(facts, turn=None), inventory)) is ExitCode.NOT_PROVEN


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


AGENT = {"id": "butler", "default": True}
PLUGIN = ("plugins", "entries", "fr4m3w0rk-tools", "config")
FAULTS = [
    ("another version", lambda f: replace(f, version="2026.9.6"), ["gateway.version"]),
    ("a tool is missing", lambda f: replace(f, tools=f.tools[1:]), ["gateway.tools_offered"]),
    (
        "a core tool is offered",
        lambda f: replace(f, tools=(*f.tools, Tool("exec", ""))),
        ["gateway.least_privilege"],
    ),
    (
        "another plugin took a name",
        lambda f: replace(f, tools=(Tool(f.tools[0].name, "other"), *f.tools[1:])),
        ["gateway.tools_offered", "gateway.least_privilege"],
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
    ("cron is off", lambda f: replace(f, cron={"enabled": False}), ["gateway.cron_retry"]),
    (
        "loop detection is off",
        lambda f: with_config(f, False, "tools", "loopDetection", "enabled"),
        ["gateway.loop_detection"],
    ),
    (
        "another schema",
        lambda f: with_meta(
            f, [{"name": "add_task", "schemaHash": "0"}], "systemPromptReport", "tools", "entries"
        ),
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


@pytest.mark.parametrize(
    ("status", "error", "messages", "words"),
    [
        ("error", {"message": "FailoverError: 402 no credit"}, [], "402 no credit"),
        ("timeout", None, [], "timeout"),
        ("ok", None, [{"role": "assistant", "content": "No events."}], "without calling it"),
        ("ok", None, [{"role": "assistant", "tool_calls": [{"function": {"name": READ.tool, "arguments": '{"a'}}]}], "no JSON"),
    ],
)  # fmt: skip
def test_a_green_health_beside_a_failing_turn_is_broken(facts, inventory, status, error, messages, words):
    turn = replace(facts.turn, run=Run("x", status, "", facts.turn.run.meta, (), error), messages=messages)
    finding = next(
        each for each in find(replace(facts, turn=turn), inventory) if each.check == "gateway.turn"
    )
    assert finding.verdict is Verdict.BROKEN
    assert words in finding.seen
    assert "health is green" in finding.seen


@pytest.mark.parametrize(
    ("spoil", "check"),
    [
        (lambda folder: (folder / "answer.mjs").write_text("// nothing"), "gateway.plugin_files"),
        (lambda folder: (folder / "extra.mjs").write_text("// more"), "gateway.plugin_files"),
        (lambda folder: shutil.rmtree(folder / "node_modules"), "gateway.plugin_manifest"),
    ],
)
def test_changed_plugin_files_are_found(facts, inventory, plugin_copy, tmp_path, spoil, check):
    folder = tmp_path / "plugin"
    shutil.copytree(plugin_copy, folder)
    spoil(folder)
    assert broken(replace(facts, plugin=read_plugin(folder)), inventory) == [check]


@pytest.mark.parametrize("tools", [None, True, ["list_tasks"]])
def test_a_manifest_that_does_not_name_the_tools_is_found(facts, inventory, plugin_copy, tmp_path, tools):
    folder = tmp_path / "plugin"
    shutil.copytree(plugin_copy, folder)
    manifest = json.loads((folder / "openclaw.plugin.json").read_text())
    manifest["contracts"] = {"tools": tools}
    (folder / "openclaw.plugin.json").write_text(json.dumps(manifest))
    assert "gateway.plugin_manifest" in broken(replace(facts, plugin=read_plugin(folder)), inventory)


@pytest.fixture
def asked(monkeypatch, capsys):
    """Run the command against a gateway; its exit code and what it printed."""

    def ask(url, *options):
        monkeypatch.setenv("OPENCLAW_GATEWAY_URL", url)
        monkeypatch.setenv("OPENCLAW_GATEWAY_TOKEN", TOKEN)
        code = run(["gateway", "check", "--inventory", str(SHIPPED), *options])
        return code, capsys.readouterr()

    return ask


def test_the_command_proves_a_good_gateway(asked, inventory, plugin_copy):
    with lab_gateway(inventory) as url:
        code, printed = asked(url, "--plugin", str(plugin_copy))
    assert code == ExitCode.PROVEN, printed.out
    assert "proven   gateway.turn: a real turn called list_calendar_events" in printed.out
    assert TOKEN not in printed.out + printed.err


def test_the_command_answers_in_json_and_exits_1_when_something_is_broken(asked, inventory, plugin_copy):
    refusing = answer_text(403, "Authorization data is wrong!", None)
    with lab_gateway(inventory, webhook=refusing) as url:
        code, printed = asked(url, "--plugin", str(plugin_copy), "--format", "json")
    findings = {finding["check"]: finding for finding in json.loads(printed.out)}
    assert code == ExitCode.BROKEN
    assert findings["gateway.invoke[calendar_list/wife]"]["seen"].startswith("header: ")
    assert findings["gateway.turn"]["verdict"] == "broken"


def test_a_provider_that_fails_breaks_the_turn_and_nothing_else(asked, inventory, plugin_copy):
    with lab_gateway(inventory, Failure(402, "no credit")) as url:
        code, printed = asked(url, "--plugin", str(plugin_copy))
    assert code == ExitCode.BROKEN
    assert [line.split(":")[0] for line in printed.out.splitlines() if line.startswith("broken")] == [
        "broken   gateway.turn"
    ]


def test_what_was_not_looked_at_is_not_proven(asked, inventory, plugin_copy):
    with lab_gateway(inventory) as url:
        code, printed = asked(url, "--plugin", str(plugin_copy), "--no-turn")
    assert code == ExitCode.NOT_PROVEN
    assert "unproven gateway.turn" in printed.out


def test_no_gateway_is_to_be_tried_again_and_a_wrong_token_is_not_permitted(asked, inventory):
    code, printed = asked("http://127.0.0.1:9")
    assert code == ExitCode.TRY_AGAIN
    assert printed.err.startswith("butlerctl: the gateway at http://127.0.0.1:9 does not answer")
    with lab_gateway(inventory, token="another-token") as url:
        code, _ = asked(url)
    assert code == ExitCode.NOT_PERMITTED


def test_a_page_without_conformance_is_a_usage_problem(asked):
    code, printed = asked("http://127.0.0.1:9", "--page", "page.md")
    assert code == ExitCode.USAGE
    assert "--conformance" in printed.err
