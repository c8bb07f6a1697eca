"""The household on the real n8n: one lab for many faults, put right again between them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Self

import httpx

from butlerctl.inventory.loader import load_inventory
from butlerctl.inventory.operations import OPERATIONS, Route
from butlerctl.lab.n8n.webhooks import Switches
from butlerctl.lab.stack import Engine, Lab
from butlerctl.progress import Nobody
from butlerctl.verify import Assignment, Verification, verify
from butlerctl.workflows.digest import canonical_digest, published_version

ROOT = Path(__file__).parents[2]


class House:
    """The inventory's household; `version` is that of n8n, the inventory's pin without it. Use as a context manager."""

    def __init__(self, folder: Path, version: str = "") -> None:
        self._folder = folder
        shutil.copytree(ROOT / "workflows", folder / "workflows")
        text = (ROOT / "inventory.yaml").read_text(encoding="utf-8")
        pinned = re.sub(r"(?m)^(  n8n: )\d.*$", rf"\g<1>{version}", text) if version else text
        (folder / "inventory.yaml").write_text(pinned, encoding="utf-8")
        self.lab: Any = None

    def __enter__(self) -> Self:
        self.lab = Lab(load_inventory(self._folder / "inventory.yaml", {}), Engine.REAL_N8N)
        self._healthy = self.lab.inventory
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.lab.close()

    @property
    def n8n(self) -> Any:
        return self.lab.n8n

    def prove(self, routes: Iterable[Route]) -> Verification:
        with TemporaryDirectory(dir=self._folder) as state:
            return verify(self.lab.inventory, Assignment(tuple(routes), Path(state), lab=True), Nobody())

    def domain(self, route: Route, profile: str) -> list[Route]:
        """The routes of a route's domain for this person: one round trip."""
        domain = OPERATIONS[route.operation].domain
        return [
            each
            for each in self.lab.inventory.routes
            if each.profile == profile and OPERATIONS[each.operation].domain == domain
        ]

    def other(self, route: Route) -> str:
        """A person whom a fault on this route does not strike."""
        return next(name for name in self.lab.inventory.profiles if name != route.profile)

    def heal(self) -> None:
        """Put everything right: exports, Google, credentials, workflows, what stands in front."""
        self.lab.inventory = self._healthy
        self.lab._replaced.clear()
        fresh = Switches()
        for name in ("in_front", "instead", "slow", "twice"):
            setattr(self.n8n.switches, name, getattr(fresh, name))
        self._heal_google()
        self._heal_credentials()
        live = {each["id"]: each for each in self._live()}
        own = {route: live.pop(self.lab.workflow_id(route), None) for route in self.lab.plan.workflows}
        for stranger in live:
            self.n8n.workflows.remove(stranger)
        for route, document in own.items():
            self._heal_workflow(route, document)

    def _live(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.n8n.owner.api("GET", "workflows?limit=250")["data"]
        return found

    def _heal_google(self) -> None:
        self.lab.google.faults.clear()
        for account in self.lab.plan.accounts:
            tabs = {tab: [account.columns] for tab in account.tabs}
            self.lab.google.add_spreadsheet(account.spreadsheet, owner=account.email, tabs=tabs)

    def _heal_credentials(self) -> None:
        held = {each["id"] for each in self.n8n.owner.editor("GET", "credentials")}
        planned = {
            each.id: (each.name, each.type, self.lab._credential(each, self.lab.inventory.n8n.webhook.header))
            for each in self.lab.plan.credentials
        }
        by_import = planned.keys() if self.n8n.server.version.startswith("1.") else planned.keys() - held
        self.n8n.add_credentials((id_, *planned[id_]) for id_ in by_import)
        for credential_id in held - planned.keys():
            self.n8n.spoil_credential(credential_id, None, path="")
        for credential_id in held & planned.keys() - by_import:
            self.n8n.spoil_credential(credential_id, planned[credential_id][2], path="")

    def _heal_workflow(self, route: Route, live: dict[str, Any] | None) -> None:
        document = self.lab.plan.workflows[route]
        workflows = self.n8n.workflows
        if live is None:
            self.lab._workflow_ids[route] = self.n8n.import_workflow(document)
            return
        wanted = canonical_digest(document)
        served = published_version(live)
        right = served and canonical_digest(served) == canonical_digest(live) == wanted
        if right and self._listens(route):
            return
        if live["isArchived"]:
            workflows.unarchive(live["id"])
        workflows.update(live["id"], document)
        workflows.unpublish(live["id"])
        workflows.publish(live["id"])

    def _listens(self, route: Route) -> bool:
        """Active in the database and served are two things."""
        address = f"{self.n8n.server.url}/webhook/{self.lab.webhook_path(route)}"
        answer = httpx.options(address, headers={"Origin": "http://x.invalid"}, trust_env=False)
        return "POST" in answer.headers.get("access-control-allow-methods", "")


class Found(NamedTuple):
    """The first broken link that the judge names; empty texts where it names none."""

    link: str
    check: str
    route: str


def first_broken(verification: Verification, route: Route) -> Found:
    judgement = next(each.judgement for each in verification.run.routes if each.route == route)
    broken = judgement.first_broken
    return Found(broken.link, broken.check, str(broken.route or route)) if broken else Found("", "", "")
