"""A turn while it runs, over WebSocket: what is reported, how it ends for its time, how it is ended from outside."""

from __future__ import annotations

import threading
import time
import uuid
from contextlib import contextmanager

import pytest
from contract_gateway import AGENT, DONE, fresh_key

from butlerctl.errors import GatewayRefused
from butlerctl.lab.conformance.questions import EVENT
from butlerctl.lab.conformance.script import Failure, Silence, native
from butlerctl.lab.conformance.servers import keep_waiting, succeed

ABORTED_ROW = {
    "role": "assistant",
    "content": [],
    "stopReason": "aborted",
    "errorMessage": "Request was aborted.",
}


def watched(operator):
    """Every frame as it comes in, with the number of requests that the webhooks had by then."""
    seen = []
    handle = operator._connection._handle

    def keep(frame):
        seen.append(frame)
        handle(frame)

    operator._connection._handle = keep
    return seen


def phases(run, stream):
    return [event["data"]["phase"] for event in run.events if event["stream"] == stream]


@contextmanager
def under_way(bench, operator, *answers, timeout=30, webhook=succeed):
    """A turn in another thread, once the model was asked; its outcome is in the list afterwards."""
    bench.play(*answers, webhook=webhook)
    key, run_id, ended = fresh_key(), uuid.uuid4().hex, []
    operator.create_session(AGENT, key)

    def ask():
        ended.append(operator.run(AGENT, key, EVENT.prompt, run_id=run_id, timeout=timeout))

    thread = threading.Thread(target=ask)
    thread.start()
    deadline = time.monotonic() + 10
    while not bench.model.asked:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    try:
        yield key, run_id, ended
    finally:
        thread.join(20)
    assert len(ended) == 1


def test_calls_and_results_are_reported_while_the_turn_runs(bench):
    bench.play(native(EVENT.call()), DONE)
    sent_at = []

    def behave(request):
        sent_at.append(len(seen))
        time.sleep(0.3)
        return succeed(request)

    bench.webhooks.behave(behave)
    with bench.operator() as operator:
        key = fresh_key()
        operator.create_session(AGENT, key)
        seen = watched(operator)
        run = operator.run(AGENT, key, EVENT.prompt, run_id=uuid.uuid4().hex, timeout=30)
    assert phases(run, "tool") == ["start", "result"]
    assert phases(run, "lifecycle") == ["start", "finishing", "end"]
    streams = [(event["stream"], event["data"].get("phase")) for event in run.events]
    assert streams.index(("lifecycle", "start")) < streams.index(("tool", "start"))
    assert streams.index(("tool", "result")) < streams.index(("lifecycle", "finishing"))
    frames = [(frame.get("payload") or {}).get("data", {}).get("phase") for frame in seen]
    result_at = frames.index("result")
    assert sent_at[0] <= result_at
    assert seen[-1]["type"] == "res" or any(frame.get("type") == "res" for frame in seen[result_at:])


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (402, "402 no good"),
        (403, "403 no good"),
        (
            404,
            "The selected model was not found by the provider. Check the model id or choose a different model.",
        ),
        (429, "⚠️ API rate limit reached. Please try again later."),
        (500, "500 no good"),
    ],
)
def test_a_failing_provider_is_reported_as_the_end_of_the_turn(bench, status, words):
    bench.play(Failure(status, "no good"))
    with bench.operator() as operator:
        key = fresh_key()
        operator.create_session(AGENT, key)
        run = operator.run(AGENT, key, EVENT.prompt, run_id=uuid.uuid4().hex, timeout=30)
        row = operator.session_rows(key)[-1]
    assert phases(run, "lifecycle") == ["start", "finishing", "error"]
    assert run.error == {"code": "UNAVAILABLE", "message": f"FailoverError: {words}"}
    assert (row["errorCode"], row["errorMessage"]) == (str(status), f"{status} no good")


def test_a_turn_ends_at_its_time_limit_and_leaves_a_row(bench):
    with bench.operator() as operator:
        started = time.monotonic()
        with under_way(bench, operator, Silence(4), timeout=1) as (key, run_id, ended):
            pass
        assert time.monotonic() - started < 4
        (run,) = ended
        rows = operator.session_rows(key)
        waited = operator._connection.call("agent.wait", {"runId": run_id, "timeoutMs": 1000})
    assert (run.status, run.error) == ("timeout", None)
    assert run.reply.startswith("LLM request failed.\nRequest timed out before a response was generated.")
    assert phases(run, "lifecycle") == ["start", "finishing", "end"]
    assert [row["role"] for row in rows] == ["user", "assistant"]
    assert {name: rows[-1][name] for name in ABORTED_ROW} == ABORTED_ROW
    assert (waited["status"], waited["timeoutPhase"]) == ("timeout", "provider")


