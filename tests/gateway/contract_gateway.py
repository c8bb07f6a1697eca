"""What every gateway must do, the lab's and the real one: each test module brings a `bench` of its own.

The bench puts a gateway between a scripted model and scripted webhooks.
"""

from __future__ import annotations

import json
import time
import uuid
from typing import NamedTuple

import pytest

from butlerctl.errors import GatewayRefused, NotPermitted
from butlerctl.gateway.choose import open_gateway
from butlerctl.gateway.openclaw import OpenClawGateway
from butlerctl.gateway.openclaw_websocket import WebSocketGateway
from butlerctl.gateway.operator import Operator
from butlerctl.gateway.operator_cron import job_session
from butlerctl.gateway.plugin import MANIFEST, declared_by, shipped_plugin
from butlerctl.inventory.operations import OPERATION_OF_TOOL
from butlerctl.lab.conformance.questions import EVENT, TASKS
from butlerctl.lab.conformance.run import AGENT, SHAPE
from butlerctl.lab.conformance.script import Failure, native, words
from butlerctl.lab.conformance.servers import (
    ScriptedModel,
    ScriptedWebhooks,
    answer_json,
    answer_text,
    succeed,
)
from butlerctl.protocol.tools import household_tools, schema_hash

DONE = words("It is in the calendar, id evt1.")


class GatewayBench(NamedTuple):
    url: str
    token: str
    model: ScriptedModel
    webhooks: ScriptedWebhooks

    def operator(self):
        return Operator.connect(self.url, self.token)

    def play(self, *answers, webhook=succeed):
        self.model.play(answers)
        self.webhooks.behave(webhook)


def fresh_key():
    return f"agent:{AGENT}:butlerctl-{uuid.uuid4().hex[:12]}"


def wait_for(look, seconds=30):
    """What `look` finds, as soon as it finds something."""
    deadline = time.monotonic() + seconds
    while (found := look()) is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def take_turn(operator, key, run_id=None):
    operator.create_session(AGENT, key)
    return operator.run(AGENT, key, EVENT.prompt, run_id=run_id or uuid.uuid4().hex, timeout=30)


def test_a_wrong_token_and_no_token_are_refused(bench):
    for token in ("wrong-token", ""):
        with pytest.raises(NotPermitted):
            Operator.connect(bench.url, token)


def test_it_says_its_version(bench):
    with bench.operator() as operator:
        assert operator.version == "2026.6.11"


def test_the_agent_gets_the_six_tools_and_nothing_more(bench):
    with bench.operator() as operator:
        key = fresh_key()
        operator.create_session(AGENT, key)
        tools = operator.effective_tools(key)
    assert {tool.name for tool in tools} == set(OPERATION_OF_TOOL)
    assert {tool.plugin for tool in tools} == {"fr4m3w0rk-tools"}
    assert len(tools) == 6


def test_an_unknown_session_has_no_tools_and_no_rows(bench):
    with bench.operator() as operator:
        with pytest.raises(GatewayRefused, match="unknown session key") as refused:
            operator.effective_tools(f"agent:{AGENT}:nosuch")
        assert refused.value.code == "INVALID_REQUEST"
        assert operator.session_rows(f"agent:{AGENT}:nosuch") == []


def test_strange_requests_are_refused_in_the_gateways_own_words(bench):
    with bench.operator() as operator:
        call = operator._connection.call
        for method, params, message in (
            ("no.such", {}, "unknown method: no.such"),
            ("config.get", {"zzz": 1}, "invalid config.get params: at root: unexpected property 'zzz'"),
            ("tools.invoke", {}, "invalid tools.invoke params: must have required property 'name'"),
            ("sessions.get", {}, "key required"),
            ("connect", {}, "connect is only valid as the first request"),
            (
                "agent",
                {"message": "x", "idempotencyKey": "x", "agentId": "nosuch"},
                'invalid agent params: unknown agent id "nosuch"',
            ),
        ):
            with pytest.raises(GatewayRefused) as refused:
                call(method, params)
            assert refused.value.message == f"the gateway refused {method}: {message}"


