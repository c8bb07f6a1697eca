"""What every test starts from."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from butlerctl import redaction

pytest.register_assert_rewrite(
    "tests"
)  # contracts and situations are modules of their own: they tell what they saw


def pytest_configure() -> None:
    """A suite that runs in the background may have inherited signals as ignored; its children would too.

    What is caught here is theirs to have: a program starts with the default in place of a handler.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


@pytest.fixture(autouse=True)
def _secrets_are_forgotten_after_the_test() -> Iterator[None]:
    """Secrets are registered for a whole process: an invented one must not mask another test's evidence."""
    kept = set(redaction._registered)
    yield
    if redaction._registered != kept:
        redaction._registered.intersection_update(kept)
        redaction._registered_forms = None
