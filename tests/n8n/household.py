"""A household on loopback for tests: the Google emulator, the n8n stand-in with the twelve exports."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from butlerctl.inventory.operations import Route
from butlerctl.lab.google import GoogleEmulator, Grant
from butlerctl.lab.n8n import READ_SCOPES, N8nStandIn
from butlerctl.lab.server import LoopbackServer
from butlerctl.workflows.template import SHIPPED, Household, workflow

SECRET = "webhook-secret-of-the-tests"
HEADER = "X-L4CK3Y-Auth"
USER_AGENT = "FR4M3W0RK-Tools/1.0"
MARKED = Route("calendar_add", "wife")
BINDINGS = {
    "<HUSBAND_TASKS_LIST_ID>": "aHVzYmFuZC1saXN0",
    "<WIFE_SPREADSHEET_ID>": "1wIfEsHeEt000000000000000000",
    "<WIFE_CALENDAR_CRED_ID>": "wifeCalendar0001",
    "<WIFE_TASKS_CRED_ID>": "wifeTasks0000001",
    "<WIFE_SHEETS_CRED_ID>": "wifeSheets000001",
}
GOOGLE_TYPES = {"calendar": "Calendar", "tasks": "Tasks", "sheets": "Sheets"}


def bound(document: Any) -> Any:
    """A copy with every placeholder bound, as the lab renders an export."""
    text = json.dumps(document)
    for token, value in BINDINGS.items():
        text = text.replace(token, value)
    return json.loads(text)


@dataclass
class TestHousehold:
    """Everything a test needs to call, to plant a fault, and to look inside."""

    __test__ = False
    google: GoogleEmulator
    google_url: str
    n8n: Any
    """The stand-in; in the stack tests the real one."""
    url: str
    api_key: str
    grants: Mapping[tuple[str, str], Grant]
    workflows: Mapping[Route, str]
    exports: Mapping[Route, dict[str, Any]]
    marks: set[str] = field(default_factory=set)
    """Executions that `executions` made itself."""

    def call(
        self, path: str, body: Any = None, *, method: str = "POST", key: str | None = SECRET, **more: Any
    ):
        headers = {"User-Agent": USER_AGENT, **more.pop("headers", {})}
        if key is not None:
            headers[HEADER] = key
        if "content" not in more:
            more["json"] = {} if body is None else body
        return httpx.request(
            method, f"{self.url}/webhook/{path}", headers=headers, trust_env=False, timeout=30, **more
        )

    def executions(self, marked: Route = MARKED) -> list[str]:
        """The id of everything that ran, the newest first, once n8n holds all of it.

        n8n answers before it stores the execution: what was sent last is waited for with a request of its own, which
        the workflow of `marked` refuses, and which is not told.
        """
        answer = self.call(marked.webhook_path("L4CK3Y"), {"butlerctl": "mark"})
        mark = str(answer.json()["execution"])
        self.marks.add(mark)
        deadline = time.monotonic() + 10
        while mark not in (listed := self._listed()):
            assert time.monotonic() < deadline, f"n8n does not list execution {mark}"
            time.sleep(0.02)
        return [each for each in listed if each not in self.marks]

    def _listed(self) -> list[str]:
        answer = httpx.get(
            f"{self.url}/api/v1/executions",
            params={"limit": 250},
            headers={"X-N8N-API-KEY": self.api_key},
            trust_env=False,
            timeout=30,
        )
        return [str(each["id"]) for each in answer.json()["data"]]


@contextmanager
def household(shape: Household = SHIPPED) -> Iterator[TestHousehold]:
    google = GoogleEmulator()
    with LoopbackServer(google) as google_server:
        n8n = N8nStandIn(google_url=google_server.url)
        grants = furnish(google, n8n, shape)
        exports = {route: bound(workflow(route, person, shape)) for route, person in shape.routes}
        workflows = {route: n8n.import_workflow(document) for route, document in exports.items()}
        key = n8n.create_api_key([*READ_SCOPES, "credential:list"])
        with LoopbackServer(n8n.app) as server:
            yield TestHousehold(google, google_server.url, n8n, server.url, key, grants, workflows, exports)
        n8n.close()


def furnish(google: GoogleEmulator, n8n: Any, shape: Household = SHIPPED) -> dict[tuple[str, str], Grant]:
    """Everybody's places in Google, and the credentials of the exports in n8n."""
    header = {"name": HEADER, "value": SECRET}
    n8n.add_credential(shape.header_credential, "L4CK3Y webhook auth", "httpHeaderAuth", header)
    grants = {}
    for person in shape.people:
        grants |= _add_person(google, n8n, person)
    return grants


def _add_person(google: GoogleEmulator, n8n: Any, person: Any) -> dict[tuple[str, str], Grant]:
    google.add_user(person.calendar)
    for name, list_id in bound(dict(person.task_lists)).items():
        google.add_task_list(list_id, name, owner=person.calendar)
    tabs = {tab: [person.columns] for tab in person.tabs}
    google.add_spreadsheet(bound(person.spreadsheet), owner=person.calendar, tabs=tabs)
    grants = {}
    for domain, credential_id in bound(dict(person.credentials)).items():
        grant = google.grant(person.calendar)
        grants[person.name, domain] = grant
        title = GOOGLE_TYPES[domain]
        tokens = {"access_token": google.access_token(grant), "refresh_token": grant.refresh_token}
        n8n.add_credential(
            credential_id,
            f"{person.name} Google {title}",
            f"google{title}OAuth2Api",
            {"clientId": grant.client.id, "clientSecret": grant.client.secret, "oauthTokenData": tokens},
        )
    return grants
