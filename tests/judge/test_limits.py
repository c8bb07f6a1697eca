"""A limit is a whole number, or its plain text: what a gateway makes of anything else was not asked for."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from butlerctl.judge.values import same


@pytest.mark.parametrize(
    ("given", "fits"),
    [
        (5, True),
        ("5", True),
        ("5.0", False),
        (5.0, False),
        (" 5", False),
        ("05", False),
        ("+5", False),
        ("\u0665", False),  # five in Arabic digits
        (True, False),
        (None, False),
        (6, False),
    ],
)
def test_what_is_the_limit_that_was_asked_for(given, fits):
    assert same("limit", 5, given, ZoneInfo("America/New_York")) is fits
