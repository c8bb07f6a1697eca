"""What every test starts from."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    """A suite that runs in the background may have inherited SIGINT as ignored; its children would too."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
