"""Where a value stands in the text of a JSON document. Asked only for findings, so parsing stays fast.

The text is walked along the path; the standard library's decoder jumps over everything beside it. What was
walked once is remembered, so the work for many findings in one file grows with the file and not with both.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
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
    """A member of an object, or an item of a list, whose `key` is where the item begins."""

    name: str | int
    key: Span
    start: int


class _Container:
    """An object or list of the text, walked only as far as it was asked for."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._rest = _members(text, start)
        self.members: list[Member] = []
        self._by_name: dict[str | int, Member] = {}

    def find(self, name: str | int) -> Member:
        """The first member of this name. Raises KeyError."""
        while name not in self._by_name:
            member = next(self._rest, None)
            if member is None:
                raise KeyError(name)
            self._keep(member)
        return self._by_name[name]

    def walk(self) -> list[Member]:
        for member in self._rest:
            self._keep(member)
        return self.members

    def last(self, name: str | int) -> Member:
        """The last member of this name. Raises KeyError."""
        self.find(name)
        return next(member for member in reversed(self.walk()) if member.name == name)

    def _keep(self, member: Member) -> None:
        self.members.append(member)
        self._by_name.setdefault(member.name, member)


class Locator:
    """Finds places in one text, which must have parsed as JSON before (lines can be asked of any text).

    With `repeated` the last of several equal keys counts, as in `json`; without, the text has none.
    """

    def __init__(self, text: str, *, repeated: bool = True) -> None:
        self._text = text
        self._repeated = repeated
        self._containers: dict[int, _Container] = {}
        self._hides_words = len(text) > _SHORT or "\\u" in text
        self._line_starts: list[int] | None = None

    def value(self, path: Path) -> Span:
        """The value at a path. Raises KeyError when there is no such place."""
        only = self._only_key(path)
        if only:
            return only
        start = self._start(path)
        return Span(start, _decode(self._text, start)[1])

    def token(self, path: Path, token: str) -> Span:
        """A token inside the value at a path; the whole value where escapes hide it. Raises KeyError."""
        only = self._only(token)
        if only:
            return only
        span = self.value(path)
        at = self._text.find(token, span.start, span.end) if token else -1
        return span if at < 0 else Span(at, at + len(token))

    def key(self, path: Path) -> Span:
        """The key of the member at a path; for an item of a list its beginning. Raises KeyError."""
        return self._member(path).key

    def member_with_comma(self, path: Path) -> Span:
        """A member and the comma that its removal makes superfluous, blanks included. Raises KeyError."""
        member = self._member(path)
        members = self._container(self._start(path[:-1])).walk()
        index = members.index(member)
        if index + 1 < len(members):
            return Span(member.key.start, members[index + 1].key.start)
        end = _decode(self._text, member.start)[1]
        if not index:
            return Span(member.key.start, end)
        return Span(_decode(self._text, members[index - 1].start)[1], end)

    def repeated_keys(self, path: Path) -> list[tuple[str, list[Span]]]:
        """The keys that stand more than once in the object at a path, with all their places."""
        places: dict[str, list[Span]] = {}
        for member in self._container(self._start(path)).walk():
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
        return self._member(path).start if path else _skip_blanks(self._text, 0)

    def _member(self, path: Path) -> Member:
        at = _skip_blanks(self._text, 0)
        for part in path:
            if self._text[at] not in "{[":
                raise KeyError(part)
            container = self._container(at)
            member = container.last(part) if self._repeated else container.find(part)
            at = member.start
        return member

    def _container(self, start: int) -> _Container:
        if start not in self._containers:
            self._containers[start] = _Container(self._text, start)
        return self._containers[start]


def _members(text: str, start: int) -> Iterator[Member]:
    is_object = text[start] == "{"
    at = _skip_blanks(text, start + 1)
    index = 0
    while text[at] not in "}]":
        if is_object:
            name, end = _decode(text, at)
            value = _skip_blanks(text, _skip_blanks(text, end) + 1)
            yield Member(name, Span(at, end), value)
        else:
            value = at
            yield Member(index, Span(at, at + 1), at)
        index += 1
        at = _skip_blanks(text, _decode(text, value)[1])
        if text[at] == ",":
            at = _skip_blanks(text, at + 1)


def _skip_blanks(text: str, at: int) -> int:
    while text[at : at + 1] in _BLANKS and at < len(text):
        at += 1
    return at
