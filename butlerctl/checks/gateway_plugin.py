"""What the facts prove about the plugin: what the gateway read of it, its files, its settings, whether it loads. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from butlerctl.checks.gateway import GatewayFacts
from butlerctl.checks.gateway_finding import GatewayFinding, at, finding, skipped, unproven
from butlerctl.checks.gateway_n8n import N8nAddress
from butlerctl.gateway.plugin import (
    MANIFEST,
    PLUGIN_ID,
    PluginFiles,
    declared_by,
    locked_packages,
    read_plugin,
    shipped_plugin,
)
from butlerctl.inventory.model import Inventory
from butlerctl.inventory.operations import OPERATION_OF_TOOL
from butlerctl.protocol.tools import household_tools, shape_of

_NOT_SHIPPED = "butlerctl was installed without a plugin to compare with"


def plugin_manifest(facts: GatewayFacts, inventory: Inventory) -> Iterator[GatewayFinding]:
    """What the gateway itself tells of the plugin that it runs; nothing of it comes from a file here.

    That contracts.tools names a tool is seen by the agent getting it: the gateway drops any other.
    """
    check = "gateway.plugin_manifest"
    shipped = shipped_plugin()
    if shipped is None:
        yield unproven(check, _NOT_SHIPPED, "install butlerctl anew: its package holds the plugin")
        return
    wanted = declared_by(json.loads((shipped / MANIFEST).read_text(encoding="utf-8")))
    described = {tool.name: tool.description for tool in household_tools(shape_of(inventory))}
    told = {
        tool.name: tool.description
        for tool in facts.tools[inventory.gateway.agent] or ()
        if tool.plugin == PLUGIN_ID
    }
    faults = [
        *([] if facts.entry.name else [f"the gateway found no plugin {PLUGIN_ID}"]),
        *([] if facts.entry == wanted or not facts.entry.name else ["name, description or settings differ"]),
        *(f"{name} is described otherwise" for name in sorted(told) if told[name] != described.get(name)),
        *(f"{name} is not registered" for name in OPERATION_OF_TOOL if name not in told),
    ]
    yield finding(
        check,
        not faults,
        "; ".join(faults) or "the gateway runs a plugin that declares what the shipped one declares",
        "deploy butlerctl's plugin (npm ci in its folder) and restart the gateway; its log tells why a plugin "
        "did not load",
    )


def plugin_files(facts: GatewayFacts, inventory: Inventory) -> Iterator[GatewayFinding]:
    del inventory
    check = "gateway.plugin_files"
    shipped = shipped_plugin()
    expected = read_plugin(shipped) if shipped else None
    if facts.plugin.files is None:
        yield skipped(check, facts.plugin.why_not)
    elif shipped is None or expected is None:
        yield unproven(check, _NOT_SHIPPED, "install butlerctl anew: its package holds the plugin")
    else:
        faults = [
            *_changed(facts.plugin.files, expected),
            *_packages(facts.plugin.files, expected),
            *(f"{name} was written after the gateway started" for name in facts.plugin.changed_since),
        ]
        yield finding(
            check,
            not faults,
            "; ".join(faults) or f"as shipped, in {facts.plugin.files.folder}",
            "deploy butlerctl's plugin, run npm ci in its folder, and restart the gateway",
        )


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
    differing = _differing(config, inventory)
    yield finding(
        "gateway.plugin_settings",
        not differing,
        f"differs from the inventory: {', '.join(differing)}"
        if differing
        else "prefix, header, patience and people are those of the inventory",
        f"plugins.entries.{PLUGIN_ID}.config and inventory.yaml must say the same; baseUrl ends before /webhook",
    )
    yield _n8n(facts.n8n)


def plugin_loads(facts: GatewayFacts, inventory: Inventory) -> Iterator[GatewayFinding]:
    """Only a bad word of the gateway counts: a plugin that it calls loaded may still offer nothing."""
    del inventory
    errors = at(facts.health, "plugins", "errors") or []
    if errors:
        yield finding(
            "gateway.plugin_loads", False, f"the gateway reports {json.dumps(errors)[:300]}", "see its log"
        )


def _changed(files: PluginFiles, expected: PluginFiles) -> list[str]:
    names = sorted({*files.digests, *expected.digests})
    changed = [name for name in names if files.digests.get(name) != expected.digests.get(name)]
    return [f"differs from the shipped plugin: {', '.join(changed)}"] if changed else []


def _packages(files: PluginFiles, expected: PluginFiles) -> list[str]:
    """What is installed beside the plugin, held against the lock that ships."""
    faults = []
    for name, locked in locked_packages(expected.folder).items():
        installed = files.packages.get(name)
        if installed is None:
            faults.append(f"{name} is not installed beside it")
        elif installed.version != locked.version:
            faults.append(f"{name} {installed.version} is installed, and the lock has {locked.version}")
        elif installed.digest != locked.digest:
            faults.append(f"the files of {name} are not those of its archive")
    return faults


def _differing(config: Mapping[str, Any], inventory: Inventory) -> list[str]:
    webhook = inventory.n8n.webhook
    people = {
        name: {
            "taskLists": list(person.task_lists),
            "tabs": list(person.tabs),
            "columns": list(person.columns),
        }
        for name, person in shape_of(inventory).items()
    }
    compared = (
        ("prefix", config.get("prefix", ""), webhook.prefix),
        ("header", config.get("header", "X-L4CK3Y-Auth"), webhook.header),
        ("timeoutSeconds", config.get("timeoutSeconds", 15), webhook.timeout),
        ("profiles", config.get("profiles"), people),
        ("baseUrl", "/webhook" in str(config.get("baseUrl", "")), False),
    )
    return [name for name, seen, wanted in compared if seen != wanted]


def _n8n(address: N8nAddress) -> GatewayFinding:
    check = "gateway.plugin_n8n"
    plugin, inventory = address.shown
    if address.is_same:
        return finding(check, True, f"the plugin calls the inventory's n8n at {inventory}", "")
    seen = f"the plugin calls {plugin or 'nothing'}, the inventory's n8n is {inventory}"
    if address.execution:
        return finding(
            check, True, f"{seen}: the same, it made execution {address.execution} for a probe", ""
        )
    return unproven(
        check,
        f"{seen}, which shows no execution of a probe through the plugin",
        "set baseUrl or n8n.url so that both name one n8n; where two addresses lead to it, n8n.api_key and saved "
        "executions show that they do",
    )
