"""What was recorded between gateway and provider: only there a native call can be told from one that a gateway made.

The record is the `completions` of the transcript itself, or of one that a tap made of the same turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from butlerctl.errors import BadDocument
from butlerctl.evidence import Document
from butlerctl.judge.conversation import Call, Conversation, MadeUp
from butlerctl.protocol.wires import openai_chat
from butlerctl.protocol.wires.turn import WireCall, WireTurn


@dataclass(frozen=True, slots=True)
class Wire:
    """The provider's answers in one turn, and the documents that hold them. `whole`: every one was recorded."""

    turns: tuple[WireTurn, ...]
    documents: tuple[Document, ...]
    whole: bool

    @property
    def calls(self) -> tuple[WireCall, ...]:
        return tuple(call for turn in self.turns for call in turn.calls)

    def has(self, call: Call) -> bool:
        """Is this very call among the native ones? A gateway gives an id to a call that came without one."""
        named = [native for native in self.calls if native.name == call.name]
        return any(native.wire_id == call.id or native.raw_text == call.raw for native in named)

    def name_of(self, call: Call) -> str:
        """The name under which the model made this call, where the gateway gave it another; else empty."""
        names = [native.name for native in self.calls if native.wire_id and native.wire_id == call.id]
        return next((name for name in names if name and name != call.name), "") if call.id else ""


def with_wire(conversations: Iterable[Conversation]) -> tuple[Conversation, ...]:
    """The recordings of one question, each with what the wire tells of its calls.

    A tap's record speaks for the gateway's transcript where there is one of each; repeats cannot be told apart.
    """
    found = tuple(conversations)
    taps = [item for item in found if item.document.get("seen_by") == "tap"]
    alone = len(taps) == 1 and len(found) == 2
    return tuple(_judged(item, _wire_of(item) or (_wire_of(taps[0]) if alone else None)) for item in found)


def _judged(conversation: Conversation, wire: Wire | None) -> Conversation:
    """Calls that the wire disproves are none of the model's: they are taken out."""
    if wire is None:
        return conversation
    made = tuple(found for call in conversation.calls if (found := _made_up(call, wire)) is not None)
    calls = tuple(call for call in conversation.calls if _made_up(call, wire) is None)
    return replace(conversation, calls=calls, made=made, wire=wire)


def _made_up(call: Call, wire: Wire) -> MadeUp | None:
    if wire.has(call):
        return None
    written = wire.name_of(call)
    return MadeUp(call, written) if written or wire.whole else None


def _wire_of(conversation: Conversation) -> Wire | None:
    turns = tuple(_turns(conversation.document.get("completions")))
    if not turns:
        return None
    whole = conversation.complete and len(turns) >= conversation.answers
    return Wire(turns, (conversation.document,), whole)


def _turns(completions: Any) -> Iterator[WireTurn]:
    """The completions that hold an answer of the model; a failure is none."""
    for completion in completions if isinstance(completions, Sequence) else ():
        if not isinstance(completion, Mapping) or completion.get("http_status") != 200:
            continue
        try:
            turn = openai_chat.read(completion.get("body"))
        except BadDocument:
            continue
        if "no_completion" not in turn.notes:
            yield turn