def test_a_turn_gives_reply_rows_and_events(bench):
    bench.play(native(EVENT.call()), DONE)
    with bench.operator() as operator:
        key = fresh_key()
        run = take_turn(operator, key)
        rows = operator.session_rows(key)
    assert (run.status, run.reply, run.error) == ("ok", "It is in the calendar, id evt1.", None)
    tools = [event["data"] for event in run.events if event["stream"] == "tool"]
    assert [(data["phase"], data["name"]) for data in tools] == [
        ("start", "add_calendar_event"),
        ("result", "add_calendar_event"),
    ]
    assert tools[0]["args"] == dict(EVENT.arguments)
    assert tools[1]["isError"] is False
    assert tools[1]["result"]["details"]["ok"] is True
    assert [row["role"] for row in rows] == ["user", "assistant", "toolResult", "assistant"]
    call = next(item for item in rows[1]["content"] if item["type"] == "toolCall")
    assert call["partialArgs"] == EVENT.text
    assert call["arguments"] == dict(EVENT.arguments)
    assert rows[2]["toolCallId"] == call["id"]
    assert len(bench.webhooks.exchanges) == 1


def test_the_webhook_gets_what_the_plugin_sends(bench):
    bench.play(native(EVENT.call()), DONE)
    with bench.operator() as operator:
        take_turn(operator, fresh_key())
    request = bench.webhooks.exchanges[0]["request"]
    headers = {name.lower(): value for name, value in request["headers"].items()}
    assert request["method"] == "POST"
    assert request["url"].endswith("/webhook/L4CK3Y/calendar/add/wife")
    assert request["body"] == {key: value for key, value in EVENT.arguments.items() if key != "profile"}
    assert headers["user-agent"] == "FR4M3W0RK-Tools/1.0"
    assert headers["content-type"] == "application/json"
    assert headers["x-l4ck3y-auth"] == "<redacted>"


def test_a_known_run_id_gives_the_same_answer_and_no_second_write(bench):
    bench.play(native(EVENT.call()), DONE)
    with bench.operator() as operator:
        key, run_id = fresh_key(), uuid.uuid4().hex
        first = take_turn(operator, key, run_id)
        second = take_turn(operator, key, run_id)
    assert second.reply == first.reply
    assert len(bench.webhooks.exchanges) == 1


def test_a_refused_webhook_is_an_error_result_in_a_turn_that_is_ok(bench):
    bench.play(native(EVENT.call()), DONE, webhook=answer_text(403, "Authorization data is wrong!", None))
    with bench.operator() as operator:
        key = fresh_key()
        run = take_turn(operator, key)
        result = next(row for row in operator.session_rows(key) if row["role"] == "toolResult")
    assert run.status == "ok"
    assert result["isError"] is True
    assert json.loads(result["content"][0]["text"])["boundary"] == "header"
    assert run.meta["toolSummary"]["failures"] == 1


def test_a_providers_failure_fails_the_turn_and_leaves_a_row(bench):
    bench.play(Failure(402, "no credit"))
    with bench.operator() as operator:
        key = fresh_key()
        run = take_turn(operator, key)
        rows = operator.session_rows(key)
    assert run.status == "error"
    assert run.error["code"] == "UNAVAILABLE"
    assert "402" in run.error["message"]
    assert rows[-1]["stopReason"] == "error"
    assert bench.webhooks.exchanges == []


def test_the_schemas_that_the_model_was_given_are_the_contracts(bench):
    bench.play(DONE)
    with bench.operator() as operator:
        run = take_turn(operator, fresh_key())
    entries = run.meta["systemPromptReport"]["tools"]["entries"]
    assert {entry["name"]: entry["schemaHash"] for entry in entries} == {
        tool.name: schema_hash(tool) for tool in household_tools(SHAPE)
    }
    offered = {tool["function"]["name"]: tool["function"] for tool in bench.model.asked[0]["tools"]}
    assert {name: function["parameters"] for name, function in offered.items()} == {
        tool.name: json.loads(json.dumps(tool.parameters)) for tool in household_tools(SHAPE)
    }


