"""Mutated exports: no exception, no hang, whatever happens to a file.

LINT_FUZZ_EXAMPLES=100000 makes it a long run.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from butlerctl.workflows.document import read
from butlerctl.workflows.engine import _Run
from butlerctl.workflows.inputs import Input
from butlerctl.workflows.rules.registry import RULES
from butlerctl.workflows.settings import LintSettings

EXAMPLES = int(os.environ.get("LINT_FUZZ_EXAMPLES", "300"))
SEEDS = [path.read_bytes() for path in sorted((Path(__file__).parents[2] / "workflows").glob("*.json"))[::3]]
SEEDS.append((Path(__file__).parent / "base.json").read_bytes())
PIECES = [
    b"<", b">", b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"null", b"true", b"-1e999", b"NaN", b"\xff",
    b"\x00", b"\\u003c", b"\\ud800", b"<WIFE_ID>", b"YOUR_KEY", b"={{ $('X') }}", b'{"a":', b"[[[[", b"\xef\xbb\xbf",
    b'"active": true,', b'"id": null', b'"credentials": {}', b"<<<<<<< ", b"9" * 40,
]  # fmt: skip
# As text: a drawn list must be a new one each time, for the next mutation may change it.
VALUES = st.sampled_from(
    [
        "null",
        "true",
        "0",
        "-1",
        "1e300",
        str(2**70),
        '""',
        '"x"',
        '"<A_B>"',
        '"={{ 1 }}"',
        '"\\ud800"',
        "[]",
        "{}",
        "[[]]",
        "[null]",
        '{"a": {}}',
    ]
).map(json.loads)


def lint_bytes(data):
    run = _Run(LintSettings(pedantic=True), RULES, complete=False)
    report = run.lint([Input("calendar_add_wife.json", named=True, data=data)])
    assert not report.crashed, report.findings
    return report


@st.composite
def mutated_bytes(draw):
    data = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.sampled_from([0, 0, 1, 3, 40, 900])))
        data = data[:start] + draw(st.sampled_from(PIECES) | st.binary(max_size=6)) + data[end:]
    return data


@st.composite
def mutated_documents(draw):
    document = json.loads(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(1, 5))):
        place = document
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            inner = place[key]
            if not isinstance(inner, dict | list) or draw(st.integers(0, 4)) == 0:
                if draw(st.booleans()):
                    place[key] = draw(VALUES)
                else:
                    del place[key]
                break
            place = inner
    return json.dumps(document).encode()


@given(mutated_bytes())
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
def test_mutated_bytes_are_survived(data):
    lint_bytes(data)


@given(mutated_documents())
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
def test_mutated_documents_are_survived(data):
    lint_bytes(data)


@given(st.binary(max_size=200))
@settings(max_examples=EXAMPLES, deadline=None)
def test_any_bytes_are_read(data):
    read(data, "a.json")


HOSTILE = {
    "brackets": lambda size: "<" * size,
    "open tags": lambda size: "<A_" * (size // 3),
    "words": lambda size: "<your " * (size // 6),
    "references": lambda size: "={{ " + "$('" * (size // 3),
    "braces": lambda size: "=" + "{{" * (size // 2),
    "names": lambda size: "A_" * (size // 2),
    "crosses": lambda size: "x" * size,
    "addresses": lambda size: "a@" * (size // 2),
    "keys": lambda size: "sk-" * (size // 3),
    "jwt": lambda size: "eyJ" * (size // 3),
    "square": lambda size: "[your " * (size // 6),
    "escapes": lambda size: "\\" * size,
    "urls": lambda size: "http://localhost" * (size // 16),
}


def test_the_time_for_a_hostile_file_grows_with_its_size_and_not_faster():
    for name, hostile in HOSTILE.items():
        seconds = []
        for size in (100_000, 400_000):
            node = {
                "name": "N",
                "type": "n8n-nodes-base.set",
                "parameters": {"url": hostile(size), "x": hostile(390)},
            }
            document = {"nodes": [node], "connections": {}, "pinData": {"N": [{"a": hostile(size)}]}}
            data = json.dumps(document).encode()
            start = time.process_time()
            lint_bytes(data)
            seconds.append(time.process_time() - start)
        assert seconds[1] < 16 * seconds[0] + 0.2, name
