"""`model check` against a scripted provider that knows the battery, and errs in one way at a time."""

from __future__ import annotations

import json
from typing import Any

import pytest
from scripted_provider import Answer, ScriptedProvider, call, events, failure, streamed, whole

from butlerctl.cli.app import run
from butlerctl.protocol.battery import SCENARIOS, Scenario

BY_PROMPT = {scenario.prompt: scenario for scenario in SCENARIOS}


def scenario_of(request: dict[str, Any]) -> Scenario:
    return next(BY_PROMPT[message["content"]] for message in request["messages"] if message["role"] == "user")


def right_calls(scenario: Scenario) -> list[dict[str, Any]]:
    return [
        call(expected.tool, dict(expected.arguments), f"call_{number}")
        for number, expected in enumerate(scenario.expected)
    ]


def is_first(request: dict[str, Any]) -> bool:
    return request["messages"][-1]["role"] == "user"


def good(request: dict[str, Any], **more: Any) -> Answer:
    """The calls that are due, then a sentence."""
    form = streamed if request["stream"] else whole
    calls = right_calls(scenario_of(request)) if is_first(request) else []
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    return form(None if calls else "As the tools say.", calls, usage=usage, **more)


def erring(wrong: Any) -> Any:
    """A model that does `wrong` on the first turn of a scenario that needs calls."""

    def answer(request: dict[str, Any]) -> Answer:
        scenario = scenario_of(request)
        if not is_first(request) or not scenario.expected:
            return good(request)
        result: Answer = wrong(right_calls(scenario), streamed if request["stream"] else whole)
        return result

    return answer


def harmony(calls, form):
    function = calls[0]["function"]
    text = f"<|channel|>commentary to=functions.{function['name']} <|constrain|>json<|message|>{function['arguments']}<|call|>"
    return form(text)


def delimited(calls, form):
    return form(
        calls=[
            call(f"{each['function']['name']}<|channel|>commentary", each["function"]["arguments"])
            for each in calls
        ]
    )


def in_content(calls, form):
    function = calls[0]["function"]
    return form(json.dumps({"name": function["name"], "arguments": json.loads(function["arguments"])}))


def truncated(calls, form):
    return form(calls=[call(each["function"]["name"], each["function"]["arguments"][:-3]) for each in calls])


def merged(calls, form):
    text = "".join(each["function"]["arguments"] for each in calls)
    return form(calls=[call(calls[0]["function"]["name"], text)])


def check(server: ScriptedProvider, *more: str) -> int:
    return run(
        ["model", "check", "--url", server.url, "--model", "fake-1", "-k", "1", "--timeout", "5", *more]
    )


def figures(capsys) -> dict[str, Any]:
    return json.loads(capsys.readouterr().out)


def test_a_model_that_does_everything_right_passes_streamed_and_not(capsys):
    with ScriptedProvider(good) as server:
        assert check(server, "--format", "json") == 0

    seen = figures(capsys)
    assert (seen["pass_rate"], seen["trigger_rate"], seen["schema_accuracy"]) == (1.0, 1.0, 1.0)
    assert seen["runs"] == 2 * len(SCENARIOS)
    assert {tuple(scenario["passed"]) for scenario in seen["scenarios"].values()} == {("stream", "plain")}
    assert seen["usage"]["total_tokens"] == 12 * len(server.requests)
    assert {request["stream"] for request in server.requests} == {True, False}


@pytest.mark.parametrize(
    ("wrong", "only", "expected"),
    [
        (harmony, "enum", {"leaks": {"harmony": 2}, "trigger_rate": 0.0}),
        (in_content, "enum", {"leaks": {"json_call": 2}, "trigger_rate": 0.0}),
        (delimited, "enum", {"leaks": {"name_delimiter": 2}, "malformed_names": {"add_task<|channel|>commentary": 2}}),
        (truncated, "enum", {"errors": {"invalid_json": 2}, "schema_accuracy": 0.0}),
        (merged, "parallel", {"errors": {"invalid_json": 2}, "trigger_rate": 1.0}),
        (lambda calls, form: form(calls=calls, finish="stop"), "enum", {"finish_mismatch": 2, "pass_rate": 1.0}),
        (lambda _, form: form("Done!"), "enum", {"trigger_rate": 0.0, "schema_accuracy": None, "pass_rate": 0.0}),
        (lambda calls, form: form(calls=[*calls, call("list_tasks", {"profile": "wife"}, "x")]), "enum", {"pass_rate": 0.0}),
        (lambda _, form: form(calls=[call("launch_nukes", {})]), "enum", {"errors": {"unknown_tool": 2}}),
    ],
)  # fmt: skip
def test_each_misbehaviour_has_its_figure(wrong, only, expected, capsys):
    with ScriptedProvider(erring(wrong)) as server:
        code = check(server, "--only", only, "--format", "json")

    seen = figures(capsys)
    assert {key: seen[key] for key in expected} == expected
    assert code == (0 if seen["pass_rate"] == 1.0 else 1)


