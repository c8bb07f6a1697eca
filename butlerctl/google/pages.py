"""Reading a list to its end, and writing down what was read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from butlerctl.errors import ButlerctlError, NothingChecked
from butlerctl.google.client import Account, Answer
from butlerctl.google.interface import Readback, stamp

MOST_PAGES = 50


@dataclass(frozen=True, slots=True)
class Listing:
    """All items of a list, with the last page's own fields. `status` and `body` are Google's where it refused."""

    items: tuple[Mapping[str, Any], ...]
    status: int | None
    body: Any
    pages: int
    problem: ButlerctlError | None = None

    def body_with(self, items: list[Mapping[str, Any]]) -> Any:
        """The body of one page that holds just these items; the refusal itself when there is one."""
        if self.problem or not isinstance(self.body, dict):
            return self.body
        kept = {key: self.body[key] for key in ("kind", "timeZone", "accessRole") if key in self.body}
        return kept | {"items": items}


def list_all(account: Account, request: Any, following: Callable[[Any, Any], Any]) -> Listing:
    """Follow `nextPageToken` to the end: a page may be empty although more follow.

    Reaching MOST_PAGES is a problem, not an end.
    """
    items: list[Mapping[str, Any]] = []
    for number in range(1, MOST_PAGES + 1):
        answer = account.read(request)
        if answer.problem or not isinstance(answer.body, dict):
            return Listing((), answer.status, answer.body, number, answer.problem)
        items.extend(answer.body.get("items", ()))
        request = following(request, answer.body)
        if request is None:
            return Listing(tuple(items), answer.status, answer.body, number)
    problem = NothingChecked(f"Google, for {account.profile}: the list has more than {MOST_PAGES} pages")
    return Listing((), None, None, MOST_PAGES, problem)


def readback(
    api: str,
    profile: str,
    when: str,
    answer: Answer | Listing,
    *,
    place: Mapping[str, str],
    **more: Any,
) -> Readback:
    """The evidence document. `place` is calendarId, tasklist or spreadsheetId; `more` replaces body, adds query."""
    return {
        "kind": "readback",
        "when": when,
        "at": stamp(),
        "api": api,
        "token_of": profile,
        **place,
        "status": answer.status,
        "body": answer.body,
        **more,
    }
