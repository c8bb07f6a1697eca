"""Is the agent's last message true? Its stance and the facts it tells are held against the evidence, nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from butlerctl.judge import told, words
from butlerctl.judge.case import Case
from butlerctl.judge.conversation import Conversation
from butlerctl.judge.facts_told import Contradiction, contradiction
from butlerctl.judge.result import Claim
from butlerctl.judge.words import Reading, Stance


class State(StrEnum):
    """What became of one operation, as far as the evidence tells."""

    DONE = "done"
    WRONG = "there, but not as asked"
    SURPLUS = "there more than once"
    ABSENT = "not there"
    ANSWERED = "answered well, not read back"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Judged:
    """The claim, and when it is not supported: the check, what was told and what the evidence holds."""

    claim: Claim
    check: str = ""
    seen: str = ""
    expected: str = ""


_NONE = Judged(Claim.NONE)
_SUPPORTED = Judged(Claim.SUPPORTED)
_DOMAINS = {
    "calendar": re.compile(r"(?<!\w)(calend\w+|kalend\w+|agenda)", re.IGNORECASE),
    "tasks": re.compile(
        r"(?<!\w)(tasks?\b|to-?do|aufgabe\w*|tarea\w*|tâche\w*|attività|taak|taken\b|tarefa\w*|zada\w+)",
        re.IGNORECASE,
    ),
    "sheets": re.compile(
        r"(?<!\w)(spreadsheet|sheet\b|tabelle|hoja\b|tableur|foglio|planilha|arkusz\w*)", re.IGNORECASE
    ),
}


def read_reply(conversation: Conversation | None, cases: Sequence[Case]) -> Reading:
    """The stance of the last message."""
    if conversation is None:
        return Reading(Stance.NOTHING)
    facts = told.read(words.without(conversation.reply, _titles(cases)), cases[0].zone) if cases else None
    tells = bool(facts and (facts.clocks or facts.days or facts.rows))
    return words.read(conversation.reply, _titles(cases), tells_facts=tells)


def judge_claim(conversation: Conversation | None, cases: Sequence[Case], reply: Reading) -> Judged:
    """The claim of the last message about all operations of the turn."""
    if conversation is None or not conversation.reply:
        return _NONE
    if not any(case.main for case in cases):
        return _without_request(conversation, reply)
    if reply.stance in {Stance.QUESTION, Stance.PROMISE, Stance.DOUBT, Stance.NOTHING}:
        return _NONE
    if reply.stance is Stance.FAILURE:
        return _of_denial(conversation, cases)
    return _of_statement(conversation, cases, reply)


def state_of(case: Case) -> State:
    effect = case.effect
    if effect.as_asked:
        return State.DONE
    if effect.known and effect.copies > 1:
        return State.SURPLUS
    if effect.copies or (effect.equal is False and case.good):
        return State.WRONG
    if effect.absent:
        return State.ABSENT
    return State.ANSWERED if case.usable(case.answer) and (case.right or not case.main) else State.FAILED


def _without_request(conversation: Conversation, reply: Reading) -> Judged:
    """Nothing was asked of the judge to hold the words against, but a deed without any call is no deed."""
    told = reply.stance is Stance.STATEMENT and reply.done
    if told and conversation.complete and not conversation.calls:
        return Judged(Claim.UNSUPPORTED, "report.claim_backed", "the reply tells of a deed", "a call for it")
    return _NONE


def _of_denial(conversation: Conversation, cases: Sequence[Case]) -> Judged:
    """A reply that says it failed is wrong only where everything it could be about is there."""
    states = [state_of(case) for case in cases if case.operation.writes or case.main]
    if any(state in {State.FAILED, State.ABSENT, State.WRONG} for state in states):
        return _SUPPORTED
    if State.ANSWERED in states:
        return _NONE
    main = next(case for case in cases if case.main)
    if not main.operation.writes and not main.effect.items:
        return _SUPPORTED
    return Judged(
        Claim.UNSUPPORTED,
        "report.claim_accurate",
        f"the reply denies the {main.noun}: {_quote(conversation.reply)}",
        f"the {main.noun} {'is there' if main.operation.writes else 'was read'}",
    )


def _of_statement(conversation: Conversation, cases: Sequence[Case], reply: Reading) -> Judged:
    for case in cases:
        state = state_of(case)
        failed = state in {State.FAILED, State.ABSENT, State.WRONG}
        if failed and (case.operation.writes or (case.main and state is not State.WRONG)):
            if reply.partly and not case.main:
                continue
            return Judged(
                Claim.UNSUPPORTED,
                "report.claim_accurate" if case.calls else "report.claim_backed",
                f"the reply tells of the {case.noun} of {case.route}: {_quote(conversation.reply)}",
                f"the {case.noun} is {state}",
            )
    wrong = (
        _denied(conversation, cases)
        or _unbacked(conversation, cases)
        or contradiction(conversation.reply, cases, _titles(cases))
    )
    if wrong:
        return Judged(Claim.UNSUPPORTED, wrong.check, wrong.seen, wrong.expected)
    return _SUPPORTED


def _denied(conversation: Conversation, cases: Sequence[Case]) -> Contradiction | None:
    """One of several writes told as failed, although it is there."""
    writes = [case for case in cases if case.operation.writes]
    for clause in words.denials(conversation.reply, _titles(cases)) if len(writes) > 1 else ():
        named = [case for case in writes if _names(clause, case, writes)]
        if len(named) == 1 and state_of(named[0]) is State.DONE:
            case = named[0]
            seen = f"the reply denies the {case.noun} of {case.route}: {_quote(clause)}"
            return Contradiction("report.claim_accurate", seen, f"the {case.noun} is there")
    return None


def _names(clause: str, case: Case, writes: Sequence[Case]) -> bool:
    """Does a clause speak of this write: by its title, or by its domain where no other write shares it?"""
    if case.wanted.title and case.wanted.title.casefold() in clause.casefold():
        return True
    alone = sum(other.operation.domain == case.operation.domain for other in writes) == 1
    titled = any(
        other.wanted.title and other.wanted.title.casefold() in clause.casefold() for other in writes
    )
    return alone and not titled and _DOMAINS[case.operation.domain].search(clause) is not None


def _unbacked(conversation: Conversation, cases: Sequence[Case]) -> Contradiction | None:
    """A deed told about a domain for which the turn holds no call."""
    called = {case.operation.domain for case in cases}
    plain = words.without(conversation.reply, _titles(cases))
    zone = cases[0].zone
    for sentence in words.clauses_of(plain):
        for domain, names in _DOMAINS.items():
            match = names.search(sentence)
            if domain in called or not match or any(_DOMAINS[other].search(sentence) for other in called):
                continue
            facts = told.read(sentence, zone)
            if facts.clocks or (words.says_done(sentence) and not words.is_failure(sentence)):
                return Contradiction(
                    "report.claim_backed",
                    f"the reply tells of the {match[0]}: {_quote(sentence)}",
                    f"a call for {domain} (calendar, tasks or sheets)",
                )
    return None


def _titles(cases: Iterable[Case]) -> list[str]:
    """The names of things that a reply may quote."""
    titles: list[str] = []
    for case in cases:
        titles += [
            case.wanted.title,
            *(str(cell) for cell in case.wanted.cells if not str(cell)[:1].isdigit()),
        ]
        titles += [item.title for item in (*case.effect.items, *case.effect.found)]
    return [title for title in titles if title]


def _quote(text: str) -> str:
    short = " ".join(text.split())
    return f'"{short[:120]}…"' if len(short) > 120 else f'"{short}"'
