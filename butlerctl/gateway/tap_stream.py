"""The events of a stream without secrets: one may begin in an event and end in another, where neither shows it."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from itertools import accumulate, takewhile
from typing import Any

from butlerctl.redaction import redact, redact_cut

Place = tuple[Any, ...]


def redact_stream(events: Sequence[Any]) -> list[Any]:
    """A copy of the events without secrets, whole or begun at the end: a stream may break off anywhere.

    The texts in one place of all events (the same field of the same numbered call) are read as one text. Where that
    hides something, what stands for it is in the event in which it began, and the events after it have less text.
    """
    copies = copy.deepcopy(list(events))
    texts: dict[Place, list[tuple[Any, Any]]] = {}
    for place, holder, key in _texts_of(copies):
        texts.setdefault(place, []).append((holder, key))
    for holders in texts.values():
        pieces = [holder[key] for holder, key in holders]
        if len(pieces) == 1 or len(set(pieces)) > 1:  # else it is what every event repeats, such as its id
            joined = "".join(pieces)
            for (holder, key), piece in zip(
                holders, _in_pieces(pieces, joined, redact_cut(joined)), strict=True
            ):
                holder[key] = piece
    return [redact(event) for event in copies]


def _texts_of(events: list[Any]) -> Iterator[tuple[Place, Any, Any]]:
    """Each text of the events: its place, what holds it, and under which key."""
    for at, event in enumerate(events):
        if isinstance(event, str):
            yield (), events, at
        else:
            yield from _texts_in(event, ("event",))


def _texts_in(value: Any, place: Place) -> Iterator[tuple[Place, Any, Any]]:
    if isinstance(value, dict):
        items: list[tuple[Any, Any]] = list(value.items())
    else:
        items = list(enumerate(value)) if isinstance(value, list) else []
    for key, item in items:
        number = item.get("index") if isinstance(value, list) and isinstance(item, dict) else None
        here = (*place, key if number is None else f"index {number}")
        if isinstance(item, str):
            yield here, value, key
        else:
            yield from _texts_in(item, here)


def _in_pieces(pieces: Sequence[str], joined: str, hidden: str) -> list[str]:
    """`hidden`, cut where `joined` was; what differs stands in the piece in which the difference begins."""
    if hidden == joined:
        return list(pieces)
    begin = _same(joined, hidden)
    tail = min(_same(joined[::-1], hidden[::-1]), len(joined) - begin, len(hidden) - begin)
    end, new = len(joined) - tail, hidden[begin : len(hidden) - tail]
    ends = list(accumulate(map(len, pieces)))
    first = next((at for at, stop in enumerate(ends) if begin < stop), len(ends) - 1)
    found = []
    for at, (piece, stop) in enumerate(zip(pieces, ends, strict=True)):
        start = stop - len(piece)
        before, after = joined[start : min(stop, begin)], joined[max(start, end) : stop]
        found.append(before + (new if at == first else "") + after)
    return found


def _same(text: str, other: str) -> int:
    """How many characters the two begin with in common."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(text, other, strict=False)))
