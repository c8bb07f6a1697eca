"""Facts told in a reply that the evidence contradicts: a time, a day, an amount, a count, an empty list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from itertools import zip_longest

from butlerctl.judge import payload, told, values, words
from butlerctl.judge.case import Case
from butlerctl.judge.conversation import holds_prompt
from butlerctl.judge.pairs_told import mismatched_pair
from butlerctl.judge.readback import Stored
from butlerctl.judge.told import Clock, Told

_MOST = 10**12
_EMPTY = re.compile(
    r"(?<!\w)(no\b|none|nothing|empty|free\b|kein\w*|nichts|leer|frei\b|ningun\w*|nada|vac[íi]\w|libre|aucun\w*|rien|vide|pas de|nessun\w*|niente|vuot\w"
    r"|liber\w|geen|niets|leeg|vrij|nenhum\w*|vazi\w|livre|brak|pust\w|nic\b|woln\w|nie ma|non (?:ci sono|c['’]è|ha)|no (?:hay|tiene)|n['’](?:y a|a) (?:pas|rien|aucun)|não (?:há|tem)"
    r"|inga?\b|ingen\w*|inget|intet|tom(?:t|ma)?\b|ledig\w*|fri\b|ei (?:ole|mitään)|tyhjä\w*|vapaa|žádn\w+|prázdn\w*|нет|ничего|пуст\w*)"
    r"|ありません|なし|空(?:です|いて)|没有|沒有|空的|없",
    re.IGNORECASE,
)
_ONLY = re.compile(
    r"(?<!\w)(rest|otherwise|nothing else|only|sonst|übrig\w*|nur\b|nada más|solo\b|sólo|rien d'autre|seulement|nient['’]altro|soltanto"
    r"|verder|alleen|niets anders|mais nada|somente|apenas|nic więcej|tylko|poza tym)",
    re.IGNORECASE,
)
_SOON = re.compile(
    r"(?<!\w)(today|tonight|tomorrow|this week|next week|heute|morgen|hoy|mañana|aujourd'hui|demain|oggi|domani|vandaag|hoje|amanhã|dziś|jutro"
    r"|week|woche|semana|semaine|settimana|tydzień|month|monat|mes\b|mois|mese|maand|mês|miesiąc|overdue|überfällig|before|until|bis\b|after)",
    re.IGNORECASE,
)
_PLACES = r"calendar|kalender|list\b|liste\b|tasks?\b|sheet|agenda|lista\b|calendario|calendrier"
_ELSEWHERE = r"\s*(?:h|uhr|uur)?,?\s*(?:in [A-Z]\w+|[A-Z]\w+(?: [A-Z]\w+)? time|(?:[ECMP][SD]?T|CES?T|BST|JST|IST)\b|Ortszeit)"
_CLAUSE = re.compile(r"[;,]\s|\n|(?<=[.!?])\s")
_TOKEN = re.compile(r"[^\W_]{4,}")


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What was told, and what the evidence holds."""

    check: str
    seen: str
    expected: str


def contradiction(reply: str, cases: Sequence[Case], titles: Iterable[str]) -> Contradiction | None:
    """The first fact of a reply that no evidence of the turn allows."""
    zone = cases[0].zone
    main = next(case for case in cases if case.main)
    plain = words.asserted(words.without(reply, titles))
    facts = told.read(_without_gaps(plain) if main.operation.writes else plain, zone)
    asked = told.read(" ".join([*_prompts(cases), *_cells(cases)]), zone)
    facts = replace(facts, clocks=_of_this_place(facts.clocks, reply, list(_moments(cases)), zone))
    checks = (_wrong_clock, _wrong_day, _wrong_amount, _wrong_row)
    person = _wrong_person(plain, cases)
    if person:
        return person
    for check in checks:
        wrong = check(facts, asked, cases)
        if wrong:
            return wrong
    if not main.operation.writes and (main.effect.known or main.good):
        return _wrong_list(reply, plain, facts, main)
    return None


def _without_gaps(plain: str) -> str:
    """Without what is said about times at which there is nothing: no fact about what was stored."""
    return "\n".join(part for part in _CLAUSE.split(plain) if not _EMPTY.search(part))


