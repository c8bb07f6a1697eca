from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from wire_cases import REGISTRY_FILE

from butlerctl.cli.app import run

ROOT = Path(__file__).parents[2]
REGISTRY = ["--registry", str(REGISTRY_FILE)]
GOOD = {
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "tool_calls": [
                    {"id": "a", "function": {"name": "list_tasks", "arguments": '{"profile":"wife"}'}}
                ]
            },
        }
    ]
}


def normalize(path: str, *more: str, adapter: str = "openai_chat") -> int:
    return run(["protocol", "normalize", "--adapter", adapter, *REGISTRY, path, *more])


@pytest.fixture
def file(tmp_path):
    def write(value: object, name: str = "payload.json") -> str:
        path = tmp_path / name
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        return str(path)

    return write


def test_a_good_turn_exits_0_and_reads_well(file, capsys):
    assert normalize(file(GOOD)) == 0
    assert capsys.readouterr().out == 'call   a  list_tasks  {"profile": "wife"}\n'


def test_standard_input_is_a_payload_too(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(json.dumps(GOOD).encode())))
    assert normalize("-", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "calls": [{"id": "a", "name": "list_tasks", "args": {"profile": "wife"}}],
        "errors": [],
        "leaks": [],
        "notes": [],
    }


def test_a_text_adapter_takes_a_json_string(file):
    call = '<tool_call>{"name":"list_tasks","arguments":{"profile":"wife"}}</tool_call>'
    assert normalize(file(json.dumps(call)), adapter="hermes_text") == 0


@pytest.mark.parametrize("text", ["", "{", "data: {}", "{'a': 1}", "[" * 100_000])
def test_a_payload_that_is_no_json_exits_78_with_one_line(text, file, capsys):
    assert normalize(file(text)) == 78
    assert capsys.readouterr().err.count("\n") == 1


def test_a_missing_file_and_a_wrong_registry_exit_78(file, tmp_path, capsys):
    assert normalize(str(tmp_path / "none.json")) == 78
    wrong = file([{"name": "x"}], "registry.json")
    assert run(["protocol", "normalize", "--adapter", "openai_chat", "--registry", wrong, file(GOOD)]) == 78
    no_schema = file([{"name": "x", "parameters": {"type": "nonsense"}}], "registry.json")
    called = {
        "choices": [{"finish_reason": "stop", "message": {"tool_calls": [{"function": {"name": "x"}}]}}]
    }
    assert (
        run(["protocol", "normalize", "--adapter", "openai_chat", "--registry", no_schema, file(called)])
        == 78
    )
    assert "Traceback" not in capsys.readouterr().err


def test_an_unknown_adapter_is_a_usage_problem_that_names_the_known_ones(file, capsys):
    assert normalize(file(GOOD), adapter="auto") == 2
    assert "openai_chat" in capsys.readouterr().err


def test_what_the_terminal_cannot_show_is_spelled_out(file):
    odd = json.dumps(GOOD).replace("list_tasks", "list\\ud83dtasks")
    command = [sys.executable, "-m", "butlerctl", "protocol", "normalize", "--adapter", "openai_chat"]
    done = subprocess.run(
        [*command, *REGISTRY, file(odd)],
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii"},
        cwd=ROOT,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"list\\ud83dtasks" in done.stdout


JOB = [
    {
        "name": "get_job",
        "parameters": {
            "type": "object",
            "properties": {"job_id": {"type": "integer"}},
            "required": ["job_id"],
            "additionalProperties": False,
        },
    }
]


def test_dispatch_gives_one_observation_for_each_call_in_order(file, capsys):
    calls = [
        {"id": "a", "name": "get_job", "args": {"job_id": "17"}},
        {"id": "b", "name": "get_job", "args": {"job_id": 99}},
        {"id": "c", "name": "launch_nukes", "args": {}},
        {"name": "get_job", "arguments": '{"job_id":'},
    ]
    answers = {"get_job": {"status": "failed"}, "b": {"error": "not_found"}}
    files = ["--registry", file(JOB, "r.json"), "--results", file(answers, "a.json"), file(calls)]
    code = run(["protocol", "dispatch", *files, "--format", "json"])

    observations = json.loads(capsys.readouterr().out)["observations"]
    assert code == 1
    assert [each["code"] for each in observations] == [None, "not_found", "unknown_tool", "invalid_json"]
    assert [each["id"] for each in observations][:3] == ["a", "b", "c"]
    assert [each["executed"] for each in observations] == [True, True, False, False]
    assert observations[0]["content"] == {"status": "failed"}


def test_dispatch_takes_what_normalize_printed_and_exits_0_when_all_is_good(file, capsys):
    normalize(file(GOOD), "--format", "json")
    calls = file(capsys.readouterr().out, "calls.json")
    answers = file({"list_tasks": {"tasks": []}}, "answers.json")
    assert run(["protocol", "dispatch", *REGISTRY, "--results", answers, calls]) == 0
    assert capsys.readouterr().out == 'a  list_tasks  ok  {"tasks": []}\n'


@pytest.mark.parametrize(
    ("calls", "answers"), [([{"name": "get_job", "args": {"job_id": 1}}], {}), ("x", {}), ([], [])]
)
def test_dispatch_without_usable_files_exits_78(calls, answers, file, capsys):
    arguments = ["--registry", file(JOB, "r.json"), "--results", file(json.dumps(answers), "a.json")]
    assert run(["protocol", "dispatch", *arguments, file(json.dumps(calls))]) == 78
    assert "Traceback" not in capsys.readouterr().err


def test_the_example_teaches_its_three_lessons():
    done = subprocess.run(
        [sys.executable, "examples/get_job.py"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
        env={"PYTHONPATH": str(ROOT)},
    )
    lines = [line.split(" ", 2) for line in done.stdout.splitlines()]
    assert [(call_id, code) for call_id, code, _ in lines] == [
        ("a", "ok"),
        ("b", "not_found"),
        ("c", "unknown_tool"),
    ]
    assert json.loads(lines[0][2]) == {"job_id": 17, "status": "failed"}
