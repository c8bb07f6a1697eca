"""A report as one HTML page that needs nothing else: no script, no font, no picture, nothing from a network."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from importlib.resources import files

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

_TONES = {ChainVerdict.PASS: "good", ChainVerdict.FAIL: "bad", ChainVerdict.UNKNOWN: "open"}
_MARK_TONES = {Verdict.PROVEN: "good", Verdict.BROKEN: "bad", Verdict.UNPROVEN: "open"}
# What no page may hold, not even escaped.
_NOT_HTML = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_LEGEND = "✓ proven · ✗ broken · ? not proven: no or not enough evidence · “·” not reached: an earlier link is broken"


def as_html(shown: Shown) -> str:
    run = shown.run
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    body = "\n".join(part for part in _parts(shown) if part)
    page = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="robots" content="noindex">
<title>{escape(f"{run.verdict} · {run.target} · butlerctl")}</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""
    return _NOT_HTML.sub("\ufffd", page)


def _parts(shown: Shown) -> Iterator[str]:
    run = shown.run
    yield _header(run)
    yield from (_broken(result) for result in run.routes)
    yield from (_unproven(result) for result in run.routes)
    yield f'<section class="card">{_facts(shown)}</section>'
    yield _matrix(run)
    yield _list("Left over, to be looked at by a person", _leftovers(run))
    checks = (f"<b>{escape(name)}</b>: {escape(check.detail)}" for name, check in failed_checks(run))
    yield _list("Checks that did not pass", checks)
    yield _list("Notes", _notes(run))
    yield _list("Not run", (f"<b>{escape(each.check)}</b>: {escape(each.reason)}" for each in run.skipped))
    yield _digests("Workflows, by the digest of their canonical form", run.workflows.items())
    evidence = [
        (str(result.route), result.evidence_digest) for result in run.routes if result.evidence_digest
    ]
    yield _digests("Evidence, by digest", evidence)
    yield (
        "<footer>This page is a view of a report. What counts is the report file: "
        "<code>butlerctl report verify FILE --key PUB</code></footer>"
    )


def _header(run: Run) -> str:
    verdict, _, sentence = headline(run).partition(": ")
    return (
        f'<header class="card verdict {_TONES[run.verdict]}"><div class="kicker">{escape(verdict)}</div>'
        f"<h1>{escape(sentence)}</h1></header>"
    )


def _facts(shown: Shown) -> str:
    run = shown.run
    facts = {
        "Target": target(run),
        "Time": f"{moment(run.started)}, {run.seconds:.1f} s",
        "Run": f"{run.id}, nonce {run.nonce}",
        "Joined of": parts_of(run),
        "Versions": ", ".join(f"{name} {version}" for name, version in run.versions.items()),
        "Inventory": f"sha256 {run.inventory_digest}",
        "Signature": shown.signature,
    }
    return _definitions((name, escape(text)) for name, text in facts.items() if text)


def _matrix(run: Run) -> str:
    if not run.routes:
        return ""
    head = "".join(f'<th scope="col">{link}</th>' for link in LINKS)
    rows = "\n".join(_row(result) for result in run.routes)
    return f"""<h2>Routes and links</h2>
<section class="card wide"><table class="links">
<thead><tr><th scope="col">route</th>{head}<th scope="col">turn</th></tr></thead>
<tbody>
{rows}
</tbody></table></section>
<p class="legend">{_LEGEND}</p>"""


def _row(result: RouteResult) -> str:
    verdicts = {link.link: link.verdict for link in result.judgement.links}
    cells = "".join(f"<td>{_mark(verdicts.get(link, Verdict.UNPROVEN))}</td>" for link in LINKS)
    turn = escape(str(result.judgement.turn).replace("_", " "))
    return f'<tr><th scope="row">{escape(str(result.route))}</th>{cells}<td>{turn}</td></tr>'


def _mark(verdict: Verdict) -> str:
    word = str(verdict).replace("_", " ")
    tone = _MARK_TONES.get(verdict)
    style = f"mark {tone}" if tone else "far"
    return f'<span class="{style}" role="img" aria-label="{word}" title="{word}">{MARKS[verdict]}</span>'


def _broken(result: RouteResult) -> str:
    first = result.judgement.first_broken
    if first is None:
        return ""
    details = {
        "Check": f"<code>{escape(first.check)}</code>",
        "Seen": first.seen and f"<code>{escape(first.seen)}</code>",
        "Expected": first.expected and f"<code>{escape(first.expected)}</code>",
        "What to do": escape(to_do(first)),
        "The agent": escape(words_of_agent(result)),
    }
    definitions = _definitions((name, text) for name, text in details.items() if text)
    title = f"{escape(str(result.route))} is broken at {escape(first.link)}"
    return f'<section class="card verdict bad"><h3>{title}</h3>{definitions}</section>'


def _unproven(result: RouteResult) -> str:
    reasons = unproven_reasons(result)
    if not reasons or result.verdict is ChainVerdict.FAIL:
        return ""
    items = "".join(f"<li>{escape(reason)}</li>" for reason in reasons)
    title = f"{escape(str(result.route))} is not proven"
    return f'<section class="card verdict open"><h3>{title}</h3><ul>{items}</ul></section>'


def _leftovers(run: Run) -> Iterator[str]:
    for left in run.leftovers:
        yield (
            f"<b>{escape(left.what)}</b> <code>{escape(left.id)}</code> in <code>{escape(left.where)}</code>"
            f" ({escape(str(left.route))}): {escape(left.reason)}"
        )


def _notes(run: Run) -> Iterator[str]:
    for result in run.routes:
        for note in result.judgement.notes:
            yield f"<b>{escape(str(result.route))}</b>, {escape(note.check)}: {escape(note.hint)}"


def _list(title: str, items: Iterable[str]) -> str:
    """A section of a list; `items` are HTML."""
    entries = "".join(f"<li>{item}</li>" for item in dict.fromkeys(items))
    return f'<h2>{title}</h2>\n<section class="card"><ul>{entries}</ul></section>' if entries else ""


def _digests(title: str, digests: Iterable[tuple[str, str]]) -> str:
    items = [(escape(name), f"<code>{escape(digest)}</code>") for name, digest in digests]
    if not items:
        return ""
    return f'<details class="card"><summary>{title}</summary>{_definitions(items)}</details>'


def _definitions(items: Iterable[tuple[str, str]]) -> str:
    """A definition list; the second of each item is HTML."""
    return "<dl>" + "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in items) + "</dl>"
