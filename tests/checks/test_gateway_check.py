"""`gateway check` against the lab's gateway, and each finding against facts that are wrong in one way."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from butlerctl.checks.gateway import SeenJob
from butlerctl.checks.gateway_finding import Verdict
from butlerctl.checks.gateway_findings import exit_code, find
from butlerctl.errors import ExitCode
from butlerctl.gateway.operator import Invocation, Run, Tool
from butlerctl.gateway.operator_cron import Job, JobRun
from butlerctl.lab.conformance.servers import answer_text
from butlerctl.lab.gateway.agents import OtherAgent
from tests.checks.gateway_stand import (
    PLUGIN,
    READ,
    changed,
    lab_gateway,
    looked_at,
)

MOST_READS = 10


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


@pytest.mark.parametrize(
    ("cron", "hint"), [(True, "leave out --no-turn"), (False, "set cron.enabled to true")]
)
def test_the_hint_of_a_missing_job_is_the_step_that_helps(facts, inventory, cron, hint):
    findings = find(replace(facts, cron_turn=None, cron_enabled=cron), inventory)
    assert [finding.hint for finding in findings if finding.check == "gateway.cron_lane"] == [hint]


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


def test_a_job_that_a_killed_check_left_is_none_of_the_households(inventory):
    with lab_gateway(inventory) as stand:
        payload = {"kind": "agentTurn", "message": "List."}
        stand.lab.cron.add(
            {"name": "butlerctl gateway check", "enabled": False, "payload": payload}, "butler"
        )
        findings = looked_at(stand, with_turn=False)
    (found,) = [each for each in findings if each.check == "gateway.cron_jobs"]
    assert found.seen == "no job"
