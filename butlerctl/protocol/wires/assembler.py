"""Putting the pieces of streamed calls together: which call does a delta belong to?

The first rule that fits, as no two providers agree:
1. an id seen before: that call, whatever the index says;
2. a new id: a new call, even at a taken index, unless the call at that index still lacks an id;
3. no id but an index: the call at that index, or a new one;
4. neither: the last call, unless the delta brings a name to a call that has one.
An index is a key, not a position, and a missing index is not 0.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from butlerctl.protocol.decode import NotStrictJson, decode
from butlerctl.protocol.wires.turn import ArgumentFields, Arguments, ArgumentText, ArgumentValue, WireCall


@dataclass(slots=True)
class _OpenCall:
    """A call under construction. A delivery is what came since the id was last announced with a name."""

    wire_id: str | None
    index: int | None
    name: str = ""
    is_function: bool = True
    deliveries: list[list[Any]] = field(default_factory=lambda: [[]])

    def add_name(self, piece: str) -> None:
        if piece != self.name:
            self.name += piece


class Assembler:
    """Collects deltas; `calls()` gives the calls in order of first appearance."""

    def __init__(self) -> None:
        self._open: list[_OpenCall] = []
        self._by_id: dict[str, _OpenCall] = {}
        self._by_index: dict[int, _OpenCall] = {}

    def add(
        self,
        *,
        index: Any = None,
        wire_id: str | None = None,
        name: Any = None,
        arguments: Any = None,
        is_function: bool = True,
    ) -> None:
        """Take one delta. `arguments` is a piece of text, or a value where text belongs."""
        number = index if isinstance(index, int) and not isinstance(index, bool) else None
        call = self._call_for(number, wire_id, name)
        if isinstance(name, str):
            call.add_name(name)
        elif name is not None:
            is_function = False
        call.is_function = call.is_function and is_function
        if arguments is not None and arguments != "":
            call.deliveries[-1].append(arguments)

    def calls(self, *, complete: bool, ended: Collection[int] | None = None) -> list[WireCall]:
        """The calls so far. `ended`: the indexes that the wire closed, where a format closes each call."""
        return [
            wire_call
            for call in self._open
            for wire_call in _close(call, complete and (ended is None or call.index in ended))
        ]

    def _call_for(self, index: int | None, wire_id: str | None, name: Any) -> _OpenCall:
        call = self._by_id.get(wire_id) if wire_id else self._without_id(index, name)
        if call is None:
            at_index = self._by_index.get(index) if index is not None else None
            call = at_index if wire_id and at_index and not at_index.wire_id else self._new(wire_id, index)
        elif wire_id and (name or (index is not None and index != call.index)):
            call.deliveries.append([])
        self._remember(call, wire_id, index)
        return call

    def _without_id(self, index: int | None, name: Any) -> _OpenCall | None:
        if index is not None:
            return self._by_index.get(index)
        last = self._open[-1] if self._open else None
        return None if last and name and last.name else last

    def _new(self, wire_id: str | None, index: int | None) -> _OpenCall:
        call = _OpenCall(wire_id, index)
        self._open.append(call)
        return call

    def _remember(self, call: _OpenCall, wire_id: str | None, index: int | None) -> None:
        if wire_id:
            call.wire_id = wire_id
            self._by_id[wire_id] = call
        if index is not None:
            call.index = index
            self._by_index[index] = call


def _close(call: _OpenCall, complete: bool) -> list[WireCall]:
    """One call; or one for each delivery, when an id was announced again with a whole object of its own."""
    deliveries = call.deliveries
    if len(deliveries) > 1 and not all(_is_whole_object(pieces) for pieces in deliveries):
        deliveries = [[piece for pieces in deliveries for piece in pieces]]
    return [
        WireCall(call.name or None, call.wire_id, _joined(pieces), complete, call.is_function)
        for pieces in deliveries
    ]


def _joined(pieces: list[Any]) -> Arguments:
    """The pieces as one; text beside a value is neither JSON text nor a value."""
    texts = [piece for piece in pieces if isinstance(piece, str)]
    if len(texts) == len(pieces):
        return ArgumentText("".join(texts))
    if len(pieces) == 1:
        return ArgumentValue(pieces[0])
    return ArgumentFields((), "".join(texts), well_formed=False)


def _is_whole_object(pieces: list[Any]) -> bool:
    arguments = _joined(pieces)
    if isinstance(arguments, ArgumentText):
        try:
            return isinstance(decode(arguments.text), dict)
        except NotStrictJson:
            return False
    return isinstance(arguments, ArgumentValue) and isinstance(arguments.value, dict)
