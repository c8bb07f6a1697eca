"""The whole lab, started together on loopback: Google, n8n, the model, the agent gateway."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self
from zoneinfo import ZoneInfo

from butlerctl.gateway.house_rules import house_rules
from butlerctl.gateway.webhook_tools import WebhookToolsSettings
from butlerctl.inventory.model import Inventory
from butlerctl.inventory.operations import OPERATIONS, Route
from butlerctl.lab.gateway.part import GatewayPart
from butlerctl.lab.gateway.server import VERSION as GATEWAY_VERSION
from butlerctl.lab.gateway.server import LabGateway
from butlerctl.lab.google.emulator import WRITE_SCOPES, GoogleEmulator
from butlerctl.lab.google.tokens import Grant, OAuthClient
from butlerctl.lab.model.server import LabModel
from butlerctl.lab.n8n.part import N8nPart
from butlerctl.lab.n8n.standin import VERSION, N8nStandIn
from butlerctl.lab.plan import Account, Credential, Plan, environment_for, plan_lab, point_at
from butlerctl.lab.server import LoopbackServer
from butlerctl.protocol.tools import shape_of

N8N_CLIENT = OAuthClient("n8n.lab.example", "lab-n8n-client-secret")
BUTLERCTL_CLIENT = OAuthClient("butlerctl.lab.example", "lab-butlerctl-client-secret")


class Engine(StrEnum):
    """What stands behind the lab's addresses."""

    STAND_IN = "stand-in"
    REAL = "real"
    REAL_N8N = "real-n8n"
    """The real n8n, and the lab's own gateway: turns take half the time."""


