"""Secrets that a bundle itself carries: no text of the judge repeats them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from butlerctl.evidence import Bundle
from butlerctl.redaction import MASK, is_secret_name, redact_text

_SHORTEST = 4
# What would steer a terminal, or cannot be written as UTF-8 or XML.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_MORE_NAMES = ("encryption_key", "encryptionkey")


@dataclass(frozen=True, slots=True)
class Masks:
    """The values under secret names in a bundle, the longest first."""

    secrets: tuple[str, ...]

    @classmethod
    def of(cls, bundle: Bundle) -> Masks:
        found = {value for document in bundle.evidence for value in _secrets(document)}
        return cls(tuple(sorted(found, key=len, reverse=True)))

    def hide(self, text: str) -> str:
        """The text without any of them, without what looks like a credential, and without control characters."""
        for secret in self.secrets:
            text = text.replace(secret, MASK)
        return _UNPRINTABLE.sub("\ufffd", redact_text(text))


def _secrets(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            if isinstance(item, str) and _is_secret(str(name)):
                if len(item) >= _SHORTEST and item not in (MASK, "<wrong>"):
                    yield item
            else:
                yield from _secrets(item)
    elif isinstance(value, list):
        for item in value:
            yield from _secrets(item)


def _is_secret(name: str) -> bool:
    return is_secret_name(name) or name.lower().endswith(_MORE_NAMES)
