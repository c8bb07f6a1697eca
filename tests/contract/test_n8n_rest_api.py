"""The REST API of the stand-in, and what only the stand-in can be told."""

from __future__ import annotations

import pytest

from butlerctl.lab.n8n.credentials import Credentials
from butlerctl.n8n.http import make_client
from tests.contract.n8n_rest_contract import *  # noqa: F403 - the tests themselves
from tests.contract.n8n_rest_contract import EVENT, PATH
from tests.n8n.household import household


@pytest.fixture
def home():
    with household() as built:
        yield built


def test_a_write_can_be_planted_to_happen_twice(home):
    home.n8n.switches.twice.add(PATH)
    assert home.call(PATH, EVENT).status_code == 200
    assert len(home.google.objects_with(EVENT["summary"])) == 2


def test_one_route_can_be_given_credentials_of_its_own(home):
    home.n8n.switches.credentials[PATH] = Credentials()
    assert home.call(PATH, EVENT).json()["error"]["reason"] == "credential_missing"
    assert home.call("L4CK3Y/calendar/list/husband").status_code == 200


def test_metrics_are_off(home):
    with make_client(home.url, timeout=5) as client:
        assert client.get(f"{home.url}/metrics").status_code == 404