def test_parallel_calls_under_one_index_are_told_apart(capsys):
    def answer(request):
        if not is_first(request):
            return good(request)
        deltas = [{"tool_calls": [{"index": 0, **each}]} for each in right_calls(scenario_of(request))]
        chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
        return events([*chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}])

    with ScriptedProvider(answer) as server:
        assert check(server, "--only", "parallel", "--mode", "stream") == 0
    assert "1/1" in capsys.readouterr().out


def test_a_tool_that_does_not_exist_must_not_be_called(capsys):
    def answer(request):
        return whole(calls=[call("send_email", {"to": "bob"})]) if is_first(request) else whole("Sent!")

    with ScriptedProvider(answer) as server:
        assert check(server, "--only", "temptation", "--mode", "plain") == 1
    assert "rejected: unknown_tool" in capsys.readouterr().out


def test_a_failed_tool_may_be_tried_once_more_and_not_for_ever(capsys):
    def stubborn(request):
        return whole(calls=right_calls(scenario_of(request)))

    with ScriptedProvider(stubborn) as server:
        assert check(server, "--only", "error_observation", "--mode", "plain") == 1
    assert "no answer: over_budget (turns)" in capsys.readouterr().out


def test_the_same_moment_in_another_zone_is_right(capsys):
    moved = {"start": "2026-07-04T14:00:00Z", "end": "2026-07-04T15:00:00+00:00"}

    def wrong(calls, form):
        arguments = json.loads(calls[0]["function"]["arguments"]) | moved
        return form(calls=[call("add_calendar_event", arguments)])

    with ScriptedProvider(erring(wrong)) as server:
        assert check(server, "--only", "calendar_add") == 0
        assert check(server, "--only", "calendar_add_abroad") == 1
    assert "wrong call" in capsys.readouterr().out


def test_a_baseline_names_what_got_worse(tmp_path, capsys):
    baseline = str(tmp_path / "baseline.json")
    with ScriptedProvider(good) as server:
        assert check(server, "--only", "enum", "--save", baseline) == 0
        assert check(server, "--only", "enum", "--baseline", baseline) == 0
    capsys.readouterr()
    with ScriptedProvider(erring(in_content)) as server:
        assert check(server, "--only", "enum", "--baseline", baseline, "--format", "json") == 1

    worse = figures(capsys)["worse"]
    assert "pass_rate fell from 100% to 0%" in worse
    assert "leaks rose from 0.00 to 1.00 a run" in worse
    assert "enum passed every time and does not now" in worse


def test_a_bad_run_that_is_no_worse_than_its_baseline_passes(tmp_path):
    baseline = str(tmp_path / "baseline.json")
    with ScriptedProvider(erring(in_content)) as server:
        assert check(server, "--only", "enum", "--save", baseline) == 1
        assert check(server, "--only", "enum", "--baseline", baseline) == 0


def test_the_provider_that_answered_is_recorded_and_can_be_pinned(capsys):
    with ScriptedProvider(lambda request: good(request, provider="Upstream B")) as server:
        assert check(server, "--only", "enum", "--provider", "Upstream B", "--format", "json") == 0

    assert set(figures(capsys)["providers"]) == {"Upstream B"}
    assert server.requests[0]["provider"] == {"order": ["Upstream B"], "allow_fallbacks": False}


@pytest.mark.parametrize(("status", "code"), [(401, 77), (404, 75), (503, 75)])
def test_a_provider_that_never_answers_says_nothing_about_the_model(status, code, monkeypatch, capsys):
    monkeypatch.setenv("BUTLERCTL_MODEL_KEY", "key-of-the-test")
    with ScriptedProvider(failure(status, **{"Retry-After": "0"})) as server:
        assert check(server, "--only", "small_talk", "--mode", "plain") == code

    assert server.authorizations[0] == "Bearer key-of-the-test"
    assert "key-of-the-test" not in capsys.readouterr().err


def test_wrong_options_are_told_in_one_line(tmp_path, capsys):
    other = tmp_path / "other.json"
    other.write_text("[]", encoding="utf-8")
    with ScriptedProvider(good) as server:
        assert check(server, "--only", "nonsense") == 2
        assert check(server, "--only", "enum", "--baseline", str(other)) == 78
        assert check(server, "--only", "enum", "--baseline", str(tmp_path / "none.json")) == 78
    assert "Traceback" not in capsys.readouterr().err
