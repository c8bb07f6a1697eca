"""`call`: did the agent emit a structured call with the right name and arguments?"""

from __future__ import annotations

import json
from typing import Any

from butlerctl.evidence import Document
from butlerctl.inventory.operations import OPERATION_OF_TOOL
from butlerctl.judge import values
from butlerctl.judge.case import Case
from butlerctl.judge.conversation import Call, Conversation, MadeUp
from butlerctl.judge.executed import MISSING
from butlerctl.judge.finding import Finding, broken, proven, unproven
from butlerctl.protocol.leaks import find_leaks

_SHOWN = 80


def judge(case: Case) -> Finding:
    turn = case.conversation
    if turn is None:
        return unproven("harness.transcript", "no transcript of this turn")
    unsound = _unsound(case)
    if unsound is not None:
        return _run_otherwise(unsound, turn)
    if case.right:
        return _doubled(case, turn) or _without_offset(case, turn) or _right(case.right[-1], turn)
    tool = case.calls[0].name if case.calls else _tool(case)
    if case.calls and case.calls[-1].arguments is not None:
        return _wrong_arguments(case, case.calls[-1], turn)
    if case.calls:
        return _unfinished(case.calls[-1], turn)
    return _no_call(case, turn, tool)


def _unsound(case: Case) -> Call | None:
    """A call of which the gateway ran something else than the model wrote; one that failed and was made again is past."""
    deciding = (case.right or case.calls)[-1:]
    counting = (call for call in reversed(case.calls) if call in deciding or not call.failed)
    return next((call for call in counting if call.unsound), None)


def _run_otherwise(call: Call, turn: Conversation) -> Finding:
    if call.arguments is None:
        return _unfinished(call, turn)
    return broken(
        "call.arguments_unchanged",
        f"the gateway ran {call.name} with "
        + ", ".join(f"{at} = {_shown(ran)}" for at, _, ran in call.changes),
        turn.document,
        expected=", ".join(f"{at} = {_shown(written)}" for at, written, _ in call.changes)
        + ", as the model wrote",
    )


def _unfinished(call: Call, turn: Conversation) -> Finding:
    return broken(
        "call.args_json",
        f"arguments of {call.name} that are not one complete JSON object: {_cut(call.raw)}",
        turn.document,
        expected="one complete JSON object",
    )


def _right(call: Call, turn: Conversation) -> Finding:
    """Native is a call that the provider's own answer holds. A gateway's transcript alone does not tell."""
    if turn.wire is not None and turn.wire.has(call):
        seen = f"a native call of {call.name} with the asked arguments, as the provider's own answer has it"
        return proven("call.args_match", seen, *_records(turn))
    where = "the gateway's events" if call.reported else "the transcript"
    seen = (
        f"a structured call of {call.name} with the asked arguments in {where}; "
        "whether the model made it natively was not recorded"
    )
    return proven("call.args_match", seen, turn.document)


def _records(turn: Conversation) -> list[Document]:
    """The transcript, and what was recorded of the wire beside it."""
    wire = turn.wire.documents if turn.wire else ()
    return [turn.document, *(document for document in wire if document is not turn.document)]


def imitations(turn: Conversation, tool: str = "") -> tuple[str, ...]:
    """The kinds of text in the turn that only imitate a call."""
    names = {*OPERATION_OF_TOOL, *(turn.offered or ()), *([tool] if tool else [])}
    return tuple(dict.fromkeys(kind for text in turn.texts for kind in find_leaks(text, names)))


def _tool(case: Case) -> str:
    intent = case.bundle.intent
    return intent.tool if case.main and intent else case.operation.tool


def _doubled(case: Case, turn: Conversation) -> Finding | None:
    """The same write again, although the one before it had worked and made an object of its own."""
    calls = [attempt.call for attempt in case.good if attempt.call]
    same = [call for call in calls if call.ran == calls[0].ran]
    if not case.operation.writes or len(same) < 2 or len(case.object_ids) < 2:
        return None
    return broken(
        "call.no_duplicate_calls",
        f"{len(case.right)} calls of {same[0].name} with the same arguments, although the first had worked",
        turn.document,
        expected="one call",
    )


