"""What the facts prove about the plugin: its files, its settings, whether it loads. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from butlerctl.checks.gateway import GatewayFacts
from butlerctl.checks.gateway_finding import GatewayFinding, at, finding, unproven
from butlerctl.gateway.plugin import PLUGIN_ID, PluginFiles, read_plugin, shipped_plugin
from butlerctl.inventory.model import Inventory
from butlerctl.inventory.operations import OPERATION_OF_TOOL
from butlerctl.protocol.tools import shape_of


def plugin_files(facts: GatewayFacts, inventory: Inventory) -> Iterator[GatewayFinding]:
    del inventory
    if facts.plugin is None:
        hint = "run this where the gateway's files are, or name the folder with --plugin DIR"
        for check in ("gateway.plugin_manifest", "gateway.plugin_files"):
            yield unproven(check, "the plugin's folder is not on this machine", hint)
        return
    yield _manifest(facts.plugin)
    yield _digests(facts.plugin)


def _manifest(plugin: PluginFiles) -> GatewayFinding:
    declared = (plugin.manifest.get("contracts") or {}).get("tools")
    faults = [
        *([] if plugin.manifest.get("id") == PLUGIN_ID else [f"its id is {plugin.manifest.get('id')!r}"]),
        *([] if declared == list(OPERATION_OF_TOOL) else [f"contracts.tools is {declared!r}"]),
        *([] if plugin.has_packages else ["typebox is not installed beside it"]),
    ]
    return finding(
        "gateway.plugin_manifest",
        not faults,
        "; ".join(faults) or "the manifest names the six tools, and its package is installed",
        "run npm ci in the plugin's folder, and take the manifest that ships with it",
    )


def _digests(plugin: PluginFiles) -> GatewayFinding:
    shipped = shipped_plugin()
    expected = read_plugin(shipped) if shipped else None
    if expected is None:
        return unproven(
            "gateway.plugin_files", "no plugin to compare with", "run butlerctl from its checkout"
        )
    names = {*plugin.digests, *expected.digests}
    changed = sorted(name for name in names if plugin.digests.get(name) != expected.digests.get(name))
    seen = f"differs from the shipped plugin: {', '.join(changed)}" if changed else "as shipped"
    hint = "deploy the plugin of this checkout, and restart the gateway"
    return finding("gateway.plugin_files", not changed, seen, hint)


def plugin_settings(facts: GatewayFacts, inventory: Inventory) -> Iterator[GatewayFinding]:
    entry = at(facts.config, "plugins", "entries", PLUGIN_ID)
    config = entry.get("config") if isinstance(entry, Mapping) else None
    if not isinstance(config, Mapping):
        yield finding(
            "gateway.plugin_settings",
            False,
            "the plugin has no configuration",
            f"set plugins.entries.{PLUGIN_ID}.config",
        )
        return
    webhook = inventory.n8n.webhook
    people = {
        name: {
            "taskLists": list(person.task_lists),
            "tabs": list(person.tabs),
            "columns": list(person.columns),
        }
        for name, person in shape_of(inventory).items()
    }
    differing = [
        name
        for name, seen, wanted in (
            ("prefix", config.get("prefix", ""), webhook.prefix),
            ("header", config.get("header", "X-L4CK3Y-Auth"), webhook.header),
            ("timeoutSeconds", config.get("timeoutSeconds", 15), webhook.timeout),
            ("profiles", config.get("profiles"), people),
            ("baseUrl", "/webhook" in str(config.get("baseUrl", "")), False),
        )
        if seen != wanted
    ]
    yield finding(
        "gateway.plugin_settings",
        not differing,
        f"differs from the inventory: {', '.join(differing)}" if differing else "as the inventory says",
        f"plugins.entries.{PLUGIN_ID}.config and inventory.yaml must say the same; baseUrl ends before /webhook",
    )


def plugin_loads(facts: GatewayFacts, inventory: Inventory) -> Iterator[GatewayFinding]:
    """Only a bad word of the gateway counts: a plugin that it calls loaded may still offer nothing."""
    del inventory
    errors = at(facts.health, "plugins", "errors") or []
    if errors:
        yield finding(
            "gateway.plugin_loads", False, f"the gateway reports {json.dumps(errors)[:300]}", "see its log"
        )
