"""Looking for secrets in everything that a command left behind, however they are written there."""

from __future__ import annotations

import base64
import binascii
import html
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote, quote_plus

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")


def found(secrets: Iterable[str], text: str) -> list[str]:
    """Those of the secrets that stand in the text: as they are, escaped, quoted, or inside base64."""
    layers = [text, *_decoded(text)]
    return [secret for secret in secrets if any(form in layer for form in _forms(secret) for layer in layers)]


def texts_in(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every file below, as text."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path, path.read_bytes().decode(errors="replace")


def _forms(secret: str) -> set[str]:
    escaped = json.dumps(secret)[1:-1]
    return {
        secret,
        escaped,
        json.dumps(escaped)[1:-1],
        html.escape(secret),
        quote(secret, safe=""),
        quote_plus(secret),
    }


def _decoded(text: str) -> Iterator[str]:
    """What is inside the base64 of a text: payloads, credentials of a header."""
    for match in _BASE64.finditer(text):
        word = match[0].rstrip("=").replace("-", "+").replace("_", "/")
        try:
            yield base64.b64decode(word + "=" * (-len(word) % 4)).decode(errors="replace")
        except binascii.Error:
            continue
