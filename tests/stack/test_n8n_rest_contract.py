"""The REST API of the real n8n, and butlerctl's own client on it: the same tests as for the stand-in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.n8n_client_contract import *  # noqa: F403 - the tests themselves
from tests.contract.n8n_rest_contract import *  # noqa: F403 - the tests themselves
from tests.n8n.household import TestHousehold

pytestmark = pytest.mark.stack


@pytest.fixture
def home(n8n_bench) -> Iterator[TestHousehold]:
    yield n8n_bench.household()
    n8n_bench.empty()
