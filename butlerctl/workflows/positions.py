"""Where a value stands in the text of a JSON document. Asked only for findings, so parsing stays fast.

The text is walked along the path; the standard library's decoder jumps over everything beside it. What was
walked once is remembered, so the work for many findings in one file grows with the file and not with both.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from json import JSONDecoder
from typing import NamedTuple

from butlerctl.workflows.walk import Path

_SHORT = 200_000  # characters: counting lines from the start is cheaper than an index of them
_BLANKS = " \t\n\r"
_decode = JSONDecoder().raw_decode


class Span(NamedTuple):
    """Offsets into the text, the end exclusive."""

    start: int
    end: int


class Member(NamedTuple):
    """A member of an object, or an item of a list, whose `key` is the item itself."""

    name: str | int
    key: Span
    value: Span


class Locator:
    """Finds places in one text, which must have parsed as JSON before (lines can be asked of any text)."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._members: dict[int, list[Member]] = {}
        self._by_name: dict[int, dict[str | int, Member]] = {}
        self._hides_words = len(text) > _SHORT or "\\u" in text
        self._line_starts: list[int] | None = None

    def value(self, path: Path) -> Span:
        """The value at a path. For a repeated key the last one counts, as in `json`.

        Raises KeyError when there is no such place.
        """
        if not path:
            start = _skip_blanks(self._text, 0)
            return Span(start, _decode(self._text, start)[1])
        return self._only_key(path) or self._member(path).value

    def token(self, path: Path, token: str) -> Span:
        """A token inside the value at a path; the whole value where escapes hide it. Raises KeyError."""
        only = self._only(token)
        if only:
            return only
        span = self.value(path)
        at = self._text.find(token, span.start, span.end) if token else -1
        return span if at < 0 else Span(at, at + len(token))

    def key(self, path: Path) -> Span:
        """The key of the member at a path; for an item of a list the item itself. Raises KeyError."""
        return self._member(path).key

    def member_with_comma(self, path: Path) -> Span:
        """A member and the comma that its removal makes superfluous, blanks included. Raises KeyError."""
        member = self._member(path)
        members = self._members_at(self._start(path[:-1]))
        index = members.index(member)
        if index + 1 < len(members):
            return Span(member.key.start, members[index + 1].key.start)
        start = members[index - 1].value.end if index else member.key.start
        return Span(start, member.value.end)

    def repeated_keys(self, path: Path) -> list[tuple[str, list[Span]]]:
        """The keys that stand more than once in the object at a path, with all their places."""
        places: dict[str, list[Span]] = {}
        for member in self._members_at(self._start(path)):
            places.setdefault(str(member.name), []).append(member.key)
        return [(key, spans) for key, spans in places.items() if len(spans) > 1]

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Both from 1; columns count code points."""
        if len(self._text) < _SHORT:
            start = self._text.rfind("\n", 0, offset) + 1
            return self._text.count("\n", 0, start) + 1, offset - start + 1
        line = bisect_right(self._starts(), offset)
        return line, offset - self._starts()[line - 1] + 1

    def line_around(self, offset: int) -> Span:
        """The line in which a place lies, without its end."""
        end = self._text.find("\n", offset)
        return Span(self._text.rfind("\n", 0, offset) + 1, len(self._text) if end < 0 else end)

    def _starts(self) -> list[int]:
        if self._line_starts is None:
            lengths = [len(line) + 1 for line in self._text.split("\n")]
            self._line_starts = [0, *accumulate(lengths[:-1])]
        return self._line_starts

    def _only(self, words: str) -> Span | None:
        """The one place of these words in a short text. What is escaped somewhere may hide: then nothing."""
        if not words or self._hides_words:
            return None
        at = self._text.find(words)
        if at < 0 or self._text.find(words, at + 1) >= 0:
            return None
        return Span(at, at + len(words))

    def _only_key(self, path: Path) -> Span | None:
        """The value of a key of the top object, when its name stands nowhere else: no walk is needed then."""
        key = self._only(f'"{path[0]}"') if len(path) == 1 else None
        colon = _skip_blanks(self._text, key.end) if key else 0
        if not key or self._text[colon : colon + 1] != ":":
            return None
        start = _skip_blanks(self._text, colon + 1)
        return Span(start, _decode(self._text, start)[1])

    def _start(self, path: Path) -> int:
        return self._member(path).value.start if path else _skip_blanks(self._text, 0)

    def _member(self, path: Path) -> Member:
        at = _skip_blanks(self._text, 0)
        for part in path:
            if self._text[at] not in "{[":
                raise KeyError(part)
            if at not in self._by_name:
                self._by_name[at] = {member.name: member for member in self._members_at(at)}
            member = self._by_name[at][part]
            at = member.value.start
        return member

    def _members_at(self, start: int) -> list[Member]:
        if start not in self._members:
            self._members[start] = _members(self._text, start)
        return self._members[start]


def _members(text: str, start: int) -> list[Member]:
    found: list[Member] = []
    is_object = text[start] == "{"
    at = _skip_blanks(text, start + 1)
    while text[at] not in "}]":
        name: str | int = len(found)
        key = None
        if is_object:
            name, end = _decode(text, at)
            key = Span(at, end)
            at = _skip_blanks(text, _skip_blanks(text, end) + 1)
        value = Span(at, _decode(text, at)[1])
        found.append(Member(name, key or value, value))
        at = _skip_blanks(text, value.end)
        if text[at] == ",":
            at = _skip_blanks(text, at + 1)
    return found


def _skip_blanks(text: str, at: int) -> int:
    while text[at : at + 1] in _BLANKS and at < len(text):
        at += 1
    return at
