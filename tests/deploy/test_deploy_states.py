"""The model of a deployment, held against the stand-in."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

from tests.deploy.deploy_machine import machine_over
from tests.n8n.household import household

TestDeployStates = machine_over(household).TestCase
TestDeployStates.settings = settings(
    max_examples=int(os.environ.get("BUTLERCTL_DEPLOY_SEQUENCES", "3")),
    stateful_step_count=10,
    deadline=None,
    derandomize="BUTLERCTL_DEPLOY_SEQUENCES" not in os.environ,  # a commit is held to the same ones each time
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking takes longer than reading the steps
    suppress_health_check=list(HealthCheck),
)
