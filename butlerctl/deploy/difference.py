"""How two states of a workflow differ, as a person reads it. Pure.

Found in their canonical forms: there is no difference exactly when the digests are equal.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from butlerctl.errors import BadDocument
from butlerctl.redaction import redact, redact_text
from butlerctl.workflows.canonical import canonical_form, name_of

Form = Mapping[str, Any]
Path = tuple[str | int, ...]

_ABSENT = object()
# Compared after the rest of a node, each under words of its own.
_PARTS = ("parameters", "credentials")


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `where` is the place in a person's words; None stands for "not there". Values are redacted."""

    where: str
    before: Any
    after: Any

    def as_json(self) -> dict[str, Any]:
        return {"where": self.where, "before": self.before, "after": self.after}


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Change, ...]:
    """What has to change in `before` (an export, a saved or a published version) to make it `after`.

    Raises BadDocument for a document that is nested too deep.
    """
    try:
        return tuple(_differences(canonical_form(before), canonical_form(after)))
    except RecursionError as error:
        raise BadDocument(f"workflow {after.get('name')!r} is nested too deep") from error


def _differences(old: Form, new: Form) -> Iterator[Change]:
    yield from (
        *_changes("name", old["name"], new["name"]),
        *_nodes(_named(old), _named(new)),
        *_connections(old, new),
        *_orders(old["order"], new["order"]),
        *_changes("settings", old["settings"], new["settings"]),
    )


def moved(before: Mapping[str, Any], after: Mapping[str, Any]) -> int:
    """How many nodes stand elsewhere on the canvas."""
    old, new = _places(before), _places(after)
    return sum(old[name] != new[name] for name in old.keys() & new.keys())


def _places(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name_of(node): node.get("position") for node in document.get("nodes") or [] if name_of(node)}


def _named(form: Form) -> dict[str, Any]:
    """The nodes by their names; of several with one name each but the first has its number too."""
    seen: Counter[str] = Counter()
    found = {}
    for node in form["nodes"]:
        name = name_of(node)
        seen[name] += 1
        found[f'node "{name}"' + (f" ({seen[name]})" if seen[name] > 1 else "")] = node
    return found


def _nodes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for where in dict.fromkeys([*old, *new]):
        before, after = old.get(where), new.get(where)
        if where not in new:
            yield Change(where, _kind(before), None)
        elif where not in old:
            yield Change(where, None, _kind(after))
        elif isinstance(before, Mapping) and isinstance(after, Mapping):
            yield from _node(where, before, after)
        else:
            yield from _changes(where, before, after)


def _kind(node: Any) -> str:
    return str(node.get("type") if isinstance(node, Mapping) else node)


def _node(where: str, old: Form, new: Form) -> Iterator[Change]:
    rest = [{key: node[key] for key in node if key not in _PARTS} for node in (old, new)]
    yield from _changes(where, *rest)
    yield from _changes(where, old.get("parameters", {}), new.get("parameters", {}))
    for change in _changes(f"{where}: credential", old.get("credentials", {}), new.get("credentials", {})):
        yield replace(change, where=change.where.removesuffix(".id"))


def _changes(where: str, old: Any, new: Any) -> Iterator[Change]:
    """Every place in which two values differ. Both are redacted as wholes: that a value is a secret may be said
    beside it.
    """
    found = list(_walk(old, new, ()))
    shown = (redact(old), redact(new)) if found else (None, None)
    for path, before, after in found:
        words = redact_text(".".join(map(str, path)))
        yield Change(
            f"{where}: {words}" if path else where,
            _shown(shown[0], path, before),
            _shown(shown[1], path, after),
        )


def _walk(old: Any, new: Any, path: Path) -> Iterator[tuple[Path, Any, Any]]:
    """(place, before, after) of the innermost differences; yields nothing exactly when both are the same JSON."""
    old, new = _beside(old, new), _beside(new, old)
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys([*old, *new]):
            yield from _walk(old.get(key, _ABSENT), new.get(key, _ABSENT), (*path, key))
    elif isinstance(old, list) and isinstance(new, list):
        for index, (one, other) in enumerate(zip_longest(old, new, fillvalue=_ABSENT)):
            yield from _walk(one, other, (*path, index))
    elif not _same(old, new):
        yield path, old, new


def _beside(value: Any, other: Any) -> Any:
    """An empty value of the other's kind for one that is not there, so that each of the other's parts is named."""
    return type(other)() if value is _ABSENT and isinstance(other, dict | list) and other else value


def _same(old: Any, new: Any) -> bool:
    """Equal as JSON: `true` is no number."""
    return old is new or (isinstance(old, bool) == isinstance(new, bool) and bool(old == new))


def _shown(redacted: Any, path: Path, value: Any) -> Any:
    """The value at its place in the redacted whole. JSON's null is a word: None is kept for what is not there."""
    if value is _ABSENT:
        return None
    for step in path:
        inside = isinstance(redacted, list) or (isinstance(redacted, Mapping) and step in redacted)
        redacted = redacted[step] if inside else redact(value)
        if not inside:
            break
    return "null" if redacted is None else redacted


def _connections(old: Form, new: Form) -> Iterator[Change]:
    before, after = (Counter(map(json.dumps, form["connections"])) for form in (old, new))
    yield from (Change("connection", _edge(text), None) for text in (before - after).elements())
    yield from (Change("connection", None, _edge(text)) for text in (after - before).elements())


def _edge(text: str) -> str:
    source, kind, output, target, target_kind, index = json.loads(text)
    port = f" [{output}]" if output else ""
    kinds = "" if kind == "main" else f" ({kind})"
    return f"{source}{port} -> {_entry(target, index)}{kinds if kind == target_kind else f' ({kind} to {target_kind})'}"


def _entry(target: Any, index: Any) -> str:
    return f"{target}" + ("" if _same(index, 0) else f" [{index}]")


def _orders(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Where the same nodes run in another order; that one of them is gone or new, its connection says."""
    for source in (source for source in old if source in new):
        was, becomes = ([json.dumps(each) for each in order[source]] for order in (old, new))
        if was != becomes and Counter(was) == Counter(becomes):
            yield Change(
                f'order of the branches behind "{source}"', _entries(old[source]), _entries(new[source])
            )


def _entries(order: Iterable[list[Any]]) -> str:
    return ", ".join(_entry(*each) for each in order)
