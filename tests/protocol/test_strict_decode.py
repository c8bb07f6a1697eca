from __future__ import annotations

import pytest
from wire_cases import turn_of

from butlerctl.protocol.decode import (
    MOST_CHARACTERS,
    MOST_LEVELS,
    NotStrictJson,
    decode,
    encode,
    read_payload,
)


@pytest.mark.parametrize(
    "text",
    [
        "NaN", "[Infinity]", "[-Infinity]", "[1e999]", "[-1e999]", '{"a":1,"a":2}', '{"a":1,"\\u0061":2}',
        '{"x":{"b":1,"b":1}}', '"\\ud83d"', '{"\\udc00":1}', '"\ud83d"', '{"a":1,}', "[1,]", '{"a":1} x', "{}{}",
        "/* */{}", "{} // x", "[+1]", "[.5]", "[5.]", "[017]", "[0x10]", "{'a':1}", "[None]", "[True]", "[undefined]",
        '"a\nb"', '"a\tb"', '"\\x41"', '"\\docs"', "\ufeff{}", "", "[1 2]", "{a:1}", "[" * 3000, "[1e5000000]" + "]",
        "[" + "9" * 5000 + "]",
    ],
)  # fmt: skip
def test_what_is_not_json_is_refused(text):
    with pytest.raises(NotStrictJson):
        decode(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("18446744073709551616", 2**64),
        ('{"__proto__":1,"":2}', {"__proto__": 1, "": 2}),
        ('"\\ud83d\\ude00"', "\U0001f600"),
        ('"\u2028"', "\u2028"),
        (' {"a":[1,2.5,true,null]} ', {"a": [1, 2.5, True, None]}),
        ('"' + "[" * 100 + '"', "[" * 100),
        ('"\\"' + "{" * 100 + '"', '"' + "{" * 100),
    ],
)
def test_what_is_json_keeps_its_value(text, value):
    assert decode(text) == value


def test_depth_and_size_have_limits():
    assert decode("[" * MOST_LEVELS + "]" * MOST_LEVELS)
    with pytest.raises(NotStrictJson, match="deeper"):
        decode("[" * (MOST_LEVELS + 1) + "]" * (MOST_LEVELS + 1))
    assert decode('"' + "x" * (MOST_CHARACTERS - 2) + '"')
    with pytest.raises(NotStrictJson, match="longer"):
        decode('"' + "x" * (MOST_CHARACTERS - 1) + '"')


def test_siblings_do_not_count_as_depth():
    assert len(decode("[" + ",".join(["[]"] * 500) + "]")) == 500


def test_a_payload_keeps_the_faults_of_its_arguments():
    payload = read_payload('{"args": {"a": 1, "a": 2}, "number": NaN}')
    assert payload["args"] == {"a": 2}
    with pytest.raises(NotStrictJson, match="twice"):
        encode(payload["args"])
    with pytest.raises(NotStrictJson, match="NaN"):
        decode(encode(payload["number"]))


@pytest.mark.parametrize("text", ['"17"', '"-3"', '"0"', '"100"'])
def test_plain_digits_become_an_integer(text):
    turn = turn_of("openai_chat", _limit(text))
    value = turn.calls[0].args["limit"] if turn.calls else None
    in_range = 1 <= int(text.strip('"')) <= 100
    assert (value == int(text.strip('"'))) is in_range
    assert bool(turn.rejected) is not in_range


@pytest.mark.parametrize(
    "text",
    [
        '"017"', '"+5"', '"5.0"', '"1e1"', '"0x10"', '" 5"', '"5 "', '"5\\n"', '"\uff15"', '"\u0665"', '""', '"-"',
        '"1_0"', "true", "5.0", "2.5", "null", "[5]", '{"a":5}', '"' + "1" * 19 + '"',
    ],
)  # fmt: skip
def test_nothing_else_becomes_an_integer(text):
    turn = turn_of("openai_chat", _limit(text))
    assert [call.code for call in turn.rejected] == ["invalid_args"]


def _limit(text: str) -> dict[str, object]:
    arguments = f'{{"profile":"wife","limit":{text}}}'
    call = {"id": "a", "function": {"name": "list_tasks", "arguments": arguments}}
    return {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"tool_calls": [call]}}]}
