"""The household on other versions of n8n: proven where all is well, and a fault named as on the pinned one."""

from __future__ import annotations

import pytest

from butlerctl.errors import ButlerctlError, ExitCode
from tests.stack.conftest import not_tested
from tests.stack.n8n_faults import PLANTINGS
from tests.stack.n8n_house import House, first_broken

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
    try:
        running = House(tmp_path_factory.mktemp("house"), request.param).__enter__()
    except ButlerctlError as error:
        not_tested(f"n8n {request.param} ({error.message})")
    yield running
    running.__exit__()


def test_the_household_is_proven_on_this_version(other_house):
    result = other_house.prove(other_house.lab.inventory.routes)
    assert result.exit_code is ExitCode.PROVEN
    assert result.run.versions["n8n"] == other_house.lab.inventory.pins.n8n


@pytest.mark.parametrize("planting", ON_EVERY_VERSION, ids=str)
def test_a_fault_is_named_on_this_version(planting, other_house):
    planting.plant(other_house.lab, planting.route)
    try:
        result = other_house.prove(other_house.domain(planting.route, planting.route.profile))
    finally:
        other_house.heal()
    found = first_broken(result, planting.route)
    assert (found.link, found.route) == (planting.link, str(planting.route)), found
