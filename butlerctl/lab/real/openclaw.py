"""A real OpenClaw gateway on loopback, with the household's plugin: own state, own workspace, own port."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from butlerctl.errors import BadInput, UsageProblem
from butlerctl.gateway.plugin import shipped_plugin
from butlerctl.gateway.webhook_tools import WebhookToolsSettings
from butlerctl.inventory.operations import Route
from butlerctl.lab.gateway.settings import agent_settings
from butlerctl.lab.real.kept_file import KeptFile
from butlerctl.lab.real.npm import NODE, install, install_project
from butlerctl.lab.real.process import ServerProcess, free_port
from butlerctl.redaction import register_secret


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """What a gateway is told.

    `model` is `provider/model id`, `model_url` its OpenAI-compatible base with /v1; `rules` gives what the agent finds
    in its workspace at this moment, the house rules. `plugin` is a folder that takes the place of the shipped plugin,
    with its packages; `revise` changes the configuration before it is written.
    """

    version: str
    agent: str
    model: str
    model_url: str
    timezone: str
    tools: WebhookToolsSettings
    rules: Callable[[], str] | None = None
    plugin: Path | None = None
    revise: Callable[[dict[str, Any]], None] | None = None


class OpenClaw:
    """One gateway below `folder`. `token` opens it; a random one unless given. Use as a context manager, or `close`."""

    def __init__(
        self, settings: GatewaySettings, folder: Path, environ: Mapping[str, str], token: str = ""
    ) -> None:
        self.settings = settings
        self.token = token or secrets.token_hex(24)
        self.url = ""
        self._folder = folder
        self._environ = environ
        self._process: ServerProcess | None = None
        self._rules: KeptFile | None = None
        register_secret(self.token)

    def start(self) -> Self:
        """Install what is missing, start the gateway and wait until it is ready.

        Raises:
            Unreachable: npm cannot install it, or the gateway does not become ready.
            BadInput: there is no npm, or no plugin.
        """
        node = install(NODE, self._environ)
        gateway = install(f"openclaw@{self.settings.version}", self._environ)
        plugin = self.settings.plugin or installed_plugin(self._environ)
        port = free_port()
        self._write_files(port, plugin)
        self.url = f"http://127.0.0.1:{port}"
        self._process = ServerProcess(
            name=f"OpenClaw {self.settings.version}",
            command=(str(gateway / "openclaw"), "gateway", "run"),
            environ=self._process_environment(node),
            folder=self._folder,
            log=self._folder / "output.log",
            ready_url=f"{self.url}/readyz",
        )
        try:
            self._process.start()
        except BaseException:
            self.close()
            raise
        return self

    def close(self) -> None:
        if self._process is not None:
            self._process.close()
        if self._rules is not None:
            self._rules.close()

    def plant(self, kind: str, route: Route | None = None) -> None:
        """The real plugin has no faults to plant. Raises UsageProblem."""
        del route
        raise UsageProblem(
            f"the fault {kind} is one of the lab's own gateway", hint="leave out --engine real for this fault"
        )

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    @property
    def _config_path(self) -> Path:
        return self._folder / "state" / "openclaw.json"

    def _write_files(self, port: int, plugin: Path) -> None:
        for name in ("state", "workspace", "home"):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        if self.settings.rules is not None:
            self._rules = KeptFile(self._folder / "workspace" / "AGENTS.md", self.settings.rules)
            self._rules.start()
        self._config_path.write_text(json.dumps(self._config(port, plugin), indent=2), encoding="utf-8")

    def _process_environment(self, node: Path) -> dict[str, str]:
        return {
            "PATH": os.pathsep.join([str(node), self._environ.get("PATH", os.defpath)]),
            "HOME": str(self._folder / "home"),
            "OPENCLAW_STATE_DIR": str(self._folder / "state"),
            "OPENCLAW_CONFIG_PATH": str(self._config_path),
            "OPENCLAW_GATEWAY_TOKEN": self.token,
            "OPENCLAW_DISABLE_BONJOUR": "1",
            "OPENCLAW_NO_UPDATE_CHECK": "1",
            "N8N_WEBHOOK_SECRET": self.settings.tools.secret,
        }

    def _config(self, port: int, plugin: Path) -> dict[str, Any]:
        provider, _, model = self.settings.model.partition("/")
        config = agent_settings(
            self.settings.agent, self.settings.model, self.settings.timezone, self.settings.tools
        )
        config["agents"]["defaults"] |= {
            "workspace": str(self._folder / "workspace"),
            "skipBootstrap": True,
            "heartbeat": {"every": "0m"},
        }
        config["plugins"]["load"] = {"paths": [str(plugin)]}
        config |= {
            "gateway": {
                "mode": "local",
                "bind": "loopback",
                "port": port,
                "auth": {"mode": "token", "token": "${OPENCLAW_GATEWAY_TOKEN}"},
                "controlUi": {"enabled": False},
                "http": {"endpoints": {"chatCompletions": {"enabled": True}}},
            },
            "discovery": {"mdns": {"mode": "off"}},
            "update": {"checkOnStart": False},
            "models": {"mode": "merge", "providers": {provider: self._provider(model)}},
            "logging": {"file": str(self._folder / "gateway.log")},
        }
        if self.settings.revise is not None:
            self.settings.revise(config)
        return config

    def _provider(self, model: str) -> dict[str, Any]:
        return {
            "baseUrl": self.settings.model_url,
            "apiKey": "no-key-on-loopback",
            "api": "openai-completions",
            "models": [
                {
                    "id": model,
                    "name": model,
                    "reasoning": False,
                    "input": ["text"],
                    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
                    "contextWindow": 128_000,
                    "maxTokens": 4096,
                }
            ],
        }


def installed_plugin(environ: Mapping[str, str]) -> Path:
    """The shipped plugin with the packages of its lock, in butlerctl's cache.

    Raises:
        Unreachable: npm cannot fetch the packages.
        BadInput: there is no npm, or no plugin.
    """
    source = shipped_plugin()
    if source is None:
        raise BadInput(
            "the real gateway needs butlerctl's plugin",
            hint="install butlerctl anew: its package holds the plugin",
        )
    return install_project(source, environ)
