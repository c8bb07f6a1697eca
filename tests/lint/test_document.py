"""Exports as they lie on disks: counted, linted or refused, never a crash."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from butlerctl.workflows import lint
from butlerctl.workflows.document import read

BASE = json.loads((Path(__file__).parent / "base.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("wrapped", "paths"),
    [
        (BASE, [()]),
        ([BASE, BASE], [(0,), (1,)]),
        ({"data": BASE}, [("data",)]),
        ({"data": [BASE], "nextCursor": None}, [("data", 0)]),
        ({"workflow": BASE}, [("workflow",)]),
        ({"workflow": {"workflow": BASE}}, [("workflow", "workflow")]),
        ({"workflows": [BASE]}, [("workflows", 0)]),
        ([1, BASE], [(1,)]),
        ({"nodes": "text", "connections": {}}, []),
        ([], []),
        (None, []),
    ],
)
def test_workflows_are_unpacked_from_what_wraps_them(wrapped, paths):
    assert [member.path for member in read(json.dumps(wrapped).encode(), "a.json").members] == paths


def test_the_members_of_an_array_are_each_linted_and_counted(tmp_path):
    (tmp_path / "all.json").write_text(json.dumps([BASE, {**BASE, "active": False, "id": "2", "name": "b"}]))
    report = lint([tmp_path / "all.json"])
    assert report.checked == 2
    assert "/1/active" in [finding.pointer for finding in report.findings if finding.code == "BW203"]


def test_an_api_answer_of_n8n_is_linted_like_the_file_it_came_from(tmp_path):
    live = {"data": [{**BASE, "shared": [], "versionId": "v", "activeVersion": None}]}
    (tmp_path / "live.json").write_text(json.dumps(live))
    assert {finding.code for finding in lint([tmp_path / "live.json"]).findings} == {"BW005"}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b'{"nodes": [', "cut off"),
        (b'{"name": "x', "cut off"),
        (b'{"nodes": [}]', "no JSON"),
        (b"<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> x\n", "conflict markers"),
        (b"[" * 100_000, "deep"),
        (b'{"a":' * 100_000, "deep"),
    ],
)
def test_a_broken_file_is_a_finding_that_says_why(tmp_path, data, message):
    (tmp_path / "a.json").write_bytes(data)
    report = lint([tmp_path / "a.json"])
    assert [finding.code for finding in report.findings] == ["BW001"]
    assert message in report.findings[0].message
    assert (report.checked, report.skipped) == (0, 1)


def test_one_bad_file_does_not_stop_the_others(tmp_path):
    (tmp_path / "a.json").write_text("{")
    (tmp_path / "b.json").write_text(json.dumps(BASE))
    (tmp_path / "c.json").write_text('{"some": "json"}')
    report = lint([tmp_path])
    assert (report.checked, report.skipped) == (1, 2)
    assert [finding.code for finding in report.findings] == ["BW001"]


def test_a_missing_file_is_a_finding(tmp_path):
    report = lint([tmp_path / "gone.json"])
    assert [finding.code for finding in report.findings] == ["BW001"]
    assert "cannot be read" in report.findings[0].message


def test_huge_numbers_are_no_reason_to_crash(tmp_path):
    (tmp_path / "a.json").write_text(
        json.dumps(BASE).replace('"active": true', '"x": ' + "9" * 9000 + ', "active": true')
    )
    assert not lint([tmp_path / "a.json"]).crashed


def test_both_places_of_a_repeated_key_are_named(tmp_path):
    (tmp_path / "a.json").write_text(
        '{\n "active": false,\n "nodes": [], "connections": {},\n "active": true\n}'
    )
    finding = next(item for item in lint([tmp_path / "a.json"]).findings if item.code == "BW003")
    assert (finding.line, "2:2" in finding.help) == (4, True)


def test_odd_types_in_every_place_are_survived(tmp_path):
    odd = [None, 1, "x", [], {}, [None], [[]], {"a": None}]
    for key in ("nodes", "connections", "settings", "pinData", "active", "shared", "meta", "name", "id"):
        for value in odd:
            (tmp_path / "a.json").write_text(json.dumps({**BASE, key: value}))
            assert not lint([tmp_path / "a.json"]).crashed
    for key in ("parameters", "credentials", "type", "name", "typeVersion", "disabled", "notes", "webhookId"):
        for value in odd:
            node = {**BASE["nodes"][0], key: value}
            (tmp_path / "a.json").write_text(json.dumps({**BASE, "nodes": [node, *BASE["nodes"][1:], value]}))
            assert not lint([tmp_path / "a.json"]).crashed
