"""The household on other versions of n8n: proven where all is well, and a fault named as on the pinned one."""

from __future__ import annotations

import os

import pytest

from butlerctl.errors import ExitCode
from butlerctl.lab.real.n8n_server import install_n8n
from tests.deploy.deploy_home import deploy_home
from tests.stack.n8n_bench import N8nBench
from tests.stack.n8n_faults import PLANTINGS
from tests.stack.n8n_house import ROOT, House, first_broken
from tests.stack.n8n_pages import Versions, write
from tests.stack.npm_reach import only_npm_may_be_missing

pytestmark = [pytest.mark.stack, pytest.mark.slow]

VERSIONS = ("2.27.4", "2.41.1", "1.123.81")
ON_EVERY_VERSION = [
    planting
    for planting in PLANTINGS
    if planting.name
    in {
        "header.changed",
        "active.inactive",
        "active.draft",
        "active.archived",
        "credential.revoked",
        "google.server_error",
        "shape.formatter_unlinked",
        "the export says ok whatever happened",
        "a conflicting update broke the path",
    }
]


@pytest.fixture(scope="module", params=VERSIONS)
def other_house(request, tmp_path_factory):
    with only_npm_may_be_missing(f"n8n {request.param}"):
        install_n8n(request.param, os.environ)
    with House(tmp_path_factory.mktemp("house"), request.param) as running:
        yield running


@pytest.fixture(scope="module")
def versions():
    """What was found on each; written to docs/ when BUTLERCTL_WRITE_DOCS is set (make stack-full)."""
    found = Versions()
    yield found
    if os.environ.get("BUTLERCTL_WRITE_DOCS"):
        write(ROOT / "docs", "n8n-versions.md", found.page())


def test_the_household_is_proven_on_this_version(other_house, versions):
    version = other_house.lab.inventory.pins.n8n
    versions[version] = []
    result = other_house.prove(other_house.lab.inventory.routes)
    assert result.exit_code is ExitCode.PROVEN
    assert result.run.versions["n8n"] == version
    versions.healthy.append(version)


@pytest.mark.parametrize("planting", ON_EVERY_VERSION, ids=str)
def test_a_fault_is_named_on_this_version(planting, other_house, versions):
    planting.plant(other_house.lab, planting.route)
    try:
        result = other_house.prove(other_house.domain(planting.route, planting.route.profile))
    finally:
        other_house.heal()
    found = first_broken(result, planting.route)
    versions[other_house.lab.inventory.pins.n8n].append((planting, found))
    assert (found.link, found.route) == (planting.link, str(planting.route)), found


@pytest.fixture(scope="module", params=[version for version in VERSIONS if not version.startswith("1.")])
def other_bench(request):
    with only_npm_may_be_missing(f"n8n {request.param}"):
        install_n8n(request.param, os.environ)
    with N8nBench(request.param) as running:
        yield running


def test_what_was_deployed_is_what_answers(other_bench, tmp_path):
    """n8n 2.41 says that it has published before it has, and that it has unpublished."""
    with deploy_home(other_bench.household(), tmp_path, "calendar_add, tasks_list") as home:
        for mark in (2, 3):
            home.renew(mark=mark)
            assert home.deploy().code == 0
            assert home.all_served() == {f"v{mark}"}
        assert home.run("rollback").code == 0
        assert home.all_served() == {"v2"}
    other_bench.empty()
