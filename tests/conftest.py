"""What every test starts from."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

# Contracts and situations are modules of their own: when they fail, they tell what they saw.
pytest.register_assert_rewrite("tests")

from tests.forgetting import secrets_forgotten  # noqa: E402 - rewritten like the others


def pytest_configure() -> None:
    """A suite that runs in the background may have inherited signals as ignored; its children would too.

    What is caught here is theirs to have: a program starts with the default in place of a handler.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


@pytest.fixture(autouse=True)
def _secrets_are_forgotten_after_the_test() -> Iterator[None]:
    with secrets_forgotten():
        yield
