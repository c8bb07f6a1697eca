"""Nothing that leaves butlerctl carries a secret: one redactor, used by every writer.

Two rules: a value under a name that holds a secret (a header, a token field) is masked whatever it is,
and every value that was registered as a secret is masked wherever it occurs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

MASK = "<redacted>"

_SECRET_NAME = re.compile(
    r"(^|[-_.])(auth|authorization|cookie|secret|password|passwd|token|api[-_]?key|apikey|private[-_]?key)$"
    r"|token$|secret$|apikey$|password$|^bearer$",
    re.IGNORECASE,
)
# Names that end like a secret but hold none.
_HARMLESS_NAMES = frozenset({"nextpagetoken", "pagetoken", "token_of", "max_tokens", "nextsynctoken"})

_SECRET_TEXT = (
    re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}"),
    re.compile(r"\bya29\.[A-Za-z0-9._-]{6,}"),
    re.compile(r"\b1//[A-Za-z0-9._-]{10,}"),
    re.compile(r"\bsk-[A-Za-z0-9_-]{12,}"),
    re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----", re.DOTALL),
)

_registered: set[str] = set()


def register_secret(value: str) -> None:
    """Mask this value from now on, wherever it occurs. Values under four characters cannot be masked."""
    if len(value) >= 4:
        _registered.add(value)


def is_secret_name(name: str) -> bool:
    return name.lower() not in _HARMLESS_NAMES and _SECRET_NAME.search(name) is not None


def redact_text(text: str) -> str:
    """The text without registered secrets and without anything that looks like a credential."""
    for secret in sorted(_registered, key=len, reverse=True):
        text = text.replace(secret, MASK)
    for pattern in _SECRET_TEXT:
        text = pattern.sub(MASK, text)
    return text


def redact(value: Any) -> Any:
    """A copy of a JSON document without secrets. Names decide first, then the text of each string."""
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, Mapping):
        return {key: _redact_field(str(key), item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [redact(item) for item in value]
    return value


def _redact_field(name: str, value: Any) -> Any:
    if is_secret_name(name) and isinstance(value, str) and value:
        return MASK
    return redact(value)
