"""A machine whose clock was set back: the order of what is remembered is not that of the clock."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from butlerctl.deploy import interrupted
from butlerctl.deploy.journal import PastRun
from butlerctl.deploy.snapshot import new_id, read_snapshot, snapshot_files, write_snapshot
from tests.deploy.deploy_home import deploy_home
from tests.n8n.household import household


@pytest.fixture
def home(tmp_path):
    with household() as built, deploy_home(built, tmp_path, "calendar_add") as home:
        yield home


def test_the_way_back_leads_to_the_last_deployment_also_after_the_clock_was_set_back(home):
    assert home.run("snapshot").code == 0
    (path,) = home.state.rglob("snapshots/*.json")
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    write_snapshot(path.parent, replace(read_snapshot(path), id=new_id(tomorrow), taken=tomorrow))
    path.unlink()
    for mark in (2, 3):
        home.renew(mark=mark)
        assert home.deploy().code == 0
    assert home.all_served() == {"v3"}
    assert home.run("rollback").code == 0
    assert home.all_served() == {"v2"}
    names = [each.stem for each in snapshot_files(path.parent)]
    assert [read_snapshot(each).kind for each in snapshot_files(path.parent)] == [
        "rollback",
        "apply",
        "apply",
        "snapshot",
    ], names


def test_a_step_that_the_clock_puts_into_the_future_is_waited_for_no_longer_than_any(monkeypatch):
    monkeypatch.setattr(interrupted, "SETTLE", timedelta(seconds=0.1))
    sent = {"event": "sending", "at": (datetime.now(UTC) + timedelta(seconds=3)).isoformat()}
    began = time.monotonic()
    interrupted.settle(PastRun(Path("run.jsonl"), (sent,)))
    assert 0.1 <= time.monotonic() - began < 1
