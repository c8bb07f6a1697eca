from __future__ import annotations

import time

import pytest

from butlerctl.protocol.leaks import find_leaks, name_is_delimited

NAMES = ("add_task", "list_tasks")
BAR = "\uff5c"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("harmony", "commentary to=add_task code{}"),
        ("harmony", "assistantfinalDone."),
        ("harmony", "<|start|>assistant"),
        ("dsml", f"<{BAR}DSML{BAR} calls>"),
        ("dsml", "<||DSML||tool_calls"),
        ("dsml", "< | DSML | invoke name="),
        ("dsml", "<\u2016DSML\u2016function_calls>"),
        ("dsml", f"</{BAR}DSML{BAR}invoke>"),
        ("deepseek_tokens", f"<{BAR}tool\u2581outputs\u2581begin{BAR}>"),
        ("kimi_tokens", "<|tool_call_argument_begin|>"),
        ("minimax_xml", "</minimax:tool_call>"),
        ("function_xml", "<parameter=title>"),
        ("invoke_xml", "<invoke>\n<tool_name>"),
        ("glm_xml", "<arg_value>wife"),
        ("tool_call_xml", "<tool_call>"),
        ("llama_tag", "<|python_tag|>"),
        ("mistral_tag", '[TOOL_CALLS] [{"name": "add_task", "arguments": {}}]'),
        ("bracket_call", "Sure.\n[tool:add_task] {}"),
        ("bracket_call", "[add_task]"),
        ("pythonic_call", "add_task(profile='wife')"),
        ("json_call", 'Here:\n```json\n{"tool": "add_task", "input": {}}\n```'),
        ("json_call", '[{"arguments": {}, "name": "list_tasks"}]'),
        ("json_call", '{"tool_calls": [{"function": {"name": "add_task", "arguments": "{}"}}]}'),
        ("json_call", '{"name": "add_task", "arguments": {"profile": "wi'),
        ("json_call", '{"x": {"action": "add_task", "action_input": {}}}'),
        ("convention_line", "Noted.\nTASK: milk | 2026-07-04"),
    ],
)
def test_an_imitated_call_is_named(kind, text):
    assert find_leaks(text, NAMES) == (kind,)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I use add_task for that; nothing has been saved yet.",
        "| DSML | what it is |\n|---|---|\n| a | b |",
        "The list [Household] has three tasks.",
        'The row is {"name": "Bob", "arguments": "none"}.',
        '{"name": "add_task", "colour": "red"}',
        "Call add_task (with a title) when you are ready.",
        "TASK: buy milk",
        "x <tool and y> z, a=1, (b=2)",
        "print(add_task)",
        "go to=home",
        '{"month": "July", "total": [1, 2',
    ],
)
def test_ordinary_text_is_no_leak(text):
    assert find_leaks(text, NAMES) == ()


def test_several_kinds_are_named_once_each():
    text = "<tool_call><function=add_task></tool_call> <tool_call>"
    assert set(find_leaks(text, NAMES)) == {"tool_call_xml", "function_xml"}


@pytest.mark.parametrize(
    "name", ["add_task ", "add\ntask", "add_task<|channel|>x", "<add_task>", 'a"b', f"a{BAR}"]
)
def test_delimiters_inside_a_name_are_seen(name):
    assert name_is_delimited(name)


@pytest.mark.parametrize(
    "name", ["add_task", "functions.add_task", "add-task", "add_task:0", "x/add_task", "\u0430dd_task"]
)
def test_other_near_names_hold_no_delimiter(name):
    assert not name_is_delimited(name)


@pytest.mark.parametrize(
    "piece",
    ["<", "< ", "{", '{"add_task":', "[", " ", "<|", "\n ", "<tool_call>", "<invoke>", '"', '{"a":', "[[[["],
)
def test_hostile_text_is_searched_in_a_time_that_grows_with_its_length(piece):
    text = piece * (200_000 // len(piece)) + '"add_task"'
    started = time.perf_counter()
    find_leaks(text, NAMES)
    assert time.perf_counter() - started < 2
