"""A real OpenClaw gateway on loopback, with the household's plugin: own state, own workspace, own port."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

from butlerctl.errors import BadInput, Unreachable
from butlerctl.gateway.plugin import shipped_plugin
from butlerctl.gateway.webhook_tools import WebhookToolsSettings
from butlerctl.lab.gateway.settings import agent_settings
from butlerctl.lab.real.npm import NODE, install, install_project
from butlerctl.redaction import redact_text, register_secret

_START_SECONDS = 120
_STOP_SECONDS = 10


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """What a gateway is told.

    `model` is `provider/model id`, `model_url` its OpenAI-compatible base with /v1; `rules` is what the agent finds
    in its workspace, the house rules.
    """

    version: str
    agent: str
    model: str
    model_url: str
    tools: WebhookToolsSettings
    rules: str = ""


class OpenClaw:
    """One gateway process below `folder`. Use as a context manager, or `start` and `close`."""

    def __init__(self, settings: GatewaySettings, folder: Path, environ: Mapping[str, str]) -> None:
        self.settings = settings
        self.token = secrets.token_hex(24)
        self.url = ""
        self._folder = folder
        self._environ = environ
        self._process: subprocess.Popen[bytes] | None = None
        register_secret(self.token)

    def start(self) -> Self:
        """Install what is missing, start the gateway and wait until it is ready.

        Raises:
            Unreachable: npm cannot install it, or the gateway does not become ready.
        """
        node = install(NODE, self._environ)
        gateway = install(f"openclaw@{self.settings.version}", self._environ)
        source = shipped_plugin()
        if source is None:
            raise BadInput(
                "the real gateway needs the plugin of the checkout", hint="run butlerctl from a checkout"
            )
        plugin = install_project(source, self._environ)
        port = _free_port()
        self.url = f"http://127.0.0.1:{port}"
        for name in ("state", "workspace", "home"):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        if self.settings.rules:
            (self._folder / "workspace" / "AGENTS.md").write_text(self.settings.rules, encoding="utf-8")
        self._config_path.write_text(json.dumps(self._config(port, plugin), indent=2), encoding="utf-8")
        with (self._folder / "output.log").open("wb") as output:
            self._process = self._spawn(gateway / "openclaw", node, output)
        try:
            self._wait_until_ready()
        except BaseException:
            self.close()
            raise
        return self

    def close(self) -> None:
        """Ask the gateway to stop, and end it after ten seconds."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # the gateway and whatever it started
        process.wait(_STOP_SECONDS)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    @property
    def _config_path(self) -> Path:
        return self._folder / "state" / "openclaw.json"

    def _spawn(self, command: Path, node: Path, output: IO[bytes]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - the executable that was installed above
            [str(command), "gateway", "run"],
            cwd=self._folder,
            env=self._process_environment(node),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

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
        config = agent_settings(self.settings.agent, self.settings.model, self.settings.tools)
        config["agents"]["defaults"] |= {
            "workspace": str(self._folder / "workspace"),
            "skipBootstrap": True,
            "heartbeat": {"every": "0m"},
        }
        config["plugins"]["load"] = {"paths": [str(plugin)]}
        return {
            **config,
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

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if self._process is None or self._process.poll() is not None:
                raise Unreachable(f"OpenClaw {self.settings.version} did not start: {self._last_words()}")
            if _answers(f"{self.url}/readyz"):
                return
            time.sleep(0.2)
        raise Unreachable(f"OpenClaw {self.settings.version} was not ready after {_START_SECONDS} s")

    def _last_words(self) -> str:
        lines = (self._folder / "output.log").read_text(encoding="utf-8", errors="replace").splitlines()
        return redact_text(" | ".join(line.strip() for line in lines[-5:] if line.strip()))


def _answers(url: str) -> bool:
    import httpx

    try:
        return httpx.get(url, timeout=2, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
