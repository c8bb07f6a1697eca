"""A value that JSON tools do not carry safely: an integer beyond 2^53, or half of a surrogate pair.

n8n reads numbers as doubles, so 9007199254740993 arrives as 9007199254740992. Neither value has a canonical
form, so the workflow cannot have a digest in a signed report.

Fix: write such a number as text, and repair the broken character.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.walk import Path, leaves
from butlerctl.workflows.workflow import Workflow

_LARGEST = 2**53 - 1


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    if context.routes.any is None:
        return
    if workflow.source.big_integers or _is_broken(workflow.source.values + workflow.source.long_values):
        for path, value in leaves(workflow.document):
            what = _problem(value)
            if what and not _is_volatile(path):
                yield Hit(what, path, help="write the number as text, or repair the character")


def _is_broken(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _problem(value: Any) -> str:
    if isinstance(value, int | float) and abs(value) > _LARGEST and value == value // 1:
        return "an integer beyond 2^53 loses digits in n8n"
    if isinstance(value, str) and _is_broken(value):
        return "half of a surrogate pair: a broken character"
    return ""


def _is_volatile(path: Path) -> bool:
    return path[0] not in ("name", "nodes", "connections", "settings")


RULE = Rule("BW006", "a value that JSON tools do not carry safely", Severity.WARNING, check=check)
