"""`route`: does the tool lead to the right webhook of the right profile?"""

from __future__ import annotations

from collections.abc import Iterator

from butlerctl.evidence import Document
from butlerctl.judge import routes
from butlerctl.judge.answer import Kind
from butlerctl.judge.case import Case
from butlerctl.judge.finding import Finding, broken, proven, unproven
from butlerctl.judge.routes import Address

_UNANSWERED = frozenset({Kind.NOT_REGISTERED, Kind.PAGE, Kind.GATEWAY})


def judge(case: Case) -> Finding:
    """The path on the wire decides; without one, the execution of the route's own workflow."""
    wire = list(_wire(case))
    for document, address in wire[-1:]:
        return _judge_address(case, document, address)
    for execution in case.executions[-1:]:
        return proven("route.path", "the execution is one of this route's workflow", execution.document)
    return unproven("route.path", "no path on the wire and no execution")


def _wire(case: Case) -> Iterator[tuple[Document, Address]]:
    for document in case.received:
        yield document, routes.address_of(document.get("path"))
    for attempt in case.attempts:
        address = attempt.address
        if address is not None and attempt.answer is not None:
            yield attempt.answer.document, address


def _judge_address(case: Case, document: Document, address: Address) -> Finding:
    if address.malformed and (address.endpoint == "webhook-test" or not _answered_well(case)):
        return broken(
            "route.url_form",
            f"sent to {address.path}",
            document,
            expected=f"{_expected(case)} below /webhook/",
        )
    if address.route == case.route:
        return proven("route.path", f"sent to {address.path}", document)
    if address.route is not None or _never_meant(case, address):
        return broken(
            "route.path", f"sent to {address.path}", document, expected=f"/webhook/{_expected(case)}"
        )
    if _answered_well(case):
        return proven("route.path", f"sent to {address.path}, where the answer came from", document)
    return unproven(
        "route.path", f"sent to {address.path}; whether that is the route, nothing tells", document
    )


def _answered_well(case: Case) -> bool:
    return case.usable(case.answer)


def _never_meant(case: Case, address: Address) -> bool:
    """Live evidence: the route's workflow serves another path than the one that was called."""
    served = [
        path for item in (*case.live, *case.exports) for path in routes.webhook_paths(item.get("document"))
    ]
    answered = case.answer is not None and case.answer.kind in _UNANSWERED
    return bool(served) and address.tail not in served and answered


def _expected(case: Case) -> str:
    served = [
        path for item in (*case.live, *case.exports) for path in routes.webhook_paths(item.get("document"))
    ]
    return next(
        (path for path in served if routes.route_of_tail(path) == case.route), case.route.webhook_path("…")
    )
