"""What a reply tells of one item by its name: the time of another event, the day of another task, another row's amount."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from butlerctl.judge import told, values
from butlerctl.judge.case import Case
from butlerctl.judge.readback import Stored
from butlerctl.judge.told import Told

_PART = re.compile(
    r"[;\n|•、。]|,\s|(?<=[.!?])\s|\s(?:and|und|sowie|et|y|e|en|og|och|then|dann|puis|luego|poi)\s",
    re.IGNORECASE,
)
# A part that sets an item beside another one, or beside the whole, tells no pair.
_RELATES = re.compile(
    r"(?<!\w)(after|before|until|till|between|from|free|than|without|except|total|together|nach|vor|bis|zwischen|von|ab|frei|als|ohne|insgesamt|zusammen"
    r"|après|avant|jusqu\w*|entre|libre|sans|ensemble|después|antes|hasta|sin|dopo|prima|fino|tra|libero|senza|insieme|totale|na|voor|tot|tussen|vrij"
    r"|zonder|samen|po|przed|do|bez|razem|depois|até|livre|sem|juntos|efter|innan|före|till|utan|etter|før|sammen|から|まで|後|前)(?!\w)",
    re.IGNORECASE,
)


def mismatched_pair(reply: str, case: Case) -> tuple[str, str] | None:
    """The words that tell an item something else than the evidence holds of it, and what that is; None without such."""
    check = _CHECKS[case.operation.domain]
    nothing = told.read("", case.zone)
    names = {
        name for item in case.effect.items for name in _names(item) if told.read(name, case.zone) == nothing
    }
    for part in _PART.split(reply):
        named = [name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", part, re.IGNORECASE)]
        if len(named) != 1:
            continue
        rest = re.sub(re.escape(named[0]), " ", part, flags=re.IGNORECASE)
        items = [item for item in case.effect.items if named[0] in _names(item)]
        held = check(told.read(rest, case.zone), rest, items, case)
        if held:
            return " ".join(part.split())[:80], f"{named[0]}: {held}"
    return None


def _names(item: Stored) -> set[str]:
    words = {
        values.text(cell) for cell in item.cells if values.money(cell) is None and values.day(cell) is None
    }
    return {name for name in {item.title, *words} if len(name) > 2}


def _of_events(facts: Told, part: str, items: Sequence[Stored], case: Case) -> str:
    moments = [moment.astimezone(case.zone) for item in items for moment in (item.start, item.end) if moment]
    clocks = [clock for clock in facts.clocks if not clock.utc]
    if (
        not moments
        or _RELATES.search(part)
        or all(any(clock.fits(moment) for moment in moments) for clock in clocks)
    ):
        return ""
    return " to ".join(f"{moment:%H:%M}" for moment in moments)


def _of_tasks(facts: Told, part: str, items: Sequence[Stored], case: Case) -> str:
    del part, case
    days = [item.due for item in items]
    dated = [day for day in days if day]
    if not dated or len(dated) < len(days):
        return ""
    weekdays = {number for number, _ in facts.weekdays} - {day.weekday() for day in dated}
    wrong = weekdays or [day for day in facts.days if not any(day.fits(other) for other in dated)]
    return ", ".join(f"{day:%A %Y-%m-%d}" for day in dated) if wrong else ""


def _of_rows(facts: Told, part: str, items: Sequence[Stored], case: Case) -> str:
    del case
    held = list(_amounts(items))
    if len(facts.amounts) != 1 or not held or _RELATES.search(part):
        return ""
    amount = facts.amounts[0][0]
    whole = amount.as_tuple().exponent == 0
    if any(abs(amount - other) < 1 if whole else amount == other for other in held):
        return ""
    return ", ".join(str(number) for number in held)


def _amounts(items: Sequence[Stored]) -> Iterator[Decimal]:
    """The numbers of the rows, and where there are several the sum and the mean of each column."""
    rows = [
        [values.money(cell) if values.day(cell) is None else None for cell in item.cells] for item in items
    ]
    yield from (number for row in rows for number in row if number is not None)
    for at in range(max(map(len, rows), default=0)):
        column = [row[at] for row in rows if at < len(row)]
        numbers = [number for number in column if number is not None]
        if len(numbers) > 1:
            yield sum(numbers, Decimal(0))
            yield round(sum(numbers, Decimal(0)) / len(numbers), 2)


_CHECKS = {"calendar": _of_events, "tasks": _of_tasks, "sheets": _of_rows}
