"""The household of google_home, fresh for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

import pytest
from google_home import NONCE, WIFE, WINDOW, Home, new_home

from butlerctl.ledger import Asked


@pytest.fixture
def home() -> Iterator[Home]:
    with ExitStack() as stack:
        made = new_home(stack)
        yield made
        assert made.emulator.own_faults == []


@pytest.fixture
def asked() -> Callable[..., Asked]:
    """A ledger entry's content: asked a moment ago, with a preflight, unless a test says otherwise."""

    def make(domain: str = "calendar", **more: Any) -> Asked:
        fields = {
            "nonce": NONCE,
            "domain": domain,
            "profile": "wife",
            "container": WIFE,
            "window": WINDOW,
            "t0": datetime.now(UTC),
            "preflight": True,
        }
        return Asked(**(fields | more))

    return make
