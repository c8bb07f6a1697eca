"""The clients of one household, made from its inventory: the gateway, n8n's API, Google's systems of record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from butlerctl.errors import InventoryError
from butlerctl.gateway.choose import open_gateway
from butlerctl.gateway.interface import AgentGateway
from butlerctl.gateway.openai import OpenAiAgent
from butlerctl.gateway.webhook_tools import WebhookTools, WebhookToolsSettings
from butlerctl.google.household import Systems, systems_of_record
from butlerctl.inventory.model import Inventory
from butlerctl.n8n.api import N8nApi
from butlerctl.protocol.provider import ChatProvider
from butlerctl.protocol.tools import shape_of


@dataclass(frozen=True, slots=True)
class Clients:
    """Connected clients. `versions` holds what gateway and n8n say they are; `api` is None without a key."""

    gateway: AgentGateway
    api: N8nApi | None
    systems: Systems
    versions: Mapping[str, str]


@contextmanager
def connect(inventory: Inventory) -> Iterator[Clients]:
    """Reach gateway, n8n and Google, before anything is written. Everything is closed on exit.

    Raises:
        Unreachable, NotPermitted: a party does not answer, or refuses butlerctl's key.
        SecretMissing: a value that the inventory names is not there.
    """
    with ExitStack() as stack:
        gateway = _gateway(inventory, stack)
        stack.callback(gateway.close)
        n8n = stack.enter_context(_n8n(inventory))
        systems = stack.enter_context(systems_of_record(inventory, reach=True))
        seen = {"gateway": gateway.version(), "n8n": n8n.version()}
        api = n8n if inventory.n8n.api_key else None
        yield Clients(gateway, api, systems, {name: version for name, version in seen.items() if version})


def _gateway(inventory: Inventory, stack: ExitStack) -> AgentGateway:
    settings = inventory.gateway
    token = settings.token.get() if settings.token else ""
    if settings.kind == "openai":
        return _own_loop(inventory, token, stack)
    return open_gateway(settings.url.get(), token, agent=settings.agent, timeout=settings.timeout)


def _own_loop(inventory: Inventory, key: str, stack: ExitStack) -> AgentGateway:
    """No gateway: butlerctl runs the function-calling loop with the provider, and sends the webhooks itself."""
    settings, webhook = inventory.gateway, inventory.n8n.webhook
    model = settings.model or inventory.pins.model
    if not model:
        raise InventoryError("gateway.model is missing", hint="gateway.kind openai needs the model's name")
    provider = ChatProvider(settings.url.get(), key, model, timeout=settings.timeout)
    stack.callback(provider.close)
    tools = WebhookTools(
        WebhookToolsSettings(
            inventory.n8n.url.get(),
            shape_of(inventory),
            webhook.prefix,
            webhook.header,
            webhook.secret.get() if webhook.secret else "",
            webhook.user_agent,
            webhook.timeout,
        )
    )
    return OpenAiAgent(provider, tools, timezone=inventory.timezone, timeout=settings.timeout)


def _n8n(inventory: Inventory) -> N8nApi:
    """Without a key it still tells its version."""
    settings = inventory.n8n
    return N8nApi(settings.url.get(), settings.api_key.get() if settings.api_key else "")
