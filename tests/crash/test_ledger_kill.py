"""Killed at any moment, the ledger has lost nothing that it promised."""

from __future__ import annotations

import subprocess
import sys
import time

from butlerctl.ledger import FILE_NAME, Ledger, read_journal

WRITER = """
import pathlib, sys
from butlerctl.ledger import Ledger
ledger = Ledger(pathlib.Path(sys.argv[1]))
for number in range(int(sys.argv[2]), 10**9):
    ledger.deleting("BTLR-7K2MXW4QRT", str(number), '"etag"' * 20)
    print(number, flush=True)
"""


def run_and_kill(folder, first, after):
    """The numbers that the child acknowledged before it was killed `after` seconds after its first one."""
    command = [sys.executable, "-c", WRITER, str(folder), str(first)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        child.stdout.readline()
        time.sleep(after)
        child.kill()
        rest = child.stdout.read().split("\n")
    return [first, *(int(number) for number in rest[:-1])]


def test_no_acknowledged_line_is_lost_when_the_run_is_killed(tmp_path):
    expected = []
    for after in (0.0, 0.01, 0.03, 0.06):
        first = expected[-1] + 1 if expected else 0
        expected += run_and_kill(tmp_path, first, after)
        journal = read_journal(tmp_path / FILE_NAME)
        found = [int(entry["id"]) for entry in journal.entries]
        assert journal.damaged == ()
        assert found[: len(expected)] == expected
        assert len(found) - len(expected) <= 1
        expected = found


def test_a_kill_in_the_middle_of_a_line_leaves_a_tail_that_the_next_run_overwrites(tmp_path):
    run_and_kill(tmp_path, 0, 0.01)
    path = tmp_path / FILE_NAME
    with path.open("ab") as file:
        file.write(b'{"at":"2026-12-01T00:00:00+00:00","event":"dele')
    with Ledger(tmp_path) as ledger:
        ledger.gone("BTLR-7K2MXW4QRT")
    journal = read_journal(path)
    assert journal.damaged == ()
    assert journal.entries[-1]["event"] == "gone"
