"""From the links of every operation to one judgement: the first broken link, the turn, the claim, the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from butlerctl.evidence import Bundle, digest
from butlerctl.judge import claim as claims
from butlerctl.judge import documents, hints
from butlerctl.judge.assembly import cases_of
from butlerctl.judge.case import Case
from butlerctl.judge.claim import Judged
from butlerctl.judge.conversation import Conversation
from butlerctl.judge.documents import deployment
from butlerctl.judge.finding import Finding, broken
from butlerctl.judge.flags import flags
from butlerctl.judge.links import active, call, credential, google, header, report, request, route, shape
from butlerctl.judge.masks import Masks
from butlerctl.judge.result import (
    LINKS,
    ChainVerdict,
    Claim,
    FirstBroken,
    Judgement,
    LinkVerdict,
    Note,
    Turn,
    Verdict,
)
from butlerctl.judge.run import Evidence
from butlerctl.judge.turn import judge_turn

# The links of one operation, in order; `report` is about the whole turn and comes last.
_JUDGES: Mapping[str, Callable[[Case], Finding]] = {
    "call": call.judge,
    "route": route.judge,
    "request": request.judge,
    "header": header.judge,
    "active": active.judge,
    "credential": credential.judge,
    "google": google.judge,
    "shape": shape.judge,
}
_WORST = (ChainVerdict.FAIL, ChainVerdict.UNKNOWN, ChainVerdict.PASS)


@dataclass(frozen=True, slots=True)
class _Run:
    """One recording of the turn, judged: the findings of each operation, those of documents, turn and claim."""

    cases: tuple[Case, ...]
    findings: tuple[tuple[Finding, ...], ...]
    standing: tuple[Finding, ...]
    report: Finding
    turn: Turn
    claim: Judged
    notes: tuple[Note, ...]

    @property
    def main(self) -> Case | None:
        return next((case for case in self.cases if case.main), None)


def judge(bundle: Bundle) -> Judgement:
    """The judgement of a bundle. Pure: it reads nothing but the bundle. Several repeats: the worst decides."""
    evidence = Evidence.of(bundle)
    conversations: Sequence[Conversation | None] = evidence.conversations or (None,)
    judgements = [_judge_run(evidence, conversation) for conversation in conversations]
    return min(judgements, key=lambda judgement: _WORST.index(judgement.verdict))


def strict_verdict(judgement: Judgement) -> ChainVerdict:
    """The verdict of a live route: PASS only with all nine links proven."""
    if judgement.verdict is ChainVerdict.FAIL:
        return ChainVerdict.FAIL
    proven = all(link.verdict is Verdict.PROVEN for link in judgement.links)
    return ChainVerdict.PASS if proven and len(judgement.links) == len(LINKS) else ChainVerdict.UNKNOWN


def _judge_run(evidence: Evidence, conversation: Conversation | None) -> Judgement:
    run = _examine(evidence, conversation)
    masks = Masks.of(evidence.bundle)
    first = _first_broken(run, evidence.bundle.intent is not None)
    notes = run.notes if first else (*run.notes, *_gaps(run.main))
    links = tuple(_link_verdicts(run, first, masks))
    return Judgement(
        verdict=_verdict(run, evidence, first, notes),
        first_broken=_shown(first, masks) if first else None,
        links=links,
        turn=run.turn,
        claim=run.claim.claim,
        notes=tuple(Note(note.check, masks.hide(note.hint)) for note in notes),
    )


def _examine(evidence: Evidence, conversation: Conversation | None) -> _Run:
    cases = cases_of(evidence, conversation)
    findings = tuple(
        tuple(replace(judged(case), link=name, route=case.route) for name, judged in _JUDGES.items())
        for case in cases
    )
    reply = claims.read_reply(conversation, cases)
    claim = claims.judge_claim(conversation, cases, reply)
    main = next((case for case in cases if case.main), None)
    turn = judge_turn(main, reply) if main else Turn.NONE
    said = replace(report.judge(conversation, claim, turn), link="report", route=main.route if main else None)
    proven = {finding.link for row in findings[:1] for finding in row if finding.verdict is Verdict.PROVEN}
    alone = evidence.bundle.intent is None
    shown = (*documents.findings(evidence), *_recording(conversation, alone=alone))
    loose = [replace(finding, link=hints.link_of(finding.check)) for finding in shown]
    counting = tuple(
        item for item in loose if alone or item.link not in proven or item.check.startswith("cleanup.")
    )
    notes = (
        *deployment.notes(evidence),
        *_failed_reads(evidence, main),
        *_remarks(loose, counting),
        *(flags(conversation) if conversation else ()),
    )
    return _Run(cases, findings, counting, said, turn, claim, notes)


def _recording(conversation: Conversation | None, *, alone: bool) -> Iterator[Finding]:
    """Without a request, text that imitates a call, one that was made a call, and a result without one are breaks."""
    if conversation is None or not alone:
        return
    kinds = call.imitations(conversation) if not conversation.calls else ()
    if kinds:
        seen = f"text that imitates a call ({', '.join(kinds)})"
        yield broken("call.toolcall_structured", seen, conversation.document, expected="native calls only")
    for made in conversation.made[:1]:
        yield call.made_up(made, conversation)
    for name in conversation.orphans[:1]:
        seen = f'a result of "{name}" without a call'
        yield broken("call.orphan_result", seen, conversation.document, expected="a call for every result")


def _remarks(loose: Iterable[Finding], counting: Iterable[Finding]) -> tuple[Note, ...]:
    """What documents show, but the turn itself disproves: worth a look, no break."""
    kept = set(map(id, counting))
    return tuple(
        Note(item.check, f"{item.reason}. {hints.step_for(item.check)}")
        for item in loose
        if id(item) not in kept
    )


def _first_broken(run: _Run, asked: bool) -> Finding | None:
    """With a request the first broken operation is named, without one the first broken link of all."""
    rows = [[item for item in row if item.verdict is Verdict.BROKEN] for row in run.findings]
    said = [run.report] if run.report.verdict is Verdict.BROKEN else []
    aside = [item for item in run.standing if item.check.startswith(("lint.", "cleanup."))]
    seen = [item for item in run.standing if item not in aside]
    if asked:
        groups = [[*rows[0], *seen], *rows[1:], said, aside]
    else:
        groups = [[item for row in rows for item in row] + seen + said + aside]
    return next((min(group, key=_order) for group in groups if group), None)


def _order(finding: Finding) -> tuple[int, int]:
    """By link; within one, a deployment that failed explains more, and a file's finding less than the wire."""
    rank = {"deploy": 0, "lint": 2}.get(finding.check.split(".")[0], 1)
    return LINKS.index(finding.link), rank


