"""What n8n answers, held by the real n8n: the same tests as for the stand-in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract import n8n_contract as contract
from tests.contract.n8n_contract import *  # noqa: F403 - the tests themselves

pytestmark = pytest.mark.stack


@pytest.fixture
def stage(n8n_bench) -> Iterator[contract.Stage]:
    google = contract.husbands_google()
    n8n_bench.fill(google, contract.stock(google))
    stage = contract.Stage(n8n_bench.url, google, n8n_bench.n8n, n8n_bench.remove_credential)
    stage.patience = 15
    yield stage
    n8n_bench.empty()
    assert google.own_faults == []
