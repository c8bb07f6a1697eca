"""A household on loopback for the client's tests, and what may stand in front of its n8n."""

from __future__ import annotations

import pytest

from butlerctl.n8n.api import N8nApi
from tests.n8n.household import household


@pytest.fixture(scope="module")
def home():
    with household() as built:
        yield built


@pytest.fixture
def api(home):
    with N8nApi(home.url, home.api_key) as client:
        yield client


@pytest.fixture
def in_front(home):
    """Lets a test put something in front of n8n, and takes it away again."""

    def put(answer):
        home.n8n.switches.in_front = lambda _path: answer() if callable(answer) else answer

    yield put
    home.n8n.switches.in_front = lambda _path: None
