"""A file that follows its text: the house rules of a lab that runs over midnight."""

from __future__ import annotations

import time
from contextlib import closing
from datetime import date

from butlerctl.gateway.house_rules import house_rules
from butlerctl.lab.conformance.run import SHAPE
from butlerctl.lab.real.kept_file import KeptFile


def test_the_house_rules_say_the_new_day_after_midnight(tmp_path):
    days = [date(2031, 7, 13)]
    path = tmp_path / "AGENTS.md"
    kept = KeptFile(path, lambda: house_rules(SHAPE, "America/New_York", days[0]), every=0.02)
    with closing(kept):
        kept.start()
        assert "Today is Sunday, 2031-07-13." in path.read_text(encoding="utf-8")
        days[0] = date(2031, 7, 14)
        deadline = time.monotonic() + 5
        while "Today is Monday, 2031-07-14." not in path.read_text(encoding="utf-8"):
            assert time.monotonic() < deadline
            time.sleep(0.01)
    days[0] = date(2031, 7, 15)
    time.sleep(0.1)
    assert "2031-07-14" in path.read_text(encoding="utf-8")
    assert [each.name for each in tmp_path.iterdir()] == ["AGENTS.md"]


def test_a_text_that_stays_is_written_once(tmp_path):
    path = tmp_path / "AGENTS.md"
    kept = KeptFile(path, lambda: "rules", every=0.01)
    with closing(kept):
        kept.start()
        written = path.stat().st_mtime_ns
        time.sleep(0.1)
        assert path.stat().st_mtime_ns == written
