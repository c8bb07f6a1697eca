"""A report as plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from butlerctl.judge.result import LINKS, ChainVerdict, Verdict
from butlerctl.report.run import RouteResult, Run
from butlerctl.report.words import (
    MARKS,
    Shown,
    failed_checks,
    headline,
    moment,
    parts_of,
    target,
    to_do,
    unproven_reasons,
    words_of_agent,
)

_COLOURS = {
    Verdict.PROVEN: "32",
    Verdict.BROKEN: "1;31",
    Verdict.UNPROVEN: "33",
    Verdict.NOT_REACHED: "2",
    ChainVerdict.PASS: "1;32",
    ChainVerdict.FAIL: "1;31",
    ChainVerdict.UNKNOWN: "1;33",
}


def as_text(shown: Shown) -> str:
    run = shown.run
    blocks = (
        [_paint(_clean(headline(run)), _COLOURS[run.verdict], shown)],
        _facts(shown),
        _matrix(shown),
        *(_broken(result) for result in run.routes),
        *(_unproven(result) for result in run.routes),
        _listed(
            "Checks that did not pass", (f"{name}: {check.detail}" for name, check in failed_checks(run))
        ),
        _listed("Notes", _notes(run)),
        _listed("Not run", (f"{skipped.check}: {skipped.reason}" for skipped in run.skipped)),
        _listed("Left over, to be looked at by a person", _leftovers(run)),
    )
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _facts(shown: Shown) -> list[str]:
    run = shown.run
    facts = {
        "target": target(run),
        "time": f"{moment(run.started)}, {run.seconds:.1f} s",
        "run": f"{run.id}, nonce {run.nonce}",
        "versions": ", ".join(f"{name} {version}" for name, version in run.versions.items()),
        "joined of": parts_of(run),
        "workflows": f"{len(run.workflows)}, bound by their digests",
        "signature": shown.signature,
    }
    return [f"{name:<10} {_clean(value)}" for name, value in facts.items() if value]


def _matrix(shown: Shown) -> list[str]:
    routes = shown.run.routes
    if not routes:
        return []
    width = max(len(str(result.route)) for result in routes)
    lines = [f"{'':<{width}}  {' '.join(LINKS)} turn"]
    for result in routes:
        verdicts = {link.link: link.verdict for link in result.judgement.links}
        cells = (_cell(link, verdicts.get(link, Verdict.UNPROVEN), shown) for link in LINKS)
        lines.append(f"{_clean(str(result.route)):<{width}}  {' '.join(cells)} {result.judgement.turn}")
    return lines


def _cell(link: str, verdict: Verdict, shown: Shown) -> str:
    return _paint(f"{MARKS[verdict]:^{len(link)}}", _COLOURS[verdict], shown)


def _broken(result: RouteResult) -> list[str]:
    first = result.judgement.first_broken
    if first is None:
        return []
    details = {
        "seen": first.seen,
        "expected": first.expected,
        "do": to_do(first),
        "agent": words_of_agent(result),
    }
    head = f"{result.route} is broken at {first.link} ({first.check})"
    return [_clean(head), *(line for name, text in details.items() if text for line in _detail(name, text))]


def _detail(name: str, text: str) -> list[str]:
    return textwrap.wrap(_clean(text), 100, initial_indent=f"  {name:<9}", subsequent_indent=" " * 11)


def _unproven(result: RouteResult) -> list[str]:
    reasons = unproven_reasons(result)
    if not reasons or result.verdict is ChainVerdict.FAIL:
        return []
    return [f"{_clean(str(result.route))} is not proven", *(f"  {_clean(reason)}" for reason in reasons)]


def _notes(run: Run) -> Iterator[str]:
    for result in run.routes:
        for note in result.judgement.notes:
            yield f"{result.route}: {note.check}: {note.hint}"


def _leftovers(run: Run) -> Iterator[str]:
    for leftover in run.leftovers:
        yield f"{leftover.what} {leftover.id} in {leftover.where} ({leftover.route}): {leftover.reason}"


def _listed(title: str, items: Iterator[str]) -> list[str]:
    lines = [f"  {_clean(item)}" for item in dict.fromkeys(items)]
    return [title, *lines] if lines else []


def _clean(text: str) -> str:
    """One line, without control characters: a foreign answer never steers the reader's terminal."""
    return "".join(character if character.isprintable() else " " for character in text)


def _paint(text: str, colour: str, shown: Shown) -> str:
    return f"\x1b[{colour}m{text}\x1b[0m" if shown.colour else text
