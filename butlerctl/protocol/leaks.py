"""Text that imitates a tool call: which kinds of it stand in a reply.

Only a structured call of the declared wire format is a call. Everything here is a finding, never a call.
The signs are searched in the assembled text, because a stream may cut a marker anywhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Any

_WIDE = "\uff5c"  # the full-width bar of DeepSeek's tokens
# The upright bars that it was seen turned into, or is easily taken for.
_BAR = (
    f"[|{_WIDE}\u00a6\u01c0\u01c1\u2016\u2223\u2225\u23aa\u23d0\u2502\u2503\u2551\u258f\u2595\u2758\u2759\u275a"
    "\u3021\u4e28\ufe31\ufe33\uffe4\uffe8]"
)

_MARKUP: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "harmony",
        re.compile(
            r"<\|(?:channel|constrain|message|call|start|return)\|>"
            r"|\bto=functions\.\w|assistant(?:commentary|analysis|final)"
        ),
    ),
    (
        "dsml",
        re.compile(
            rf"<\s*+(?:/\s*+)?{_BAR}{{1,2}}\s*+(?:/\s*+)?DSML\b"
            rf"|[{_WIDE}\u2016]\s*+DSML\s*+[{_WIDE}\u2016]"
        ),
    ),
    ("deepseek_tokens", re.compile(rf"[|{_WIDE}]tool\u2581(?:call|sep|output)")),
    ("kimi_tokens", re.compile(r"<\|tool_calls?(?:_[a-z]+)*_(?:begin|end)\|>")),
    ("minimax_xml", re.compile(r"minimax:tool_call")),
    ("function_xml", re.compile(r"<(?:function|parameter)=[\"']?[\w.:-]")),
    (
        "invoke_xml",
        re.compile(r"<(?:antml:)?invoke\s+name\s*=|<(?:antml:)?function_calls>|<invoke>\s*<tool_name>"),
    ),
    ("glm_xml", re.compile(r"</?arg_(?:key|value)>")),
    ("tool_call_xml", re.compile(r"</?tool_call>")),
    ("llama_tag", re.compile(r"<\|python_tag\|>")),
    ("mistral_tag", re.compile(r"\[TOOL_CALLS\]")),
    ("convention_line", re.compile(r"^[ \t]*(?:CALENDAR|TASK|SHEET):.*\|", re.MULTILINE)),
)

# JSON inside one of these belongs to that format: the tag is the finding, not the object.
_WRAPPED_JSON = re.compile(
    r"<tool_call>.*?(?:</tool_call>|\Z)|<\|python_tag\|>.*|\[TOOL_CALLS\].*|<\|message\|>.*?(?:<\||\Z)",
    re.DOTALL,
)

_NAME_DELIMITER = re.compile(rf"[\s<>|{_WIDE}\u2581()\[\]{{}}\"'`=,;]")

_NAME_KEYS = ("name", "tool", "tool_name", "function", "function_name", "action", "recipient_name")
_ARGUMENT_KEYS = (
    "arguments",
    "parameters",
    "args",
    "input",
    "params",
    "action_input",
    "tool_input",
    "kwargs",
)
_MOST_OBJECTS = 64  # opening braces that are tried in one text, so that hostile text stays cheap


def find_leaks(text: str, tool_names: Collection[str]) -> tuple[str, ...]:
    """The kinds of imitated calls in this text, each once, in a fixed order."""
    if not text:
        return ()
    kinds = [kind for kind, sign in _MARKUP if sign.search(text)]
    if tool_names:
        kinds += _named_kinds(text, frozenset(tool_names), kinds)
    return tuple(kinds)


def name_is_delimited(name: str) -> bool:
    """Whether delimiters, tags or blanks stand inside a tool name: the residue of another format."""
    return _NAME_DELIMITER.search(name) is not None


def _named_kinds(text: str, names: frozenset[str], found: Collection[str]) -> Iterator[str]:
    signs = _signs_with_names(names)
    if "harmony" not in found and signs["harmony"].search(text):
        yield "harmony"
    for kind in ("bracket_call", "pythonic_call"):
        if signs[kind].search(text):
            yield kind
    if signs["quoted"].search(text) and _holds_json_call(_WRAPPED_JSON.sub("", text), names):
        yield "json_call"


@lru_cache(maxsize=32)
def _signs_with_names(names: frozenset[str]) -> dict[str, re.Pattern[str]]:
    name = "(?:" + "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) + ")"
    return {
        "harmony": re.compile(rf"\bto={name}\b"),
        "bracket_call": re.compile(rf"^[ \t]*\[(?:tool:\s*)?{name}\]", re.MULTILINE),
        "pythonic_call": re.compile(rf"^[ \t]*+(?:\[[ \t]*+)?{name}\(\s*\w+\s*=", re.MULTILINE),
        "quoted": re.compile(rf'"{name}"'),
    }


def _holds_json_call(text: str, names: frozenset[str]) -> bool:
    try:
        return _begins_json_call(text, names) or any(_is_call(value, names) for value in _json_objects(text))
    except RecursionError:
        return False


def _begins_json_call(text: str, names: frozenset[str]) -> bool:
    """A call's object that was cut off or is malformed: it imitates a call all the same."""
    keys, arguments = "|".join(_NAME_KEYS), "|".join(_ARGUMENT_KEYS)
    begins = re.finditer(rf'\{{\s*"(?:{keys})"\s*:\s*"([^"\n]*)"\s*,\s*"(?:{arguments})"\s*:', text)
    return any(match[1] in names for match in begins)


def _json_objects(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder()
    position = text.find("{")
    for _ in range(_MOST_OBJECTS):
        if position < 0:
            return
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            yield value
        position = text.find("{", end)


def _is_call(value: Any, names: frozenset[str]) -> bool:
    if isinstance(value, list):
        return any(_is_call(item, names) for item in value)
    if not isinstance(value, dict):
        return False
    named = any(isinstance(value.get(key), str) and value[key] in names for key in _NAME_KEYS)
    if named and any(key in value for key in _ARGUMENT_KEYS):
        return True
    return any(_is_call(item, names) for item in value.values() if isinstance(item, dict | list))
