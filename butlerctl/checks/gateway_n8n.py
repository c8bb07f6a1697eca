"""Whether the gateway's plugin calls the n8n of the inventory: by the same address, or by an execution that is there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from butlerctl.checks.gateway_finding import at
from butlerctl.errors import ButlerctlError
from butlerctl.gateway.operator import Invocation
from butlerctl.gateway.plugin import PLUGIN_ID
from butlerctl.inventory.model import Inventory
from butlerctl.inventory.operations import Route
from butlerctl.n8n.api import N8nApi
from butlerctl.n8n.executions import find_by_id

_APART = timedelta(minutes=2)
"""Two machines' clocks may differ so much; another n8n has no execution of this number at this time."""

_PORTS = {"http": 80, "https": 443}
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class N8nAddress:
    """`plugin` is where the plugin sends to, `inventory` where butlerctl finds n8n.

    `execution` is the execution of a probe through the plugin that the inventory's n8n shows; empty without one.
    """

    plugin: str
    inventory: str
    execution: str = ""

    @property
    def is_same(self) -> bool:
        return _parts(self.plugin) == _parts(self.inventory)

    @property
    def shown(self) -> tuple[str, str]:
        """Both addresses as they may be shown: without user, password and query."""
        return _bare(self.plugin), _bare(self.inventory)


def n8n_address(
    config: Mapping[str, Any], inventory: Inventory, invocations: Mapping[Route, Invocation]
) -> N8nAddress:
    """Raises SecretMissing when the inventory's n8n.url leads nowhere."""
    plugin = str(at(config, "plugins", "entries", PLUGIN_ID, "config", "baseUrl") or "")
    address = N8nAddress(plugin, inventory.n8n.url.get())
    if address.is_same:
        return address
    return N8nAddress(address.plugin, address.inventory, _shared_execution(inventory, invocations))


def _shared_execution(inventory: Inventory, invocations: Mapping[Route, Invocation]) -> str:
    """One of the executions that the probes named, where the inventory's n8n has it and made it just now."""
    with contextlib.suppress(ButlerctlError), _api(inventory) as api:
        for invocation in invocations.values():
            number = at(invocation.details, "execution")
            found = find_by_id(api, str(number)) if number else None
            if found is not None and _is_recent(found.get("started")):
                return str(number)
    return ""


@contextlib.contextmanager
def _api(inventory: Inventory) -> Iterator[N8nApi]:
    key = inventory.n8n.api_key
    with N8nApi(inventory.n8n.url.get(), key.get() if key else "") as api:
        yield api


def _is_recent(started: Any) -> bool:
    try:
        moment = datetime.fromisoformat(str(started))
    except ValueError:
        return False
    return moment.tzinfo is not None and abs(datetime.now(UTC) - moment) < _APART


def _bare(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def _parts(url: str) -> tuple[str, str, int | None, str]:
    """What makes two spellings of an address the same; the machine's own names count as one."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    try:
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        port = None
    return parts.scheme, "loopback" if host in _LOOPBACK else host, port, parts.path.rstrip("/")
