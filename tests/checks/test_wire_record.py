"""A tap between gateway and provider: with its record a verification says whether each call was native."""

from __future__ import annotations

import json
import os
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from butlerctl.checks.wire_record import TapRecord
from butlerctl.errors import BadInput
from butlerctl.gateway.tap import Tap
from butlerctl.gateway.tap_record import EvidenceFolder
from butlerctl.inventory.loader import load_inventory
from butlerctl.lab.stack import Lab
from butlerctl.progress import Nobody
from butlerctl.verify import Assignment, verify

ROOT = Path(__file__).parents[2]
PROMPT = "Which open tasks are on the wife's task list?"
NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)


class TappedLab(Lab):
    """The lab with a tap between its gateway and its model."""

    def __init__(self, inventory, folder):
        self._folder = EvidenceFolder(folder)
        super().__init__(inventory)

    def _start_gateway(self, inventory, model_url, tools):
        tap = self._stack.enter_context(Tap(model_url.removesuffix("/v1"), self._folder.record))
        return super()._start_gateway(inventory, f"{tap.url}/v1", tools)


@pytest.fixture(scope="module")
def household():
    return load_inventory(ROOT / "inventory.yaml", os.environ)


def call_reasons(result):
    return {str(route.route): route.judgement.links[0].reason for route in result.run.routes}


def run(lab, folder, routes, record=None):
    folder.mkdir()
    return verify(lab.inventory, Assignment(routes, folder, lab=True, tap_record=record), Nobody())


def test_every_call_of_a_tapped_household_is_proven_native_and_no_other_is(household, tmp_path):
    routes = tuple(route for route in household.routes if route.profile == "wife")
    with Lab(household) as lab:
        plain = run(lab, tmp_path / "plain", routes)
    with TappedLab(household, tmp_path / "wire") as lab:
        tapped = run(lab, tmp_path / "tapped", routes, TapRecord(tmp_path / "wire"))
    assert (plain.run.verdict, tapped.run.verdict) == ("PASS", "PASS")
    assert len(call_reasons(tapped)) == 6
    assert all(reason.startswith("a native call of ") for reason in call_reasons(tapped).values())
    assert not any("a native call" in reason for reason in call_reasons(plain).values())
    assert [skipped for skipped in tapped.run.skipped if skipped.check.startswith("tap.")] == []


def test_a_tap_that_is_not_in_between_is_told_for_every_route(household, tmp_path):
    (tmp_path / "wire").mkdir()
    routes = tuple(route for route in household.routes if str(route) == "tasks_list/wife")
    with Lab(household) as lab:
        result = run(lab, tmp_path / "state", routes, TapRecord(tmp_path / "wire"))
    assert result.run.verdict == "PASS"
    (told,) = (skipped for skipped in result.run.skipped if skipped.check.startswith("tap."))
    assert told.check == "tap.record[tasks_list/wife]"
    assert told.reason.startswith("the tap recorded no conversation with this question")


def conversation(folder, name="0001-transcript.json", **changed):
    document = {
        "kind": "transcript",
        "seen_by": "tap",
        "when": NOW.isoformat(),
        "tools_offered": ["list_tasks"],
        "messages": [{"role": "user", "content": f"[Wed 12:00] {PROMPT}"}],
        **changed,
    }
    (folder / name).write_text(json.dumps(document), encoding="utf-8")


def test_a_conversation_is_found_by_the_words_that_were_asked(tmp_path):
    conversation(tmp_path)
    (found,) = TapRecord(tmp_path).conversations(PROMPT, NOW, wait=0)
    assert found["seen_by"] == "tap"


@pytest.mark.parametrize(
    "changed",
    [
        {"when": (NOW - timedelta(hours=1)).isoformat()},
        {"when": "yesterday"},
        {"when": "2026-07-01T12:00:00"},
        {"tools_offered": []},
        {"messages": [{"role": "user", "content": "Something else."}]},
        {"messages": 7},
        {"kind": "exchange"},
    ],
)
def test_an_earlier_run_another_question_and_a_side_question_are_not_it(tmp_path, changed):
    conversation(tmp_path, **changed)
    assert TapRecord(tmp_path).conversations(PROMPT, NOW, wait=0) == ()


def later(seconds, act):
    timer = threading.Timer(seconds, act)
    timer.start()
    return timer


def test_a_record_that_is_written_late_is_waited_for_to_its_end(tmp_path):
    timers = [
        later(0.2, lambda: conversation(tmp_path, complete=False)),
        later(0.5, lambda: conversation(tmp_path, complete=True)),
    ]
    (found,) = TapRecord(tmp_path).conversations(PROMPT, NOW, wait=10)
    assert found["complete"] is True
    for timer in timers:
        timer.join()


def test_what_never_comes_to_its_end_is_taken_as_it_is(tmp_path):
    conversation(tmp_path, complete=False)
    began = time.monotonic()
    (found,) = TapRecord(tmp_path).conversations(PROMPT, NOW, wait=0.3)
    assert (found["complete"], time.monotonic() - began >= 0.3) == (False, True)


def test_a_tap_that_is_not_in_between_is_waited_for_once(tmp_path):
    record, began = TapRecord(tmp_path), time.monotonic()
    for _ in range(12):
        assert record.conversations(PROMPT, NOW, wait=0.5) == ()
    assert time.monotonic() - began < 2
    conversation(tmp_path, complete=True)
    assert len(record.conversations(PROMPT, NOW, wait=0)) == 1


def test_what_is_no_transcript_in_the_folder_is_passed_over(tmp_path):
    for name, content in (("0001-transcript.json", b"{"), ("0002-transcript.json", b"[]"), ("0003.txt", b"")):
        (tmp_path / name).write_bytes(content)
    os.mkfifo(tmp_path / "0000-transcript.json")
    (tmp_path / "0003-transcript.json").mkdir()
    conversation(tmp_path, "0004-transcript.json")
    assert len(TapRecord(tmp_path).conversations(PROMPT, NOW, wait=0)) == 1


def test_a_folder_that_is_not_there_is_refused_before_anything_is_asked(tmp_path):
    with pytest.raises(BadInput, match="no such folder"):
        TapRecord(tmp_path / "nowhere")
