"""Safe fixes: what a rule found is gone, and every other byte of the file is where it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from butlerctl.workflows import lint
from butlerctl.workflows.fixes import fix
from butlerctl.workflows.fixing import fix_files
from butlerctl.workflows.settings import LintSettings

BASE = json.loads((Path(__file__).parent / "base.json").read_text(encoding="utf-8"))
LEAKY = {
    **BASE,
    "pinData": {"Webhook": [{"json": {"from": "ada@example.test"}}]},
    "meta": {"templateCredsSetupCompleted": True, "instanceId": "a" * 64},
    "shared": [{"project": {"name": "Ada <ada@example.test>"}}],
    "name": "Küche \\/ ✓",
}
ALL = frozenset({"BW002", "BW502", "BW503", "BW504"})


@pytest.mark.parametrize("indent", [None, 1, 2, "\t"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["shared", "pinData", "meta"])
def test_only_the_leaks_are_gone(indent, newline, last):
    leaky = {key: LEAKY[key] for key in sorted(LEAKY, key=last.__eq__)}
    text = json.dumps(leaky, indent=indent, ensure_ascii=False).replace("\n", newline) + newline
    fixed = fix(text.encode(), ALL).decode()
    document = json.loads(fixed)
    assert document["pinData"] == {}
    assert "shared" not in document
    assert document["meta"] == {"templateCredsSetupCompleted": True}
    assert {key: document[key] for key in document if key not in ("pinData", "meta")} == {
        key: leaky[key] for key in leaky if key not in ("pinData", "meta", "shared")
    }
    assert fixed.endswith(newline)
    assert fixed.count("\r\n") == fixed.count("\n") * (newline == "\r\n")
    kept = [line for line in fixed.split(newline) if len(line) > 1]
    assert all(line in text for line in kept if "pinData" not in line and "meta" not in line)


def test_a_byte_order_mark_goes_only_when_its_rule_asked():
    data = b"\xef\xbb\xbf" + json.dumps(LEAKY).encode()
    assert fix(data, frozenset({"BW002"})) == data[3:]
    assert fix(data, frozenset({"BW502"})).startswith(b"\xef\xbb\xbf")


def test_members_of_an_array_are_fixed_each():
    fixed = json.loads(fix(json.dumps([LEAKY, {"data": LEAKY}, LEAKY]).encode(), ALL))
    assert [fixed[0]["pinData"], fixed[1]["data"]["pinData"], fixed[2]["pinData"]] == [{}, {}, {}]


@pytest.mark.parametrize(
    "data", [b'{"nodes": [', json.dumps(LEAKY).encode("utf-16"), b"\xff\xfe", b"", b"[]"]
)
def test_what_is_broken_or_not_utf_8_is_left_alone(data):
    assert fix(data, ALL) == data


def test_a_clean_file_is_left_alone():
    data = json.dumps(BASE).encode()
    assert fix(data, frozenset({"BW502", "BW503"})) == data


def test_files_are_fixed_once_and_clean_afterwards(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(LEAKY, indent=2))
    settings = LintSettings(pedantic=True)
    shown = fix_files([str(tmp_path)], settings, write=False)
    assert "-  " in shown[0].diff()
    assert shown[0].diff().endswith("}\n\\ No newline at end of file\n")
    assert json.loads((tmp_path / "a.json").read_text()) == LEAKY, "showing writes nothing"
    assert fix_files([str(tmp_path)], settings, write=True)
    assert fix_files([str(tmp_path)], settings, write=True) == []
    assert not {"BW502", "BW503", "BW504"} & {item.code for item in lint([tmp_path], settings).findings}
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_what_is_suppressed_or_not_selected_is_not_fixed(tmp_path):
    suppressed = json.loads(json.dumps(LEAKY))
    suppressed["nodes"][0]["notes"] = "butlerctl: ignore BW502 -- invented data"
    (tmp_path / "a.json").write_text(json.dumps(suppressed))
    fix_files([str(tmp_path)], LintSettings(ignore=("BW503",)), write=True)
    assert json.loads((tmp_path / "a.json").read_text()) == suppressed
