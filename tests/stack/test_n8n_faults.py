"""Planted faults of n8n and Google on the real n8n: `verify` names the first broken link and the route."""

from __future__ import annotations

import pytest

from butlerctl.errors import ExitCode, Unreachable
from tests.stack.n8n_faults import PLANTINGS
from tests.stack.n8n_house import first_broken

pytestmark = pytest.mark.stack


@pytest.mark.parametrize(
    "planting",
    [pytest.param(each, marks=[] if each.quick else [pytest.mark.slow], id=str(each)) for each in PLANTINGS],
)
def test_the_first_broken_link_and_its_route_are_named(planting, house, matrix):
    route = planting.route
    unhurt = [] if planting.everywhere else house.domain(route, house.other(route))
    planting.plant(house.lab, route)
    try:
        result = house.prove([*house.domain(route, route.profile), *unhurt])
    finally:
        house.heal()
    found = first_broken(result, route)
    matrix.append((planting, found))
    assert (found.link, found.route) == (planting.link, str(route)), found
    assert [each for each in unhurt if first_broken(result, each).link] == []


@pytest.mark.parametrize(
    "number", [pytest.param(n, marks=[] if n < 2 else [pytest.mark.slow]) for n in range(50)]
)
def test_a_healthy_household_is_proven(number, house, matrix):
    result = house.prove(house.lab.inventory.routes)
    assert result.exit_code is ExitCode.PROVEN
    matrix.healthy += 1


@pytest.mark.slow
def test_an_n8n_that_is_down_is_said_before_anything_is_written(house):
    house.n8n.server.close()
    try:
        with pytest.raises(Unreachable):
            house.prove(house.lab.inventory.routes)
    finally:
        house.n8n.server.start()
    assert house.prove(house.lab.inventory.routes).exit_code is ExitCode.PROVEN
