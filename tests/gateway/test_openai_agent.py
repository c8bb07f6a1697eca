"""butlerctl's own loop as an agent: the same record as through a gateway, and the plugin's exchanges besides."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from contract_n8n import HOUSEHOLD, SECRET, ContractN8n

from butlerctl.errors import NotPermitted, Unreachable
from butlerctl.gateway.interface import AgentGateway, fresh_session
from butlerctl.gateway.openai import OpenAiAgent
from butlerctl.gateway.openclaw import OpenClawGateway
from butlerctl.gateway.webhook_tools import WebhookTools, WebhookToolsSettings
from butlerctl.lab.gateway.server import LabGateway
from butlerctl.lab.model.server import LabModel
from butlerctl.lab.server import LoopbackServer
from butlerctl.protocol.provider import ChatProvider

EVENT = "Add 'Tennis' to the wife's calendar on 4 July 2027 from 10:00 to 11:00."
KEY = "key-of-the-provider"


class Home(NamedTuple):
    n8n: ContractN8n
    model: LabModel
    model_url: str
    settings: WebhookToolsSettings


@pytest.fixture
def home() -> Iterator[Home]:
    n8n, model = ContractN8n(), LabModel(api_key=KEY)
    with LoopbackServer(n8n.app) as webhooks, LoopbackServer(model.app) as provider:
        settings = WebhookToolsSettings(webhooks.url, HOUSEHOLD, "L4CK3Y", secret=SECRET, timeout=2)
        yield Home(n8n, model, f"{provider.url}/v1", settings)


def agent_of(home: Home, key: str = KEY, url: str | None = None) -> OpenAiAgent:
    provider = ChatProvider(url or home.model_url, key, "lab-butler-1", timeout=5)
    return OpenAiAgent(provider, WebhookTools(home.settings), timezone="America/New_York", timeout=10)


def test_a_turn_has_the_call_the_observation_the_reply_and_the_exchange(home: Home) -> None:
    record = agent_of(home).ask(EVENT, session="s")
    call = record.transcript["messages"][2]["tool_calls"][0]
    (exchange,) = record.exchanges
    assert exchange["tool_call_id"] == call["id"]
    assert exchange["seen_by"] == "plugin"
    assert exchange["request"]["body"]["summary"] == "Tennis"
    assert record.transcript["tools_offered"][1] == "add_calendar_event"
    assert [entry["http_status"] for entry in record.transcript["completions"]] == [200, 200]
    assert record.transcript["complete"] is True
    assert record.reply.startswith("Done")
    assert not any(secret in json.dumps([record.transcript, record.exchanges]) for secret in (SECRET, KEY))


def test_the_loop_and_the_gateway_give_the_same_transcript(home: Home) -> None:
    gateway = LabGateway(
        home.model_url,
        home.settings,
        token="gateway-token",
        agent="butler",
        timezone="America/New_York",
        model_key=KEY,
    )
    with LoopbackServer(gateway.app) as server:
        through: AgentGateway = OpenClawGateway(server.url, "gateway-token", agent="butler")
        alone: AgentGateway = agent_of(home)
        told = [[shape(message) for message in asked(agent)] for agent in (through, alone)]
        through.close()
        alone.close()
    gateway.close()
    assert told[0] == told[1]


def asked(agent: AgentGateway) -> list[dict[str, object]]:
    record = agent.ask("What does the wife have on 4 July 2027?", session=fresh_session())
    return [message for message in record.transcript["messages"] if message["role"] != "system"]


def shape(message: dict[str, object]) -> object:
    """A message without what differs from turn to turn: ids, and the spelling of JSON."""
    if message["role"] == "tool":
        answer = json.loads(str(message["content"]))
        return "tool", {name: value for name, value in answer.items() if name != "execution"}
    calls = message.get("tool_calls", [])
    return message["role"], message["content"], [call["function"] for call in calls]  # type: ignore[attr-defined]


def test_two_calls_are_tied_to_their_own_exchanges_and_a_refused_one_has_none(home: Home) -> None:
    home.model.plant("doubled_call")
    record = agent_of(home).ask(EVENT, session="s")
    ids = [call["id"] for call in record.transcript["messages"][2]["tool_calls"]]
    assert [exchange["tool_call_id"] for exchange in record.exchanges] == ids
    home.model.clear()
    home.model.plant("truncated_arguments")
    assert agent_of(home).ask(EVENT, session="s").exchanges == ()


def test_a_session_is_remembered(home: Home) -> None:
    agent = agent_of(home)
    assert (
        agent.ask("Add 'Tennis' to the calendar on 4 July 2027 from 10:00 to 11:00.", session="s").exchanges
        == ()
    )
    assert "Tennis" in agent.ask("My wife's.", session="s").reply
    assert "Tennis" not in agent.ask("My wife's.", session="another").reply


def test_a_provider_that_fails_after_the_call_leaves_a_record(home: Home) -> None:
    home.model.plant("provider_429_after_call")
    record = agent_of(home).ask(EVENT, session="s")
    assert len(record.exchanges) == 1
    assert record.transcript["completions"][-1]["http_status"] == 429
    assert record.reply == ""


def test_a_wrong_key_is_not_permitted(home: Home) -> None:
    with pytest.raises(NotPermitted, match="refuses the key"):
        agent_of(home, key="another-key").ask(EVENT, session="s")


def test_a_provider_that_is_not_there_is_unreachable(home: Home) -> None:
    with pytest.raises(Unreachable, match="does not answer"):
        agent_of(home, url="http://127.0.0.1:9/v1").ask(EVENT, session="s")


def test_there_is_no_gateway_version_to_tell(home: Home) -> None:
    assert agent_of(home).version() is None
