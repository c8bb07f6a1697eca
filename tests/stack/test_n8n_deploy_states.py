"""The model of a deployment, held against the real n8n."""

from __future__ import annotations

import os
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.deploy.deploy_machine import machine_over
from tests.stack.n8n_house import ROOT
from tests.stack.n8n_pages import deployments_page, write

SEQUENCES = int(os.environ.get("BUTLERCTL_DEPLOY_SEQUENCES", "5"))
SECONDS_A_SEQUENCE = 60  # a killed run is waited for, and every one is looked at from all sides

pytestmark = [pytest.mark.stack, pytest.mark.timeout(SEQUENCES * SECONDS_A_SEQUENCE)]


def test_in_any_order_of_edits_kills_and_rollbacks_the_set_is_planned_or_put_back(n8n_bench):
    """`make stack-full` asks for 200 sequences."""

    @contextmanager
    def household():
        yield n8n_bench.household()
        n8n_bench.empty()

    model = machine_over(household)
    machine = model.TestCase
    machine.settings = settings(
        max_examples=SEQUENCES,
        stateful_step_count=10,
        deadline=None,
        derandomize="BUTLERCTL_DEPLOY_SEQUENCES"
        not in os.environ,  # a commit is held to the same ones each time
        phases=[Phase.explicit, Phase.reuse, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    machine().runTest()
    if os.environ.get("BUTLERCTL_WRITE_DOCS"):
        version = n8n_bench.n8n.server.version
        write(ROOT / "docs", f"deployments-{version}.md", deployments_page(version, model.tally))
