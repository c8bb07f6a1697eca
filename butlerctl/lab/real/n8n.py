"""The real n8n as a part of the lab: its Google nodes talk to the emulator, its owner is the lab."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from butlerctl.lab.n8n.rest import DEPLOY_SCOPES, READ_SCOPES
from butlerctl.lab.n8n.webhooks import Switches
from butlerctl.lab.real.front import Front
from butlerctl.lab.real.google_proxy import GoogleProxy
from butlerctl.lab.real.n8n_admin import Owner, OwnersWorkflows
from butlerctl.lab.real.n8n_server import N8nServer

# n8n 1 wants them of an OAuth credential; n8n 2 takes them.
_OAUTH_DEFAULTS = {"serverUrl": "", "sendAdditionalBodyProperties": False, "additionalBodyProperties": "{}"}


class RealN8n:
    """One n8n of a version from npm, with a home that is gone after `close`."""

    def __init__(self, version: str, *, google_url: str, timezone: str, environ: Mapping[str, str]) -> None:
        self._resources = ExitStack()
        folder = Path(self._resources.enter_context(tempfile.TemporaryDirectory(prefix="butlerctl-n8n-")))
        self.proxy = GoogleProxy(google_url, folder)
        self._resources.callback(self.proxy.close)
        self.server = N8nServer(version, folder, timezone, self.proxy.environ(), environ)
        self._resources.callback(self.server.close)
        self._credentials: list[dict[str, Any]] = []
        self._started = False

    @property
    def switches(self) -> Switches:
        return self._front.switches

    def start(self) -> str:
        """Start with the credentials so far.

        Raises:
            Unreachable: npm cannot install n8n, or it does not become ready.
        """
        if self._credentials:
            self._import_credentials(self._credentials)
        self.server.start()
        self._started = True
        self.owner = Owner(self.server.url)
        self._resources.callback(self.owner.close)
        self.workflows = OwnersWorkflows(self.owner, self.server.command)
        self._front = Front(self.server.port)
        self._resources.callback(self._front.close)
        return self._front.url

    def close(self) -> None:
        self._resources.close()

    def add_credential(self, credential_id: str, name: str, kind: str, data: Mapping[str, Any]) -> None:
        self.add_credentials([(credential_id, name, kind, data)])

    def add_credentials(self, credentials: Iterable[tuple[str, str, str, Mapping[str, Any]]]) -> None:
        """Id, name, type, data; with n8n's command line, because its API takes no id. Two seconds for any number."""
        new = [
            {"id": credential_id, "name": name, "type": kind, "data": _data_of(kind, data)}
            for credential_id, name, kind, data in credentials
        ]
        self._credentials += new
        if self._started and new:
            self._import_credentials(new)

    def spoil_credential(self, credential_id: str, data: Mapping[str, Any] | None, *, path: str) -> None:
        del path
        if data is None:
            self.owner.api("DELETE", f"credentials/{credential_id}")
            return
        known = next(each for each in self._credentials if each["id"] == credential_id)
        changed = _data_of(known["type"], data)
        if self.server.version.startswith("1."):  # its API changes no credential
            self._import_credentials([known | {"data": changed}])
        else:
            self.owner.api("PATCH", f"credentials/{credential_id}", {"data": changed})

    def import_workflow(self, document: Mapping[str, Any], *, active: bool = True) -> str:
        workflow_id = self.workflows.create(document)
        if active:
            self.workflows.publish(workflow_id)
        return workflow_id

    def create_api_key(self, scopes: Iterable[str] = (*READ_SCOPES, *DEPLOY_SCOPES)) -> str:
        return self.owner.create_api_key(list(scopes))

    def _import_credentials(self, stored: list[dict[str, Any]]) -> None:
        file = self.server.folder / "credentials.json"
        file.touch(mode=0o600)
        file.write_text(json.dumps(stored), encoding="utf-8")
        try:
            self.server.command("import:credentials", f"--input={file}")
        finally:
            file.unlink()


def _data_of(kind: str, data: Mapping[str, Any]) -> dict[str, Any]:
    return dict(data) if kind == "httpHeaderAuth" else {**_OAUTH_DEFAULTS, **data}
