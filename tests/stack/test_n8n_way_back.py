"""The way back on the real n8n: the same situations as on the stand-in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.deploy.way_back_situations import *  # noqa: F403 - the tests themselves
from tests.n8n.household import TestHousehold

pytestmark = pytest.mark.stack


@pytest.fixture
def household(n8n_bench) -> Iterator[TestHousehold]:
    yield n8n_bench.household()
    n8n_bench.empty()
