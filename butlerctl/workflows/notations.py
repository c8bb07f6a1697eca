"""How people write "fill this in": the notations of placeholders, and the shapes of credential ids.

Patterns are compiled when a text first contains their needle: most texts contain none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple


def words(text: str) -> frozenset[str]:
    """The words of a text as a set: a long list reads better as text."""
    return frozenset(text.split())


class Notation(NamedTuple):
    """One notation. `needle` occurs, in lower case, in every text that holds a match of `pattern`.

    One that `shouts` needs two upper-case words joined by an underscore.
    """

    needle: str
    pattern: str
    shouts: bool = False


_VERBS = "your|insert|enter|add|replace|my|put|paste|copy|change|set|fill|some|todo"
_UPPER_WORDS = r"[A-Z][A-Z0-9]*(?:[_ -][A-Z0-9]+)+"
_MEANS_A_VALUE = "YOUR|HERE|ID|KEY|TOKEN|SECRET|NAME|URL|EMAIL"
# n8n's own notation, as its template importer writes it.
N8N_MARK = "<__PLACEHOLDER"
_N8N = Notation("<__placeholder", r"<__PLACEHOLDER[^<>]{0,200}__>")
NOTATIONS = (
    _N8N,
    Notation(
        "<",
        rf"<{{1,2}}\s{{0,3}}(?:{_UPPER_WORDS}|(?i:{_VERBS})[\s_-][^<>@|{{}}=\"\n/\\]{{1,80}})\s{{0,3}}>{{1,2}}",
    ),
    Notation("your", r"\bYOUR_[A-Za-z0-9_]+|\bYOUR-[A-Z0-9-]+|\byour[_-][a-z][a-z0-9_-]*"),
    Notation("replace_", r"\bREPLACE_[A-Z0-9_]+", shouts=True),
    *(
        Notation(
            verb.lower() + "_", rf"\b{verb}_(?:[A-Z0-9]+_)*(?:{_MEANS_A_VALUE})(?:_[A-Z0-9]+)*\b", shouts=True
        )
        for verb in ("INSERT", "ENTER", "PASTE", "PUT", "FILL")
    ),
    Notation("[", r"\[(?i:your|insert|enter|replace|put|paste|fill)[ _-][^\[\]{}()$\"'\n\\]{1,60}\]"),
    Notation("xxxx", r"(?<![A-Za-z0-9-])(?:x{4,}|X{4,})(?:-(?:x{3,}|X{3,}))*(?![A-Za-z0-9-])"),
    Notation("change", r"\b(?i:change[-_]?me)\b"),
    Notation("__", r"__(?:[A-Z0-9]+_)*(?:CRED|CREDENTIAL|KEY|ID|TOKEN|SECRET)(?:_[A-Z0-9]+)*__"),
    Notation("{{", r"\{\{\s{0,3}[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\s{0,3}\}\}", shouts=True),
    Notation("cred_id", r"\b(?:[A-Z0-9]+_)*CRED_ID\b", shouts=True),
    Notation("credential_id", r"\b(?:[A-Z0-9]+_)*CREDENTIAL_ID\b", shouts=True),
)
_ANGLE_START = r"<[^\W\d_]"
_ANY_ANGLE = r"<{1,2}([^\W\d_][^<>@|]{0,100})>{1,2}"
_SEGMENT = (
    r"(?<=[/=?&:])<{1,2}([^\W\d_][^<>@|/\"\s{}=]{0,60}(?: [^<>@|/\"{}=]{1,60})?)>{1,2}(?![^/?#&:\"'\s}])"
)
_HTML_TAGS = words(
    "a abbr address article aside audio b base blockquote body br button canvas caption center code col dd del "
    "details div dl dt em embed fieldset figure font footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe "
    "img input ins kbd label legend li link main map mark meta nav noscript object ol optgroup option p param "
    "picture pre progress q s samp script section select small source span strike strong style sub summary sup "
    "svg table tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr doctype xml"
)

compiled = cache(re.compile)


class Live(NamedTuple):
    """The notations that may stand in a text; `angles` are any words in angle brackets."""

    notations: tuple[Notation, ...]
    angles: bool

    def within(self, text: str) -> Live:
        """What is left of it after a look at one value."""
        lowered = text.lower()
        return Live(
            tuple(notation for notation in self.notations if notation.needle in lowered),
            self.angles and "<" in text,
        )


EVERYTHING = Live(NOTATIONS, angles=True)


def live_in(values: str, lowered: str) -> Live:
    """One cheap look at all values of a file, and at their lower case: the notations that stand in them."""
    shouts = _has_upper_snake(values)
    notations = tuple(
        notation
        for notation in NOTATIONS
        if (shouts or not notation.shouts)
        and notation.needle in lowered
        and compiled(notation.pattern).search(values) is not None
    )
    return Live(notations, angles=compiled(_ANGLE_START).search(values) is not None)


def _has_upper_snake(text: str) -> bool:
    """Whether two upper-case letters or digits are joined by an underscore somewhere."""
    parts = text.split("_")
    return any(
        before[-1:].isupper() or before[-1:].isdigit()
        for before, after in pairwise(parts)
        if after[:1].isupper() or after[:1].isdigit()
    )


def whole(text: str, live: Live) -> str | None:
    """The token, when the text is one placeholder and nothing else."""
    for notation in live.notations:
        if compiled(notation.pattern).fullmatch(text):
            return text
    if live.angles and text[:1] == "<":
        match = compiled(_ANY_ANGLE).fullmatch(text)
        if match and _is_no_markup(match[1]):
            return text
    return None


def embedded(text: str, live: Live, *, address: bool) -> Iterator[str]:
    """The tokens inside a text. In an address a whole path segment in angle brackets counts as well."""
    taken: list[tuple[int, int]] = []
    for notation in live.notations:
        taken.extend(_matches(notation.pattern, text, taken))
    if address and live.angles:
        segments = _matches(_SEGMENT, text, taken)
        taken.extend((start, end) for start, end in segments if _is_no_markup(text[start:end].strip("<>")))
    return (text[start:end] for start, end in sorted(taken))


def is_n8n_notation(text: str) -> bool:
    """Whether n8n itself wrote this token (`<__PLACEHOLDER_VALUE__hint__>`)."""
    return text.startswith(N8N_MARK)


def bare_name(token: str) -> str:
    """The token without its brackets: `<WIFE_SPREADSHEET_ID>` is WIFE_SPREADSHEET_ID."""
    return token.strip("<>[]{} \t")


def _matches(pattern: str, text: str, taken: list[tuple[int, int]]) -> list[tuple[int, int]]:
    spans = (match.span() for match in compiled(pattern).finditer(text))
    return [
        (start, end)
        for start, end in spans
        if not _is_element(text, start, end) and all(end <= low or start >= high for low, high in taken)
    ]


def _is_element(text: str, start: int, end: int) -> bool:
    """`<FIRST_NAME>Ada</FIRST_NAME>`: the closing tag makes it XML."""
    return text[start] == "<" and f"</{text[start:end].strip('<>')}>" in text


def _is_no_markup(inner: str) -> bool:
    first = inner
    for mark in " /:=!":
        first = first.partition(mark)[0]
    return first.lower() not in _HTML_TAGS and "http" not in inner and not inner.endswith("/")


class IdShape(Enum):
    """What a credential id looks like."""

    GOOD = "good"
    PLACEHOLDER = "placeholder"
    MISSING = "missing"
    ODD = "odd"


_STAND_INS = words(
    "placeholder todo tbd dummy test none null undefined n/a id credential-id credential_id credentialid "
    "changeme example sample"
)
_STAND_IN_PARTS = ("replace", "your-", "your_", "configur", "placeholder", "change-me", "change_me")
_VARIABLE_ENDS = (
    "_api",
    "_id",
    "_key",
    "_token",
    "_cred",
    "_creds",
    "_credential",
    "_oauth",
    "_oauth2",
    "_auth",
)


def credential_id_shape(value: Any) -> IdShape:
    """n8n makes ids of 16 letters and digits; earlier ones are numbers, some deployments use UUIDs."""
    if isinstance(value, int) and not isinstance(value, bool):
        return IdShape.GOOD
    if not isinstance(value, str) or not value.strip():
        return IdShape.MISSING
    if _stands_in(value):
        return IdShape.PLACEHOLDER
    return IdShape.GOOD if _is_made_by_n8n(value) else IdShape.ODD


def _is_made_by_n8n(value: str) -> bool:
    if len(value) == 16 or (len(value) <= 6 and value.isdigit()):
        return value.isascii() and value.isalnum()
    is_uuid = [len(part) for part in value.split("-")] == [8, 4, 4, 4, 12]
    return is_uuid and all(character in "0123456789abcdefABCDEF-" for character in value)


def _stands_in(value: str) -> bool:
    lowered = value.lower()
    return (
        (not value.isalnum() and any(character in "<>[]{}$= \t\n" for character in value))
        or lowered.strip("x-_") == ""
        or lowered in _STAND_INS
        or lowered.endswith(_VARIABLE_ENDS)
        or any(part in lowered for part in _STAND_IN_PARTS)
        or (value.isupper() and "_" in value and value.replace("_", "").isalpha())
    )
