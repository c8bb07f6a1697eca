"""The way to an OpenClaw gateway: its WebSocket protocol where it lets butlerctl in, HTTP elsewhere."""

from __future__ import annotations

from butlerctl.errors import GatewayRefused, NotPermitted, Unreachable
from butlerctl.gateway.interface import AgentGateway
from butlerctl.gateway.openclaw import OpenClawGateway
from butlerctl.gateway.openclaw_websocket import WebSocketGateway


def open_gateway(url: str, token: str, *, agent: str, timeout: float) -> AgentGateway:
    """A client of the gateway at this http address. Both ways give the same transcript document; only WebSocket tells
    what the agent was offered.

    A client without a paired device is let in on loopback alone. Over HTTP a wrong token or a missing gateway shows
    with the first question.
    """
    try:
        return WebSocketGateway(url, token, agent=agent, timeout=timeout)
    except (Unreachable, NotPermitted, GatewayRefused):
        return OpenClawGateway(url, token, agent=agent, timeout=timeout)
