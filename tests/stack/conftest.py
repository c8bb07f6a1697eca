from __future__ import annotations

import os
from pathlib import Path

import pytest

from butlerctl.errors import ButlerctlError
from butlerctl.inventory.loader import load_inventory
from butlerctl.lab.conformance.run import real_bench

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def shipped_inventory():
    return load_inventory(ROOT / "inventory.yaml", os.environ)


@pytest.fixture(scope="session")
def real_gateway(shipped_inventory):
    """The pinned OpenClaw with the plugin, once for the whole run. Without npm: skipped aloud, failed under CI."""
    pins = shipped_inventory.pins
    bench = real_bench(pins.gateway, pins.model, os.environ)
    try:
        running = bench.__enter__()
    except ButlerctlError as error:
        reason = f"NOT TESTED: the real OpenClaw ({error.message})"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    yield running
    bench.__exit__(None, None, None)
