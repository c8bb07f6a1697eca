from __future__ import annotations

from pathlib import Path

from butlerctl.lab.gateway import faults
from butlerctl.lab.model import misbehave

PAGE = Path(__file__).parents[2] / "docs" / "gateway.md"


def test_the_page_about_the_gateway_names_every_fault_that_can_be_planted() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in (*faults.KINDS, *misbehave.KINDS) if f"`{name}`" not in text] == []
