"""The real servers, once for the whole run.

Only npm may be missing: then their tests are skipped aloud, and failed under CI. A server that does not start fails them.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from butlerctl.inventory.loader import load_inventory
from butlerctl.lab.conformance.run import real_bench
from butlerctl.lab.real.n8n_server import install_n8n
from butlerctl.lab.real.npm import NODE, install
from butlerctl.lab.real.openclaw import installed_plugin
from tests.stack.n8n_bench import N8nBench
from tests.stack.n8n_house import House
from tests.stack.n8n_pages import Matrix, write
from tests.stack.npm_reach import only_npm_may_be_missing
from tests.stack.observations import Observations

ROOT = Path(__file__).parents[2]


_ONE_IN = 6


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Of the many failures of Google, which all go the same way, one in six runs outside `make stack-full`."""
    alike = [item for item in items if item.path.name == "test_n8n_contract.py" and "g-fail-" in item.name]
    alike += [item for item in items if item.path.name == "test_n8n_contract.py" and "guarded-" in item.name]
    for number, item in enumerate(alike):
        if number % _ONE_IN:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def shipped_inventory():
    return load_inventory(ROOT / "inventory.yaml", os.environ)


@pytest.fixture(scope="session")
def gateway_packages(shipped_inventory):
    """Node, the pinned OpenClaw and the plugin's package are in butlerctl's cache."""
    version = shipped_inventory.pins.gateway
    with only_npm_may_be_missing(f"the real OpenClaw {version}"):
        install(NODE, os.environ)
        install(f"openclaw@{version}", os.environ)
        installed_plugin(os.environ)


@pytest.fixture(scope="session")
def n8n_packages(shipped_inventory):
    """Node and the pinned n8n, or the one of BUTLERCTL_TEST_N8N, are in butlerctl's cache."""
    versions = {
        shipped_inventory.pins.n8n,
        os.environ.get("BUTLERCTL_TEST_N8N") or shipped_inventory.pins.n8n,
    }
    for version in sorted(versions):
        with only_npm_may_be_missing(f"the real n8n {version}"):
            install_n8n(version, os.environ)


@pytest.fixture(scope="session")
def real_gateway(shipped_inventory, gateway_packages):
    """The pinned OpenClaw with the plugin, once for the whole run."""
    del gateway_packages
    pins = shipped_inventory.pins
    with real_bench(pins.gateway, pins.model, os.environ) as running:
        yield running


@pytest.fixture(scope="session")
def observations(shipped_inventory, real_gateway):
    pins = shipped_inventory.pins
    with Observations(real_gateway, pins.gateway, pins.model) as seen:
        yield seen


@pytest.fixture(scope="session")
def n8n_bench(shipped_inventory, n8n_packages):
    """The pinned n8n, once for the whole run."""
    del n8n_packages
    version = os.environ.get("BUTLERCTL_TEST_N8N") or shipped_inventory.pins.n8n
    with N8nBench(version) as bench:
        yield bench


@pytest.fixture(scope="session")
def matrix(shipped_inventory):
    """What the planted faults came to. Written to docs/ when BUTLERCTL_WRITE_DOCS is set (make stack-full)."""
    found = Matrix()
    yield found
    if os.environ.get("BUTLERCTL_WRITE_DOCS"):
        version = shipped_inventory.pins.n8n
        write(ROOT / "docs", f"n8n-faults-{version}.md", found.page(version))


@pytest.fixture(scope="module")
def house(tmp_path_factory, n8n_packages):
    """The household with the real n8n behind it, once for all faults."""
    del n8n_packages
    with House(tmp_path_factory.mktemp("house")) as running:
        yield running
