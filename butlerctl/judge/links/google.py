"""`google`: did Google store exactly one object, with the asked fields, in the right place?"""

from __future__ import annotations

from butlerctl.judge.answer import Kind
from butlerctl.judge.case import Case
from butlerctl.judge.finding import Finding, broken, proven, unproven
from butlerctl.judge.links.credential import failure

_NEVER_RAN = frozenset({Kind.NO_REPLY, Kind.REDIRECT, Kind.GATEWAY, Kind.REFUSED, Kind.NOT_REGISTERED})


def judge(case: Case) -> Finding:
    effect = case.effect
    if effect.as_asked:
        return proven("google.object_found", _confirmed(case), *effect.documents)
    if not case.operation.writes:
        return _refused(case) or _read_differs(case)
    return _surplus(case) or _refused(case) or _wrong_fields(case) or _absent(case) or _unread(case)


def _confirmed(case: Case) -> str:
    if not case.operation.writes:
        return "the answer is what an independent read holds"
    return f"an independent read finds exactly one {case.noun}, as asked"


def _surplus(case: Case) -> Finding | None:
    effect = case.effect
    if effect.copies < 2 or not effect.known or _follows_from_answers(case):
        return None
    whose = [name for name, _ in effect.elsewhere]
    where = f", {len(whose)} of them with {', '.join(whose)}" if whose else ""
    return broken(
        "google.single_copy",
        f"{effect.copies} copies of the {case.noun}{where}",
        *effect.documents,
        expected=f"exactly one {case.noun}",
    )


def _follows_from_answers(case: Case) -> bool:
    """Every attempt stored one, and none was told so: the unusable answers are the fault, the copies its result."""
    return (
        1 < len(case.attempts) >= case.effect.copies
        and not case.good
        and case.answer is not None
        and case.answer.by_n8n
    )


def _refused(case: Case) -> Finding | None:
    found = failure(case)
    if found is None or found[0].check.startswith("credential.") or case.effect.copies:
        return None
    cause, document = found
    return broken(
        cause.check,
        f"the Google step for the {case.noun} failed: {cause.words}",
        document,
        expected="Google accepts the operation",
    )


def _wrong_fields(case: Case) -> Finding | None:
    for fault in case.effect.faults:
        return broken(
            fault.check,
            f"stored is {fault.seen}",
            *case.effect.documents,
            expected=f"{case.noun}: {fault.expected}",
        )
    return None


def _absent(case: Case) -> Finding | None:
    if not case.effect.absent:
        return None
    found = case.answer
    said = ""
    if found:
        said = (
            f" after {found.kind} ({found.words})"
            if found.words
            else ", although the answer says that it is done"
        )
    return broken(
        "google.object_found",
        f"an independent read does not find the {case.noun}{said}",
        *case.effect.documents,
        expected=f"exactly one {case.noun}",
    )


def _unread(case: Case) -> Finding:
    return unproven("harness.readback", f"no independent read after the turn decides about the {case.noun}")


def _read_differs(case: Case) -> Finding:
    effect = case.effect
    if not effect.known:
        return unproven("harness.readback", "no independent read after the turn to compare the answer with")
    helper = not case.main and case.bundle.intent is not None
    if not case.good or helper:
        return unproven(
            "google.object_found", "no usable answer to compare with the read-back", *effect.documents
        )
    return broken(
        "google.object_found",
        effect.difference,
        *effect.documents,
        expected=f"what {case.route.profile}'s own place holds",
    )