class Lab:
    """A running lab. `inventory` is the household pointed at it; nothing else knows that it is one.

    Use as a context manager, or `close` it. The parts are open for planted faults and for tests that look inside.
    """

    inventory: Inventory

    def __init__(self, inventory: Inventory, engine: Engine = Engine.STAND_IN) -> None:
        """Start every part; ports are the system's choice.

        The real n8n and OpenClaw are those of the inventory's pins, from npm.

        Raises:
            Unreachable, BadInput: a real server cannot be installed or started.
            BadDocument, InventoryError: exports and inventory do not fit together.
        """
        self._original = inventory
        self._engine = engine
        self.plan: Plan = plan_lab(inventory)
        self._replaced: dict[Route, Mapping[str, Any]] = {}
        self._stack = ExitStack()
        self._webhook_secret = secrets.token_urlsafe(24)
        self._gateway_token = secrets.token_urlsafe(24)
        try:
            self._start(inventory)
        except BaseException:
            self._stack.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop every part, the gateway first."""
        self._stack.close()

    def environ(self) -> dict[str, str]:
        """What another process needs in its environment to reach this lab through the same inventory."""
        return environment_for(self._original, self.plan, self._reached)

    def workflow_id(self, route: Route) -> str:
        return self._workflow_ids[route]

    def webhook_path(self, route: Route) -> str:
        """The path below `/webhook/`."""
        return route.webhook_path(self.inventory.n8n.webhook.prefix)

    def replace_export(self, route: Route, document: Mapping[str, Any]) -> None:
        """From now on the household's export of this route is another one."""
        folder = Path(self._stack.enter_context(TemporaryDirectory(prefix="butlerctl-exports-")))
        self._replaced[route] = document
        for each, export in (dict(self.plan.workflows) | self._replaced).items():
            (folder / each.workflow_file).write_text(json.dumps(export, ensure_ascii=False), encoding="utf-8")
        self.inventory = replace(
            self.inventory, workflows=replace(self.inventory.workflows, directory=folder)
        )

    def account(self, profile: str) -> Account:
        return next(account for account in self.plan.accounts if account.profile == profile)

    def google_credential(self, route: Route) -> Credential:
        """The credential with which the route's workflow acts."""
        domain = OPERATIONS[route.operation].domain
        return next(
            each
            for each in self.plan.credentials
            if each.profile == route.profile and domain in each.type.lower()
        )

    def grant_for_n8n(
        self, profile: str, scopes: tuple[str, ...] = WRITE_SCOPES, client: OAuthClient = N8N_CLIENT
    ) -> dict[str, Any]:
        """The data of an n8n Google credential that acts for this person."""
        grant = self.google.grant(self.account(profile).email, client=client, scopes=scopes)
        return _credential_data(self.google, grant)

    def _start(self, inventory: Inventory) -> None:
        self.google = self._fill_google(inventory.timezone)
        self.google_url = self._serve(self.google)
        webhook = inventory.n8n.webhook
        self.n8n = self._new_n8n(inventory)
        self._stack.callback(self.n8n.close)
        n8n_url = self._start_n8n(webhook.header)
        self.model = LabModel()
        model_url = self._serve(self.model.app)
        tools = WebhookToolsSettings(
            n8n_url, shape_of(inventory), webhook.prefix, webhook.header, self._webhook_secret,
            webhook.user_agent, webhook.timeout,
        )  # fmt: skip
        gateway_url = self._start_gateway(inventory, f"{model_url}/v1", tools)
        self._reached = self._addresses(n8n_url, gateway_url)
        self.inventory = point_at(inventory, self.plan, self._reached)

    def _serve(self, app: object) -> str:
        server = self._stack.enter_context(LoopbackServer(app))  # type: ignore[arg-type]  # WSGI, in three shapes
        return server.url

    def _start_gateway(self, inventory: Inventory, model_url: str, tools: WebhookToolsSettings) -> str:
        agent, model = inventory.gateway.agent, inventory.pins.model or "lab/lab-butler-1"
        if self._engine is not Engine.REAL:
            lab = LabGateway(
                model_url, tools, token=self._gateway_token, agent=agent, timezone=inventory.timezone, model=model
            )  # fmt: skip
            self.gateway: GatewayPart = lab
            self._stack.callback(lab.close)
            return self._serve(lab.app)
        from butlerctl.lab.real.openclaw import GatewaySettings, OpenClaw

        zone = ZoneInfo(inventory.timezone)

        def rules() -> str:
            return house_rules(tools.shape, inventory.timezone, datetime.now(zone).date())

        version = inventory.pins.gateway or GATEWAY_VERSION
        settings = GatewaySettings(version, agent, model, model_url, inventory.timezone, tools, rules)
        folder = Path(self._stack.enter_context(TemporaryDirectory(prefix="butlerctl-gateway-")))
        real = OpenClaw(settings, folder, os.environ, self._gateway_token)
        self.gateway = self._stack.enter_context(real)
        return real.url

    def _addresses(self, n8n_url: str, gateway_url: str) -> Mapping[str, str]:
        tokens = {
            f"profiles.{account.profile}.google_token": self.google.grant(
                account.email, client=BUTLERCTL_CLIENT
            ).authorized_user()
            for account in self.plan.accounts
        }
        return {
            "gateway.url": gateway_url,
            "gateway.token": self._gateway_token,
            "n8n.url": n8n_url,
            "n8n.api_key": self.n8n.create_api_key(),
            "n8n.webhook.secret": self._webhook_secret,
            "google.url": self.google_url,
            **tokens,
        }

    def _fill_google(self, timezone: str) -> GoogleEmulator:
        google = GoogleEmulator()
        for account in self.plan.accounts:
            google.add_user(account.email, timezone=timezone)
            if account.calendar != account.email:
                google.add_calendar(account.calendar, owner=account.email, timezone=timezone)
            for title, list_id in account.task_lists.items():
                google.add_task_list(list_id, title, owner=account.email)
            google.add_spreadsheet(
                account.spreadsheet, owner=account.email, tabs={tab: [account.columns] for tab in account.tabs}
            )  # fmt: skip
        return google

    def _new_n8n(self, inventory: Inventory) -> N8nPart:
        if self._engine is Engine.STAND_IN:
            return N8nStandIn(google_url=self.google_url, webhook_header=inventory.n8n.webhook.header)
        from butlerctl.lab.real.n8n import RealN8n

        version = inventory.pins.n8n or VERSION
        return RealN8n(version, google_url=self.google_url, timezone=inventory.timezone, environ=os.environ)

    def _start_n8n(self, header: str) -> str:
        for credential in self.plan.credentials:
            data = self._credential(credential, header)
            self.n8n.add_credential(credential.id, credential.name, credential.type, data)
        url = self.n8n.start()
        self._workflow_ids = {
            route: self.n8n.import_workflow(document) for route, document in self.plan.workflows.items()
        }
        return url

    def _credential(self, credential: Credential, header: str) -> Mapping[str, Any]:
        if not credential.profile:
            return {"name": header, "value": self._webhook_secret}
        return self.grant_for_n8n(credential.profile)


def _credential_data(google: GoogleEmulator, grant: Grant) -> dict[str, Any]:
    return {
        "clientId": grant.client.id,
        "clientSecret": grant.client.secret,
        "oauthTokenData": {
            "access_token": google.access_token(grant),
            "refresh_token": grant.refresh_token,
            "token_type": "Bearer",
        },
    }


def open_lab(inventory: Inventory, engine: str = Engine.STAND_IN) -> Lab:
    """The lab for this household; `engine` is a value of Engine. Raises as `Lab`."""
    return Lab(inventory, Engine(engine))
