"""Credentials by name, and the key that encrypts them: what files and settings alone show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from butlerctl.evidence import Document
from butlerctl.judge import routes
from butlerctl.judge.documents.reading import held_by, lines_of
from butlerctl.judge.finding import Finding, broken
from butlerctl.judge.links.credential import live_credentials
from butlerctl.judge.run import Evidence

_ID = re.compile(r"[A-Za-z0-9-]+")
_ONE_KEY = "one fixed encryption key"
_KEY_MISMATCH = re.compile(
    r"mismatching encryption keys|encryption key.{0,60}(does not match|differ)", re.IGNORECASE
)
_IN_LOGS = (
    (_KEY_MISMATCH, "credential.key_pinned", "mismatching encryption keys"),
    (
        re.compile(r"credentials? could not be decrypted", re.IGNORECASE),
        "credential.decrypts",
        "credentials that could not be decrypted: another encryption key",
    ),
)
_KEY_NAME = re.compile(r"encryption_?key(?!_file)", re.IGNORECASE)
_KEY_FILE = "N8N_ENCRYPTION_KEY_FILE"


def findings(evidence: Evidence) -> Iterator[Finding]:
    yield from _named_credentials(evidence)
    yield from _encryption_keys(evidence)


def _named_credentials(evidence: Evidence) -> Iterator[Finding]:
    """Credentials that workflows name, held against those that n8n has."""
    known = {str(entry.get("id")): str(entry.get("type")) for entry in live_credentials(evidence.documents)}
    for document in evidence.of_kind("workflow_live", "workflow_export") if known else ():
        for kind, entry in _credentials_of(document):
            credential_id = str(entry.get("id") or "")
            if not _ID.fullmatch(credential_id) or known.get(credential_id) == kind:
                continue
            check = "credential.type" if credential_id in known else "credential.exists"
            seen = f'the workflow names credential "{credential_id}" ({kind}), which is ' + (
                f"of type {known[credential_id]}" if credential_id in known else "not in n8n"
            )
            finding = broken(
                check,
                seen,
                document,
                *evidence.of_kind("credentials_live"),
                expected=f"a credential of type {kind}",
            )
            yield replace(finding, route=evidence.route_of(document))


def _credentials_of(document: Document) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for node in routes.nodes_of(routes.served(held_by(document))):
        credentials = node.get("credentials")
        for kind, entry in credentials.items() if isinstance(credentials, Mapping) else ():
            if isinstance(entry, Mapping):
                yield str(kind), entry


def _encryption_keys(evidence: Evidence) -> Iterator[Finding]:
    """One fixed key for every n8n process. Keys are compared, never shown."""
    documents = [item for item in evidence.of_kind("settings") if list(_keys_in(item.get("values")))]
    keys = [key for item in documents for key in _keys_in(item.get("values"))]
    if keys and not all(keys) and not any(_holds(item.get("values"), _KEY_FILE) for item in documents):
        yield broken(
            "credential.key_pinned",
            "the encryption key (N8N_ENCRYPTION_KEY) is not set",
            *documents,
            expected=_ONE_KEY,
        )
    elif len(set(keys)) > 1:
        yield broken(
            "credential.key_pinned",
            f"{len(set(keys))} different encryption keys",
            *documents,
            expected=_ONE_KEY,
        )
    for document in evidence.of_kind("log"):
        for line in lines_of(document):
            for pattern, check, told in _IN_LOGS:
                if pattern.search(line):
                    yield broken(check, f"n8n's log tells of {told}", document, expected=_ONE_KEY)
                    return


def _keys_in(settings: Any) -> Iterator[str]:
    """The values of encryption keys in settings; empty for one that is known to be unset."""
    if isinstance(settings, Mapping):
        for name, value in settings.items():
            if _KEY_NAME.search(str(name)) and (value is None or isinstance(value, str)):
                yield value or ""
            else:
                yield from _keys_in(value)
    elif isinstance(settings, list):
        for item in settings:
            yield from _keys_in(item)


def _holds(settings: Any, name: str) -> bool:
    return isinstance(settings, Mapping) and bool(settings.get(name))