def _wrong_person(plain: str, cases: Sequence[Case]) -> Contradiction | None:
    """Somebody else's calendar, list or sheet, told by name, while the turn was about one person only."""
    own = {case.route.profile for case in cases}
    for other in {reading.profile for case in cases for reading in case.readings} - own:
        place = re.search(
            rf"(?<!\w){re.escape(other)}(?:['\u2019]s)?\s+(?:\w+\s+)?(?:{_PLACES})", plain, re.IGNORECASE
        )
        if place and not any(
            re.search(rf"(?<!\w){re.escape(name)}(?!\w)", plain, re.IGNORECASE) for name in own
        ):
            return Contradiction(
                "report.claim_accurate",
                f'the reply tells "{place[0]}"',
                f"{cases[0].noun} of {cases[0].route.profile}",
            )
    return None


def _of_this_place(
    clocks: Sequence[Clock], reply: str, moments: Sequence[datetime], zone: tzinfo
) -> tuple[Clock, ...]:
    """Without the same minute told a second time as another place's clocks show it."""
    minutes = {clock.minute for clock in clocks if _fits(clock, moments, zone)}
    return tuple(
        clock
        for clock in clocks
        if _fits(clock, moments, zone)
        or clock.minute not in minutes
        or not re.search(re.escape(clock.words) + _ELSEWHERE, reply)
    )


def _wrong_clock(facts: Told, asked: Told, cases: Sequence[Case]) -> Contradiction | None:
    moments = list(_moments(cases))
    spoken = {(clock.hour % 24, clock.minute) for clock in asked.clocks}
    for clock in facts.clocks:
        if not moments or (clock.hour % 24, clock.minute) in spoken or _fits(clock, moments, cases[0].zone):
            continue
        if any(
            (clock.hour % 12, clock.minute) == (hour % 12, minute) and clock.half_open
            for hour, minute in spoken
        ):
            continue
        held = ", ".join(sorted({f"{moment:%H:%M}" for moment in moments}))
        return Contradiction(
            "report.claim_accurate",
            f"the reply tells {clock} for the {cases[0].noun}",
            f"{cases[0].noun}: {held}",
        )
    return None


def _fits(clock: Clock, moments: Sequence[datetime], zone: tzinfo) -> bool:
    if clock.utc:
        return any(clock.fits(moment.astimezone(UTC)) for moment in moments)
    return any(clock.fits(moment.astimezone(zone)) for moment in moments)


def _wrong_day(facts: Told, asked: Told, cases: Sequence[Case]) -> Contradiction | None:
    days = set(_days(cases))
    if not days:
        return None
    for day in facts.days:
        if not any(day.fits(other) for other in days) and day not in asked.days and not _spoken(day, asked):
            held = ", ".join(sorted(str(other) for other in _own_days(cases)))
            return Contradiction(
                "report.claim_accurate",
                f"the reply tells {day.words} for the {cases[0].noun}",
                f"{cases[0].noun}: {held}",
            )
    names = {other.weekday() for other in days} | {number for number, _ in asked.weekdays}
    for number, word in facts.weekdays:
        if number not in names and _own_days(cases):
            return Contradiction(
                "report.claim_accurate",
                f"the reply tells {word} for the {cases[0].noun}",
                f"{cases[0].noun}: {_weekday_names(cases)}",
            )
    return None


def _spoken(day: told.Day, asked: Told) -> bool:
    return any(day.day == other.day and day.month in {None, other.month} for other in asked.days)


def _weekday_names(cases: Sequence[Case]) -> str:
    return ", ".join(f"{day:%A %d %B}" for day in sorted(_own_days(cases)))


