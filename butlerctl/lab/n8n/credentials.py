"""The credential store of the stand-in, and the silent rebinding by name that n8n does on import."""

from __future__ import annotations

import secrets
import string
import threading
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from butlerctl.lab.n8n.clock import now_text

_ALPHANUMERICS = string.ascii_letters + string.digits


def new_id() -> str:
    """Sixteen alphanumerics, as n8n makes them."""
    return "".join(secrets.choice(_ALPHANUMERICS) for _ in range(16))


@dataclass(slots=True)
class Credential:
    """One stored credential. `data` is what n8n keeps encrypted and never shows."""

    id: str
    name: str
    type: str
    data: dict[str, Any] = field(repr=False)
    created: str = field(default_factory=now_text)

    @property
    def access_token(self) -> str | None:
        """None as long as nobody connected the credential."""
        return (self.data.get("oauthTokenData") or {}).get("access_token") or None

    def keep_access_token(self, token: str) -> None:
        self.data["oauthTokenData"] = {**self.data["oauthTokenData"], "access_token": token}

    def refresh_form(self) -> dict[str, str]:
        return {
            "refresh_token": self.data["oauthTokenData"].get("refresh_token", ""),
            "grant_type": "refresh_token",
            "client_id": self.data.get("clientId", ""),
            "client_secret": self.data.get("clientSecret", ""),
        }

    def as_json(self) -> dict[str, Any]:
        """As `GET /api/v1/credentials` lists it: never with data."""
        return {
            "id": self.id,
            "name": self.name,
            "type": self.type,
            "createdAt": self.created,
            "updatedAt": self.created,
            "shared": [],
        }


class Credentials:
    """All credentials by id."""

    def __init__(self) -> None:
        self._all: dict[str, Credential] = {}
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[Credential]:
        with self._lock:
            return iter(list(self._all.values()))

    def add(self, credential: Credential) -> None:
        with self._lock:
            self._all[credential.id] = credential

    def remove(self, credential_id: str) -> bool:
        with self._lock:
            return self._all.pop(credential_id, None) is not None

    def get(self, credential_id: str | None, kind: str) -> Credential | None:
        """The credential of this id, if it is of this type."""
        found = self._all.get(credential_id or "")
        return found if found is not None and found.type == kind else None

    def rebind(self, nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """A copy of the nodes as n8n stores them.

        An id that is unknown or null becomes that of the only credential with the same type and name, without a
        word; without any id it becomes the first credential of that type, whatever the name. A known id with
        another name gets the right name. Disabled nodes are left alone.
        """
        rebound = deepcopy(nodes)
        for node in rebound:
            if node.get("disabled"):
                continue
            for kind, entry in (node.get("credentials") or {}).items():
                if isinstance(entry, dict):
                    self._rebind(kind, entry)
        return rebound

    def _rebind(self, kind: str, entry: dict[str, Any]) -> None:
        if "id" in entry:
            known = self.get(entry["id"], kind)
        else:
            known = next((found for found in self if found.type == kind), None)
        if known is not None:
            entry.update(id=known.id, name=known.name)
            return
        named = [found for found in self if found.type == kind and found.name == entry.get("name")]
        if len(named) == 1:
            entry["id"] = named[0].id


def credential_of(node: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """The credential entry of a node, empty when it has none."""
    entry = (node.get("credentials") or {}).get(kind)
    return entry if isinstance(entry, Mapping) else {}
