"""The clients of one household, made from its inventory: the gateway, n8n's API, Google's systems of record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from butlerctl.errors import UsageProblem
from butlerctl.gateway.choose import open_gateway
from butlerctl.gateway.interface import AgentGateway
from butlerctl.google.household import Systems, systems_of_record
from butlerctl.inventory.model import Inventory
from butlerctl.n8n.api import N8nApi


@dataclass(frozen=True, slots=True)
class Clients:
    """Connected clients. `versions` holds what gateway and n8n say they are; `api` is None without a key."""

    gateway: AgentGateway
    api: N8nApi | None
    systems: Systems
    versions: Mapping[str, str]


@contextmanager
def connect(inventory: Inventory) -> Iterator[Clients]:
    """Reach gateway and n8n, before anything is written. Everything is closed on exit.

    Raises:
        Unreachable, NotPermitted: a party does not answer, or refuses butlerctl's key.
        SecretMissing: a value that the inventory names is not there.
    """
    with ExitStack() as stack:
        gateway = _gateway(inventory)
        stack.callback(gateway.close)
        api = _api(inventory)
        if api is not None:
            stack.callback(api.close)
        systems = stack.enter_context(systems_of_record(inventory))
        seen = {"gateway": gateway.version(), "n8n": api.version() if api else None}
        yield Clients(gateway, api, systems, {name: version for name, version in seen.items() if version})


def _gateway(inventory: Inventory) -> AgentGateway:
    settings = inventory.gateway
    if settings.kind != "openclaw":
        raise UsageProblem(f"gateway.kind {settings.kind} cannot be verified through yet")
    token = settings.token.get() if settings.token else ""
    return open_gateway(settings.url.get(), token, agent=settings.agent, timeout=settings.timeout)


def _api(inventory: Inventory) -> N8nApi | None:
    settings = inventory.n8n
    if settings.api_key is None:
        return None
    return N8nApi(settings.url.get(), settings.api_key.get())
