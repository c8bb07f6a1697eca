"""A transcript alone: the same judgement, and every flag of the recording as a note.

Without a request nothing can be confirmed: UNKNOWN at best.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from butlerctl.evidence import Bundle, Document, Intent
from butlerctl.inventory.operations import OPERATION_OF_TOOL
from butlerctl.judge.chain import judge
from butlerctl.judge.conversation import Call, Conversation, read_conversation
from butlerctl.judge.flags import note
from butlerctl.judge.links.call import imitations
from butlerctl.judge.masks import Masks
from butlerctl.judge.result import ChainVerdict, Judgement, Note
from butlerctl.judge.wire import with_wire


def judge_transcript(document: Document, intent: Intent | None = None) -> Judgement:
    """The judgement of one `transcript` document."""
    bundle = Bundle(intent=intent, evidence=(document,))
    judgement = judge(bundle)
    (turn,) = with_wire((read_conversation(document, intent.prompt if intent else ""),))
    masks = Masks.of(bundle)
    notes = [Note(flag.check, masks.hide(flag.hint)) for flag in _flags(turn)]
    verdict = judgement.verdict
    if verdict is ChainVerdict.PASS:
        verdict = ChainVerdict.UNKNOWN
    return replace(judgement, verdict=verdict, notes=(*judgement.notes, *notes))


def _flags(turn: Conversation) -> Iterator[Note]:
    kinds = imitations(turn)
    if kinds:
        yield note("call.toolcall_structured", f"text that imitates a call: {', '.join(kinds)}")
    for name in dict.fromkeys(turn.orphans):
        yield note("call.orphan_result", f'a result of "{name}" without a call')
    known = {*OPERATION_OF_TOOL, *(turn.offered or ())}
    for name in dict.fromkeys(call.name for call in turn.calls if call.name not in known):
        yield note("call.tool_name", f'a call of "{name}", a name that is not registered')
    for call in turn.calls:
        if call.arguments is None:
            yield note("call.args_json", f"arguments of {call.name} that only a lenient parser accepts")
        if call.changes:
            at = ", ".join(change.at for change in call.changes)
            yield note("call.arguments_unchanged", f"the gateway ran {call.name} with another {at}")
        if call.failed:
            yield note("call.result_error", f"the result of {call.name} is an error")
        if call.result is None:
            yield note("call.observed", f"the call {call.id or call.name} of {call.name} has no result")
    for call, times in _doubled(turn.calls):
        yield note("call.no_duplicate_calls", f"{times} calls of {call.name} with the same arguments")


def _doubled(calls: tuple[Call, ...]) -> Iterator[tuple[Call, int]]:
    """Writes that were called more than once with the same arguments."""
    writes = [
        call for call in calls if call.name in OPERATION_OF_TOOL and OPERATION_OF_TOOL[call.name].writes
    ]
    for at, call in enumerate(writes):
        same = [other for other in writes if (other.name, other.ran) == (call.name, call.ran)]
        if len(same) > 1 and writes.index(same[0]) == at:
            yield call, len(same)
