"""A household to deploy to: a folder with inventory and exports, n8n behind a relay, and the commands."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from butlerctl.cli.app import run
from butlerctl.inventory.operations import Route
from butlerctl.n8n.http import make_client
from tests.deploy.n8n_proxy import Relay, relay
from tests.n8n.household import BINDINGS, SECRET, TestHousehold, bound

ROOT = Path(__file__).parents[2]
SCOPES = (
    *(f"workflow:{verb}" for verb in ("list", "read", "create", "update", "activate", "deactivate")),
    "credential:list",
)
_MARK = re.compile(r"'(?:v\d+: )?input refused")


@dataclass(frozen=True)
class Ran:
    """What one command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class DeployHome:
    """`n8n` is the part of the lab behind it. Nothing here knows whether it is the stand-in or the real one."""

    def __init__(self, household: TestHousehold, folder: Path, front: Relay) -> None:
        self.household = household
        self.n8n = household.n8n
        self.front = front
        names = re.search(r"^operations: \[(.*)\]$", (folder / "inventory.yaml").read_text(), re.MULTILINE)[1]
        self.routes = [route for route in household.exports if route.operation in names.split(", ")]
        self.folder = folder
        self.exports = folder / "workflows"
        self.state = folder / "state"
        self.plan_file = folder / "plan.json"
        self.api_key = self.n8n.create_api_key(SCOPES)
        self.environ = {
            "N8N_URL": front.url,
            "N8N_API_KEY": self.api_key,
            "OPENCLAW_GATEWAY_URL": "http://127.0.0.1:9",
            "BUTLERCTL_INVENTORY": str(folder / "inventory.yaml"),
            "BUTLERCTL_STATE_DIR": str(self.state),
            **{token.strip("<>"): value for token, value in BINDINGS.items()},
        }
        key = self.n8n.create_api_key(
            ("workflow:list", "workflow:read", "execution:list", "credential:delete")
        )
        self._reader = make_client(household.url, timeout=10, headers={"X-N8N-API-KEY": key})

    def close(self) -> None:
        self._reader.close()

    def run(self, *argv: str, **environ: str) -> Ran:
        out, err = io.StringIO(), io.StringIO()
        with (
            mock.patch.dict(os.environ, {**self.environ, **environ}),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = run(list(argv))
        return Ran(code, out.getvalue(), err.getvalue())

    def start(self, *argv: str) -> subprocess.Popen[str]:
        """The command as a process of its own, to be killed."""
        return subprocess.Popen(
            [sys.executable, "-m", "butlerctl", *argv],
            cwd=ROOT,
            env={**os.environ, **self.environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def plan(self, *argv: str) -> Ran:
        return self.run("plan", "--out", str(self.plan_file), "--format", "json", *argv)

    def apply(self, *argv: str) -> Ran:
        return self.run("apply", str(self.plan_file), "--yes", "--format", "json", *argv)

    def deploy(self, *argv: str) -> Ran:
        """Plan and apply in one."""
        self.plan(*argv)
        return self.apply()

    def edit(self, route: Route, change: Callable[[dict[str, Any]], None]) -> None:
        """Change the export of a route in the folder."""
        path = self.exports / route.workflow_file
        document = json.loads(path.read_text())
        change(document)
        path.write_text(json.dumps(document))

    def renew(self, *routes: Route, mark: int = 2) -> None:
        """Another version of these exports, told apart on the wire by the word that it answers."""
        for route in routes or self.routes:
            self.edit(route, lambda document: renewed(document, mark))

    def live(self, route: Route) -> dict[str, Any]:
        """The workflow that has this route's name; exactly one may have it."""
        (found,) = [
            each for each in self.everything() if each["name"] == self.household.exports[route]["name"]
        ]
        return found

    def strangers(self) -> list[dict[str, Any]]:
        """Every workflow that is not the inventory's, whole."""
        names = {self.household.exports[route]["name"] for route in self.routes}
        return sorted(
            (each for each in self.everything() if each["name"] not in names), key=lambda each: each["id"]
        )

    def id(self, route: Route) -> str:
        return self.household.workflows[route]

    def empty(self) -> None:
        """n8n without a workflow of the inventory."""
        for route in self.routes:
            self.n8n.workflows.remove(self.id(route))

    def draft(
        self, route: Route, change: Callable[[dict[str, Any]], None] = lambda _: None
    ) -> dict[str, Any]:
        """Somebody edits the workflow in n8n and saves, without publishing; the workflow afterwards."""
        document = self.live(route)
        change(document)
        self.n8n.workflows.save(document["id"], document)
        return self.live(route)

    def executions(self) -> list[str]:
        return self.household.executions()

    def delete_credential(self, credential_id: str) -> None:
        assert (
            self._reader.delete(f"{self.household.url}/api/v1/credentials/{credential_id}").status_code == 200
        )

    def stranger(self, path: str, *, active: bool = True, method: str = "POST") -> str:
        """Another workflow with this path; its id."""
        document = self.bound(self.routes[0]) | {"name": "somebody else's", "id": "strangersWork001"}
        node_of(document, ".webhook")["parameters"] |= {"path": path, "httpMethod": method}
        node_of(document, ".webhook")["webhookId"] = "4d5f0a52-0000-4000-8000-000000000001"
        return self.n8n.import_workflow(document, active=active)

    def everything(self) -> list[dict[str, Any]]:
        answer = self._reader.get(f"{self.household.url}/api/v1/workflows", params={"limit": 250})
        assert answer.json()["nextCursor"] is None
        return [each for each in answer.json()["data"] if not each["isArchived"]]

    def published(self) -> dict[Route, str | None]:
        """The id of the version that n8n publishes for every route."""
        names = {self.household.exports[route]["name"]: route for route in self.routes}
        found = [each for each in self.everything() if each["name"] in names]
        assert len(found) == len({each["name"] for each in found}), "a workflow is there twice"
        return {names[each["name"]]: each["activeVersionId"] for each in found}

    def published_ids(self) -> list[str]:
        names = {self.household.exports[route]["name"] for route in self.routes}
        return [each["id"] for each in self.everything() if each["name"] in names]

    def served(self, route: Route) -> str:
        """`v1`, `v2` …, or the status: what answers an authenticated request that the contract forbids."""
        answer = self.household.call(route.webhook_path("L4CK3Y"), {"butlerctl": "test"}, key=SECRET)
        if answer.status_code != 400:
            return str(answer.status_code)
        mark = re.search(r"(v\d+): input refused", answer.text)
        return mark[1] if mark else "v1"

    def all_served(self) -> set[str]:
        return {self.served(route) for route in self.routes}

    def file(self, route: Route) -> dict[str, Any]:
        """The export in the folder, with its placeholders bound."""
        return bound(json.loads((self.exports / route.workflow_file).read_text()))

    def bound(self, route: Route) -> dict[str, Any]:
        """The export as it was deployed first."""
        return deepcopy(dict(self.household.exports[route]))


def renewed(document: dict[str, Any], mark: int = 2) -> None:
    """The same workflow with a mark in one of its answers."""
    for node in document["nodes"]:
        body = node["parameters"].get("responseBody", "")
        if _MARK.search(body):
            node["parameters"]["responseBody"] = _MARK.sub(f"'v{mark}: input refused", body)
            return
    raise AssertionError("no place for the mark")


def node_of(document: dict[str, Any], kind: str) -> dict[str, Any]:
    """The first node whose type ends so."""
    return next(node for node in document["nodes"] if node["type"].endswith(kind))


@contextmanager
def deploy_home(household: TestHousehold, folder: Path, operations: str = "") -> Iterator[DeployHome]:
    """With `operations` (`calendar_add, tasks_list`) the inventory names these only: the others are strangers."""
    text = (ROOT / "inventory.yaml").read_text()
    if operations:
        text = re.sub(r"^operations: .*$", f"operations: [{operations}]", text, flags=re.MULTILINE)
    (folder / "inventory.yaml").write_text(text)
    shutil.copytree(ROOT / "workflows", folder / "workflows")
    with relay(household.url) as front:
        home = DeployHome(household, folder, front)
        yield home
        home.close()
