"""How two states of a workflow differ, as a person reads it. Pure.

Ids, dates and owners are no difference, nor is the place of a node on the canvas, as long as the branches behind
each node keep their order: n8n runs the upper one first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from butlerctl.redaction import redact
from butlerctl.workflows.digest import canonical_form
from butlerctl.workflows.walk import last_key, leaves

Form = Mapping[str, Any]

DEFAULTS: Mapping[str, Any] = {
    "errorWorkflow": "DEFAULT",
    "executionOrder": "v0",
    "executionTimeout": -1,
    "saveDataErrorExecution": "all",
    "saveDataSuccessExecution": "all",
    "saveExecutionProgress": False,
    "saveManualExecutions": True,
    "timezone": "DEFAULT",
}
"""What n8n takes for a setting that a workflow does not have. Its API cannot remove a setting; it can write this."""

# Compared on their own, or of no meaning.
_OWN_RULES = frozenset({"name", "position", "parameters", "credentials", "webhookId"})


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `where` is the place in a person's words; None stands for "not there". Values are redacted."""

    where: str
    before: Any
    after: Any

    def as_json(self) -> dict[str, Any]:
        return {"where": self.where, "before": self.before, "after": self.after}


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Change, ...]:
    """What has to change in `before` (an export, a saved or a published version) to make it `after`."""
    old, new = canonical_form(before), canonical_form(after)
    return (
        *_compared("name", {"": old["name"]}, {"": new["name"]}),
        *_nodes(_by_name(old), _by_name(new)),
        *_connections(old, new),
        *_compared("settings", settings_of(old), settings_of(new)),
    )


def moved(before: Mapping[str, Any], after: Mapping[str, Any]) -> int:
    """How many nodes stand elsewhere on the canvas."""
    old, new = _by_name(canonical_form(before)), _by_name(canonical_form(after))
    return sum(old[name].get("position") != new[name].get("position") for name in old.keys() & new.keys())


def settings_of(document: Form) -> dict[str, Any]:
    """The settings that say more than n8n's own defaults; those that n8n adds by itself are left out."""
    settings = canonical_form(document)["settings"]
    return {key: value for key, value in settings.items() if key not in DEFAULTS or value != DEFAULTS[key]}


def _by_name(form: Form) -> dict[str, Form]:
    return {str(node.get("name", "")): node for node in form["nodes"] if isinstance(node, Mapping)}


def _nodes(old: Mapping[str, Form], new: Mapping[str, Form]) -> Iterator[Change]:
    for name in dict.fromkeys([*old, *new]):
        where = f'node "{name}"'
        if name not in new:
            yield Change(where, old[name].get("type"), None)
        elif name not in old:
            yield Change(where, None, new[name].get("type"))
        elif old[name] != new[name]:
            yield from _node(where, old[name], new[name])


def _node(where: str, old: Form, new: Form) -> Iterator[Change]:
    yield from _compared(where, _plain(old), _plain(new))
    yield from _compared(where, _parameters(old), _parameters(new), lambda: (_shown(old), _shown(new)))
    yield from _compared(f"{where}: credential", _credentials(old), _credentials(new))


def _shown(node: Form) -> dict[str, Any]:
    """The parameters, redacted as a whole: that a value is a secret may be said beside it."""
    return _parameters({"parameters": redact(node.get("parameters"))})


def _plain(node: Form) -> dict[str, Any]:
    """Everything but parameters and credentials; what is switched off or empty is as good as not there.

    The webhook's own id counts only where it is the path.
    """
    own = {key: value for key, value in node.items() if key not in _OWN_RULES and value}
    hook = node.get("webhookId")
    return own | ({"webhookId": hook} if hook and not (node.get("parameters") or {}).get("path") else {})


def _parameters(node: Form) -> dict[str, Any]:
    """Dotted path -> value; empty lists and objects, and what the editor only shows, are left out."""
    return {
        ".".join(map(str, path)): value
        for path, value in leaves(node.get("parameters"))
        if not last_key(path).startswith("cached")
    }


def _credentials(node: Form) -> dict[str, Any]:
    credentials = node.get("credentials")
    return {
        kind: entry.get("id") or entry if isinstance(entry, Mapping) else entry
        for kind, entry in (credentials.items() if isinstance(credentials, Mapping) else ())
    }


def _compared(
    where: str,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    shown: Callable[[], tuple[Mapping[str, Any], Mapping[str, Any]]] | None = None,
) -> Iterator[Change]:
    """`shown` gives `old` and `new` as they may be shown."""
    changed = [key for key in dict.fromkeys([*old, *new]) if old.get(key) != new.get(key)]
    if not changed:
        return
    before, after = shown() if shown else (redact(old), redact(new))
    for key in changed:
        yield Change(f"{where}: {key}" if key else where, before.get(key), after.get(key))


def _connections(old: Form, new: Form) -> Iterator[Change]:
    before, after = list(_edges(old)), list(_edges(new))
    yield from (Change("connection", edge, None) for edge in before if edge not in after)
    yield from (Change("connection", None, edge) for edge in after if edge not in before)
    orders = _orders(old), _orders(new)
    for source in orders[0].keys() & orders[1].keys():
        was, becomes = orders[0][source], orders[1][source]
        if was != becomes and set(was) == set(becomes):
            yield Change(f'order of the branches behind "{source}"', ", ".join(was), ", ".join(becomes))


def _edges(form: Form) -> Iterator[str]:
    for source, kind, output, target in _targets(form):
        name, index = target.get("node"), target.get("index", 0)
        port = f" [{output}]" if output else ""
        entry = f" [{index}]" if index else ""
        yield f"{source}{port} -> {name}{entry}" + ("" if kind == "main" else f" ({kind})")


def _orders(form: Form) -> dict[str, Sequence[str]]:
    """The nodes behind each node that has several, in the order in which n8n runs them."""
    places = {name: node.get("position") for name, node in _by_name(form).items()}
    behind: dict[str, list[str]] = {}
    for source, _, _, target in _targets(form):
        behind.setdefault(source, []).append(str(target.get("node")))
    if form["settings"].get("executionOrder") == "v1":
        behind = {
            source: sorted(names, key=lambda name: _height(places.get(name)))
            for source, names in behind.items()
        }
    return {source: names for source, names in behind.items() if len(set(names)) > 1}


def _height(place: Any) -> tuple[float, float]:
    """From the top down, then from the left."""
    fits = (
        isinstance(place, Sequence) and len(place) == 2 and all(isinstance(at, int | float) for at in place)
    )
    return (place[1], place[0]) if fits else (0, 0)


def _targets(form: Form) -> Iterator[tuple[str, str, int, Form]]:
    for source, kinds in form["connections"].items():
        for kind, outputs in kinds.items() if isinstance(kinds, Mapping) else ():
            for output, targets in enumerate(outputs if isinstance(outputs, list) else ()):
                for target in targets if isinstance(targets, list) else ():
                    if isinstance(target, Mapping):
                        yield source, kind, output, target
