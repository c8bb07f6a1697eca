"""npm packages in a cache folder: clear errors, and never half an installation."""

from __future__ import annotations

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from butlerctl.errors import BadInput, Unreachable
from butlerctl.lab.real.npm import cache_folder, install, install_project, project_files, tree_digest


@pytest.fixture
def environ(tmp_path):
    """A cache folder of its own, and an npm that is a small script."""
    (tmp_path / "bin").mkdir()
    return {"BUTLERCTL_CACHE_DIR": str(tmp_path / "cache"), "PATH": f"{tmp_path / 'bin'}:{os.defpath}"}


def fake_npm(tmp_path, script):
    path = tmp_path / "bin" / "npm"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    (folder / "node_modules" / "x").mkdir(parents=True)
    (folder / "node_modules" / "x" / "index.js").touch()
    (folder / "package.json").write_text(json.dumps({"name": "project"}), encoding="utf-8")
    (folder / "index.mjs").write_text("export {};", encoding="utf-8")
    return folder


COUNT = 'echo run >> "$BUTLERCTL_CACHE_DIR/../runs"; mkdir -p "$4/node_modules/.bin"'


def runs(tmp_path):
    return (tmp_path / "runs").read_text(encoding="utf-8").count("run")


def test_a_package_is_installed_once(tmp_path, environ):
    fake_npm(tmp_path, COUNT.replace("$4", "$5"))
    first, second = install("some@1.2.3", environ), install("some@1.2.3", environ)
    assert first == second == tmp_path / "cache" / "npm" / "some@1.2.3" / "node_modules" / ".bin"
    assert first.is_dir()
    assert runs(tmp_path) == 1


def test_of_many_at_once_one_installs_and_the_others_wait(tmp_path, environ):
    fake_npm(tmp_path, "sleep 0.3; " + COUNT.replace("$4", "$5"))
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(lambda _: install("some@1.2.3", environ), range(4)))
    assert [each.is_dir() for each in found] == [True]
    assert runs(tmp_path) == 1


def test_one_that_fails_leaves_the_next_to_try(tmp_path, environ):
    fake_npm(tmp_path, "exit 1")
    with pytest.raises(Unreachable):
        install("some@1.2.3", environ)
    fake_npm(tmp_path, COUNT.replace("$4", "$5"))
    assert install("some@1.2.3", environ).is_dir()


def test_without_npm_the_message_says_so(tmp_path, environ):
    with pytest.raises(BadInput, match="there is no npm"):
        install("some@1.2.3", {**environ, "PATH": str(tmp_path / "bin")})


def test_a_failing_npm_is_unreachable_leaves_nothing_and_names_no_host(tmp_path, environ):
    fake_npm(
        tmp_path,
        'mkdir -p "$5/node_modules"; echo "npm error code ENOTFOUND" >&2; '
        'echo "npm error request to https://packages.example.test/some failed" >&2; exit 1',
    )
    with pytest.raises(Unreachable, match="ENOTFOUND") as failure:
        install("some@1.2.3", environ)
    assert "example" not in failure.value.message
    assert [each for each in (tmp_path / "cache" / "npm").iterdir() if each.is_dir()] == []


@pytest.mark.parametrize("code", ["E404", "EUSAGE", "EINTEGRITY", "1"])
def test_a_package_or_lock_that_is_wrong_is_no_matter_of_the_network(tmp_path, environ, code):
    fake_npm(tmp_path, f'echo "npm error code {code}" >&2; exit 1')
    with pytest.raises(BadInput, match=f"failed: {code}$"):
        install("some@1.2.3", environ)


def test_a_project_is_copied_without_its_packages_and_made_anew_when_a_file_changes(
    tmp_path, environ, project
):
    fake_npm(tmp_path, COUNT.replace("$4", "$3"))
    first = install_project(project, environ)
    assert first == install_project(project, environ)
    assert (first / "index.mjs").read_text() == "export {};"
    assert not (first / "node_modules" / "x").exists()
    (project / "index.mjs").write_text("export default 1;", encoding="utf-8")
    assert install_project(project, environ) != first
    assert runs(tmp_path) == 2


def test_the_digest_sees_names_and_contents(project):
    before = tree_digest(project, project_files(project))
    (project / "index.mjs").rename(project / "other.mjs")
    assert tree_digest(project, project_files(project)) != before


def test_a_folder_without_a_project_is_refused(tmp_path, environ):
    with pytest.raises(BadInput, match=r"no package\.json"):
        install_project(tmp_path, environ)


def test_the_cache_is_the_users_own_unless_named(tmp_path):
    assert cache_folder({"BUTLERCTL_CACHE_DIR": str(tmp_path)}) == tmp_path
    assert cache_folder({}).name == "butlerctl"
