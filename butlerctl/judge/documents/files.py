"""Findings about the workflow files in a bundle: the linter's, as far as they have a check id of the judge."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from butlerctl.evidence import Document
from butlerctl.judge import routes
from butlerctl.judge.finding import Finding, broken
from butlerctl.judge.hints import CHECKS
from butlerctl.judge.run import Evidence

if TYPE_CHECKING:
    from butlerctl.workflows.findings import Finding as LintFinding

_NO_BREAK = frozenset({"lint.inactive"})
"""The flag in a file is not the live state."""
_ALWAYS_OUTPUT = "lint.always_output"
_BARE_PLACEHOLDER = re.compile(r"<[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+>")


def findings(evidence: Evidence) -> Iterator[Finding]:
    """One finding for each check, about all files that it concerns."""
    exports = evidence.of_kind("workflow_export")
    yield from _unreadable(exports)
    readable = {
        str(item.get("file") or f"workflow {at}"): item
        for at, item in enumerate(exports)
        if isinstance(item.get("document"), Mapping)
    }
    by_check: dict[str, list[LintFinding]] = {}
    for finding in _lint(readable):
        if finding.check in CHECKS and finding.check not in _NO_BREAK and _counts(finding, readable):
            by_check.setdefault(finding.check, []).append(finding)
    for check, group in by_check.items():
        documents = [
            readable[name] for name in dict.fromkeys(item.file for item in group) if name in readable
        ]
        told = "; ".join(dict.fromkeys(f"{item.file}: {item.message}" for item in group))
        routes_found = {evidence.route_of(document) for document in documents}
        route = routes_found.pop() if len(routes_found) == 1 else None
        yield replace(broken(check, told, *documents), route=route)


def _lint(files: Mapping[str, Document]) -> Sequence[LintFinding]:
    if not files:
        return ()
    from butlerctl.workflows.engine import lint_documents  # all the rules: not for bundles without files

    return lint_documents({name: item["document"] for name, item in files.items()}).findings


def _counts(finding: LintFinding, files: Mapping[str, Document]) -> bool:
    """A read that always puts out data answers an empty list honestly, whatever else the rule finds."""
    if finding.check != _ALWAYS_OUTPUT or finding.file not in files:
        return True
    nodes: Sequence[Mapping[str, Any]] = routes.nodes_of(files[finding.file]["document"])
    return not any(
        node.get("name") == finding.node and node.get("alwaysOutputData") is True for node in nodes
    )


def _unreadable(exports: Sequence[Document]) -> Iterator[Finding]:
    """Files that are no JSON: a placeholder that was left bare is the usual reason."""
    for item in exports:
        text = item.get("text")
        if isinstance(item.get("document"), Mapping) or not isinstance(text, str):
            continue
        left = _BARE_PLACEHOLDER.search(text)
        seen = f"{item.get('file')}: " + (f"the placeholder {left[0]} was left in" if left else "not JSON")
        yield broken(
            "lint.placeholder" if left else "lint.bw001",
            seen,
            item,
            expected="a workflow file that n8n can import",
        )
