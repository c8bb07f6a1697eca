"""The page of each rule: what `--rule` prints and what docs/rules.md is made of."""

from __future__ import annotations

import sys
from inspect import cleandoc

from butlerctl.workflows.findings import CHECK_IDS
from butlerctl.workflows.rules.base import Rule
from butlerctl.workflows.rules.registry import RULES

_INTRODUCTION = """\
# Rules of `butlerctl lint-workflows`

Generated from the rules themselves; `butlerctl lint-workflows --rule CODE` prints the same page.
An error makes the exit code 1, a warning does so with `--fail-on warning`, information never unless asked for.
Rules that are off run with `--pedantic` or when they are named in `--select`.

| code | severity | finds |
|---|---|---|
"""


def page_of(rule: Rule) -> str:
    """Why the rule is there and how to fix what it finds: the docstring of its module."""
    check = rule.check_file or rule.check or rule.check_set
    module = check.__module__ if check else "butlerctl.workflows.rules.bw007_suppression"
    return cleandoc(sys.modules[module].__doc__ or "")


def page(rule: Rule) -> str:
    """One page, in Markdown."""
    facts = [
        f"Severity: {rule.severity}",
        f"check id: `{CHECK_IDS[rule.code]}`" if rule.code in CHECK_IDS else "",
    ]
    facts.append("" if rule.on else "off unless selected")
    facts.append(f"`--fix` {rule.fix}" if rule.fix else "")
    return f"## {rule.code}: {rule.summary}\n\n{'; '.join(filter(None, facts))}.\n\n{page_of(rule)}\n"


def all_pages() -> str:
    """docs/rules.md."""
    rows = "".join(
        f"| [{rule.code}](#{_anchor(rule)}) | {_level(rule)} | {rule.summary} |\n" for rule in RULES
    )
    return _INTRODUCTION + rows + "\n" + "\n".join(page(rule) for rule in RULES)


def index() -> str:
    """One line a rule, for the terminal."""
    return "".join(f"{rule.code}  {_level(rule):8} {rule.summary}\n" for rule in RULES)


def _level(rule: Rule) -> str:
    return str(rule.severity) if rule.on else "off"


def _anchor(rule: Rule) -> str:
    """As GitHub makes anchors of headings."""
    kept = (
        character
        for character in f"{rule.code}: {rule.summary}".lower()
        if character.isalnum() or character in " -_"
    )
    return "".join(kept).replace(" ", "-")
