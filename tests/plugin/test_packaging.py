"""What ships the gateway: pins in the Dockerfile, compose.yaml and openclaw.json are those of inventory.yaml."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
import yaml

from butlerctl.inventory.loader import load_inventory

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "extensions" / "FR4M3W0RK-tools"


@pytest.fixture(scope="module")
def inventory():
    return load_inventory(ROOT / "inventory.yaml", os.environ)


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((PLUGIN / "compose.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def dockerfile():
    return (PLUGIN / "Dockerfile").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def config():
    return json.loads((PLUGIN / "openclaw.json").read_text(encoding="utf-8"))


def test_the_image_holds_the_pinned_gateway(inventory, dockerfile, compose):
    assert f"ARG OPENCLAW_VERSION={inventory.pins.gateway}\n" in dockerfile
    assert compose["services"]["gateway"]["build"]["args"]["OPENCLAW_VERSION"] == inventory.pins.gateway


def test_n8n_is_pinned(inventory, compose):
    assert compose["services"]["n8n"]["image"] == f"n8nio/n8n:{inventory.pins.n8n}"


def test_the_base_image_is_pinned_to_a_patch(dockerfile):
    assert re.search(r"^FROM node:\d+\.\d+\.\d+-", dockerfile, re.MULTILINE)


def test_every_module_of_the_plugin_is_copied_and_no_test(dockerfile):
    assert "COPY openclaw.plugin.json *.mjs ./" in dockerfile
    assert {path.parent for path in PLUGIN.rglob("*.mjs")} == {PLUGIN, PLUGIN / "test"}
    assert "test" in (PLUGIN / ".dockerignore").read_text(encoding="utf-8").split()


def test_both_services_have_a_health_check(dockerfile, compose):
    assert "HEALTHCHECK" in dockerfile
    assert "healthcheck" in compose["services"]["n8n"]


def test_no_secret_stands_in_the_files(compose, config):
    secret = re.compile(r"TOKEN|SECRET|KEY")
    for service in compose["services"].values():
        for name, value in service["environment"].items():
            assert not secret.search(name) or value == f"${{{name}:?}}"
    assert config["gateway"]["auth"]["token"] == "${OPENCLAW_GATEWAY_TOKEN}"


def test_the_agent_gets_the_pinned_model_alone_and_the_plugin_alone(inventory, config):
    agents = config["agents"]
    assert agents["defaults"]["model"] == {"primary": inventory.pins.model, "fallbacks": []}
    assert agents["list"] == [
        {"id": inventory.gateway.agent, "default": True, "tools": {"allow": ["fr4m3w0rk-tools"]}}
    ]
    assert config["cron"]["retry"]["backoffMs"] == [60_000, 300_000, 900_000]


def test_the_agent_is_told_the_households_time_zone(inventory, config):
    assert config["agents"]["defaults"]["userTimezone"] == inventory.timezone


def test_the_plugins_configuration_is_the_inventorys(inventory, config):
    plugin = config["plugins"]["entries"]["fr4m3w0rk-tools"]["config"]
    assert (plugin["prefix"], plugin["header"]) == (
        inventory.n8n.webhook.prefix,
        inventory.n8n.webhook.header,
    )
    assert plugin["profiles"] == {
        name: {
            "taskLists": list(person.task_lists),
            "tabs": list(person.spreadsheet.tabs),
            "columns": list(person.spreadsheet.columns),
        }
        for name, person in inventory.profiles.items()
    }
