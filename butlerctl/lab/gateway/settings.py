"""OpenClaw's configuration of the household's agent, the same for the lab's gateway and for a real one."""

from __future__ import annotations

from typing import Any

from butlerctl.gateway.plugin import PLUGIN_ID
from butlerctl.gateway.webhook_tools import WebhookToolsSettings

PLUGIN_NAME = "FR4M3W0RK tools"
PLUGIN_DESCRIPTION = "Household tools through n8n webhooks."
PLUGIN_SETTINGS = {
    "baseUrl": ("string", True),
    "prefix": ("string", False),
    "header": ("string", False),
    "timeoutSeconds": ("number", False),
    "profiles": ("object", True),
}
"""What the plugin's manifest declares: each key's type, and whether it is required."""


def agent_settings(agent: str, model: str, timezone: str, tools: WebhookToolsSettings) -> dict[str, Any]:
    """One agent with one model (`provider/model id`), the household's plugin and nothing more."""
    return {
        "agents": {
            "defaults": {"model": {"primary": model, "fallbacks": []}, "userTimezone": timezone},
            "list": [{"id": agent, "default": True, "tools": {"allow": [PLUGIN_ID]}}],
        },
        "plugins": {
            "allow": [PLUGIN_ID],
            "entries": {PLUGIN_ID: {"enabled": True, "config": _plugin_config(tools)}},
        },
        "tools": {"loopDetection": {"enabled": True}},
        "cron": {
            "enabled": True,
            "retry": {
                "maxAttempts": 3,
                "backoffMs": [60_000, 300_000, 900_000],
                "retryOn": ["rate_limit", "overloaded", "network", "timeout", "server_error"],
            },
        },
    }


def _plugin_config(tools: WebhookToolsSettings) -> dict[str, Any]:
    people = {
        name: {
            "taskLists": list(person.task_lists),
            "tabs": list(person.tabs),
            "columns": list(person.columns),
        }
        for name, person in tools.shape.items()
    }
    return {
        "baseUrl": tools.n8n_url,
        "prefix": tools.prefix,
        "header": tools.header,
        "timeoutSeconds": tools.timeout,
        "profiles": people,
    }
