"""The page of each rule, and the document that is made of all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from butlerctl.workflows.pages import all_pages, page, page_of
from butlerctl.workflows.rules.registry import RULES

DOCS = Path(__file__).parents[2] / "docs" / "rules.md"


def test_the_document_is_made_from_the_rules():
    assert DOCS.read_text(encoding="utf-8") == all_pages(), (
        "python -c 'from butlerctl.workflows.pages import all_pages; print(all_pages(), end=\"\")' > docs/rules.md"
    )


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_page_says_why_and_how_to_fix(rule):
    text = page_of(rule)
    assert "\nFix: " in text
    assert len(text.split("Fix:")[0]) > 80
    assert page(rule).startswith(f"## {rule.code}: {rule.summary}")
