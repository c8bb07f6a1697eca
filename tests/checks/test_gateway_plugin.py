"""`gateway check`: the plugin that the gateway loads, its files, and the n8n to which it sends."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from werkzeug import Request, Response

from butlerctl.checks.gateway_disk import PluginOnDisk, plugin_on_disk
from butlerctl.checks.gateway_finding import Verdict
from butlerctl.checks.gateway_findings import find
from butlerctl.checks.gateway_n8n import N8nAddress, n8n_address
from butlerctl.gateway.operator import Invocation, Session
from butlerctl.gateway.plugin import Package, locked_packages, read_plugin, shipped_plugin
from butlerctl.inventory.loader import load_inventory
from butlerctl.lab.server import LoopbackServer
from tests.checks.gateway_stand import (
    PLUGIN,
    SHIPPED,
    changed,
    verdicts,
)


@pytest.fixture
def plugin(tmp_path):
    """The shipped plugin as it lies beside a gateway, with a package that only looks like its own."""
    folder = tmp_path / "plugin"
    shutil.copytree(shipped_plugin(), folder, ignore=shutil.ignore_patterns("node_modules"))
    package = folder / "node_modules" / "typebox"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"version": "1.1.39"}')
    return folder


def with_files(facts, files, *, changed_since=()):
    return replace(facts, plugin=PluginOnDisk(files, changed_since=changed_since))


def with_genuine_package(files):
    (locked,) = locked_packages(shipped_plugin()).values()
    return replace(files, packages={"typebox": Package(locked.version, locked.digest)})


def test_files_that_are_the_shipped_ones_are_proven(facts, inventory, plugin):
    files = with_genuine_package(read_plugin(plugin))
    assert verdicts(with_files(facts, files), inventory)["gateway.plugin_files"] is Verdict.PROVEN


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda folder: (folder / "answer.mjs").write_text("// nothing"), "differs from the shipped plugin: answer.mjs"),
        (lambda folder: (folder / "extra.mjs").write_text("// more"), "differs from the shipped plugin: extra.mjs"),
    ],
)  # fmt: skip
def test_changed_plugin_files_are_found(facts, inventory, plugin, spoil, words):
    spoil(plugin)
    files = with_genuine_package(read_plugin(plugin))
    assert files_seen(with_files(facts, files), inventory) == words


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda _: None, "the files of typebox are not those of its archive"),
        (lambda package: (package / "package.json").write_text('{"version": "1.1.0"}'), "typebox 1.1.0 is installed, and the lock has 1.1.39"),
        (shutil.rmtree, "typebox is not installed beside it"),
    ],
)  # fmt: skip
def test_another_package_than_the_locks_is_found(facts, inventory, plugin, spoil, words):
    spoil(plugin / "node_modules" / "typebox")
    assert files_seen(with_files(facts, read_plugin(plugin)), inventory) == words


def test_a_file_that_was_written_after_the_start_is_not_what_runs(facts, inventory, plugin):
    files = with_genuine_package(read_plugin(plugin))
    seen = files_seen(with_files(facts, files, changed_since=("index.mjs",)), inventory)
    assert seen == "index.mjs was written after the gateway started"


def files_seen(facts, inventory):
    (found,) = [each for each in find(facts, inventory) if each.verdict is Verdict.BROKEN]
    assert found.check == "gateway.plugin_files"
    return found.seen


class Machine(NamedTuple):
    """A folder that plays the gateway's machine: its configuration, a session that it just made, a plugin."""

    answer: dict
    session: Session
    folder: Path

    def seen(self, started=None):
        return plugin_on_disk(self.answer, self.session, started)


@pytest.fixture
def machine(tmp_path, plugin):
    config, transcript = tmp_path / "openclaw.json", tmp_path / "5f2d.jsonl"
    config.write_text("{}")
    transcript.write_text('{"type":"session","version":3,"id":"5f2d"}\n')
    answer = {
        "path": str(config),
        "hash": hashlib.sha256(b"{}").hexdigest(),
        "config": {"plugins": {"load": {"paths": [str(plugin)]}}},
    }
    return Machine(answer, Session("5f2d", str(transcript)), plugin)


def test_a_folder_here_counts_where_the_gateways_own_files_are_readable(machine):
    assert machine.seen().files.folder == machine.folder


