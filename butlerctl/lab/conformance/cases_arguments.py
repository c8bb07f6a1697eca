"""Arguments that are not what they ought to be: cut, doubled, repaired, of another type."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from butlerctl.lab.conformance.case import Case, Right
from butlerctl.lab.conformance.questions import EVENT, ROW, TASK, TASKS
from butlerctl.lab.conformance.script import Ask, native

_BIG = 2**53 + 1


def _arguments(
    case_id: str,
    title: str,
    right: Right,
    build: Callable[[Ask], Any],
    ask: Ask = EVENT,
    finish: str | None = "tool_calls",
) -> Case:
    """The model calls the right tool once, with these arguments."""
    return Case(
        case_id, "arguments", title, right, ask, lambda it: [native(it.call(build(it)), finish=finish)]
    )


def _cut(ask: Ask) -> str:
    """Cut inside the last string: what is left can be closed into a whole object."""
    return ask.text[:-6]


ARGUMENT_CASES = (
    _arguments("good", "the right call", Right.RUNS, lambda it: it.text),
    _arguments("good_read", "the right call of a read", Right.RUNS, lambda it: it.text, TASKS),
    _arguments("good_row", "the right call with a row", Right.RUNS, lambda it: it.text, ROW),
    _arguments("cut_string", "cut inside the last string", Right.REFUSED, _cut),
    _arguments(
        "cut_length", "cut inside the last string, finish length", Right.REFUSED, _cut, finish="length"
    ),
    _arguments("cut_no_finish", "cut inside the last string, no finish", Right.REFUSED, _cut, finish=None),
    _arguments("cut_key", "cut before a required key", Right.REFUSED, lambda it: it.text[:60]),
    _arguments("cut_brace", "the last brace is missing", Right.REFUSED, lambda it: it.text[:-1]),
    _arguments("empty", "empty text", Right.REFUSED, lambda _: ""),
    _arguments("null", "the word null", Right.REFUSED, lambda _: "null"),
    _arguments("list", "a list around the object", Right.REFUSED, lambda it: f"[{it.text}]"),
    _arguments(
        "trailing_comma", "a comma before the last brace", Right.REFUSED, lambda it: it.text[:-1] + ",}"
    ),
    _arguments(
        "trailing_prose", "words after the object", Right.REFUSED, lambda it: it.text + " I hope this helps."
    ),
    _arguments(
        "two_objects",
        "two objects in one text",
        Right.REFUSED,
        lambda it: it.text + it.changed(profile="husband"),
    ),
    _arguments(
        "duplicate_key",
        "the profile stands twice",
        Right.REFUSED,
        lambda it: it.text[:-1] + ', "profile": "husband"}',
    ),
    _arguments(
        "comment",
        "a comment in the text",
        Right.REFUSED,
        lambda it: it.text.replace("{", "{ // for the wife\n", 1),
    ),
    _arguments("single_quotes", "a Python dictionary", Right.REFUSED, lambda it: str(dict(it.arguments))),
    _arguments(
        "double_encoded", "the object as a JSON string", Right.REFUSED, lambda it: json.dumps(it.text)
    ),
    _arguments(
        "raw_newline",
        "a raw line break in a string",
        Right.REFUSED,
        lambda it: it.text.replace("butlerctl ", "butlerctl\n"),
    ),
    _arguments(
        "bad_escape",
        "an escape that JSON lacks",
        Right.REFUSED,
        lambda it: it.text.replace("butlerctl ", "butlerctl\\x20"),
    ),
    _arguments(
        "lone_surrogate",
        "half a surrogate pair",
        Right.REFUSED,
        lambda it: it.text.replace("butlerctl ", "butlerctl \\ud83d "),
    ),
    _arguments("nan", "NaN as a cell", Right.REFUSED, lambda it: it.text.replace("2.5", "NaN"), ROW),
    _arguments(
        "infinity", "-Infinity as a cell", Right.REFUSED, lambda it: it.text.replace("2.5", "-Infinity"), ROW
    ),
    Case(
        "big_integer",
        "arguments",
        "an integer above 2^53",
        Right.RUNS,
        ROW,
        lambda it: [native(it.call(it.text.replace("2.5", str(_BIG))))],
        wanted=lambda it: [{**it.arguments, "values": ["2031-07-14", "milk", _BIG]}],
    ),
    _arguments("object", "an object where text belongs", Right.RUNS, lambda it: dict(it.arguments)),
    _arguments(
        "array_as_text",
        "the row as JSON text",
        Right.REFUSED,
        lambda it: it.changed(values='["2031-07-14","milk",2.5]'),
        ROW,
    ),
    _arguments("limit_true", "limit true", Right.REFUSED, lambda it: it.changed(limit=True), TASKS),
    _arguments("limit_digits", 'limit "5"', Right.RUNS, lambda it: it.changed(limit="5"), TASKS),
    _arguments("limit_exponent", 'limit "1e1"', Right.REFUSED, lambda it: it.changed(limit="1e1"), TASKS),
    _arguments("limit_hex", 'limit "0x10"', Right.REFUSED, lambda it: it.changed(limit="0x10"), TASKS),
    _arguments("limit_decimal", 'limit "5.0"', Right.REFUSED, lambda it: it.changed(limit="5.0"), TASKS),
    _arguments("limit_blank", 'limit " 17"', Right.REFUSED, lambda it: it.changed(limit=" 17"), TASKS),
    _arguments("limit_zero", 'limit "017"', Right.REFUSED, lambda it: it.changed(limit="017"), TASKS),
    _arguments("limit_half", "limit 2.5", Right.REFUSED, lambda it: it.changed(limit=2.5), TASKS),
    _arguments("number_as_text", "a number as title", Right.REFUSED, lambda it: it.changed(title=17), TASK),
    _arguments(
        "key_missing",
        "a required key is missing",
        Right.REFUSED,
        lambda it: json.dumps({"profile": it.arguments["profile"]}),
    ),
    _arguments(
        "extra_key", "a key that the tool lacks", Right.REFUSED, lambda it: it.changed(location="home")
    ),
    _arguments(
        "proto_key", "the key __proto__", Right.REFUSED, lambda it: it.text[:-1] + ', "__proto__": {"x": 1}}'
    ),
    _arguments(
        "outside_enum", "a profile that nobody has", Right.REFUSED, lambda it: it.changed(profile="kids")
    ),
    _arguments(
        "impossible_day",
        "31 February",
        Right.REFUSED,
        lambda it: it.changed(start="2031-02-31T10:00:00-05:00"),
    ),
    _arguments(
        "end_first",
        "the end before the start",
        Right.REFUSED,
        lambda it: it.changed(end="2031-07-14T09:00:00-04:00"),
    ),
    _arguments(
        "formula",
        "a cell that is a formula",
        Right.REFUSED,
        lambda it: it.changed(values=["=1+1", "milk", 2.5]),
        ROW,
    ),
)
