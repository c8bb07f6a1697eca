"""What the matrices on the real n8n came to, as pages of the documentation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.stack.n8n_house import Found

Row = tuple[Any, Found]
"""A planting, and what the judge named."""


class Matrix(list[Row]):
    """What was planted and what was found; `healthy` counts the runs without a fault."""

    healthy = 0

    def page(self, version: str) -> str:
        return f"""# Faults on the real n8n {version}

`make stack-full` plants each of these on a real n8n from npm whose Google nodes talk to the emulator, runs
`verify`, and puts everything right again. {_right(self)} of {len(self)} were named with the right link and route; no other
person's route was blamed; {self.healthy} runs without a fault were all proven, twelve routes each.

{_table(("planted", "on", "first broken link", "check"), map(_cells, self))}"""


class Versions(dict[str, list[Row]]):
    """The same on other versions of n8n; `healthy` has the versions on which the household was proven."""

    def __init__(self) -> None:
        super().__init__()
        self.healthy: list[str] = []

    def page(self) -> str:
        versions = list(self)
        found = {(version, str(row[0])): row for version, rows in self.items() for row in rows}
        names = list(dict.fromkeys(name for _, name in found))
        cells = [("no fault", *("proven" if each in self.healthy else "not proven" for each in versions))]
        cells += [(name, *(_word(found.get((version, name))) for version in versions)) for name in names]
        return f"""# Other versions of n8n

`make stack-full` proves the household on these versions too, and plants some faults of every link. A cell is the check
that broke first.

{_table(("planted", *versions), cells)}"""


def deployments_page(version: str, tally: Mapping[str, int]) -> str:
    """`tally` counts the sequences and how each command of them ended."""
    rest = Counter(tally)
    sequences = rest.pop("sequences", 0)
    cells = [(f"`{name}`", str(count)) for name, count in sorted(rest.items())]
    return f"""# Deployments to the real n8n {version}

`make stack-full` runs random sequences of edits in files and by hand, strangers on a path, plans, refusals, `kill -9` at any
write of `apply`, `apply --resume` and `rollback`, and rollbacks. After each command, or after `apply --resume` or
`rollback` where it was killed, n8n published what was planned or what the snapshot had, for the whole set; drafts
were kept, and no other workflow was touched. {sequences} sequences:

{_table(("command and its end", "times"), cells)}"""


def write(folder: Path, name: str, page: str) -> None:
    (folder / name).write_text(page, encoding="utf-8")


def is_right(row: Row) -> bool:
    planted, found = row
    return (found.link, found.route) == (planted.link, str(planted.route))


def _right(rows: Iterable[Row]) -> int:
    return sum(map(is_right, rows))


def _cells(row: Row) -> tuple[str, ...]:
    planted, found = row
    link = found.link or "none"
    wrong = "" if is_right(row) else f" (wrong: {planted.link} of `{planted.route}` was broken)"
    return planted.name, f"`{planted.route}`", link + wrong, f"`{found.check}`"


def _word(row: Row | None) -> str:
    if row is None:
        return "not planted"
    return f"`{row[1].check}`" + ("" if is_right(row) else " (wrong)")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines) + "\n"
