"""A report as JUnit XML: a suite a route, a case a link. What is not proven is an error, never a pass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from butlerctl.judge.result import ChainVerdict, LinkVerdict, Verdict
from butlerctl.report.run import CheckResult, Outcome, RouteResult, Run
from butlerctl.report.words import Shown, headline

# What XML 1.0 cannot carry, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(shown: Shown) -> str:
    run = shown.run
    root = Element("testsuites", name="butlerctl", time=f"{run.seconds:.3f}")
    for suite in _suites(run):
        for kind, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(kind, str(len(suite.findall(f"testcase/{tag}"))))
        suite.set("tests", str(len(suite)))
        root.append(suite)
    for kind in ("tests", "failures", "errors"):
        root.set(kind, str(sum(int(suite.get(kind, "0")) for suite in root)))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _suites(run: Run) -> Iterator[Element]:
    for result in run.routes:
        yield _route(result, run)
    rest = _suite("run", run, run.seconds)
    for check in run.checks:
        _check(rest, "run", check)
    for skipped in run.skipped:
        _child(_case(rest, "run", skipped.check), "skipped", skipped.reason)
    for leftover in run.leftovers:
        where = f"{leftover.what} {leftover.id} in {leftover.where}: {leftover.reason}"
        _child(_case(rest, "run", f"cleanup.leftover[{leftover.route}]"), "failure", where)
    if run.verdict is ChainVerdict.UNKNOWN and all(each.verdict is ChainVerdict.PASS for each in run.routes):
        _child(_case(rest, "run", "every planned route"), "error", headline(run))
    if len(rest):
        yield rest


def _route(result: RouteResult, run: Run) -> Element:
    suite = _suite(str(result.route), run, result.seconds)
    for link in result.judgement.links:
        _link(_case(suite, str(result.route), link.link), link, result)
    for check in result.checks:
        _check(suite, str(result.route), check)
    if result.verdict is ChainVerdict.FAIL and suite.find("testcase/failure") is None:
        _child(_case(suite, str(result.route), "verdict"), "failure", "the route failed")
    return suite


def _link(case: Element, link: LinkVerdict, result: RouteResult) -> None:
    first = result.judgement.first_broken
    if link.verdict is Verdict.BROKEN and first is not None and first.link == link.link:
        text = "\n".join(
            f"{name}: {said}"
            for name, said in (("expected", first.expected), ("seen", first.seen), ("hint", first.hint))
            if said
        )
        _child(case, "failure", f"{first.check}: {first.hint}").text = _xml(text)
    elif link.verdict is Verdict.BROKEN:
        _child(case, "failure", link.reason or link.check)
    elif link.verdict is Verdict.UNPROVEN:
        _child(case, "error", f"not proven: {link.reason or link.check}")
    elif link.verdict is Verdict.NOT_REACHED:
        _child(case, "skipped", "an earlier link is broken")


def _check(suite: Element, name: str, check: CheckResult) -> None:
    case = _case(suite, name, check.check)
    if check.outcome is not Outcome.PASSED:
        _child(case, "failure" if check.outcome is Outcome.FAILED else "error", check.detail)


def _suite(name: str, run: Run, seconds: float) -> Element:
    started = run.started.astimezone(UTC)
    timestamp = started.isoformat(timespec="seconds").removesuffix("+00:00")
    return Element("testsuite", name=_xml(name), timestamp=timestamp, time=f"{seconds:.3f}")


def _case(suite: Element, route: str, name: str) -> Element:
    return SubElement(suite, "testcase", classname=_xml(f"butlerctl.{route}"), name=_xml(name))


def _child(case: Element, tag: str, message: str) -> Element:
    return SubElement(case, tag, message=_xml(message))


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
