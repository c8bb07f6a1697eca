from __future__ import annotations

import pytest

from tests.lab.shell import Shell


@pytest.fixture
def shell(tmp_path):
    """A user's shell in a folder of its own, for one test."""
    return Shell(tmp_path)
