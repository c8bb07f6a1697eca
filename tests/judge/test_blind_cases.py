"""Bundles that were written and labelled without a look at the judge: kinds of faults and of healthy turns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bundle_cases import disagreements

from butlerctl.evidence import bundle_of
from butlerctl.judge import judge

FOLDER = Path(__file__).parent.parent / "cases" / "blind"
CASES = {
    case["id"]: case
    for path in sorted(FOLDER.glob("*.jsonl"))
    for case in map(json.loads, path.read_text(encoding="utf-8").splitlines())
}
PEOPLE = (("husband", "gregor"), ("Husband", "Gregor"), ("wife", "o_neil"), ("Wife", "O_neil"))


def shown(document: dict[str, Any]) -> dict[str, Any]:
    return judge(bundle_of(document)).as_json()


@pytest.mark.parametrize("name", CASES)
def test_a_bundle_is_judged_as_it_was_labelled(name):
    case = CASES[name]
    assert disagreements(shown(case["bundle"]), case["expect"]) == []


@pytest.mark.parametrize("name", CASES)
def test_other_people_change_no_verdict(name):
    text = json.dumps(CASES[name]["bundle"], ensure_ascii=False)
    for one, other in PEOPLE:
        text = text.replace(one, other)
    assert brief(json.loads(text)) == brief(CASES[name]["bundle"])


def brief(document: dict[str, Any]) -> tuple[Any, ...]:
    got = shown(document)
    first = got["first_broken"]
    return got["verdict"], first and first["check"], got["turn"], got["claim"]