def _link_verdicts(run: _Run, first: Finding | None, masks: Masks) -> Iterator[LinkVerdict]:
    reached = True
    for name in LINKS:
        found = _finding_of(run, name)
        if first is not None and first.link == name:
            yield _link_verdict(first, name, masks)
            reached = False
        elif not reached:
            yield LinkVerdict(name, Verdict.NOT_REACHED, reason="an earlier link is broken")
        elif found is None or found.verdict is Verdict.BROKEN:
            yield LinkVerdict(name, Verdict.UNPROVEN, reason="nothing in the evidence decides")
        else:
            yield _link_verdict(found, name, masks)


def _finding_of(run: _Run, name: str) -> Finding | None:
    """The finding that speaks for a link: the asked operation's; without a request the weakest of all."""
    if name == "report":
        return run.report
    at = list(_JUDGES).index(name)
    rows = run.findings[:1] if run.main else run.findings
    found = [row[at] for row in rows]
    return next((item for item in found if item.verdict is not Verdict.PROVEN), found[0] if found else None)


def _link_verdict(finding: Finding, name: str, masks: Masks) -> LinkVerdict:
    return LinkVerdict(
        link=name,
        verdict=finding.verdict,
        check=finding.check,
        reason=masks.hide(finding.reason),
        rests_on=tuple(digest(document) for document in finding.documents),
    )


def _shown(finding: Finding, masks: Masks) -> FirstBroken:
    step = " ".join(part for part in (finding.advice, hints.step_for(finding.check)) if part)
    seen, expected = (masks.hide(text).rstrip(". ") for text in (finding.reason, finding.expected))
    where = f"{finding.route}: " if finding.route else ""
    return FirstBroken(
        link=finding.link,
        check=finding.check,
        route=finding.route,
        hint=f"{where}{seen}" + (f"; expected: {expected}" if expected else "") + f". {step}",
        expected=expected,
        seen=seen,
        next_step=step,
    )


def _verdict(run: _Run, evidence: Evidence, first: Finding | None, notes: Iterable[Note]) -> ChainVerdict:
    if first is not None:
        return ChainVerdict.FAIL
    if not evidence.documents or any(map(_leaves_open, notes)):
        return ChainVerdict.UNKNOWN
    if evidence.bundle.intent is None:
        return ChainVerdict.PASS
    return ChainVerdict.PASS if _all_confirmed(run) else ChainVerdict.UNKNOWN


def _leaves_open(note: Note) -> bool:
    return note.check.startswith("harness.") or note.check == "report.history"


def _all_confirmed(run: _Run) -> bool:
    """The right call, a usable answer, exactly one object or an equal list, a true report; other writes as well."""
    return (
        run.turn is Turn.CONFIRMED
        and run.report.verdict is Verdict.PROVEN
        and run.claim.claim is not Claim.UNSUPPORTED
        and all(case.good and case.effect.as_asked for case in run.cases if case.operation.writes)
    )


def _gaps(main: Case | None) -> Iterator[Note]:
    """What was not recorded and would decide."""
    if main is None:
        return
    turn = main.conversation
    if turn is None or not turn.complete:
        what = "is missing" if turn is None else "may have been cut off"
        yield Note("harness.transcript", f"the transcript {what}. {hints.step_for('harness.transcript')}")
    if not main.effect.known:
        seen = f"no read of {main.route.profile}'s place after the turn decides"
        yield Note("harness.readback", f"{seen}. {hints.step_for('harness.readback')}")


def _failed_reads(evidence: Evidence, main: Case | None) -> Iterator[Note]:
    """Reads of butlerctl that failed and that no later read of the same place makes good."""
    good = {(item.profile, item.domain, item.when) for item in evidence.readings if item.readable}
    for reading in evidence.readings:
        if (
            reading.readable
            or (reading.profile, reading.domain, reading.when) in good
            or reading.when == "before"
        ):
            continue
        if main and (reading.profile, reading.domain) != (main.route.profile, main.operation.domain):
            continue
        refused = reading.status in {401, 403} or "invalid_grant" in str(reading.document.get("body"))
        check = "harness.reader_token" if refused else "harness.readback"
        yield Note(
            check,
            f"the read of {reading.profile}'s {reading.domain} answered {reading.status}. {hints.step_for(check)}",
        )
