"""Twenty-seven files with one defect each, made from one clean export: each is found, and nothing beside it."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from butlerctl.workflows import lint

BASE = json.loads((Path(__file__).parent / "base.json").read_text(encoding="utf-8"))
HUSBAND = json.loads(
    json.dumps(BASE)
    .replace("wife", "husband")
    .replace("KzLKQWQ3M9Zo9IEd", "VyTMRthI1nxCycWZ")
    .replace("wf1016083b3c8d51", "wf234a8121d1de5c")
)
WEBHOOK, GOOGLE, CODE, RESPOND = range(4)


def changed(change):
    document = copy.deepcopy(BASE)
    change(document)
    return json.dumps(document, indent=2, ensure_ascii=False).encode()


def parameter(index, **values):
    return changed(lambda d: d["nodes"][index]["parameters"].update(values))


def without(index, key):
    return changed(lambda d: d["nodes"][index].pop(key))


def node_value(index, **values):
    return changed(lambda d: d["nodes"][index].update(values))


def google_id(value):
    return changed(lambda d: d["nodes"][GOOGLE]["credentials"]["googleCalendarOAuth2Api"].update(id=value))


def text(document=BASE, **options):
    return json.dumps(document, ensure_ascii=False, **options).encode()


def dangling(document):
    document["connections"]["Webhook"]["main"][0][0]["node"] = "Google Calender"


def duplicate_name(document):
    document["nodes"].append({**document["nodes"][CODE], "id": "another"})


def with_note(document):
    document["nodes"].append(
        {
            "name": "Note",
            "type": "n8n-nodes-base.stickyNote",
            "parameters": {"content": "put <WIFE_CALENDAR_CRED_ID>"},
        }
    )
    document["nodes"][CODE]["parameters"]["note_html"] = "={{ $json.nick ?? '<NONE>' }}<b>hi</b>"


KEY_HEADER = {
    "parameters": [{"name": "Authorization", "value": "Bearer sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"}]
}
TORTURE = {
    "01 webhook without authentication": (parameter(WEBHOOK, authentication="none"), {"BW201"}),
    "02 header auth without credential": (without(WEBHOOK, "credentials"), {"BW202"}),
    "03 google node without credential": (without(GOOGLE, "credentials"), {"BW107"}),
    "04 credential id is a word": (google_id("GOOGLE_CALENDAR_CRED_ID"), {"BW101"}),
    "05 credential id is null": (google_id(None), {"BW103"}),
    "06 connection to a missing node": (changed(dangling), {"BW401"}),
    "07 no respond node": (changed(lambda d: d["nodes"].pop(RESPOND)), {"BW204", "BW401"}),
    "08 duplicate name": (changed(duplicate_name), {"BW402"}),
    "09 code reads a renamed node": (parameter(CODE, jsCode="return $('Renamed node').all();"), {"BW403"}),
    "10 pinned data with an address": (
        changed(lambda d: d.update(pinData={"Webhook": [{"json": {"from": "ada@example.test"}}]})),
        {"BW502"},
    ),
    "11 key in a header": (parameter(CODE, headerParameters=KEY_HEADER), {"BW501"}),
    "12 byte order mark": (b"\xef\xbb\xbf" + text(), {"BW002"}),
    "13 utf-16": (json.dumps(BASE).encode("utf-16"), {"BW002"}),
    "14 key twice": (text().replace(b'"active": true', b'"active": false, "active": true'), {"BW003"}),
    "15 truncated": (text()[:900], {"BW001"}),
    "16 array": (text([BASE]), {"BW005"}),
    "17 no workflow": (text({"some": "json"}), {"BW004"}),
    "18 empty": (b"", {"BW001"}),
    "19 the husband's path": (parameter(WEBHOOK, path="L4CK3Y/calendar/add/husband"), {"BW210", "BW304"}),
    "20 trigger disabled": (node_value(WEBHOOK, disabled=True), {"BW205"}),
    "21 get": (parameter(WEBHOOK, httpMethod="GET"), {"BW302"}),
    "22 no webhookId": (without(WEBHOOK, "webhookId"), {"BW206"}),
    "23 control: markup and a note": (changed(with_note), set()),
    "24 empty locator": (parameter(GOOGLE, calendar={"__rl": True, "mode": "list", "value": ""}), {"BW109"}),
    "25 control: minified": (text(separators=(",", ":")), set()),
    "26 misspelled type": (node_value(GOOGLE, type="n8n-nodes-base.gogleCalendar"), {"BW602", "BW303"}),
    "27 version from the future": (node_value(GOOGLE, typeVersion=9.9), {"BW602"}),
}
assert len(TORTURE) == 27


@pytest.mark.parametrize(("data", "codes"), TORTURE.values(), ids=TORTURE)
@pytest.mark.parametrize("stem", ["calendar_add_wife", "case"])
def test_the_one_defect_is_found_and_nothing_else(tmp_path, stem, data, codes):
    file = tmp_path / f"{stem}.json"
    file.write_bytes(data)
    report = lint([file])
    found = {finding.code for finding in report.findings}
    assert found == codes - {"BW210"}  # a path is taken twice only where the other file lies beside it
    assert not report.crashed


@pytest.mark.parametrize(("data", "codes"), TORTURE.values(), ids=TORTURE)
def test_the_same_holds_beside_the_other_person_s_file(tmp_path, data, codes):
    (tmp_path / "calendar_add_wife.json").write_bytes(data)
    (tmp_path / "calendar_add_husband.json").write_text(json.dumps(HUSBAND), encoding="utf-8")
    report = lint([tmp_path])
    mine = {item.code for item in report.findings if item.file.endswith("calendar_add_wife.json")}
    others = {item.code for item in report.findings if item.file.endswith("calendar_add_husband.json")}
    assert mine == codes - {"BW004"}  # in a folder, JSON that is no workflow is skipped and counted
    assert others <= {"BW210"}


@pytest.mark.parametrize("name", ["12 byte order mark", "13 utf-16", "16 array"])
def test_an_odd_file_is_linted_all_the_same(tmp_path, name):
    data = TORTURE[name][0]
    (tmp_path / "a.json").write_bytes(
        data.replace(b"headerAuth", b"none").replace(
            "headerAuth".encode("utf-16-le"), "none".encode("utf-16-le")
        )
    )
    report = lint([tmp_path])
    assert "BW201" in {finding.code for finding in report.findings}
    assert (report.checked, report.skipped) == (1, 0)
