"""From what a rule saw to a finding: position, excerpt, and one finding per rule, token and file."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable
from typing import NamedTuple

from butlerctl.workflows.findings import Excerpt, Finding
from butlerctl.workflows.positions import Locator, Span
from butlerctl.workflows.rules.base import Hit, Rule
from butlerctl.workflows.secrets import mask
from butlerctl.workflows.walk import Path, pointer

_WINDOW = 100
_MOST_PER_RULE = 100
_MOST_LINES = 9


class Seen(NamedTuple):
    """A hit of a rule in one file; `prefix` leads to the workflow."""

    rule: Rule
    hit: Hit
    prefix: Path


def place(file: str, text: str, seen: Iterable[Seen], *, repeated: bool = True) -> list[Finding]:
    """The findings of one file. Equal tokens of one rule are merged, and listed in the first.

    `repeated` says whether an object of the file may hold a key twice.
    """
    locator = Locator(text, repeated=repeated)
    first: dict[tuple[str, Path, str], Finding] = {}
    more: dict[tuple[str, Path, str], list[int]] = {}
    counts: dict[str, int] = {}
    for item in seen:
        code = item.rule.code
        key = (code, item.prefix, item.hit.token or f"#{len(first)}")
        if key in first:
            lines = more.setdefault(key, [])
            if len(lines) < _MOST_LINES:
                lines.append(locator.line_and_column(_span_of(text, locator, item).start)[0])
            severity = max(first[key].severity, item.hit.severity or item.rule.severity)
            first[key] = first[key]._replace(severity=severity)
        elif counts.get(code, 0) < _MOST_PER_RULE:
            counts[code] = counts.get(code, 0) + 1
            first[key] = _place(file, text, locator, item)
    return [
        finding._replace(message=_with_places(finding.message, more[key])) if key in more else finding
        for key, finding in first.items()
    ]


def place_in_inventory(file: str, seen: Iterable[Seen]) -> list[Finding]:
    """The findings that are about no workflow: they stand at the list of operations, where routes begin."""
    try:
        text = pathlib.Path(file).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        text = ""
    start = max(text.find("operations:"), 0)
    span = Span(start, min(start + len("operations"), len(text)))
    return place(file, text, [item._replace(hit=item.hit._replace(span=span)) for item in seen])


def _with_places(message: str, lines: list[int]) -> str:
    shown = ", ".join(map(str, lines[: _MOST_LINES - 1]))
    return f"{message} (also at line{'s' if len(lines) > 1 else ''} {shown}{', …' * (len(lines) == _MOST_LINES)})"


def _place(file: str, text: str, locator: Locator, item: Seen) -> Finding:
    hit = item.hit
    span = _span_of(text, locator, item)
    line, column = locator.line_and_column(span.start)
    end_line, end_column = locator.line_and_column(span.end)
    return Finding(
        code=item.rule.code,
        severity=hit.severity or item.rule.severity,
        message=hit.message,
        file=file,
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
        pointer=pointer((*item.prefix, *hit.path)),
        node=hit.node,
        help=hit.help,
        token=hit.token,
        excerpt=None if hit.secret else _excerpt(text, locator.line_around(span.start), span),
    )


def _span_of(text: str, locator: Locator, item: Seen) -> Span:
    hit = item.hit
    if hit.span:
        return hit.span
    path = (*item.prefix, *hit.path)
    try:
        if hit.at_key:
            return locator.key(path)
        span = locator.value(path)
    except (KeyError, RecursionError):
        return _nearest(locator, path)
    if text[span.start] in "{[":
        return _name_of(text, locator, path, span)
    return span if hit.secret else locator.token(path, hit.token)


def _nearest(locator: Locator, path: Path) -> Span:
    """An absent key is reported where it should stand: at its parent's name, else at the parent."""
    while path:
        path = path[:-1]
        for candidate in ((*path, "name"), path):
            try:
                span = locator.value(candidate)
            except (KeyError, RecursionError):
                continue
            return span if candidate != path else Span(span.start, span.start + 1)
    return Span(0, 0)


def _name_of(text: str, locator: Locator, path: Path, span: Span) -> Span:
    """Not a whole object is pointed at, but its name where it has one, else its first character."""
    if text[span.start] == "{":
        try:
            return locator.value((*path, "name"))
        except KeyError:
            pass
    return Span(span.start, span.start + 1)


def _excerpt(text: str, line: Span, span: Span) -> Excerpt:
    start = line.start
    if line.end - line.start > _WINDOW:
        start = max(line.start, min(span.start - _WINDOW // 3, line.end - _WINDOW))
    end = min(line.end, start + _WINDOW)
    shown = _masked(text, line, start, end)
    caret = span.start - start
    return Excerpt(shown, caret, max(1, min(span.end, end) - span.start))


def _masked(text: str, line: Span, start: int, end: int) -> str:
    """A secret beside the finding stays hidden, also when it reaches into the window from outside."""
    around = Span(max(line.start, start - 5000), min(line.end, end + 5000))
    shown = mask(text[around.start : around.end])[start - around.start : end - around.start]
    return shown.replace("\t", " ")
