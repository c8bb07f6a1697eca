from __future__ import annotations

from pathlib import Path

import pytest

from butlerctl.inventory.loader import load_inventory
from butlerctl.inventory.model import Inventory


@pytest.fixture(scope="session")
def lab_inventory() -> Inventory:
    """The shipped household."""
    return load_inventory(Path(__file__).parents[2] / "inventory.yaml", {})