def _without_offset(case: Case, turn: Conversation) -> Finding | None:
    """A time without an offset is right in the household's zone only; where another was taken, the call is at fault."""
    given = case.right[-1].ran or {}
    bare = [key for key, value in given.items() if values.has_no_offset(value)]
    if not bare or not any(fault.check == "google.right_time" for fault in case.effect.faults):
        return None
    return broken(
        "call.args_match",
        "times without an offset: " + ", ".join(f"{key} = {given[key]}" for key in bare),
        turn.document,
        expected=", ".join(f"{key} = {case.asked.get(key)}" for key in bare),
    )


def _wrong_arguments(case: Case, call: Call, turn: Conversation) -> Finding:
    given = call.ran or {}
    wrong = values.differing(case.asked, given, case.zone)
    return broken(
        "call.args_match",
        f"the call of {call.name} has "
        + ", ".join(f"{key} = {_cut(str(given.get(key, 'nothing')))}" for key in wrong),
        turn.document,
        expected=", ".join(f"{key} = {_cut(str(case.asked[key]))}" for key in wrong),
    )


def _no_call(case: Case, turn: Conversation, tool: str) -> Finding:
    if turn.offered is not None and tool not in turn.offered:
        missing = _missing(case, turn.offered, tool)
        return broken(
            "call.tools_visible",
            f"the turn did not offer {', '.join(missing)}",
            turn.document,
            expected=f"{tool} among the tools",
        )
    if turn.provider_error:
        return broken(
            "call.provider",
            f"the model call (with tools) failed: {turn.provider_error}",
            turn.document,
            expected="an answer of the model",
        )
    made = next((made for made in reversed(turn.made) if made.call.name == tool), None)
    if made is not None:
        return made_up(made, turn)
    misnamed = _misnamed(turn, tool)
    if misnamed:
        return broken(
            "call.tool_name",
            f'a call of "{misnamed}", a name that is not registered',
            turn.document,
            expected=f'a call of "{tool}"',
        )
    kinds = imitations(turn, tool)
    if not turn.complete:
        return unproven(
            "harness.transcript",
            "the transcript may have stopped: no call can be told from a lost one",
            turn.document,
        )
    seen = f"text that imitates a call ({', '.join(kinds)})" if kinds else "no structured call, only words"
    return broken("call.toolcall_structured", seen, turn.document, expected=f"a native call of {tool}")


def made_up(made: MadeUp, turn: Conversation) -> Finding:
    """The gateway ran a call that the model did not make: under another name, or out of its text."""
    name = made.call.name
    if made.written:
        seen = f'a call of "{made.written}", a name that is not registered: the gateway ran it as {name}'
        return broken("call.tool_name", seen, *_records(turn), expected=f'a call of "{name}"')
    seen = f"a call of {name} that no answer of the provider holds: the gateway made it out of text"
    return broken("call.promoted_text", seen, *_records(turn), expected=f"a native call of {name}")


def _missing(case: Case, offered: tuple[str, ...], tool: str) -> tuple[str, ...]:
    """The asked tool first, then the other tools of the household that others of the domain would need."""
    domain = case.operation.domain
    same = [operation.tool for operation in OPERATION_OF_TOOL.values() if operation.domain == domain]
    return tuple(dict.fromkeys([tool, *(name for name in same if name not in offered)]))


def _misnamed(turn: Conversation, tool: str) -> str:
    """A call or an orphan result under a name that nobody registered."""
    known = {*OPERATION_OF_TOOL, *(turn.offered or ()), tool}
    names = [call.name for call in turn.calls] + list(turn.orphans)
    unknown = [name for name in names if name and name not in known]
    near = [name for name in unknown if tool in name or _plain(name) == _plain(tool)]
    return (near or unknown or [""])[-1]


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _shown(value: Any) -> str:
    return "nothing" if value is MISSING else _cut(json.dumps(value, ensure_ascii=False, default=str))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
