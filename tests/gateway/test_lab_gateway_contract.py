"""The contract of every gateway, held by the lab's."""

from __future__ import annotations

from contextlib import closing

import pytest
from contract_gateway import *  # noqa: F403 - the tests themselves
from contract_gateway import GatewayBench
from contract_gateway_http import *  # noqa: F403
from contract_gateway_turns import *  # noqa: F403

from butlerctl.gateway.webhook_tools import WebhookToolsSettings
from butlerctl.lab.conformance.run import AGENT, SECRET, SHAPE
from butlerctl.lab.conformance.servers import ScriptedModel, ScriptedWebhooks
from butlerctl.lab.gateway.server import LabGateway
from butlerctl.lab.server import LoopbackServer


@pytest.fixture(scope="module")
def bench():
    token = "token-of-the-lab-gateway"
    with ScriptedModel() as model, ScriptedWebhooks() as webhooks:
        tools = WebhookToolsSettings(webhooks.url, SHAPE, prefix="L4CK3Y", secret=SECRET, timeout=2)
        lab = LabGateway(model.url, tools, token=token, agent=AGENT, timezone="America/New_York")
        with closing(lab), LoopbackServer(lab.app) as server:
            yield GatewayBench(server.url, token, model, webhooks)
