from __future__ import annotations

from pathlib import Path

import pytest

from butlerctl.errors import BadInput
from butlerctl.state import STATE_DIR_VARIABLE, state_folder, state_root


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch):
    monkeypatch.delenv(STATE_DIR_VARIABLE, raising=False)


def test_each_inventory_has_a_private_folder_named_after_its_own_folder(tmp_path):
    one = state_folder(tmp_path / "Our house!" / "inventory.yaml", tmp_path / "state")
    other = state_folder(tmp_path / "other" / "inventory.yaml", tmp_path / "state")
    assert one.name.startswith("Our_house-")
    assert one != other
    assert one.parent == other.parent == tmp_path / "state"
    assert [path.stat().st_mode & 0o777 for path in (one, one.parent)] == [0o700, 0o700]


def test_the_folder_is_the_same_however_the_inventory_is_reached(tmp_path, monkeypatch):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    state = tmp_path / "state"
    direct = state_folder(tmp_path / "real" / "inventory.yaml", state)
    assert state_folder(tmp_path / "link" / "inventory.yaml", state) == direct
    monkeypatch.chdir(tmp_path / "real")
    assert state_folder(Path("inventory.yaml"), state) == direct


def test_the_flag_goes_before_the_environment_and_that_before_the_platform(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    assert state_root() == tmp_path / "xdg" / "butlerctl"
    monkeypatch.setenv(STATE_DIR_VARIABLE, str(tmp_path / "variable"))
    assert state_root() == tmp_path / "variable"
    assert state_root(tmp_path / "flag") == tmp_path / "flag"


def test_a_relative_state_folder_is_made_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert state_root(Path("here")) == tmp_path / "here"


def test_a_state_folder_that_cannot_be_made_is_named_in_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="state folder cannot be made"):
        state_folder(tmp_path / "inventory.yaml", tmp_path / "file")
