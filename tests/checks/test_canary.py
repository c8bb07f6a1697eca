"""The test object: its marker, its day, and what is asked in words."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from butlerctl.checks.canary import NONCE_PATTERN, day_for_tests, new_canary, new_nonce
from butlerctl.inventory.loader import load_inventory
from butlerctl.protocol.tools import ProfileShape, argument_faults

INVENTORY = load_inventory(Path(__file__).parents[2] / "inventory.yaml", {})
NEW_YORK = ZoneInfo("America/New_York")
SHAPE = {
    name: ProfileShape(tuple(person.task_lists), person.spreadsheet.tabs, person.spreadsheet.columns)
    for name, person in INVENTORY.profiles.items()
}


def test_a_nonce_has_ten_symbols_that_nobody_mistakes_and_never_comes_twice():
    nonces = {new_nonce() for _ in range(500)}
    assert len(nonces) == 500
    assert all(re.fullmatch(NONCE_PATTERN, nonce) for nonce in nonces)


@given(
    st.dates(date(2024, 1, 1), date(2035, 1, 1)),
    st.sampled_from(["America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"]),
)
def test_the_day_is_two_days_away_from_every_change_of_the_clocks(today, zone_name):
    zone = ZoneInfo(zone_name)
    day = day_for_tests(today, zone)
    assert timedelta(days=14) <= day - today <= timedelta(days=20)
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=zone)
    offsets = {(noon + timedelta(days=shift)).utcoffset() for shift in (-2, -1, 0, 1, 2)}
    assert len(offsets) == 1


@pytest.mark.parametrize("domain", ["calendar", "tasks", "sheets"])
@pytest.mark.parametrize("profile", ["husband", "wife"])
def test_the_words_hold_the_nonce_and_the_call_fits_the_tools_contract(domain, profile):
    canary = new_canary(domain, INVENTORY.profiles[profile], NEW_YORK, date(2026, 11, 30))
    assert canary.nonce in canary.add.prompt
    assert profile in canary.add.prompt
    assert profile in canary.look.prompt
    intent = canary.add.as_intent()
    assert argument_faults(intent.tool, intent.arguments, SHAPE) == []
    assert canary.nonce in str(intent.arguments)


def test_every_cell_of_a_row_carries_the_nonce_so_that_it_can_be_cleared_by_content():
    canary = new_canary("sheets", INVENTORY.profiles["wife"], NEW_YORK, date(2026, 11, 30))
    cells = canary.add.arguments["values"]
    assert len(cells) == 3
    assert all(cell.startswith(canary.nonce) for cell in cells)


def test_event_times_carry_the_households_offset():
    canary = new_canary("calendar", INVENTORY.profiles["husband"], NEW_YORK, date(2026, 6, 1))
    assert canary.add.arguments["start"].endswith(":00-04:00")
    assert 10 <= canary.start.hour <= 14
