"""Tests of real servers need npm and its registry, and nothing else may keep them from running."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from butlerctl.errors import Unreachable


@contextmanager
def only_npm_may_be_missing(what: str) -> Iterator[None]:
    """Around the installation of packages: without npm, or where it reaches no registry, the test is not run."""
    if shutil.which("npm") is None:
        not_tested(f"{what} (there is no npm)")
    try:
        yield
    except Unreachable as error:
        not_tested(f"{what} ({error.message})")


def not_tested(what: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(f"NOT TESTED: {what}")
    pytest.skip(f"NOT TESTED: {what}")
