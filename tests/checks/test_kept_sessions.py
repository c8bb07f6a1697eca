"""Sessions of a run: none stays where butlerctl can delete it, and what stays is told at the end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from werkzeug.wrappers import Response

from butlerctl.inventory.loader import load_inventory
from butlerctl.lab.stack import Lab
from butlerctl.progress import Nobody
from butlerctl.verify import Assignment, verify

ROOT = Path(__file__).parents[2]


class HttpOnlyLab(Lab):
    """Its gateway refuses WebSocket, as one behind a plain proxy does."""

    def _start_gateway(self, inventory, model_url, tools):
        super()._start_gateway(inventory, model_url, tools)
        whole = self.gateway.app

        def http_only(environ, start_response):
            app = Response(status=404) if "HTTP_UPGRADE" in environ else whole
            return app(environ, start_response)

        return self._serve(http_only)


@pytest.fixture(scope="module")
def household():
    return load_inventory(ROOT / "inventory.yaml", os.environ)


def kept(result):
    return [skipped.reason for skipped in result.run.skipped if skipped.check == "cleanup.sessions"]


def run(lab, household, state):
    routes = tuple(route for route in household.routes if str(route) in {"tasks_add/wife", "tasks_list/wife"})
    return verify(lab.inventory, Assignment(routes, state, lab=True), Nobody())


def test_a_run_leaves_no_session_at_the_gateway(household, tmp_path):
    with Lab(household) as lab:
        result = run(lab, household, tmp_path)
        left = dict(lab.gateway.sessions._sessions)
    assert result.run.verdict == "PASS"
    assert kept(result) == []
    assert left == {}


def test_sessions_that_http_cannot_delete_are_told(household, tmp_path):
    with HttpOnlyLab(household) as lab:
        result = run(lab, household, tmp_path)
    assert result.run.verdict == "PASS"
    (told,) = kept(result)
    assert told.startswith("2 sessions stay at the gateway: agent:butler:butlerctl-")
