"""What the gateway ran, held against what the model wrote: the same value, or it was changed on the way."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from butlerctl.protocol.decode import NotStrictJson, decode
from butlerctl.redaction import MASK


class Change(NamedTuple):
    """One place at which the arguments differ; `MISSING` where there is nothing."""

    at: str
    written: Any
    ran: Any


class _Missing:
    def __repr__(self) -> str:
        return "nothing"


MISSING = _Missing()


def changes(written: Any, ran: Any) -> tuple[Change, ...]:
    """Every difference between a call's arguments as written, text or value, and as they were run.

    Numbers are compared digit by digit: a gateway in JavaScript loses some beyond 2^53. A text that is not strict
    JSON is not compared: it has no value.
    """
    try:
        value = _exact(written) if isinstance(written, str) else written
    except NotStrictJson:
        return ()
    return tuple(_changes(value, ran, ""))


def _exact(text: str) -> Any:
    if not text.strip():
        return {}
    decode(text)
    return json.loads(text, parse_float=Decimal)


def _changes(written: Any, ran: Any, at: str) -> Iterator[Change]:
    if isinstance(written, Mapping) and isinstance(ran, Mapping):
        for name in dict.fromkeys((*written, *ran)):
            yield from _changes(
                written.get(name, MISSING), ran.get(name, MISSING), f"{at}.{name}" if at else name
            )
    elif isinstance(written, list) and isinstance(ran, list) and len(written) == len(ran):
        for number, (one, other) in enumerate(zip(written, ran, strict=True)):
            yield from _changes(one, other, f"{at}[{number}]")
    elif not _same(written, ran):
        yield Change(at or "the arguments", written, ran)


def _same(written: Any, ran: Any) -> bool:
    if isinstance(written, str) and isinstance(ran, str):
        # A text and a value are masked by different rules: what is masked cannot be compared.
        return written == ran or MASK in written or MASK in ran
    if _is_number(written) and _is_number(ran):
        return _decimal(written) == _decimal(ran)
    return type(written) is type(ran) and bool(written == ran)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _decimal(value: Any) -> Decimal:
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
