"""The contract of every gateway, held by the real OpenClaw with the real plugin."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "gateway"))

from contract_gateway import *  # noqa: F403 - the tests themselves
from contract_gateway import GatewayBench
from contract_gateway_http import *  # noqa: F403
from contract_gateway_turns import *  # noqa: F403

pytestmark = pytest.mark.stack


@pytest.fixture
def bench(real_gateway):
    return GatewayBench(real_gateway.url, real_gateway.token, real_gateway.model, real_gateway.webhooks)
