"""Deployments to the stand-in, and what only the stand-in can show."""

from __future__ import annotations

import pytest

from tests.deploy.deploy_situations import *  # noqa: F403 - the tests themselves
from tests.n8n.household import household as built_household


@pytest.fixture
def household():
    with built_household() as built:
        yield built