def _wrong_amount(facts: Told, asked: Told, cases: Sequence[Case]) -> Contradiction | None:
    """Amounts matter for sheets: each one told is a cell, or the sum or mean of a group of rows."""
    sheets = [case for case in cases if case.operation.domain == "sheets"]
    allowed = {amount for amount, _ in asked.amounts}
    for case in sheets:
        allowed |= set(_amounts(case))
    for amount, _ in facts.amounts if sheets and allowed else ():
        if not _is_held(amount, allowed):
            case = sheets[0]
            return Contradiction(
                "report.claim_accurate",
                f"the reply tells {amount}, which is no cell and no sum of the {case.noun}s",
                f"{case.noun}: {_held_amounts(case)}",
            )
    return None


def _is_held(amount: Decimal, allowed: set[Decimal]) -> bool:
    """A whole sum may be told for one with cents."""
    whole = amount.as_tuple().exponent == 0
    return any(abs(amount - other) < 1 if whole else amount == other for other in allowed)


def _amounts(case: Case) -> Iterator[Decimal]:
    rows = _rows(case)
    for row in rows:
        yield from (abs(number) for number in map(_amount, row) if number is not None)
    for group in _groups_of_rows(rows):
        for column in zip_longest(*group):
            numbers = [number for number in map(_amount, column) if number is not None]
            if numbers:
                yield sum(numbers, Decimal(0))
                yield round(sum(numbers, Decimal(0)) / len(numbers), 2)


def _amount(cell: object) -> Decimal | None:
    number = values.money(cell)
    return number if number is not None and abs(number) < _MOST else None


def _groups_of_rows(rows: Sequence[tuple[object, ...]]) -> Iterator[list[tuple[object, ...]]]:
    """All rows, and those that share a cell or the month of a day, or both."""
    yield list(rows)
    labels = {values.text(cell) for row in rows for cell in row if values.number(cell) is None}
    months = {label[:7] for label in labels if values.day(label)}
    for month in (*months, ""):
        of_month = [
            row for row in rows if not month or any(values.text(cell).startswith(month) for cell in row)
        ]
        yield of_month
        for label in labels:
            yield [row for row in of_month if label in {values.text(cell) for cell in row}]


def _rows(case: Case) -> list[tuple[object, ...]]:
    held = [item.cells for item in (*case.effect.items, *case.effect.found)]
    return held + ([case.wanted.cells] if case.wanted.cells else [])


def _held_amounts(case: Case) -> str:
    numbers = (values.money(cell) for row in _rows(case) for cell in row if values.day(cell) is None)
    return ", ".join(str(number) for number in numbers if number is not None)[:120]


def _wrong_row(facts: Told, asked: Told, cases: Sequence[Case]) -> Contradiction | None:
    for case in cases:
        held = (
            {item.row for item in case.effect.found if item.row}
            if case.operation.domain == "sheets"
            else set()
        )
        for row in facts.rows:
            if held and row not in held and row not in asked.rows:
                return Contradiction(
                    "report.claim_accurate", f"the reply tells row {row}", f"row {min(held)}"
                )
    return None


def _wrong_list(reply: str, plain: str, facts: Told, case: Case) -> Contradiction | None:
    """An empty list told as full, a full one told as empty, a wrong count, an item left out of all there is."""
    items = case.effect.items
    named = [item for item in items if _is_named(item, reply, facts, case.zone)]
    restricted = _SOON.search(plain) or _SOON.search(" ".join(_prompts([case])))
    narrowed = case.operation.domain != "calendar" and bool(restricted)
    plural = f"{case.noun}s"
    if (
        items
        and not named
        and not facts.amounts
        and _EMPTY.search(plain)
        and not narrowed
        and not _about_a_part(reply, case)
    ):
        return Contradiction(
            "report.claim_accurate", "the reply says that there is nothing", f"{len(items)} {plural}"
        )
    left_out = len(named) < len(items) and bool(_ONLY.search(plain)) and bool(named)
    if left_out and not narrowed and not _about_a_part(reply, case):
        return Contradiction(
            "report.claim_accurate",
            f"the reply tells {len(named)} {plural} and says that there are no others",
            f"{len(items)} {plural}",
        )
    for count, word in facts.counts:
        if narrowed or count in _possible_counts(case, named):
            continue
        return Contradiction("report.claim_accurate", f'the reply tells "{word}"', f"{len(items)} {plural}")
    pair = mismatched_pair(words.asserted(reply), case)
    return Contradiction("report.claim_accurate", f'the reply tells "{pair[0]}"', pair[1]) if pair else None


