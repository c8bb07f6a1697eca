"""The stand-in, held to what n8n 2.30.8 answered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from butlerctl.lab.n8n import N8nStandIn
from butlerctl.lab.server import LoopbackServer
from tests.contract import n8n_contract as contract
from tests.contract.n8n_contract import *  # noqa: F403 - the tests themselves


@dataclass
class _Current:
    """The application of the test that runs now."""

    applications: list[Any]
    at: int

    def __call__(self, environ, start_response):
        return self.applications[self.at](environ, start_response)


@pytest.fixture(scope="module")
def servers() -> Iterator[list[Any]]:
    """Two servers whose applications each test replaces: starting sixty servers would take longer than the tests."""
    current: list[Any] = [None, None]
    with (
        LoopbackServer(_Current(current, 0)) as google,
        LoopbackServer(_Current(current, 1)) as n8n,
    ):
        yield [current, google.url, n8n.url]


@pytest.fixture
def stage(servers) -> Iterator[contract.Stage]:
    current, google_url, url = servers
    google = contract.husbands_google()
    n8n = N8nStandIn(google_url=google_url)
    for credential in contract.stock(google):
        n8n.add_credential(*credential)
    current[:] = [google, n8n.app]
    yield contract.Stage(url, google, n8n, n8n.credentials.remove)
    n8n.close()
    assert google.own_faults == []
