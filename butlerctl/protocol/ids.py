"""Ids of calls: echoed when the wire gave one, minted when it did not, unique within the turn."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from itertools import count

from butlerctl.protocol.decode import NotStrictJson, decode
from butlerctl.protocol.wires.turn import WireCall


def with_ids(
    calls: Sequence[WireCall], taken: Collection[str] = ()
) -> tuple[list[tuple[str, WireCall]], list[str]]:
    """Each call with the id of its observation, and the notes on how the ids came about.

    The same id with the same content is one call delivered twice. The same id with other content stays a
    call of its own and gets a minted id. `taken`: ids of earlier turns, which minting avoids.
    """
    repeated = {wire_id for wire_id, times in Counter(call.wire_id for call in calls).items() if times > 1}
    fresh = _fresh_ids({*taken, *(call.wire_id for call in calls if call.wire_id)})
    delivered: dict[str, set[str]] = {}
    kept: list[tuple[str, WireCall]] = []
    notes: list[str] = []
    for call in calls:
        if call.wire_id is None:
            kept.append((next(fresh), call))
            if call.readable:
                notes.append("minted_id")
        elif call.wire_id not in repeated:
            kept.append((call.wire_id, call))
        else:
            contents = delivered.setdefault(call.wire_id, set())
            content = _content(call)
            if content in contents:
                notes.append("duplicate_delivery")
                continue
            if contents:
                notes += ["duplicate_id", "minted_id"]
            kept.append((next(fresh) if contents else call.wire_id, call))
            contents.add(content)
    return kept, notes


def _fresh_ids(taken: Collection[str]) -> Iterator[str]:
    return (minted for number in count(1) if (minted := f"minted_{number}") not in taken)


def _content(call: WireCall) -> str:
    """What makes two deliveries the same call: name, type and arguments, whatever their spelling as JSON."""
    raw = call.raw_text
    with suppress(NotStrictJson):
        raw = json.dumps(decode(raw), sort_keys=True)
    return json.dumps([call.name, call.is_function, raw])