def _possible_counts(case: Case, named: Sequence[Stored]) -> set[int]:
    items = case.effect.items
    counts = {len(items), len(case.effect.items) + 1} if case.operation.domain == "sheets" else {len(items)}
    if case.operation.domain == "sheets":
        counts |= {len(group) for group in _groups_of_rows(_rows(case))}
    if len(named) == len(items) or not items:
        counts |= set(range(len(items) + 1))
    for title in {item.title for item in items}:
        counts.add(sum(item.title == title for item in items))
    return counts


def _about_a_part(reply: str, case: Case) -> bool:
    """Did the question name some of the items, so that an answer about those alone is whole?"""
    prompt = " ".join(_prompts([case])).casefold()
    del reply
    tokens = {token for item in case.effect.items for token in _TOKEN.findall(_label(item).casefold())}
    return any(token in _TOKEN.findall(prompt) for token in tokens)


def _is_named(item: Stored, reply: str, facts: Told, zone: tzinfo) -> bool:
    words_of_item = _TOKEN.findall(_label(item).casefold())
    spoken = reply.casefold()
    if words_of_item and any(word in spoken for word in words_of_item if len(word) > 3):
        return True
    return item.start is not None and any(clock.fits(item.start.astimezone(zone)) for clock in facts.clocks)


def _label(item: Stored) -> str:
    return item.title or " ".join(
        values.text(cell) for cell in item.cells if values.money(cell) is None and values.day(cell) is None
    )


def _prompts(cases: Sequence[Case]) -> list[str]:
    """What was asked, without what a gateway wrote around it."""
    intent = cases[0].bundle.intent
    spoken = list(cases[0].conversation.prompts) if cases[0].conversation else []
    if intent is None:
        return spoken
    return [intent.prompt, *(words for words in spoken if not holds_prompt(words, intent.prompt))]


def _cells(cases: Sequence[Case]) -> Iterator[str]:
    """The texts of all rows: whatever they say may be repeated."""
    yield from (cell for case in cases for row in _rows(case) for cell in row if isinstance(cell, str))


def _moments(cases: Sequence[Case]) -> Iterator[datetime]:
    """Every instant that a reply may tell: of objects, of requests, of lists."""
    for case in cases:
        for item in (*case.effect.found, *case.effect.items):
            yield from (moment for moment in (item.start, item.end) if moment)
            if item.all_day:
                yield from (datetime.combine(day, time(), case.zone) for day in (item.due, item.until) if day)
        yield from (moment for moment in (case.wanted.start, case.wanted.end) if moment)
        for cell in (cell for row in _rows(case) for cell in row):
            moment = values.instant(cell, case.zone)
            if moment:
                yield moment
        if not case.operation.writes and not case.main and case.good and case.good[-1].answer:
            for item in payload.items(case.good[-1].answer.body, case.operation.domain) or ():
                told_start = item.get("start") if isinstance(item, dict) else None
                inner = told_start.get("dateTime") if isinstance(told_start, dict) else told_start
                moment = values.instant(inner, case.zone)
                if moment:
                    yield moment


def _days(cases: Sequence[Case]) -> Iterator[date]:
    yield from _own_days(cases)
    clock = cases[0].bundle.clock
    if clock:
        today = clock.astimezone(cases[0].zone).date()
        yield from (today, today + timedelta(days=1), today - timedelta(days=1))


def _own_days(cases: Sequence[Case]) -> set[date]:
    days: set[date] = set()
    for case in cases:
        items = (*case.effect.found, *case.effect.items)
        days |= {item.due for item in items if item.due}
        days |= {item.until - timedelta(days=1) for item in items if item.until}
        days |= {cell for row in _rows(case) for item in row if (cell := values.day(item))}
        days |= {day for day in (values.day(case.wanted.due), values.day(case.wanted.all_day)) if day}
        for moment in _moments([case]):
            days.add(moment.astimezone(case.zone).date())
    return days
