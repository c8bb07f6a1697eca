"""The canonical digest of a workflow: equal for an export, the saved and the published version of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from butlerctl.errors import BadDocument
from butlerctl.workflows.canonical import canonical_form


def canonical_digest(document: Mapping[str, Any]) -> str:
    """The sha256 of the canonical form in RFC 8785, in lower-case hex.

    Raises BadDocument for what JSON cannot carry safely: NaN, integers that no double holds, lone surrogates.
    """
    import rfc8785

    try:
        encoded = rfc8785.dumps(canonical_form(document))
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError) as error:
        name = document.get("name")
        raise BadDocument(
            f"workflow {name!r} has no canonical form: {error}",
            hint="replace NaN, numbers beyond 2^53 and broken characters",
        ) from error
    return hashlib.sha256(encoded).hexdigest()


def published_version(live: Mapping[str, Any]) -> dict[str, Any] | None:
    """The workflow that n8n serves, from what `GET /workflows/{id}` returns; None when nothing is published.

    A version holds nodes and connections only: name and settings belong to the workflow as a whole.
    """
    version = live.get("activeVersion")
    if not isinstance(version, Mapping):
        return None
    return {**live, "nodes": version.get("nodes"), "connections": version.get("connections")}
