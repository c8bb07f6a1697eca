"""The n8n stand-in: serves workflow exports on loopback and answers as n8n 2.30.8 does."""

from __future__ import annotations

from butlerctl.lab.n8n.answers import (
    Answer,
    gateway_page,
    json_answer,
    page,
    redirect,
    sign_in_page,
    with_tag,
)
from butlerctl.lab.n8n.rest import READ_SCOPES
from butlerctl.lab.n8n.standin import VERSION, N8nStandIn
from butlerctl.lab.n8n.webhooks import Switches
from butlerctl.lab.n8n.workflows import Refused

__all__ = [
    "READ_SCOPES",
    "VERSION",
    "Answer",
    "N8nStandIn",
    "Refused",
    "Switches",
    "gateway_page",
    "json_answer",
    "page",
    "redirect",
    "sign_in_page",
    "with_tag",
]
