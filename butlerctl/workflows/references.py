"""References to other nodes in expressions and code: `$('X')`, `$node["X"]`, `$items("X")`."""

from __future__ import annotations

from collections.abc import Iterator

from butlerctl.workflows.notations import compiled

_START = r"\$(?:\(|node\[|items\()\s*"
_REFERENCE = _START + r"(['\"`])((?:\\.|[^\\\n]){1,200}?)\1"
# Code that has another `$` than n8n's.
_OTHER_DOLLAR = ("cheerio", "jquery", "jQuery", "$ =", "$=")


def all_names(text: str) -> frozenset[str]:
    """Whatever looks like a reference in a text: rather too many than too few."""
    return frozenset(match[2].replace("\\", "") for match in compiled(_REFERENCE).finditer(text))


def names_in_code(code: str) -> Iterator[str]:
    """The nodes that JavaScript reads from; comments, templates in texts, and another `$` do not count."""
    if not any(word in code for word in _OTHER_DOLLAR):
        yield from _names(code)


def names_in_value(text: str) -> Iterator[str]:
    """The nodes that the expressions of a parameter read from."""
    if text.startswith("="):
        for match in compiled(r"(?s)\{\{(.*?)\}\}").finditer(text):
            yield from _names(match[1])


def _names(code: str) -> Iterator[str]:
    for match in compiled(_REFERENCE).finditer(code):
        line = code[code.rfind("\n", 0, match.start()) + 1 : match.start()]
        if not line.lstrip().startswith(("//", "*", "/*")) and " //" not in line and "{{" not in line:
            yield match[2].replace("\\", "")
