"""A sentence from which the understood parts are crossed out: what remains is the title, or a row's cells.

Quoted text and code words such as `BTLR-7K2M` are masked first, so that a date or a name inside them stays theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from butlerctl.lab.model import words

Span = tuple[int, int]

_QUOTED = re.compile(
    r"\"([^\"]+)\"|“([^”“]+)[”“]|„([^“”\"]+)[“”\"]|«\s*([^»]+?)\s*»|»([^«]+)«|`([^`]+)`|‘([^’]+)’(?!\w)|"
    r"(?<![\w'’])'([^'\n]+(?:'\w[^'\n]*)*)'(?!\w)"
)
_CODE = re.compile(r"(?<![\w-])(?=[\w-]*\d)[A-Za-z]+(?:-[A-Za-z0-9]+)+(?![\w-])")
_GAP = "\x00"
_MASK = "\x01"
_END = re.compile(r"[.;!?]+(?=\s|$|\x00)|\n+|\s[-–—]\s")
_MARKS = " \t\n,.;:!?()[]-–—…\"'’=|/*"
_BESIDE = re.compile(
    rf"^\W*(?:{words.CONTAINERS}|{words.SHEETS})(?!\w)|(?<!\w)(?:{words.CONTAINERS}|{words.SHEETS})\W*$",
    re.IGNORECASE,
)


class Sentence:
    """The text of one request. `masked` has its length, with quotes and code words hidden; `people` are none."""

    def __init__(self, text: str, people: Sequence[str] = ()) -> None:
        self.text = text
        self.quotes = [(m.start(), m.end(), next(g for g in m.groups() if g)) for m in _QUOTED.finditer(text)]
        self._quoted: list[Span] = [(start, end) for start, end, _ in self.quotes]
        names = {name.lower() for name in people}
        codes = [match.span() for match in _CODE.finditer(text) if match[0].lower() not in names]
        self.masked = _fill(text, [*self._quoted, *codes], _MASK)
        self._crossed: list[Span] = []

    def cross_out(self, spans: Iterable[Span]) -> None:
        self._crossed += spans

    def cross_out_words(self, pattern: re.Pattern[str]) -> None:
        """Cross out what the pattern finds outside of quotes and code words."""
        self.cross_out(match.span() for match in pattern.finditer(self.masked))

    def place_of(self, name: str) -> Span | None:
        """Where a tab or list of this name is meant: in quotes, or beside a word such as "sheet", or at last."""
        for start, end, quoted in self.quotes:
            if quoted.lower() == name.lower():
                return start, end
        found = [
            m.span()
            for m in re.finditer(rf"(?<![\w-]){re.escape(name)}(?![\w-])", self.masked, re.IGNORECASE)
        ]
        beside = [span for span in found if self._is_beside_a_place_word(span)]
        return next(reversed(beside or found), None)

    def _is_beside_a_place_word(self, span: Span) -> bool:
        before, after = self.masked[: span[0]], self.masked[span[1] :]
        return any(_BESIDE.search(text) is not None for text in (before[-24:] + "\n", "\n" + after[:24]))

    def without(self, spans: Iterable[Span]) -> str:
        """The masked text with these places blanked as well."""
        return _fill(self.masked, spans, _MASK)

    def chunks(self) -> list[str]:
        """What is not crossed out, in order and with its quotes; what stands behind a colon comes first."""
        rest = _fill(self.text, self._crossed, _GAP)
        colon = re.search(r":(?=\s)", _fill(rest, self._quoted, _MASK))
        behind = rest[colon.end() :].split(_GAP) if colon is not None else []
        return [chunk for chunk in (*behind, *rest.split(_GAP)) if chunk.strip(_MARKS)]

    def labelled(self, label: re.Pattern[str]) -> str | None:
        """What follows the label, up to the next crossed-out part, comma or end of a sentence."""
        rest = self._without_quotes()
        match = label.search(rest)
        if match is None:
            return None
        following = _END.split(rest[match.end() :].lstrip(" :="))[0]
        return strip_edges(re.split(f"[{_GAP},]", following)[0]) or None

    def best_piece(self, verb: re.Pattern[str]) -> str | None:
        """The likeliest title: a piece with a code word in it, else the longest.

        Where there are pieces behind a colon, only these count; else those behind the verb, if there are any.
        """
        rest = self._without_quotes()
        colon, ordered = re.search(r":(?=[\s\x00])", rest), verb.search(self.masked)
        starts = [match.end() for match in (colon, ordered) if match is not None]
        pieces = next((found for start in (*starts, 0) if (found := _pieces(rest[start:]))), [])
        return max(pieces, key=lambda piece: (_CODE.search(piece) is not None, len(piece)), default=None)

    def _without_quotes(self) -> str:
        return _fill(self.text, [*self._crossed, *self._quoted], _GAP)


def _fill(text: str, spans: Iterable[Span], with_: str) -> str:
    for start, end in spans:
        text = text[:start] + with_ * (end - start) + text[end:]
    return text


def _pieces(text: str) -> list[str]:
    parts = (strip_edges(part) for chunk in text.split(_GAP) for part in _END.split(chunk))
    return [part for part in parts if part]


def strip_edges(piece: str) -> str:
    """The piece without the small words and marks at its ends."""
    tokens = piece.strip(_MARKS).split()
    while tokens and _is_small(tokens[0], words.EDGE_WORDS):
        tokens.pop(0)
    while tokens and _is_small(tokens[-1], words.TRAILING_WORDS):
        tokens.pop()
    return " ".join(tokens).strip(_MARKS)


def _is_small(token: str, small: frozenset[str]) -> bool:
    bare = token.strip(_MARKS).lower()
    return not bare or bare in small


def first_quote(sentence: Sentence, ignored: Sequence[str]) -> str | None:
    """The first quoted text that is none of these names."""
    names = {name.lower() for name in ignored}
    return next((quoted for _, _, quoted in sentence.quotes if quoted.lower() not in names), None)
