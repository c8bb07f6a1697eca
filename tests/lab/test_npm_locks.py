"""The lock of the real n8n: every package with its hash, no address of a registry."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from butlerctl.inventory.loader import load_inventory
from butlerctl.lab.real import npm

ROOT = Path(__file__).parents[2]
LOCKS = sorted((Path(npm.__file__).parent / "locks").glob("*.json"))


def test_the_pinned_n8n_has_a_lock():
    pin = load_inventory(ROOT / "inventory.yaml", {}).pins.n8n
    assert f"n8n@{pin}" in [lock.stem for lock in LOCKS]


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.stem)
def test_a_lock_names_no_address_and_has_every_hash(path):
    text = path.read_text(encoding="utf-8")
    assert "://" not in text
    packages = json.loads(text)["packages"]
    fetched = [
        name
        for name, entry in packages.items()
        if name and not entry.get("inBundle") and not entry.get("link")
    ]
    assert [name for name in fetched if "integrity" not in packages[name]] == []
