"""Text that only looks like a call: it is none, whatever it looks like."""

from __future__ import annotations

from collections.abc import Callable

from butlerctl.lab.conformance.case import Case, Right
from butlerctl.lab.conformance.questions import EVENT
from butlerctl.lab.conformance.script import Ask, words

_BAR = "\uff5c"  # the bar of DeepSeek's markup


def _text(case_id: str, title: str, build: Callable[[Ask], str]) -> Case:
    return Case(case_id, "text", title, Right.NO_CALL, EVENT, lambda it: [words(build(it))])


def _parameters(ask: Ask, pattern: str) -> str:
    return "\n".join(pattern.format(name=name, value=value) for name, value in ask.arguments.items())


def _dsml(ask: Ask, bars: str = _BAR, blank: str = "") -> str:
    """DeepSeek's markup of a call; some versions leak it with doubled bars, or with a blank in every tag."""
    tag = f"{bars}DSML{bars}{blank}"
    inner = _parameters(ask, f'<{tag}parameter name="{{name}}" string="true">{{value}}</{tag}parameter>')
    call = f'<{tag}invoke name="{ask.tool}">\n{inner}\n</{tag}invoke>'
    return f"<{tag}function_calls>\n{call}\n</{tag}function_calls>"


def _function(ask: Ask) -> str:
    return f"<function={ask.tool}>\n{_parameters(ask, '<parameter={name}>{value}</parameter>')}\n</function>"


def _invoke(ask: Ask) -> str:
    inner = _parameters(ask, '<parameter name="{name}">{value}</parameter>')
    return f'<invoke name="{ask.tool}">\n{inner}\n</invoke>'


def _harmony(ask: Ask) -> str:
    head = f"<|start|>assistant<|channel|>commentary to=functions.{ask.tool} <|constrain|>json<|message|>"
    return f"{head}{ask.text}<|call|>"


def _convention(ask: Ask) -> str:
    arguments = ask.arguments
    return f"CALENDAR: personal | {arguments['summary']} | {arguments['start']} | {arguments['end']}"


def _pythonic(ask: Ask) -> str:
    return f"[{ask.tool}({', '.join(f'{name}={value!r}' for name, value in ask.arguments.items())})]"


TEXT_CASES = (
    _text("bracket_block", "[NAME] … [/NAME]", lambda it: f"[{it.tool}]\n{it.text}\n[/{it.tool}]"),
    _text(
        "bracket_end", "[NAME] … [END_TOOL_REQUEST]", lambda it: f"[{it.tool}]\n{it.text}\n[END_TOOL_REQUEST]"
    ),
    _text("bracket_tool", "[tool:NAME] {…}", lambda it: f"[tool:{it.tool}] {it.text}"),
    _text("commentary", "commentary to=NAME code{…}", lambda it: f"commentary to={it.tool} code{it.text}"),
    _text(
        "function_tag",
        "<function=NAME><parameter=…>",
        _function,
    ),
    _text(
        "tool_call_tag",
        "<tool_call>",
        lambda it: f'<tool_call>\n{{"name": "{it.tool}", "arguments": {it.text}}}\n</tool_call>',
    ),
    _text(
        "tool_call_xml",
        "<tool_call> around <function=NAME>",
        lambda it: f"<tool_call>\n{_function(it)}\n</tool_call>",
    ),
    _text("invoke_tag", "<invoke>", _invoke),
    _text("harmony", "Harmony markup", _harmony),
    _text("dsml", "DeepSeek's own markup", _dsml),
    _text("dsml_doubled", "DeepSeek's own markup, doubled bars", lambda it: _dsml(it, bars=_BAR * 2)),
    _text("dsml_spaced", "DeepSeek's own markup, a blank in every tag", lambda it: _dsml(it, blank=" ")),
    _text(
        "bare_json", "the call as bare JSON", lambda it: f'{{"name": "{it.tool}", "arguments": {it.text}}}'
    ),
    _text(
        "fenced_json",
        "the call as fenced JSON",
        lambda it: f'```json\n{{"name": "{it.tool}", "arguments": {it.text}}}\n```',
    ),
    _text("pythonic", "a call as Python writes it", _pythonic),
    _text("convention", "the CALENDAR: line of an earlier runner", _convention),
    _text(
        "prose_bracket",
        "words, then [NAME] … [/NAME]",
        lambda it: f"I will add it.\n[{it.tool}]\n{it.text}\n[/{it.tool}]",
    ),
)
