"""`route`: does the tool lead to the right webhook of the right profile?"""

from __future__ import annotations

from collections.abc import Iterator

from butlerctl.evidence import Document
from butlerctl.judge import routes
from butlerctl.judge.answer import Kind
from butlerctl.judge.case import Case
from butlerctl.judge.finding import Finding, broken, proven, unproven
from butlerctl.judge.result import Verdict
from butlerctl.judge.routes import Address

_UNANSWERED = frozenset({Kind.NOT_REGISTERED, Kind.PAGE, Kind.GATEWAY})


def judge(case: Case) -> Finding:
    """The path on the wire decides, then an execution of the route's own workflow. The plugin's word proves nothing,
    but a wrong path that it tells itself is believed.
    """
    for document, address in list(_wire(case))[-1:]:
        return _judge_address(case, document, address)
    told = case.last.address if case.last else None
    if told and case.last and case.last.answer:
        word = _judge_address(case, case.last.answer.document, told)
        if word.verdict is Verdict.BROKEN:
            return word
    for execution in case.executions[-1:]:
        return proven("route.path", "n8n ran this route's workflow", execution.document)
    return unproven(
        "route.path", "only the plugin tells a path" if told else "no path on the wire and no execution"
    )


def _wire(case: Case) -> Iterator[tuple[Document, Address]]:
    for document in case.received:
        yield document, routes.address_of(document.get("path"))
    for attempt in case.attempts:
        if attempt.exchange is not None and attempt.address is not None:
            yield attempt.exchange, attempt.address


def _judge_address(case: Case, document: Document, address: Address) -> Finding:
    served = _served_paths(case)
    unknown = case.answer is not None and case.answer.kind in _UNANSWERED and address.tail not in served
    own = next((path for path in served if routes.route_of_tail(path) == case.route), "")
    expected = f"/webhook/{own or case.route.webhook_path('…')}"
    well = case.usable(case.answer)
    if address.malformed and (address.endpoint == "webhook-test" or not well):
        return broken("route.url_form", f"sent to {address.path}", document, expected=expected)
    if address.route == case.route and own and unknown:
        return broken("route.url_form", f"sent to {address.path}", document, expected=expected)
    if address.route == case.route:
        return proven("route.path", f"sent to {address.path}", document)
    if address.route is not None or (served and unknown):
        return broken("route.path", f"sent to {address.path}", document, expected=expected)
    if well:
        return proven("route.path", f"sent to {address.path}, where the answer came from", document)
    return unproven(
        "route.path", f"sent to {address.path}; whether that is the route, nothing tells", document
    )


def _served_paths(case: Case) -> list[str]:
    """Live evidence: the paths that the route's own workflow serves."""
    return [
        path for item in (*case.live, *case.exports) for path in routes.webhook_paths(item.get("document"))
    ]