def test_a_tool_can_be_invoked_without_a_model_and_checks_for_itself(bench):
    bench.play(DONE)
    with bench.operator() as operator:
        key = fresh_key()
        good = operator.invoke_tool(AGENT, key, TASKS.tool, TASKS.arguments, 20)
        stranger = operator.invoke_tool(AGENT, key, TASKS.tool, {"profile": "kids"}, 20)
        unknown = operator.invoke_tool(AGENT, key, "launch_nukes", {}, 20)
        elsewhere = operator.invoke_tool("nosuch", key, TASKS.tool, TASKS.arguments, 20)
    assert (good.found, good.problem, good.details["ok"]) == (True, "", True)
    assert (stranger.found, stranger.details["error"]) == (True, "invalid_args")
    assert (unknown.found, unknown.problem) == (False, "Tool not available: launch_nukes")
    assert elsewhere.problem == f'agent id "nosuch" does not match session agent "{AGENT}"'
    assert bench.model.asked == []
    assert len(bench.webhooks.exchanges) == 1


def test_the_same_write_is_refused_the_fourth_time_in_one_session_and_not_in_another(bench):
    bench.play(DONE)
    with bench.operator() as operator:
        first, second = fresh_key(), fresh_key()
        said = [operator.invoke_tool(AGENT, first, EVENT.tool, EVENT.arguments, 20) for _ in range(4)]
        other = operator.invoke_tool(AGENT, second, EVENT.tool, EVENT.arguments, 20)
    assert [invocation.details["ok"] for invocation in said] == [True, True, True, False]
    assert said[-1].details["error"] == "repeated_call"
    assert other.details["ok"] is True
    assert len(bench.webhooks.exchanges) == 4


def test_without_a_session_the_default_agents_main_one_counts_the_calls(bench):
    bench.play(DONE)
    arguments = {**EVENT.arguments, "summary": "counted in the main session"}
    with bench.operator() as operator:
        main = f"agent:{operator.agents().default}:main"
        for _ in range(2):
            operator.invoke_tool(AGENT, main, EVENT.tool, arguments, 20)
        call = operator._connection.call
        said = [call("tools.invoke", {"name": EVENT.tool, "args": arguments}) for _ in range(2)]
    assert [answer["output"]["details"]["ok"] for answer in said] == [True, False]


def test_it_names_its_agents(bench):
    with bench.operator() as operator:
        agents = operator.agents()
    assert (agents.default, agents.ids) == (AGENT, (AGENT,))


def test_it_tells_what_it_read_in_the_plugins_manifest(bench):
    with bench.operator() as operator:
        entry = operator.plugin_entry("fr4m3w0rk-tools")
        nothing = operator.plugin_entry("nosuch")
    assert entry == declared_by(json.loads((shipped_plugin() / MANIFEST).read_text(encoding="utf-8")))
    assert nothing.name == ""


def test_a_session_tells_which_tools_its_last_turn_was_given(bench):
    bench.play(DONE)
    with bench.operator() as operator:
        key = fresh_key()
        operator.create_session(AGENT, key)
        before = operator.given_tools(key)
        take_turn(operator, key)
        given = operator.given_tools(key)
    assert before == {}
    assert given == {tool.name: schema_hash(tool) for tool in household_tools(SHAPE)}


