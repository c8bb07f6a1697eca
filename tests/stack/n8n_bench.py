"""One real n8n for the contract tests: emptied and filled again between them, because a start takes ten seconds."""

from __future__ import annotations

import os
from typing import Any, Self

from butlerctl.lab.google import GoogleEmulator
from butlerctl.lab.real.n8n import RealN8n
from butlerctl.lab.server import LoopbackServer
from butlerctl.workflows.template import SHIPPED, workflow
from tests.contract import n8n_contract as contract
from tests.n8n.household import TestHousehold, bound, furnish

Credential = tuple[str, str, str, dict[str, Any]]


class _Stock:
    """Credentials that are wanted, in the order in which they were asked for."""

    def __init__(self) -> None:
        self.credentials: list[Credential] = []

    def add_credential(self, *credential: Any) -> None:
        self.credentials.append(credential)  # type: ignore[arg-type]


class N8nBench:
    """Use as a context manager. `n8n` is the server's part of the lab; requests go to `url`, n8n itself."""

    def __init__(self, version: str) -> None:
        self._google: Any = None
        self._server = LoopbackServer(self._serve)
        self.n8n = RealN8n(
            version, google_url=self._server.url, timezone="America/New_York", environ=os.environ
        )

    def __enter__(self) -> Self:
        self._server.start()
        self._google = contract.husbands_google()
        try:
            self.n8n.add_credentials(contract.stock(self._google))
            self.n8n.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.n8n.close()
        self._server.close()

    @property
    def url(self) -> str:
        return self.n8n.server.url

    def empty(self) -> None:
        """Remove every workflow."""
        for found in self.n8n.owner.api("GET", "workflows?limit=250")["data"]:
            self.n8n.workflows.remove(found["id"])

    def fill(self, google: GoogleEmulator, credentials: list[Credential]) -> None:
        """Answer with this Google; n8n holds these credentials and no others, with these data."""
        self._google = google
        held = {each["id"] for each in self.n8n.owner.editor("GET", "credentials")}
        for credential_id in held - {each[0] for each in credentials}:
            self.remove_credential(credential_id)
        self.n8n.add_credentials(each for each in credentials if each[0] not in held)
        for credential_id, _, _, data in credentials:
            if credential_id in held and "oauthTokenData" in data:
                self.n8n.spoil_credential(credential_id, data, path="")

    def household(self) -> TestHousehold:
        """The twelve exports, published, with the credentials that they name."""
        google, stock = GoogleEmulator(), _Stock()
        grants = furnish(google, stock)
        self.fill(google, stock.credentials)
        exports = {route: bound(workflow(route, person)) for route, person in SHIPPED.routes}
        workflows = {route: self.n8n.import_workflow(document) for route, document in exports.items()}
        key = self.n8n.create_api_key()
        return TestHousehold(google, self._server.url, self.n8n, self.url, key, grants, workflows, exports)

    def remove_credential(self, credential_id: str) -> None:
        self.n8n.spoil_credential(credential_id, None, path="")

    def _serve(self, environ: Any, start_response: Any) -> Any:
        return self._google(environ, start_response)
