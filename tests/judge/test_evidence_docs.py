from __future__ import annotations

import json
import re
from pathlib import Path

from butlerctl.evidence import bundle_of
from butlerctl.judge.hints import CHECKS
from butlerctl.judge.result import LINKS

PAGE = (Path(__file__).parents[2] / "docs" / "evidence.md").read_text(encoding="utf-8")


def test_the_page_lists_exactly_the_checks_of_the_judge():
    rows = re.findall(r"^\| `([a-z0-9_]+\.[a-z0-9_]+)` \| (\S+) \| (.+) \|$", PAGE, re.MULTILINE)
    assert rows == [(name, check.link or "–", check.meaning) for name, check in CHECKS.items()]


def test_every_check_belongs_to_a_link_and_says_what_to_do():
    for name, check in CHECKS.items():
        assert check.link in LINKS or name.startswith("harness.")
        assert check.step.endswith(".")


def test_the_example_of_the_page_is_a_bundle():
    example = re.search(r"```json\n(\{\n  \"bundle\".*?)```", PAGE, re.DOTALL)
    assert example is not None
    assert bundle_of(json.loads(example[1])).intent is not None
