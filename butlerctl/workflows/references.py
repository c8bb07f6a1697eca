"""References to other nodes in expressions and code: `$('X')`, `$node["X"]`, `$items("X")`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from butlerctl.workflows.notations import compiled

_START = r"\$(?:\(|node\[|items\()\s*"
_REFERENCE = _START + r"(['\"`])((?:\\.|[^\\\n]){1,200}?)\1"
_ESCAPE = r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))"
# Code that has another `$` than n8n's.
_OTHER_DOLLAR = ("cheerio", "jquery", "jQuery", "$ =", "$=")


class Reference(NamedTuple):
    """A node that an expression or code reads from; `tried` says that a failure is caught where it stands."""

    name: str
    tried: bool = False


def all_names(text: str) -> frozenset[str]:
    """Whatever looks like a reference in a text: rather too many than too few."""
    return frozenset(_unescaped(match[2]) for match in compiled(_REFERENCE).finditer(text))


def in_code(code: str) -> Iterator[Reference]:
    """The nodes that JavaScript reads from; comments, code in texts, and another `$` do not count."""
    if any(word in code for word in _OTHER_DOLLAR):
        return
    blocks: list[tuple[int, int]] | None = None
    for name, at in _names(code):
        if blocks is None:
            blocks = list(_tried_blocks(code))
        yield Reference(name, any(start < at < end for start, end in blocks))


def in_value(text: str) -> Iterator[Reference]:
    """The nodes that the expressions of a parameter read from."""
    if text.startswith("="):
        for match in compiled(r"(?s)\{\{(.*?)\}\}").finditer(text):
            for name, _ in _names(match[1]):
                yield Reference(name)


def _names(code: str) -> Iterator[tuple[str, int]]:
    """Each name and where it stands. In a text, or as a template, it is code that is only written about."""
    for match in compiled(_REFERENCE).finditer(code):
        at = match.start()
        line = code[code.rfind("\n", 0, at) + 1 : at]
        if line.lstrip().startswith(("//", "*", "/*")) or " //" in line or "{{" in line:
            continue
        if line[-1:] not in ("'", '"', "`") and "${" not in match[2]:
            yield _unescaped(match[2]), at


def _unescaped(text: str) -> str:
    """What the text between the quotes of JavaScript stands for: some tools write an emoji as two escapes."""
    if "\\" not in text:
        return text
    plain = compiled(_ESCAPE).sub(_character, text)
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _character(escape: re.Match[str]) -> str:
    digits = escape[1] or escape[2] or escape[3]
    return chr(min(int(digits, 16), 0x10FFFF)) if digits else escape[4]


def _tried_blocks(code: str) -> Iterator[tuple[int, int]]:
    """From where to where each `try` reaches whose `catch` does not throw again; braces in texts may mislead."""
    for match in compiled(r"\btry\s*\{").finditer(code):
        end = _closing(code, match.end())
        catch = compiled(r"\s*catch\b[^{]{0,60}\{").match(code, end)
        if catch and "throw" not in code[catch.end() : _closing(code, catch.end())]:
            yield match.end(), end


def _closing(code: str, at: int) -> int:
    """Behind the brace that closes the block which is open at this place."""
    depth = 1
    for match in compiled(r"[{}]").finditer(code, at):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.end()
    return len(code)