def test_a_turn_can_be_aborted_by_its_session(bench):
    with bench.operator() as operator:
        call = operator._connection.call
        with under_way(bench, operator, Silence(4)) as (key, run_id, ended):
            started = time.monotonic()
            assert call("agent.wait", {"runId": run_id, "timeoutMs": 200}) == {
                "runId": run_id,
                "status": "timeout",
                "timeoutPhase": "gateway_draining",
            }
            assert call("sessions.abort", {"key": key}) == {
                "ok": True,
                "abortedRunId": run_id,
                "status": "aborted",
            }
        assert time.monotonic() - started < 3
        rows = operator.session_rows(key)
        again = call("sessions.abort", {"key": key})
        waited = call("agent.wait", {"runId": run_id, "timeoutMs": 1000})
    (run,) = ended
    assert (run.status, run.reply, run.error) == ("timeout", "LLM request failed.", None)
    assert {name: rows[-1][name] for name in ABORTED_ROW} == ABORTED_ROW
    assert again == {"ok": True, "abortedRunId": None, "status": "no-active-run"}
    assert waited["status"] == "timeout"


def test_a_session_that_is_deleted_ends_the_turn_in_it(bench):
    with bench.operator() as operator:
        with under_way(bench, operator, Silence(4)) as (key, _, ended):
            started = time.monotonic()
            assert operator.delete_session(key)
        assert time.monotonic() - started < 3
        assert operator.session_rows(key) == []
    (run,) = ended
    assert (run.status, run.error["code"]) == ("error", "UNAVAILABLE")


def test_a_call_that_is_under_way_at_the_time_limit_has_been_reported(bench):
    slow = {"timeout": 1, "webhook": keep_waiting(1.6)}
    with (
        bench.operator() as operator,
        under_way(bench, operator, native(EVENT.call()), DONE, **slow) as (_, _, ended),
    ):
        pass
    (run,) = ended
    assert run.status == "timeout"
    assert phases(run, "tool")[0] == "start"
    assert len(bench.webhooks.exchanges) == 1


def test_the_end_of_a_turn_can_be_waited_for(bench):
    bench.play(DONE)
    with bench.operator() as operator:
        call = operator._connection.call
        key, run_id = fresh_key(), uuid.uuid4().hex
        operator.create_session(AGENT, key)
        operator.run(AGENT, key, EVENT.prompt, run_id=run_id, timeout=30)
        waited = call("agent.wait", {"runId": run_id, "timeoutMs": 5000})
        unknown = call("agent.wait", {"runId": "nosuch", "timeoutMs": 200})
        with under_way(bench, operator, Silence(1), timeout=30) as (_, slow, _):
            assert call("agent.wait", {"runId": slow, "timeoutMs": 10_000})["status"] == "error"
    assert {name: waited[name] for name in ("runId", "status", "stopReason")} == {
        "runId": run_id,
        "status": "ok",
        "stopReason": "stop",
    }
    assert waited["endedAt"] > 0
    assert unknown == {
        "runId": "nosuch",
        "status": "timeout",
        "timeoutPhase": "queue",
        "providerStarted": False,
    }


@pytest.mark.parametrize(
    ("method", "params", "told"),
    [
        ("agent.wait", {"timeoutMs": 1}, "invalid agent.wait params: must have required property 'runId'"),
        (
            "agent.wait",
            {"runId": "x", "zzz": 1},
            "invalid agent.wait params: at root: unexpected property 'zzz'",
        ),
        ("sessions.abort", {}, "key required"),
        (
            "sessions.abort",
            {"key": "x", "zzz": 1},
            "invalid sessions.abort params: at root: unexpected property 'zzz'",
        ),
    ],
)
def test_strange_requests_about_a_turn_are_refused(bench, method, params, told):
    with bench.operator() as operator, pytest.raises(GatewayRefused) as refused:
        operator._connection.call(method, params)
    assert refused.value.message == f"the gateway refused {method}: {told}"


def test_an_abort_where_nothing_runs_says_so(bench):
    nothing = {"ok": True, "abortedRunId": None, "status": "no-active-run"}
    with bench.operator() as operator:
        call = operator._connection.call
        assert call("sessions.abort", {"key": f"agent:{AGENT}:nosuch"}) == nothing
        assert call("sessions.abort", {"runId": "nosuch"}) == nothing
