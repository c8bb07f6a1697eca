"""A gateway of the lab for its check, and facts about it that are changed in one way."""

from __future__ import annotations

from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from butlerctl.checks.gateway import look
from butlerctl.checks.gateway_findings import find
from butlerctl.gateway.operator import Operator
from butlerctl.gateway.webhook_tools import WebhookToolsSettings
from butlerctl.inventory.loader import load_inventory
from butlerctl.lab.conformance.script import Ask, native, words
from butlerctl.lab.conformance.servers import ScriptedModel, ScriptedWebhooks, succeed
from butlerctl.lab.gateway.agents import Agents
from butlerctl.lab.gateway.server import LabGateway
from butlerctl.lab.server import LoopbackServer
from butlerctl.protocol.tools import shape_of

SHIPPED = Path(__file__).parents[2] / "inventory.yaml"
TOKEN = "token-of-the-lab-gateway"
READ = Ask("List.", "Nothing.", "list_calendar_events", {"profile": "husband", "limit": 1})


class Stand(NamedTuple):
    """A gateway of the lab between a scripted model and scripted webhooks."""

    url: str
    lab: LabGateway
    webhooks: ScriptedWebhooks


@contextmanager
def lab_gateway(inventory, *answers, webhook=succeed, token=TOKEN, others=()):
    with ExitStack() as resources:
        model = resources.enter_context(ScriptedModel())
        webhooks = resources.enter_context(ScriptedWebhooks())
        model.play(answers or (native(READ.call()), words("Nothing.")))
        webhooks.behave(webhook)
        hook = inventory.n8n.webhook
        tools = WebhookToolsSettings(
            webhooks.url,
            shape_of(inventory),
            hook.prefix,
            hook.header,
            "invented-secret",
            timeout=hook.timeout,
        )
        lab = LabGateway(
            model.url,
            tools,
            token=token,
            agent=inventory.gateway.agent,
            timezone=inventory.timezone,
            model=inventory.pins.model,
        )
        lab.agents = Agents(inventory.gateway.agent, others)
        resources.enter_context(closing(lab))
        yield Stand(resources.enter_context(LoopbackServer(lab.app)).url, lab, webhooks)


def pointed_at(n8n_url):
    """The shipped household, whose n8n is this one."""
    return load_inventory(SHIPPED, {"N8N_URL": n8n_url})


def looked_at(stand, *, with_turn=True):
    household = pointed_at(stand.webhooks.url)
    with Operator.connect(stand.url, TOKEN) as operator:
        return find(look(operator, household, with_turn=with_turn), household)


def verdicts(facts, inventory):
    return {finding.check: finding.verdict for finding in find(facts, inventory)}


def changed(document, value, *keys):
    """A copy of the document with this value at this place."""
    key, *rest = keys
    inner = changed(document.get(key) or {}, value, *rest) if rest else value
    return {**document, key: inner}


PLUGIN = ("plugins", "entries", "fr4m3w0rk-tools", "config")
