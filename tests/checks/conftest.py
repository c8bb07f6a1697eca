"""The facts about a gateway without a fault, gathered once for a test module."""

from __future__ import annotations

import pytest

from butlerctl.checks.gateway import look
from butlerctl.gateway.operator import Operator
from butlerctl.inventory.loader import load_inventory
from tests.checks.gateway_stand import SHIPPED, TOKEN, lab_gateway, pointed_at


@pytest.fixture(scope="module")
def inventory():
    return load_inventory(SHIPPED, {})


@pytest.fixture(scope="module")
def facts(inventory):
    """A gateway at which nothing is wrong."""
    with lab_gateway(inventory) as stand, Operator.connect(stand.url, TOKEN) as operator:
        return look(operator, pointed_at(stand.webhooks.url), with_turn=True)
