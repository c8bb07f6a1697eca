"""A judgement for a person to read, and as JUnit XML."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from butlerctl.evidence import Bundle
from butlerctl.judge.result import ChainVerdict, FirstBroken, Judgement, LinkVerdict, Verdict

_WIDTH = 100
_SIGNS = {Verdict.PROVEN: "✓", Verdict.BROKEN: "✗", Verdict.UNPROVEN: "?", Verdict.NOT_REACHED: "·"}
_COLOURS = {Verdict.PROVEN: "32", Verdict.BROKEN: "31", Verdict.UNPROVEN: "33", Verdict.NOT_REACHED: "2"}
_VERDICT_COLOURS = {ChainVerdict.PASS: "32;1", ChainVerdict.FAIL: "31;1", ChainVerdict.UNKNOWN: "33;1"}
_INDENT = " " * 15


def as_text(bundle: Bundle, judgement: Judgement, *, colour: bool = False) -> str:
    """The verdict, the nine links, the first broken one with what to do, turn, claim and notes."""
    lines = [_headline(bundle, judgement, colour=colour), ""]
    lines += [_link_line(link, colour=colour) for link in judgement.links]
    lines += ["", f"  turn   {judgement.turn}", f"  claim  {judgement.claim}"]
    if judgement.first_broken:
        lines += ["", *_broken_lines(judgement.first_broken)]
    for note in judgement.notes:
        lines += ["", *_wrapped(f"  note   {note.check}: ", note.hint)]
    return "\n".join(lines)


def count(judgements: Iterable[Judgement]) -> str:
    """`3 bundles: 2 PASS, 1 FAIL`."""
    counted = Counter(judgement.verdict for judgement in judgements)
    parts = ", ".join(f"{counted[verdict]} {verdict}" for verdict in ChainVerdict if counted[verdict])
    return f"{counted.total()} bundles: {parts}"


def as_junit(judged: Sequence[tuple[Bundle, Judgement]]) -> str:
    """A suite a bundle, a case a link: a break is a failure, what is not proven is skipped. UNKNOWN is an error."""
    root = Element("testsuites", name="butlerctl diagnose")
    for bundle, judgement in judged:
        name = bundle.name
        suite = SubElement(root, "testsuite", name=name)
        for link in judgement.links:
            _case(SubElement(suite, "testcase", classname=name, name=link.link), link, judgement)
        if judgement.verdict is ChainVerdict.UNKNOWN:
            whole = SubElement(suite, "testcase", classname=name, name="verdict")
            SubElement(whole, "error", message=f"UNKNOWN: {_gaps(judgement)}")
        suite.set("tests", str(len(suite)))
        for kind, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(kind, str(len(suite.findall(f"testcase/{tag}"))))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _headline(bundle: Bundle, judgement: Judgement, *, colour: bool) -> str:
    about = f"  {bundle.intent.route}" if bundle.intent else ""
    if judgement.first_broken and judgement.first_broken.route and not about:
        about = f"  {judgement.first_broken.route}"
    verdict = _painted(str(judgement.verdict), _VERDICT_COLOURS[judgement.verdict], colour=colour)
    return f"{verdict}{about}  ({bundle.name})"


def _link_line(link: LinkVerdict, *, colour: bool) -> str:
    sign = _painted(_SIGNS[link.verdict], _COLOURS[link.verdict], colour=colour)
    verdict = str(link.verdict).replace("_", " ")
    reason = "" if link.verdict is Verdict.NOT_REACHED else f"  {_short(link.reason)}"
    return f"  {sign} {link.link:<11}{verdict:<12}{reason}".rstrip()


def _broken_lines(first: FirstBroken) -> Iterator[str]:
    route = f" on {first.route}" if first.route else ""
    yield f"First broken: {first.link} ({first.check}){route}"
    yield from _wrapped("  seen         ", first.seen)
    if first.expected:
        yield from _wrapped("  expected     ", first.expected)
    yield from _wrapped("  do           ", first.next_step)


def _wrapped(label: str, text: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=label, subsequent_indent=_INDENT, break_long_words=False
    ) or [label]


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _WIDTH - 28 else f"{plain[: _WIDTH - 29]}…"


def _gaps(judgement: Judgement) -> str:
    unproven = (f"{link.link}: {link.reason}" for link in judgement.links if link.verdict is Verdict.UNPROVEN)
    return "; ".join(note.hint for note in judgement.notes) or "; ".join(unproven)


def _case(case: Element, link: LinkVerdict, judgement: Judgement) -> None:
    first = judgement.first_broken
    if link.verdict is Verdict.BROKEN:
        hint = first.hint if first and first.link == link.link else link.reason
        SubElement(case, "failure", message=f"{link.check}: {hint}")
    elif link.verdict is not Verdict.PROVEN:
        SubElement(case, "skipped", message=link.reason)


def _painted(text: str, code: str, *, colour: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if colour else text
