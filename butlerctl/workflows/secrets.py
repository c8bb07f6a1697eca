"""Secrets in workflow files: by the patterns of their vendors, and by the header that carries them.

Only fingerprints leave this module, and texts in which every secret is masked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from butlerctl.workflows.notations import EVERYTHING as ALL_NOTATIONS
from butlerctl.workflows.notations import compiled, embedded
from butlerctl.workflows.walk import Path, strings


class Secret(NamedTuple):
    """A secret without its value: the first 8 hex digits of its sha256, enough to compare two places."""

    kind: str
    fingerprint: str
    path: Path


class _Pattern(NamedTuple):
    """A secret begins with `start`, at a word's edge unless `inside`, and goes on as `rest`."""

    kind: str
    start: str
    rest: str
    inside: bool = False


_PATTERNS = (
    _Pattern("AWS access key", "AKIA", r"[A-Z0-9]{16}\b"),
    _Pattern("Google API key", "AIza", r"[0-9A-Za-z_-]{35}"),
    _Pattern("Google client secret", "GOCSPX-", r"[\w-]{20,}"),
    _Pattern("Google access token", "ya29.", r"[\w-]{20,}"),
    _Pattern("Google refresh token", "1//0", r"[\w-]{30,}"),
    _Pattern("API key", "sk-", r"[A-Za-z0-9_-]{20,}"),
    _Pattern("Stripe key", "k_live_", r"[A-Za-z0-9]{16,}", inside=True),
    _Pattern("Stripe key", "k_test_", r"[A-Za-z0-9]{16,}", inside=True),
    _Pattern("GitHub token", "ghp_", r"[A-Za-z0-9]{36}"),
    _Pattern("GitHub token", "gho_", r"[A-Za-z0-9]{36}"),
    _Pattern("GitHub token", "ghs_", r"[A-Za-z0-9]{36}"),
    _Pattern("GitHub token", "github_pat_", r"[A-Za-z0-9_]{40,}"),
    _Pattern("GitLab token", "glpat-", r"[\w-]{20}"),
    _Pattern("Slack token", "xox", r"[abeprs]-[A-Za-z0-9-]{12,}"),
    _Pattern("Slack webhook", "hooks.slack.com", r"/services/T\w+/B\w+/\w{20,}"),
    _Pattern("Discord webhook", "/api/webhooks/", r"\d{17,}/[\w-]{60,}", inside=True),
    _Pattern("Telegram bot token", ":AA", r"(?<=\d{8}:AA)[\w-]{33}(?![\w-])", inside=True),
    _Pattern("SendGrid key", "SG.", r"[\w-]{16,}\.[\w-]{16,}"),
    _Pattern("JSON web token", "eyJ", r"[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"),
    _Pattern("private key", "-----BEGIN ", r"[A-Z ]{0,20}PRIVATE KEY-----", inside=True),
    _Pattern("Hugging Face token", "hf_", r"[A-Za-z0-9]{30,}"),
    _Pattern("Notion token", "ntn_", r"[A-Za-z0-9]{40,}"),
    _Pattern("Apify token", "apify_api_", r"[A-Za-z0-9]{30,}"),
    _Pattern("Groq key", "gsk_", r"[A-Za-z0-9]{40,}"),
)
# The length of the shortest of them, a Slack token.
_SHORTEST = 17
_NAMES = ("authorization", "key", "token", "secret", "password", "-auth")
# In raw JSON: `"X-API-Key", "value": "…"` and `"password": "…"`.
_NAMED_VALUE = r"\"\s*(?:,[^{}]{0,200}?\"value\"\s*)?:\s*\"((?![<={\[])(?:[^\"\\]|\\.){8,})\""
_SCHEMES = ("bearer ", "basic ", "token ", "bot ", "apikey ")


class Suspects(NamedTuple):
    """What a look at all values of a file leaves possible: vendors' patterns, and names that hold secrets."""

    patterns: tuple[_Pattern, ...]
    named: bool


def suspects_in(values: str, lowered: str, long_values: str) -> Suspects:
    """One cheap look at the values of a file, a line break between them, and at the lower case of the short ones.

    A vendor's secret is a long word, and most words are short; a name is no long value.
    """
    text = f"{values}\n{long_values}"
    words = "\n".join([word for word in text.split() if len(word) >= _SHORTEST])
    return Suspects(
        tuple(
            [pattern for pattern in _PATTERNS if pattern.start in (text if " " in pattern.start else words)]
        ),
        any(f"{name}\n" in lowered for name in _NAMES),
    )


EVERYTHING = Suspects(_PATTERNS, named=True)


def find_secrets(document: Mapping[str, Any], suspects: Suspects = EVERYTHING) -> Iterator[Secret]:
    """Every secret of a document, sticky notes and pinned data included."""
    if not any(suspects):
        return
    previous: tuple[Path, str] = ((), "")
    for path, text in strings(document):
        for kind, value in _in_text(text, suspects.patterns):
            yield Secret(kind, _fingerprint(value), path)
        if path[-1:] == ("name",):
            previous = (path, text)
        elif path[-1:] == ("value",) and previous[0][:-1] == path[:-1] and _is_literal(previous[1], text):
            yield Secret(f'the value of "{previous[1]}"', _fingerprint(text), path)


def mask(text: str) -> str:
    """Raw JSON with asterisks in place of every secret, as long as before; rather too many than too few."""
    for start, end in [span for _, span in _vendor_spans(text, _PATTERNS)] + list(_named_spans(text)):
        text = text[:start] + "*" * (end - start) + text[end:]
    return text


def _in_text(text: str, patterns: Iterable[_Pattern] = _PATTERNS) -> Iterator[tuple[str, str]]:
    for kind, (start, end) in _vendor_spans(text, patterns):
        token = text[start:end]
        if kind == "private key" or (_is_random(token) and any(c.isdigit() for c in token)):
            yield kind, token


def _vendor_spans(text: str, patterns: Iterable[_Pattern]) -> Iterator[tuple[str, tuple[int, int]]]:
    for kind, start, rest, inside in patterns:
        at = text.find(start)
        while at >= 0:
            after = at + len(start)
            if inside or at == 0 or not (text[at - 1].isalnum() or text[at - 1] in "_-"):
                match = compiled(rest).match(text, after)
                if match:
                    yield kind, (at, match.end())
            at = text.find(start, after)


def _named_spans(raw: str) -> Iterator[tuple[int, int]]:
    lowered = raw.lower()
    for name in _NAMES:
        if f'{name}"' in lowered:
            for match in compiled(f"(?i:{name}){_NAMED_VALUE}").finditer(raw):
                yield match.span(1)


def _is_literal(name: str, value: str) -> bool:
    """`{"name": "X-API-Key", "value": "<a literal>"}`: a header, a query parameter, a field."""
    from butlerctl.redaction import is_secret_name

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
        and not any(embedded(literal, ALL_NOTATIONS, address=True))
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
