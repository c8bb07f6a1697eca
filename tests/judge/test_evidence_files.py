from __future__ import annotations

import json
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from turns import Turn, bundle

from butlerctl.errors import BadDocument
from butlerctl.evidence import Bundle, bundle_of, digest, intent_of, read_bundles, read_intent
from butlerctl.gateway.transcripts import read_transcript

HEALTHY = bundle(Turn())


def write(path, value):
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def test_a_file_is_one_bundle(tmp_path):
    (found,) = read_bundles(write(tmp_path / "case.json", HEALTHY))
    assert found.intent is not None
    assert (str(found.intent.route), found.zone) == ("calendar_add/anna", ZoneInfo("Europe/Berlin"))
    assert len(found.evidence) == len(HEALTHY["evidence"])


def test_a_folder_is_its_bundle_json_and_nothing_else(tmp_path):
    write(tmp_path / "bundle.json", HEALTHY)
    write(tmp_path / "expect.json", {"anything": 1})
    assert len(read_bundles(tmp_path)) == 1


def test_a_folder_of_bundles_is_read_in_order_of_name(tmp_path):
    for name in ("b", "a", "c"):
        write(tmp_path / f"{name}.json", HEALTHY)
    assert [found.name[-6:] for found in read_bundles(tmp_path)] == ["a.json", "b.json", "c.json"]


def test_loose_documents_of_a_folder_make_one_bundle(tmp_path):
    write(tmp_path / "0-header.json", {key: HEALTHY[key] for key in ("clock", "timezone", "intent")})
    for number, item in enumerate(HEALTHY["evidence"], 1):
        write(tmp_path / f"{number:02}.json", item)
    (found,) = read_bundles(tmp_path)
    assert found == bundle_of(HEALTHY)


def test_a_folder_of_folders_is_refused_with_what_to_name_instead(tmp_path):
    (tmp_path / "calendar_add_anna").mkdir()
    with pytest.raises(BadDocument) as nothing:
        read_bundles(tmp_path)
    assert nothing.value.hint == ""
    write(tmp_path / "calendar_add_anna" / "bundle.json", HEALTHY)
    with pytest.raises(BadDocument) as folders:
        read_bundles(tmp_path)
    assert folders.value.hint == f"name the folders in it: {tmp_path}/*"


def test_a_byte_order_mark_is_no_obstacle(tmp_path):
    (tmp_path / "case.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(HEALTHY).encode())
    assert len(read_bundles(tmp_path / "case.json")) == 1


def test_a_bundle_written_again_is_the_same_bundle():
    once = bundle_of(HEALTHY)
    assert bundle_of(json.loads(json.dumps(once.as_json()))) == once


BAD = {
    "no JSON": "{",
    "a list": "[]",
    "a number": "7",
    "null": "null",
    "no version": "{}",
    "another version": {"bundle": 2, "evidence": []},
    "evidence missing": {"bundle": 1},
    "evidence no list": {"bundle": 1, "evidence": {}},
    "a document that is no object": {"bundle": 1, "evidence": [1]},
    "a document without a kind": {"bundle": 1, "evidence": [{}]},
    "an intent that is no object": {"bundle": 1, "evidence": [], "intent": "x"},
    "an unknown operation": {"bundle": 1, "evidence": [], "intent": {"operation": "mail", "profile": "a", "arguments": {}}},
    "an intent without a person": {"bundle": 1, "evidence": [], "intent": {"operation": "tasks_add", "arguments": {}}},
    "an intent without arguments": {"bundle": 1, "evidence": [], "intent": {"operation": "tasks_add", "profile": "a"}},
    "a clock without offset": {"bundle": 1, "evidence": [], "clock": "2026-05-04T10:00:00"},
    "a clock that is none": {"bundle": 1, "evidence": [], "clock": 7},
    "an unknown zone": {"bundle": 1, "evidence": [], "timezone": "Mars/Olympus"},
    "a zone outside the database": {"bundle": 1, "evidence": [], "timezone": "../../etc/passwd"},
    "nested too deep": "[" * 100_000,
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_one_line_that_names_the_file(tmp_path, name):
    with pytest.raises(BadDocument) as caught:
        read_bundles(write(tmp_path / "case.json", BAD[name]))
    assert "case.json" in caught.value.message
    assert "\n" not in caught.value.message


def test_a_missing_file_an_empty_folder_and_bytes_are_refused(tmp_path):
    (tmp_path / "bytes.json").write_bytes(b"\xff\x00")
    for source in (tmp_path / "absent.json", tmp_path, tmp_path / "bytes.json"):
        with pytest.raises(BadDocument):
            read_bundles(source)


def test_an_intent_file_must_hold_an_intent(tmp_path):
    assert read_intent(write(tmp_path / "i.json", HEALTHY["intent"])) == intent_of(HEALTHY["intent"])
    assert read_intent(write(tmp_path / "b.json", HEALTHY)) == intent_of(HEALTHY["intent"])
    for nothing in ("null", {"bundle": 1, "evidence": []}):
        with pytest.raises(BadDocument, match="null is no intent"):
            read_intent(write(tmp_path / "n.json", nothing))


def test_a_file_of_the_other_command_is_refused_with_the_way_to_it(tmp_path):
    document = write(tmp_path / "01.json", HEALTHY["evidence"][0])
    with pytest.raises(BadDocument) as loose:
        read_bundles(document)
    assert loose.value.hint == "this is one document: name the folder, its documents are judged together"
    with pytest.raises(BadDocument) as whole:
        read_transcript(write(tmp_path / "bundle.json", HEALTHY))
    assert whole.value.hint == "`butlerctl diagnose` judges an evidence bundle"


def test_the_digest_depends_on_content_not_on_order():
    assert digest({"a": 1, "b": [2, "ü"]}) == digest({"b": [2, "ü"], "a": 1})
    assert digest({"a": 1}) != digest({"a": "1"})
    assert len(digest({"lone": "\ud800"})) == 64


def test_an_empty_bundle_is_utc_and_without_a_clock():
    empty = bundle_of({"bundle": 1, "evidence": []})
    assert empty == Bundle()
    assert (empty.zone, empty.clock) == (UTC, None)
    assert bundle_of({"bundle": 1, "evidence": [], "clock": "2026-01-01T00:00:00Z"}).clock == datetime(
        2026, 1, 1, tzinfo=UTC
    )
