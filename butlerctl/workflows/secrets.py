"""Secrets in workflow files: by the patterns of their vendors, and by the header that carries them.

Only fingerprints leave this module, and texts in which every secret is masked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from butlerctl.redaction import is_secret_name
from butlerctl.workflows.notations import compiled, embedded
from butlerctl.workflows.walk import Path, strings


class Secret(NamedTuple):
    """A secret without its value: the first 8 hex digits of its sha256, enough to compare two places."""

    kind: str
    fingerprint: str
    path: Path


class _Pattern(NamedTuple):
    """`needle` is in lower case and occurs in every match of `pattern`."""

    kind: str
    needle: str
    pattern: str


_PATTERNS = (
    _Pattern("AWS access key", "akia", r"\bAKIA[A-Z0-9]{16}\b"),
    _Pattern("Google API key", "aiza", r"\bAIza[0-9A-Za-z_-]{35}"),
    _Pattern("Google client secret", "gocspx-", r"\bGOCSPX-[\w-]{20,}"),
    _Pattern("Google access token", "ya29.", r"\bya29\.[\w-]{20,}"),
    _Pattern("Google refresh token", "1//0", r"\b1//0[\w-]{30,}"),
    _Pattern("API key", "sk-", r"\bsk-(?:[a-z0-9]{2,8}-){0,3}[A-Za-z0-9_]{20,}"),
    _Pattern("Stripe key", "k_live_", r"\b[sr]k_live_[A-Za-z0-9]{16,}"),
    _Pattern("Stripe key", "k_test_", r"\b[sr]k_test_[A-Za-z0-9]{16,}"),
    _Pattern("GitHub token", "gh", r"\bgh[pousr]_[A-Za-z0-9]{36}|\bgithub_pat_[A-Za-z0-9_]{40,}"),
    _Pattern("GitLab token", "glpat-", r"\bglpat-[\w-]{20}"),
    _Pattern("Slack token", "xox", r"\bxox[abeprs]-[A-Za-z0-9-]{12,}"),
    _Pattern("Slack webhook", "hooks.slack.com", r"hooks\.slack\.com/services/T\w+/B\w+/\w{20,}"),
    _Pattern("Discord webhook", "/webhooks/", r"discord(?:app)?\.com/api/webhooks/\d{17,}/[\w-]{60,}"),
    _Pattern("Telegram bot token", ":aa", r"(?<!\d)\d{8,10}:AA[\w-]{33}(?![\w-])"),
    _Pattern("SendGrid key", "sg.", r"\bSG\.[\w-]{16,}\.[\w-]{16,}"),
    _Pattern("JSON web token", "eyj", r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"),
    _Pattern("private key", "private key-----", r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----"),
    _Pattern("Hugging Face token", "hf_", r"\bhf_[A-Za-z0-9]{30,}"),
    _Pattern("Notion token", "ntn_", r"\bntn_[A-Za-z0-9]{40,}"),
    _Pattern("Airtable token", "pat", r"\bpat[A-Za-z0-9]{14}\.[a-f0-9]{60,}"),
    _Pattern("Apify token", "apify_api_", r"\bapify_api_[A-Za-z0-9]{30,}"),
    _Pattern("Groq key", "gsk_", r"\bgsk_[A-Za-z0-9]{40,}"),
)
_NAMES = ("authorization", "api-key", "apikey", "api_key", "token", "secret", "password", "-auth")
NEEDLES = (*(pattern.needle for pattern in _PATTERNS), *_NAMES)
# In raw JSON: `"X-API-Key", "value": "…"` and `"password": "…"`.
_NAMED_VALUE = (
    r"(?i)(?:authorization|api[-_]?key|token|secret|password|-auth)\"\s*(?:,\s*\"value\"\s*)?:\s*"
    r"\"((?:[^\"\\]|\\.){8,})\""
)
_SCHEMES = ("bearer ", "basic ", "token ", "bot ", "apikey ")


def find_secrets(document: Mapping[str, Any]) -> Iterator[Secret]:
    """Every secret of a document, sticky notes and pinned data included."""
    previous: tuple[Path, str] = ((), "")
    for path, text in strings(document):
        for kind, value in _in_text(text):
            yield Secret(kind, _fingerprint(value), path)
        if path[-1:] == ("name",):
            previous = (path, text)
        elif path[-1:] == ("value",) and previous[0][:-1] == path[:-1] and _is_literal(previous[1], text):
            yield Secret(f'the value of "{previous[1]}"', _fingerprint(text), path)


def mask(text: str) -> str:
    """The text with asterisks in place of every secret, as long as before."""
    for start, end in _spans(text):
        text = text[:start] + "*" * (end - start) + text[end:]
    return text


def _in_text(text: str) -> Iterator[tuple[str, str]]:
    if len(text) < 16:
        return
    lowered = text.lower()
    for kind, needle, pattern in _PATTERNS:
        if needle in lowered:
            for match in compiled(pattern).finditer(text):
                if _is_random(match[0]) or kind == "private key":
                    yield kind, match[0]


def _spans(text: str) -> list[tuple[int, int]]:
    lowered = text.lower()
    spans = [
        match.span()
        for _, needle, pattern in _PATTERNS
        if needle in lowered
        for match in compiled(pattern).finditer(text)
    ]
    if any(name in lowered for name in _NAMES):
        spans.extend(match.span(1) for match in compiled(_NAMED_VALUE).finditer(text))
    return spans


def _is_literal(name: str, value: str) -> bool:
    """`{"name": "X-API-Key", "value": "<a literal>"}`: a header, a query parameter, a field."""
    if not is_secret_name(name):
        return False
    literal = value.removeprefix("=").strip()
    lowered = literal.lower()
    literal = next(
        (literal[len(scheme) :] for scheme in _SCHEMES if lowered.startswith(scheme)), literal
    ).strip()
    return (
        len(literal) >= 12
        and compiled(r"[A-Za-z0-9._~+/=:@-]+").fullmatch(literal) is not None
        and any(character.isdigit() for character in literal)
        and _is_random(literal)
        and "://" not in literal
        and not any(embedded(literal, address=True))
        and not any(_in_text(value))
    )


def _is_random(text: str) -> bool:
    lowered = text.lower()
    return len(set(text)) >= 8 and not any(
        word in lowered for word in ("xxxx", "example", "your", "placeholder")
    )


def _fingerprint(value: str) -> str:
    import hashlib

    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:8]
