"""Which rules run, and where: codes and prefixes of codes, for all files or for some."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatch

from butlerctl.errors import UsageProblem
from butlerctl.workflows.rules.base import Rule
from butlerctl.workflows.rules.registry import RULES
from butlerctl.workflows.settings import LintSettings


def is_selected(rule: Rule, settings: LintSettings) -> bool:
    """A rule that is off waits for --pedantic or for its own name."""
    if rule.code.startswith(settings.ignore):
        return False
    if settings.select:
        return rule.code.startswith(settings.select) and (
            rule.on or settings.pedantic or rule.code in settings.select
        )
    return rule.on or settings.pedantic


def is_ignored_in(file: str, code: str, settings: LintSettings) -> bool:
    """Whether the per-file ignores name this code for this file; a pattern may match the name alone."""
    path = file.replace("\\", "/")
    return any(
        code.startswith(codes) and (fnmatch(path, pattern) or fnmatch(path.rpartition("/")[2], pattern))
        for pattern, codes in settings.per_file_ignores.items()
    )


def check_codes(codes: Iterable[str]) -> tuple[str, ...]:
    """The codes in upper case. Raises UsageProblem for one that begins no rule."""
    found = tuple(code.strip().upper() for code in codes if code.strip())
    for code in found:
        if not any(rule.code.startswith(code) for rule in RULES):
            raise UsageProblem(f"no rule begins with {code}", hint="`lint-workflows --rule all` lists them")
    return found
