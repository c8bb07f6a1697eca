"""Where a value stands in a file: found again from its path, whatever the file's form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from butlerctl.workflows import lint
from butlerctl.workflows.positions import Locator
from butlerctl.workflows.walk import leaves

BASE = (Path(__file__).parent / "base.json").read_text(encoding="utf-8")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=25,
)


@given(JSON, st.sampled_from([None, 1, "\t"]), st.booleans())
@settings(max_examples=150, deadline=None)
def test_every_value_is_found_again_at_its_path(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    locator = Locator(text)
    for path, leaf in leaves(value):
        start, end = locator.value(path)
        assert json.loads(text[start:end]) == leaf


@given(st.text(alphabet="ab\n", max_size=60), st.integers(0, 59))
@settings(max_examples=100, deadline=None)
def test_lines_and_columns_count_from_one(text, offset):
    offset = min(offset, len(text))
    before = text[:offset].split("\n")
    assert Locator(text).line_and_column(offset) == (len(before), len(before[-1]) + 1)


def test_a_long_file_counts_its_lines_the_same_way():
    text = "x\n" * 150_000
    assert Locator(text).line_and_column(200_001) == (100_001, 2)


def test_a_repeated_key_is_found_at_its_last_place():
    text = '{"a": 1, "b": {"a": 5}, "a": 2}'
    start, end = Locator(text).value(("a",))
    assert text[start:end] == "2"
    assert [key for key, _ in Locator(text).repeated_keys(())] == ["a"]


def test_an_absent_place_is_a_key_error():
    with pytest.raises(KeyError):
        Locator('{"a": [1]}').value(("a", 3))


def finding(tmp_path, text):
    (tmp_path / "a.json").write_bytes(text.encode())
    return next(item for item in lint([tmp_path / "a.json"]).findings if item.code == "BW101")


PLACEHOLDER = BASE.replace("KzLKQWQ3M9Zo9IEd", "<WIFE_CALENDAR_CRED_ID>")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_and_column_are_those_of_the_token(tmp_path, newline):
    text = PLACEHOLDER.replace("\n", newline)
    found = finding(tmp_path, text)
    line = text.splitlines()[found.line - 1]
    assert line[found.column - 1 : found.end_column - 1] == "<WIFE_CALENDAR_CRED_ID>"
    assert found.pointer == "/nodes/1/credentials/googleCalendarOAuth2Api/id"


def test_in_a_minified_file_the_excerpt_is_a_window_with_the_caret_in_it(tmp_path):
    found = finding(tmp_path, json.dumps(json.loads(PLACEHOLDER), separators=(",", ":")))
    assert found.line == 1
    assert len(found.excerpt.text) <= 100
    start, width = found.excerpt.caret, found.excerpt.width
    assert found.excerpt.text[start : start + width] == "<WIFE_CALENDAR_CRED_ID>"


def test_columns_count_characters_and_not_bytes(tmp_path):
    node = '{"name": "Küche ✓", "credentials": {"x": {"id": "<CRED_ID>"}}, "type": "t", "parameters": {}}'
    text = f'{{"nodes": [{node}]}}'
    assert finding(tmp_path, text).column == text.index("<CRED_ID>") + 1
