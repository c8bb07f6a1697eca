"""The household on which most deployments are tried; where a test module needs another one, it brings its own."""

from __future__ import annotations

from datetime import timedelta

import pytest

from butlerctl.deploy import deployment, interrupted
from tests.deploy.deploy_home import deploy_home
from tests.n8n.household import household


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(interrupted, "SETTLE", timedelta(0))
    monkeypatch.setattr(deployment, "RESTART", timedelta(0))
    with household() as built, deploy_home(built, tmp_path, "calendar_add") as home:
        yield home
