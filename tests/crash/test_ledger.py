"""The ledger file: what is on the disk, what survives damage, who may hold it."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from butlerctl.errors import BadInput, TryAgain
from butlerctl.ledger import FILE_NAME, Asked, Ledger, Window, read_journal

START = datetime(2026, 12, 14, 15, 0, tzinfo=UTC)


def asked(nonce="BTLR-7K2MXW4QRT"):
    window = Window(START, START + timedelta(hours=1))
    return Asked(nonce, "calendar", "wife", "wife@example.test", window, datetime.now(UTC), preflight=True)


def written(folder):
    with Ledger(folder) as ledger:
        ledger.asked(asked())
        ledger.deleting(asked().nonce, "event1", '"etag"')
        ledger.refused(asked().nonce, "event1", "https://example.test/e", ["it has attendees"])
    return folder / FILE_NAME


def test_what_was_asked_comes_back_as_it_was(tmp_path):
    entry = asked()
    with Ledger(tmp_path) as ledger:
        ledger.asked(entry)
        assert ledger.journal().open_canaries(datetime.now(UTC)) == (entry,)


def test_a_line_is_one_json_object_with_a_checksum(tmp_path):
    lines = written(tmp_path).read_text().splitlines()
    events = [json.loads(line) for line in lines]
    assert [event["event"] for event in events] == ["asked", "deleting", "refused"]
    assert all(len(event["crc"]) == 8 for event in events)
    assert events[2]["reasons"] == ["it has attendees"]


def test_the_ledger_is_private(tmp_path):
    path = tmp_path / FILE_NAME
    path.touch(mode=0o666)
    written(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_is_gone_is_watched_for_a_day_and_then_closed(tmp_path):
    now = datetime.now(UTC)
    with Ledger(tmp_path) as ledger:
        ledger.asked(asked())
        ledger.gone(asked().nonce)
        journal = ledger.journal()
    assert len(journal.open_canaries(now + timedelta(hours=23))) == 1
    assert journal.open_canaries(now + timedelta(hours=25)) == ()


def test_what_turns_up_again_is_open_again(tmp_path):
    with Ledger(tmp_path) as ledger:
        ledger.asked(asked())
        ledger.gone(asked().nonce)
        ledger.refused(asked().nonce, "event1", "", ["it has attendees"])
        journal = ledger.journal()
    assert len(journal.open_canaries(datetime.now(UTC) + timedelta(days=30))) == 1


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_torn_last_line_is_dropped_and_overwritten(tmp_path, cut):
    path = written(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    assert [entry["event"] for entry in read_journal(path).entries] == ["asked", "deleting"]
    with Ledger(tmp_path) as ledger:
        ledger.gone(asked().nonce)
    journal = read_journal(path)
    assert [entry["event"] for entry in journal.entries] == ["asked", "deleting", "gone"]
    assert journal.damaged == ()


def test_a_whole_line_that_was_changed_is_named_and_the_others_count(tmp_path):
    path = written(tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"event1","link"', b'"event2","link"', 1))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"not json\n" + b"[1, 2]\n" + b"".join(lines[1:]))
    journal = read_journal(path)
    assert [entry["event"] for entry in journal.entries] == ["asked", "deleting"]
    assert journal.damaged == (2, 3, 5)


def test_two_runs_cannot_hold_one_ledger(tmp_path):
    with Ledger(tmp_path):
        with pytest.raises(TryAgain, match="another run"):
            Ledger(tmp_path)
        assert read_journal(tmp_path / FILE_NAME).entries == ()
    with Ledger(tmp_path):
        pass


def test_a_dead_run_does_not_keep_the_ledger(tmp_path):
    program = (
        "import os, sys, pathlib; from butlerctl.ledger import Ledger;"
        "Ledger(pathlib.Path(sys.argv[1])); os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False).returncode == -9
    with Ledger(tmp_path):
        pass


def test_without_a_ledger_there_are_no_entries(tmp_path):
    assert read_journal(tmp_path / FILE_NAME).open_canaries(datetime.now(UTC)) == ()


def test_a_folder_that_is_not_there_or_no_folder_is_one_clear_line(tmp_path):
    with pytest.raises(BadInput, match="cannot be used: No such file or directory"):
        Ledger(tmp_path / "nowhere")
    (tmp_path / FILE_NAME).mkdir()
    with pytest.raises(BadInput, match="cannot be used"):
        Ledger(tmp_path)


NO_ROOM = """
import pathlib, resource, sys
from datetime import UTC, datetime
from butlerctl.errors import BadInput
from butlerctl.ledger import Asked, Ledger, Window
now = datetime.now(UTC)
with Ledger(pathlib.Path(sys.argv[1])) as ledger:
    ledger.gone("BTLR-2222222222")
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (120, most[1]))
    try:
        ledger.asked(Asked("BTLR-7K2MXW4QRT", "tasks", "wife", "list", Window(now, now), now, True))
    except BadInput as error:
        print(error.message)
    resource.setrlimit(resource.RLIMIT_FSIZE, most)
    ledger.gone("BTLR-3333333333")
"""


def test_a_full_disk_stops_the_ask_and_leaves_no_half_line(tmp_path):
    command = [sys.executable, "-c", NO_ROOM, str(tmp_path)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "the ledger cannot be used: File too large" in told
    journal = read_journal(tmp_path / FILE_NAME)
    assert [entry["nonce"] for entry in journal.entries] == ["BTLR-2222222222", "BTLR-3333333333"]
    assert journal.damaged == ()
