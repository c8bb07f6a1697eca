"""A good call in a bad frame: finish reasons, indexes, ids, broken streams, repeated calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from butlerctl.lab.conformance.case import Case, Right
from butlerctl.lab.conformance.questions import EVENT
from butlerctl.lab.conformance.script import Answer, Ask, Failure, Piece, Silence, Stream, native, words


def _both(ask: Ask) -> list[Mapping[str, Any]]:
    return [ask.arguments, {**ask.arguments, "profile": "husband"}]


_WANTED: Mapping[str, Callable[[Ask], Sequence[Mapping[str, Any]]]] = {
    "two_calls": _both,
    "index_reused": _both,
    "id_reused": _both,
    "no_index_no_id": _both,
    "same_twice": lambda it: [it.arguments, it.arguments],
}


def _framing(
    case_id: str,
    title: str,
    right: Right,
    answers: Callable[[Ask], Sequence[Answer]],
    *,
    loops: bool = False,
    seconds: float = 30,
) -> Case:
    wanted = _WANTED.get(case_id, lambda it: (it.arguments,))
    return Case(case_id, "framing", title, right, EVENT, answers, wanted=wanted, loops=loops, seconds=seconds)


def _halves(ask: Ask) -> tuple[str, str]:
    middle = len(ask.text) // 2
    return ask.text[:middle], ask.text[middle:]


def _pieces(ask: Ask, second: Piece) -> list[Answer]:
    """One call in two pieces; the second piece is given."""
    return [native(Piece(_halves(ask)[0], ask.tool, "call_1"), second)]


def _two(
    ask: Ask, *, ids: tuple[str | None, str | None], indexes: tuple[int | None, int | None]
) -> list[Answer]:
    """Two calls: the event for the wife, and the same for the husband."""
    other = ask.changed(profile="husband")
    return [native(Piece(ask.text, ask.tool, ids[0], indexes[0]), Piece(other, ask.tool, ids[1], indexes[1]))]


FRAMING_CASES = (
    _framing(
        "text_and_call",
        "visible text and a call",
        Right.RUNS,
        lambda it: [native(it.call(), text="One moment.")],
    ),
    _framing("stop", "finish stop, a call", Right.RUNS, lambda it: [native(it.call(), finish="stop")]),
    _framing(
        "stop_text",
        "finish stop, a call and visible text",
        Right.RUNS,
        lambda it: [native(it.call(), text="Adding it.", finish="stop")],
    ),
    _framing(
        "no_finish", "a whole call, no finish", Right.REFUSED, lambda it: [native(it.call(), finish=None)]
    ),
    _framing(
        "dies",
        "the stream dies inside the call",
        Right.REFUSED,
        lambda it: [native(it.call(it.text[:80]), dies=True)],
    ),
    _framing("pieces", "a call in two pieces", Right.RUNS, lambda it: _pieces(it, Piece(_halves(it)[1]))),
    _framing(
        "pieces_no_index",
        "no index on the second piece",
        Right.RUNS,
        lambda it: _pieces(it, Piece(_halves(it)[1], index=None)),
    ),
    _framing(
        "name_in_pieces",
        "the name in two pieces",
        Right.RUNS,
        lambda it: [native(Piece("", "add_calendar", "call_1"), Piece(it.text, "_event"))],
    ),
    _framing(
        "two_calls",
        "two calls",
        Right.RUNS,
        lambda it: _two(it, ids=("call_1", "call_2"), indexes=(0, 1)),
    ),
    _framing(
        "index_reused",
        "two calls under one index",
        Right.RUNS,
        lambda it: _two(it, ids=("call_1", "call_2"), indexes=(0, 0)),
    ),
    _framing(
        "id_reused",
        "two calls under one id",
        Right.RUNS,
        lambda it: _two(it, ids=("call_1", "call_1"), indexes=(0, 1)),
    ),
    _framing(
        "no_index_no_id",
        "two calls without index and id",
        Right.RUNS,
        lambda it: _two(it, ids=(None, None), indexes=(None, None)),
    ),
    _framing("no_id", "a call without id", Right.RUNS, lambda it: [native(it.call(id=None))]),
    _framing(
        "same_twice",
        "the same call twice",
        Right.RUNS,
        lambda it: [native(it.call(), Piece(it.text, it.tool, "call_2", 1))],
    ),
    _framing(
        "loops",
        "the same call again and again",
        Right.RUNS,
        lambda it: [native(it.call())],
        loops=True,
        seconds=5,
    ),
    _framing("says_done", "no call, the words that it is done", Right.NO_CALL, lambda it: [words(it.done)]),
    _framing("empty_answer", "an empty answer", Right.NO_CALL, lambda _: [Stream((), "stop")]),
    _framing("provider_429", "the provider answers 429", Right.FAILS, lambda _: [Failure(429, "slow down")]),
    _framing("provider_500", "the provider answers 500", Right.FAILS, lambda _: [Failure(500, "broken")]),
    _framing(
        "provider_400", "the provider answers 400", Right.FAILS, lambda _: [Failure(400, "bad request")]
    ),
    _framing(
        "provider_401", "the provider answers 401", Right.FAILS, lambda _: [Failure(401, "no such key")]
    ),
    _framing("provider_402", "the provider answers 402", Right.FAILS, lambda _: [Failure(402, "no credit")]),
    _framing(
        "then_429",
        "the call runs, then the provider answers 429",
        Right.RUNS,
        lambda it: [native(it.call()), Failure(429, "slow down")],
    ),
    _framing("silence", "the provider says nothing", Right.FAILS, lambda _: [Silence(8)], seconds=4),
)
