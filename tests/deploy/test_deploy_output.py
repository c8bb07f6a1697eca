"""What others wrote, in n8n or in a file, neither steers the terminal nor ends a command that did its work."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from butlerctl.inventory.operations import Route
from tests.deploy.deploy_home import ROOT, deploy_home, node_of
from tests.n8n.household import household

ADD = Route("calendar_add", "husband")
NAME = "evil\n\x1b[2J\u202eunchanged"
SHOWN = r'"evil\n\x1b[2J\u202eunchanged"'


@pytest.fixture
def home(tmp_path):
    with household() as built, deploy_home(built, tmp_path, "calendar_add") as home:
        yield home


def run_in(home, encoding, *argv):
    """The command as a process whose terminal knows this encoding only."""
    return subprocess.run(
        [sys.executable, "-m", "butlerctl", *argv],
        cwd=ROOT,
        env={**os.environ, **home.environ, "PYTHONIOENCODING": encoding},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )


def test_a_name_in_n8n_does_not_steer_the_terminal(home):
    document = home.bound(ADD) | {"name": NAME, "id": "strangersWork001"}
    node_of(document, ".webhook")["parameters"]["path"] = "taken"
    home.n8n.import_workflow(document, active=True)
    home.edit(ADD, lambda document: node_of(document, ".webhook")["parameters"].update(path="taken"))
    plan = run_in(home, "utf-8", "plan", "--out", str(home.plan_file))
    assert plan.returncode == 1, plan.stderr
    assert f"REFUSED: POST taken is served by another workflow: {SHOWN}".encode() in plan.stdout
    refused = run_in(home, "utf-8", "apply", str(home.plan_file), "--yes")
    assert refused.returncode == 78
    assert f"served by another workflow: {SHOWN}".encode() in refused.stderr
    as_json = run_in(home, "utf-8", "plan", "--format", "json")
    assert as_json.returncode == 1, as_json.stderr
    assert NAME in json.loads(as_json.stdout)["entries"][0]["refusals"][0]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_command_does_its_work_whatever_the_terminal_can_show(home, encoding):
    note = "für 家 — später"
    home.edit(ADD, lambda document: document["nodes"][0].update(notes=note))
    plan = run_in(home, encoding, "plan", "--format", "json", "--out", str(home.plan_file))
    assert plan.returncode == 1, plan.stderr
    assert note in str(json.loads(plan.stdout.decode(encoding))["entries"])
    assert run_in(home, encoding, "plan").returncode == 1
    assert run_in(home, encoding, "drift").returncode == 1
    assert run_in(home, encoding, "apply", str(home.plan_file), "--yes").returncode == 0
    assert home.live(ADD)["nodes"][0]["notes"] == note


@pytest.mark.parametrize("end", ["closed pipe", "full disk"])
def test_nothing_ends_in_the_middle_because_nobody_watches_any_more(home, end):
    def run_unwatched(*argv):
        if end == "full disk":
            writing = os.open("/dev/full", os.O_WRONLY)
        else:
            reading, writing = os.pipe()
            os.close(reading)
        ran = subprocess.run(
            [sys.executable, "-m", "butlerctl", *argv, "--format", "json"],
            cwd=ROOT,
            env={**os.environ, **home.environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=writing,
            check=False,
        )
        os.close(writing)
        return ran.returncode, json.loads(ran.stdout)["outcome"]

    before = home.published()
    home.renew()
    home.plan()
    assert run_unwatched("apply", str(home.plan_file), "--yes") == (0, "done")
    assert home.all_served() == {"v2"}
    assert run_unwatched("rollback") == (0, "done")
    assert (home.published(), home.all_served()) == (before, {"v1"})
