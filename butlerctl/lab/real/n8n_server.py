"""One real n8n: installed from npm, on loopback, with a home of its own; its command line beside it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from butlerctl.errors import Unreachable
from butlerctl.lab.real.npm import NODE, install, install_built
from butlerctl.lab.real.process import ServerProcess, free_port
from butlerctl.redaction import redact_text

_OVERRIDES = {"xlsx": "0.18.5"}  # n8n-nodes-base points at an archive outside npm
_BUILT = ("sqlite3", "isolated-vm")
_COMMAND_SECONDS = 120
# Without them n8n 2 asks its vendor for things; n8n 1 does not know the names and would not start.
_MODULES_OFF = "mcp-registry,instance-ai,agents,mcp,chat-hub,insights,quick-connect"
_OFF = (
    "N8N_AI_ENABLED",
    "N8N_COMMUNITY_PACKAGES_ENABLED",
    "N8N_DIAGNOSTICS_ENABLED",
    "N8N_DYNAMIC_BANNERS_ENABLED",
    "N8N_HIRING_BANNER_ENABLED",
    "N8N_LICENSE_AUTO_RENEW_ENABLED",
    "N8N_PERSONALIZATION_ENABLED",
    "N8N_SECURE_COOKIE",
    "N8N_TEMPLATES_ENABLED",
    "N8N_VERIFIED_PACKAGES_ENABLED",
    "N8N_VERSION_NOTIFICATIONS_ENABLED",
    "N8N_VERSION_NOTIFICATIONS_WHATS_NEW_ENABLED",
)
_ON = ("N8N_BLOCK_ENV_ACCESS_IN_NODE", "N8N_METRICS")


def install_n8n(version: str, environ: Mapping[str, str]) -> Path:
    """The executable of this n8n, in butlerctl's cache. Raises as `install_built`."""
    return install_built(f"n8n@{version}", environ, overrides=_OVERRIDES, build=_BUILT) / "n8n"


@dataclass(slots=True)
class N8nServer:
    """n8n of one version below `folder`. `outside` is added to its environment: where it may reach the world."""

    version: str
    folder: Path
    timezone: str
    outside: Mapping[str, str]
    environ: Mapping[str, str]
    port: int = field(default_factory=free_port)
    _process: ServerProcess | None = field(default=None, init=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Install what is missing, start, wait until it is ready.

        Raises:
            Unreachable: npm cannot install it, or n8n does not become ready.
        """
        self._process = ServerProcess(
            name=f"n8n {self.version}",
            command=[str(self._executable()), "start"],
            environ=self._environment(broker=free_port()),
            folder=self.folder,
            log=self.folder / "n8n.log",
            ready_url=f"{self.url}/healthz/readiness",
            stop_signal=signal.SIGINT,
        )
        self._process.start()

    def close(self) -> None:
        """Stop it, and wait for its end; the home stays."""
        if self._process is not None:
            self._process.close()

    def command(self, *arguments: str) -> str:
        """Run n8n's command line on the same home, beside the server or without it; what it printed.

        Raises:
            Unreachable: it failed.
        """
        done = subprocess.run(  # noqa: S603 - the executable that was installed, and arguments of our own
            [str(self._executable()), *arguments],
            cwd=self.folder,
            env=self._environment(broker=free_port()),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_COMMAND_SECONDS,
            check=False,
        )
        if done.returncode != 0:
            words = redact_text((done.stderr or done.stdout).strip()[-500:])
            raise Unreachable(f"n8n {arguments[0]} failed: {words}")
        return done.stdout

    def _executable(self) -> Path:
        return install_n8n(self.version, self.environ)

    def _environment(self, broker: int) -> dict[str, str]:
        path = os.pathsep.join([str(install(NODE, self.environ)), self.environ.get("PATH", os.defpath)])
        return {
            "PATH": path,
            "HOME": str(self.folder),
            "N8N_USER_FOLDER": str(self.folder),
            "N8N_PORT": str(self.port),
            "N8N_LISTEN_ADDRESS": "127.0.0.1",
            "N8N_HOST": "127.0.0.1",
            "N8N_PROTOCOL": "http",
            "WEBHOOK_URL": f"{self.url}/",
            "N8N_EDITOR_BASE_URL": f"{self.url}/",
            "DB_TYPE": "sqlite",
            "N8N_RUNNERS_BROKER_LISTEN_ADDRESS": "127.0.0.1",
            "N8N_RUNNERS_BROKER_PORT": str(broker),
            "N8N_ENCRYPTION_KEY": "the-labs-own-key",
            "GENERIC_TIMEZONE": self.timezone,
            "TZ": self.timezone,
            "EXTERNAL_FRONTEND_HOOKS_URLS": "",
            "EXECUTIONS_DATA_SAVE_ON_SUCCESS": "all",
            "EXECUTIONS_DATA_SAVE_ON_ERROR": "all",
            "N8N_DISABLED_MODULES": "" if self.version.startswith("1.") else _MODULES_OFF,
            **dict.fromkeys(_OFF, "false"),
            **dict.fromkeys(_ON, "true"),
            **self.outside,
        }