@pytest.mark.parametrize(
    "elsewhere",
    [
        lambda m: m._replace(session=Session("5f2d", str(m.folder / "nosuch.jsonl"))),
        lambda m: m._replace(session=Session("5f2d", "")),
        lambda m: m._replace(session=Session("another", m.session.file)),
        lambda m: m._replace(answer={**m.answer, "hash": "0"}),
        lambda m: m._replace(answer={**m.answer, "path": str(m.folder)}),
        lambda m: m._replace(answer={name: value for name, value in m.answer.items() if name != "path"}),
    ],
)
def test_a_folder_of_the_same_path_here_does_not_count_for_a_gateway_elsewhere(machine, elsewhere):
    """Through a tunnel the gateway's paths name other files here, if any."""
    seen = elsewhere(machine).seen()
    assert (seen.files, seen.why_not) == (None, "the plugin's files are not readable from here")


def test_a_load_path_without_the_plugin_is_told(machine):
    machine.answer["config"] = {"plugins": {"load": {"paths": [str(machine.folder / "test")]}}}
    assert "holds the plugin fr4m3w0rk-tools" in machine.seen().why_not


def test_only_what_was_written_after_the_start_is_told(machine):
    before, after = datetime.fromtimestamp(1, UTC), datetime(2100, 1, 1, tzinfo=UTC)
    assert "index.mjs" in machine.seen(before).changed_since
    assert machine.seen(after).changed_since == ()


@pytest.mark.parametrize(
    ("plugin", "inventory_url", "same"),
    [
        ("http://127.0.0.1:5678", "http://localhost:5678/", True),
        ("http://N8N.example.test", "http://n8n.example.test:80", True),
        ("https://n8n.example.test/base/", "https://n8n.example.test/base", True),
        ("http://n8n.example.test", "http://ops:Passw0rd@n8n.example.test", True),
        ("http://127.0.0.1:5678", "http://127.0.0.1:5679", False),
        ("http://n8n:5678", "http://127.0.0.1:5678", False),
        ("http://n8n.example.test", "https://n8n.example.test", False),
        ("", "http://127.0.0.1:5678", False),
    ],
)
def test_two_spellings_of_an_address_are_one(plugin, inventory_url, same):
    assert N8nAddress(plugin, inventory_url).is_same is same


@pytest.mark.parametrize("plugin", ["http://n8n.example.test:5678", "http://n8n:5678?key=Passw0rd"])
def test_an_address_is_shown_without_its_password(facts, inventory, plugin):
    facts = replace(facts, n8n=N8nAddress(plugin, "http://ops:Passw0rd@n8n.example.test:5678"))
    (found,) = [each for each in find(facts, inventory) if each.check == "gateway.plugin_n8n"]
    assert "http://n8n.example.test:5678" in found.seen
    assert "Passw0rd" not in found.seen


def test_another_address_of_n8n_is_not_called_the_inventorys(facts, inventory):
    facts = replace(facts, n8n=N8nAddress("http://n8n:5678", "http://127.0.0.1:5678"))
    (found,) = [each for each in find(facts, inventory) if each.verdict is Verdict.UNPROVEN]
    assert found.check == "gateway.plugin_n8n"
    assert "http://n8n:5678, the inventory's n8n is http://127.0.0.1:5678" in found.seen
    shown = replace(facts, n8n=replace(facts.n8n, execution="17"))
    assert verdicts(shown, inventory)["gateway.plugin_n8n"] is Verdict.PROVEN


@pytest.mark.parametrize(
    ("started", "found"),
    [
        (lambda: datetime.now(UTC).isoformat(), "17"),
        (lambda: "2020-01-01T00:00:00.000Z", ""),
        (lambda: None, ""),
    ],
)
def test_an_execution_of_a_probe_shows_that_two_addresses_lead_to_one_n8n(facts, started, found):
    def serve(environ, start_response):
        rest = Request(environ)
        assert rest.path == "/api/v1/executions/17"
        document = {"id": 17, "status": "success", "startedAt": started(), "workflowId": "w", "data": {}}
        return Response(json.dumps(document), content_type="application/json")(environ, start_response)

    route = next(iter(facts.invocations))
    invocations = {route: Invocation(found=True, details={"ok": True, "execution": "17"})}
    config = changed(facts.config, "http://n8n:5678", *PLUGIN, "baseUrl")
    with LoopbackServer(serve) as n8n:
        household = load_inventory(SHIPPED, {"N8N_URL": n8n.url, "N8N_API_KEY": "invented-key"})
        assert n8n_address(config, household, invocations).execution == found
    assert n8n_address(config, household, invocations).execution == ""  # nobody answers any more