def test_a_job_that_never_starts_by_itself_can_be_run_in_the_lane_of_jobs(bench):
    bench.play(native(TASKS.call()), words(TASKS.done))
    with bench.operator() as operator:
        cron = operator.cron
        job_id = cron.add_idle_job(AGENT, "butlerctl test", TASKS.prompt, 30)
        assert cron.last_run(job_id) is None
        (job,) = cron.jobs()
        assert (job.id, job.enabled, job.agent, job.kind, job.last) == (
            job_id,
            False,
            AGENT,
            "agentTurn",
            None,
        )
        cron.start(job_id)
        run = wait_for(lambda: cron.last_run(job_id))
        key = job_session(AGENT, job_id)
        rows, given = operator.session_rows(key), operator.given_tools(key)
        cron.remove(job_id)
        assert cron.jobs() == ()
        assert operator.delete_session(key)
        with pytest.raises(GatewayRefused, match="unknown cron job id"):
            cron.start(job_id)
    assert (run.status, run.summary, run.error) == ("ok", TASKS.done, "")
    assert rows[0]["content"][0]["text"].startswith(
        f"[cron:{job_id} butlerctl test] {TASKS.prompt}\nCurrent time: "
    )
    assert [row["role"] for row in rows] == ["user", "assistant", "toolResult", "assistant"]
    assert set(given) == set(OPERATION_OF_TOOL)


def test_a_job_whose_provider_fails_is_told_as_failed(bench):
    bench.play(Failure(402, "no credit"))
    with bench.operator() as operator:
        job_id = operator.cron.add_idle_job(AGENT, "butlerctl test", TASKS.prompt, 30)
        operator.cron.start(job_id)
        run = wait_for(lambda: operator.cron.last_run(job_id))
        operator.cron.remove(job_id)
        operator.delete_session(job_session(AGENT, job_id))
    assert run.status == "error"
    assert "402" in run.error


def test_its_settings_can_be_read(bench):
    with bench.operator() as operator:
        config = operator.config()["config"]
        assert operator.health()["ok"] is True
        assert operator.cron.enabled()
        assert operator.cron.jobs() == ()
    assert config["agents"]["list"][0]["id"] == AGENT
    assert config["cron"]["retry"]["backoffMs"] == [60_000, 300_000, 900_000]
    assert config["plugins"]["entries"]["fr4m3w0rk-tools"]["config"]["prefix"] == "L4CK3Y"


def test_a_session_is_deleted_once(bench):
    with bench.operator() as operator:
        key = fresh_key()
        operator.create_session(AGENT, key)
        assert operator.delete_session(key)
        assert not operator.delete_session(key)


def test_both_ways_to_ask_give_the_same_transcript(bench):
    transcripts = []
    answer = answer_json(200, {"ok": True, "data": {"id": "evt1"}, "execution": "1"})
    for kind in (WebSocketGateway, OpenClawGateway):
        bench.play(native(EVENT.call()), DONE, webhook=answer)
        gateway = kind(bench.url, bench.token, agent=AGENT, timeout=30)
        record = gateway.ask(EVENT.prompt, session=f"butlerctl-{uuid.uuid4().hex[:12]}")
        gateway.close()
        assert record.reply == "It is in the calendar, id evt1."
        transcripts.append(record.transcript)
    websocket, http = transcripts
    assert websocket["messages"] == http["messages"]
    assert websocket["complete"] is True
    assert http["complete"] is True
    assert set(websocket["tools_offered"]) == set(OPERATION_OF_TOOL)


def test_a_providers_failure_is_part_of_the_record_on_both_ways(bench):
    for kind in (WebSocketGateway, OpenClawGateway):
        bench.play(Failure(402, "no credit"))
        gateway = kind(bench.url, bench.token, agent=AGENT, timeout=30)
        record = gateway.ask(EVENT.prompt, session=f"butlerctl-{uuid.uuid4().hex[:12]}")
        gateway.close()
        assert record.reply == ""
        assert record.transcript["completions"][0]["http_status"] == 402


def test_the_better_way_is_chosen_and_its_sessions_are_deleted(bench):
    bench.play(DONE)
    gateway = open_gateway(bench.url, bench.token, agent=AGENT, timeout=30)
    session = f"butlerctl-{uuid.uuid4().hex[:12]}"
    record = gateway.ask(EVENT.prompt, session=session)
    assert "tools_offered" in record.transcript
    gateway.close()
    with bench.operator() as operator:
        assert operator.session_rows(f"agent:{AGENT}:{session}") == []
