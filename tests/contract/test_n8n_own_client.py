"""butlerctl's client, evidence and probes, on the stand-in."""

from __future__ import annotations

import pytest

from tests.contract.n8n_client_contract import *  # noqa: F403 - the tests themselves
from tests.n8n.household import household


@pytest.fixture
def home():
    with household() as built:
        yield built
