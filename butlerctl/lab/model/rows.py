"""The cells of a row that somebody dictates: enumerated in order, named one by one, or told in a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from butlerctl.lab.model.dates import read_when
from butlerctl.lab.model.sentence import Span, strip_edges
from butlerctl.lab.model.words import word_set

_SEPARATORS = tuple(
    re.compile(separator)
    for separator in (
        r"\s*\|\s*",
        r"\s*;\s*",
        r"\s*,\s+(?:(?:and|und|y|et)\s+)?",
        r"\s*,\s+|\s+(?:and|und|y|et)\s+",
        r"\s*(?:(?<!\d),|,(?!\d))\s*",
    )
)
_CURRENCY = r"(?:[€$£]|euros?|eur|usd|dollars?|pounds?)"
_AMOUNT = re.compile(
    rf"(?<![\w.,:/-]){_CURRENCY}?\s?(?P<number>\d+(?:[.,]\d{{1,2}})?)(?:\s?{_CURRENCY}(?!\w))?(?![\w:/-]|[.,]\d)",
    re.IGNORECASE,
)
_KIND_WORDS: Mapping[str, frozenset[str]] = {
    "day": word_set("date day when datum tag fecha día jour"),
    "number": word_set(
        "amount price sum cost total value betrag preis summe kosten importe precio monto valor montant prix"
    ),
}
_TEXT_WORDS = (
    "item|what|text|description|posten|artikel|was|artículo|concepto|descripción|article|objet|libellé"
)
_LEAD = r"^(?:(?:with|the|der|die|das|dem|den|mit|ein|an|hinzu|con|avec|el|la|le|and|und|y|et)\s+)+"


class Amount(NamedTuple):
    """A number as a cell holds it, and its place in the text."""

    text: str
    span: Span


def listed_cells(
    chunks: Iterable[str], columns: Sequence[str], width: int | None, today: date
) -> list[str] | None:
    """The cells of the first chunk that enumerates as many as a row has, or None."""
    if width is None:
        return None
    for chunk in chunks:
        for separator in _SEPARATORS:
            cells = [cell.strip(" .\t\n") for cell in separator.split(chunk.strip(" :.,\t\n"))]
            if len(cells) == width and all(cells):
                return _in_order(cells, columns, today)
    return None


def _in_order(cells: list[str], columns: Sequence[str], today: date) -> list[str]:
    """The cells under their columns, where each is named; else as they were said."""
    if len(columns) != len(cells):
        return [_bare(cell) for cell in cells]
    named = [_named_column(cell, columns) for cell in cells]
    if set(named) == set(range(len(columns))):
        cells = [cells[named.index(number)] for number in range(len(columns))]
    return [
        _as_cell(_bare(_without_label(cell, column)), column, today)
        for cell, column in zip(cells, columns, strict=True)
    ]


def _named_column(cell: str, columns: Sequence[str]) -> int | None:
    """The column that a cell begins with: by its own name, else by a word of its kind."""
    said = _no_lead(cell).lower()
    exact = [
        n for n, column in enumerate(columns) if re.match(rf"{re.escape(column.lower())}(?:\s|[:=])", said)
    ]
    alike = [n for n, column in enumerate(columns) if _without_label(cell, column) != _no_lead(cell)]
    return next(iter(exact + alike), None)


def _no_lead(cell: str) -> str:
    return re.sub(_LEAD, "", cell.strip(), flags=re.IGNORECASE)


def _without_label(cell: str, column: str) -> str:
    kind = kind_of(column)
    names = "|".join(map(re.escape, _KIND_WORDS[kind])) if kind in _KIND_WORDS else _TEXT_WORDS
    label = rf"^(?:{re.escape(column)}|{names})\s*[:=]?\s+(?=\S)|^(?:{re.escape(column)}|{names})[:=]"
    return re.sub(label, "", _no_lead(cell), count=1, flags=re.IGNORECASE)


def _bare(cell: str) -> str:
    quoted = re.fullmatch(r"\W*?[\"'“”„«‘`]\s*(.+?)\s*[\"'“”»’`]\W*", cell)
    return quoted[1] if quoted is not None else strip_edges(cell) or cell


def _as_cell(cell: str, column: str, today: date) -> str:
    """A day as YYYY-MM-DD and an amount with a point and without its currency, in the columns made for them."""
    kind = kind_of(column)
    if kind == "day":
        days = read_when(cell, today).days
        return days[0].isoformat() if len(days) == 1 else cell
    amount = amount_in(cell) if kind == "number" else None
    return amount.text if amount is not None else cell


def kind_of(column: str) -> str:
    """`day`, `number` or `text`, by the name of the column."""
    return next((kind for kind, names in _KIND_WORDS.items() if column.lower() in names), "text")


def amount_in(text: str) -> Amount | None:
    """The first number of the text that stands for itself."""
    match = _AMOUNT.search(text)
    return None if match is None else Amount(match["number"].replace(",", "."), match.span())


def cells_by_kind(
    columns: Sequence[str], day: date, amount: Amount | None, text: str | None
) -> list[str] | None:
    """One cell for each column by its kind, or None where one is missing or two would hold the same."""
    kinds = [kind_of(column) for column in columns]
    found = {"day": day.isoformat(), "number": amount.text if amount is not None else None, "text": text}
    cells = [found[kind] for kind in kinds]
    if not cells or len(set(kinds)) < len(kinds):
        return None
    known = [cell for cell in cells if cell is not None]
    return known if len(known) == len(cells) else None
