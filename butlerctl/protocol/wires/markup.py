"""Cutting completion text at the markers of a format. Nothing is repaired: what does not fit is left over."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from butlerctl.protocol.wires.turn import ArgumentFields, Field


@dataclass(frozen=True, slots=True)
class Block:
    """What stands between an opening marker and its closing one; `closed` is False when the latter is missing."""

    body: str
    closed: bool


def cut_blocks(text: str, begin: str, end: str) -> tuple[list[Block], str]:
    """The blocks of a text in order, and the text outside of them. A block ends where the next one begins."""
    outside, *rest = text.split(begin)
    blocks = []
    for part in rest:
        body, closing, after = part.partition(end)
        blocks.append(Block(body, bool(closing)))
        outside += after
    return blocks, outside


def read_fields(
    body: str, pattern: re.Pattern[str], to_field: Callable[[re.Match[str]], Field]
) -> ArgumentFields:
    """Fields that follow one another in `body`. Anything else between or after them is not well formed."""
    fields = []
    position = 0
    while match := pattern.match(body, position):
        fields.append(to_field(match))
        position = match.end()
    return ArgumentFields(tuple(fields), body, well_formed=not body[position:].strip())
