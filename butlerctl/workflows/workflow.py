"""One workflow as the rules see it: nodes by type, connections as a graph, everything worked out once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from butlerctl.workflows.document import Reading
from butlerctl.workflows.notations import EVERYTHING, N8N_MARK, IdShape, Live, credential_id_shape, live_in
from butlerctl.workflows.placeholders import (
    Placeholder,
    placeholders_of,
)
from butlerctl.workflows.references import all_names
from butlerctl.workflows.secrets import Suspects, suspects_in
from butlerctl.workflows.walk import Path, strings

BASE = "n8n-nodes-base."
_PACKAGES_OF_N8N = (BASE, "@n8n/")
WEBHOOK = BASE + "webhook"
RESPOND = BASE + "respondToWebhook"
CODE_TYPES = frozenset({BASE + "code", BASE + "function", BASE + "functionItem"})
# Triggers whose type does not end in "Trigger".
_TRIGGERS = frozenset({WEBHOOK, BASE + "cron", BASE + "interval", BASE + "start", BASE + "emailReadImap"})
# Triggers that a person or another workflow starts: nothing outside waits for them.
_NO_PRODUCTION = frozenset(
    {
        BASE + "manualTrigger",
        BASE + "start",
        BASE + "executeWorkflowTrigger",
        BASE + "errorTrigger",
        BASE + "evaluationTrigger",
        "@n8n/n8n-nodes-langchain.manualChatTrigger",
    }
)


class Node:
    """A node. Values of the wrong type read as empty; `raw` keeps what the file says."""

    __slots__ = ("credentials", "disabled", "index", "name", "parameters", "raw", "type")

    def __init__(self, index: int, raw: dict[str, Any]) -> None:
        self.index = index
        self.raw = raw
        self.name = _text(raw.get("name"))
        self.type = _text(raw.get("type"))
        self.parameters: dict[str, Any] = _object(raw.get("parameters"))
        self.credentials: dict[str, Any] = _object(raw.get("credentials"))
        self.disabled = raw.get("disabled") is True

    @property
    def path(self) -> Path:
        return ("nodes", self.index)

    @property
    def is_trigger(self) -> bool:
        return self.type.endswith("Trigger") or self.type in _TRIGGERS

    @property
    def is_production_trigger(self) -> bool:
        return self.is_trigger and self.type not in _NO_PRODUCTION

    @property
    def on_error(self) -> str:
        """What the node does when it fails; the older `continueOnFail` counts as its newer name."""
        if self.raw.get("continueOnFail") is True and "onError" not in self.raw:
            return "continueRegularOutput"
        return _text(self.raw.get("onError"))


class Edge(NamedTuple):
    """One connection, and where it stands in the file."""

    source: str
    kind: str
    output: int
    target: str
    path: Path


class Source:
    """A file, and what one look at all its values rules out. Shared by all workflows in it."""

    def __init__(self, reading: Reading) -> None:
        self.file = reading.file
        self.big_integers = reading.big_integers
        self.values = reading.values
        self.long_values = reading.long_values
        self._lowered = (self.values.lower(), self.long_values.lower())
        self._found: dict[tuple[str, ...], bool] = {}

    def holds_any(self, needles: tuple[str, ...]) -> bool:
        """Whether one of these (in lower case) stands in some value."""
        if needles not in self._found:
            self._found[needles] = any(needle in text for needle in needles for text in self._lowered)
        return self._found[needles]

    @cached_property
    def live(self) -> Live:
        """The notations of placeholders that may stand in the parameters of this file.

        Long values are code or prose, where only n8n's own notation counts.
        """
        if N8N_MARK in self.long_values:
            return EVERYTHING
        return live_in(self.values, self._lowered[0])

    @cached_property
    def suspects(self) -> Suspects:
        """The secrets that may stand in this file."""
        return suspects_in(self.values, self._lowered[0], self.long_values)

    @cached_property
    def references(self) -> frozenset[str]:
        """The node names that expressions and code may read from."""
        return all_names(self.values) | all_names(self.long_values)


class CredentialUse(NamedTuple):
    """A credential that a node names. `path` leads to its id, or to the entry where there is none."""

    node: Node
    kind: str
    id: Any
    shape: IdShape
    path: Path


class Workflow:
    """One workflow of a file. `prefix` leads to it from the root of its file."""

    def __init__(self, document: dict[str, Any], source: Source | None = None, prefix: Path = ()) -> None:
        source = source or _source_of(document)
        self.document = document
        self.source = source
        self.file = source.file
        self.prefix = prefix
        self.name = _text(document.get("name"))
        raw_nodes = document.get("nodes")
        self.nodes = [
            Node(index, raw)
            for index, raw in enumerate(raw_nodes if isinstance(raw_nodes, list) else ())
            if isinstance(raw, dict)
        ]
        self._by_index: dict[str | int, Node] = {node.index: node for node in self.nodes}
        self.by_name = {node.name: node for node in self.nodes}
        self.webhooks = [node for node in self.nodes if node.type == WEBHOOK]
        self.everywhere = False
        self._credential_uses: list[CredentialUse] | None = None
        self._placeholders: tuple[Placeholder, ...] | None = None
        self._edges: list[Edge] | None = None
        self._outputs: dict[str, list[list[str]]] | None = None

    @property
    def archived(self) -> bool:
        return self.document.get("isArchived") is True

    @property
    def stem(self) -> str:
        """The file's name without folder and ending."""
        return self.file.replace("\\", "/").rpartition("/")[2].removesuffix(".json")

    @property
    def placeholders(self) -> tuple[Placeholder, ...]:
        """Every place that waits for a value; those in code and prose only if `everywhere` is set."""
        if self._placeholders is None:
            self._placeholders = placeholders_of(
                self.document,
                everywhere=self.everywhere,
                live=EVERYTHING if self.everywhere else self.source.live,
            )
        return self._placeholders

    @property
    def credential_uses(self) -> list[CredentialUse]:
        """The credentials of all nodes; the older form that holds a name only is left out."""
        if self._credential_uses is None:
            self._credential_uses = [
                CredentialUse(
                    node,
                    kind,
                    entry.get("id"),
                    credential_id_shape(entry.get("id")),
                    (*node.path, "credentials", kind, "id"),
                )
                for node in self.nodes
                for kind, entry in node.credentials.items()
                if isinstance(entry, dict)
            ]
        return self._credential_uses

    def label_of(self, path: Path) -> str:
        """What a person calls the value at a path: the header's name, the field's name, the parameter."""
        parent: Any = self.document
        for part in path[:-1]:
            parent = parent[part]
        if path[-1] == "value" and isinstance(parent, dict):
            for key in ("name", "key"):
                if isinstance(parent.get(key), str):
                    return str(parent[key])
        names = [part for part in path if isinstance(part, str)]
        return names[-2] if len(names) > 3 and names[-1] == "value" else names[-1]

    def node_at(self, path: Path) -> Node:
        """The node in which a path of this workflow lies."""
        return self._by_index[path[1]]

    @property
    def edges(self) -> list[Edge]:
        if self._edges is None:
            self._edges = list(_edges(self.document.get("connections")))
        return self._edges

    @cached_property
    def is_torn(self) -> bool:
        """Whether a connection begins or ends at a missing node: what is unreached may only follow from that."""
        return any(edge.target not in self.by_name or edge.source not in self.by_name for edge in self.edges)

    def reached_from(self, starts: Iterable[str]) -> frozenset[str]:
        """These nodes, and what n8n runs behind them: main connections lead forward, and a model, memory or tool
        is reached when the node it serves is.
        """
        leads_to: dict[str, list[str]] = {}
        for edge in self.edges:
            source, target = (edge.source, edge.target) if edge.kind == "main" else (edge.target, edge.source)
            leads_to.setdefault(source, []).append(target)
        return _reached(starts, lambda name: leads_to.get(name, ()))

    def is_unchecked(self, name: str) -> bool:
        """Whether n8n passes this node over when it checks a workflow before an activation, and never runs it.

        So it does with a disabled node, and with one that has no connection where others have some; a trigger
        needs none.
        """
        return name in self._unchecked

    def is_idle(self, name: str) -> bool:
        """Whether nothing can make n8n run this node, not even a trigger that is switched on later."""
        return name in self._unchecked or name in self._abandoned

    @cached_property
    def _unchecked(self) -> frozenset[str]:
        connections = _object(self.document.get("connections"))
        wired = {source for source, kinds in connections.items() if kinds}
        wired.update(edge.target for edge in self.edges)
        loose = (
            {node.name for node in self.nodes if not node.is_trigger} - wired
            if self._is_whole
            else frozenset()
        )
        return frozenset(node.name for node in self.nodes if node.disabled) | loose

    @cached_property
    def _abandoned(self) -> frozenset[str]:
        """The nodes to which no trigger leads; one of a package that is not n8n's may be a trigger as well."""
        names = frozenset(node.name for node in self.nodes)
        if not self._is_whole or not any(node.is_trigger for node in self.nodes):
            return frozenset()
        starts = [
            node.name for node in self.nodes if node.is_trigger or not node.type.startswith(_PACKAGES_OF_N8N)
        ]
        return names - self.reached_from(starts)

    @property
    def _is_whole(self) -> bool:
        """Whether there are connections, and none is torn: else it is not known what belongs together."""
        return bool(self.edges) and not self.is_torn

    def outputs(self, name: str) -> list[list[str]]:
        """The nodes behind each main output of a node, by output."""
        if self._outputs is None:
            self._outputs = {}
            for edge in self.edges:
                if edge.kind == "main":
                    outputs = self._outputs.setdefault(edge.source, [])
                    outputs.extend([] for _ in range(edge.output + 1 - len(outputs)))
                    outputs[edge.output].append(edge.target)
        return self._outputs.get(name, [])

    def behind(self, names: Iterable[str]) -> frozenset[str]:
        """Every enabled node that the main connections reach from these nodes.

        A disabled node passes its input through, so what stands behind it is reached as well.
        """
        targets: dict[str, list[str]] = {}
        for edge in self.edges:
            if edge.kind == "main":
                targets.setdefault(edge.source, []).append(edge.target)
        reached = _reached(
            [target for name in names for target in targets.get(name, ())], lambda name: targets.get(name, ())
        )
        return frozenset(name for name in reached if name in self.by_name and not self.by_name[name].disabled)

    def before(self, names: Iterable[str]) -> frozenset[str]:
        """Every node, disabled ones included, from which the main connections lead to one of these nodes."""
        sources: dict[str, list[str]] = {}
        for edge in self.edges:
            if edge.kind == "main":
                sources.setdefault(edge.target, []).append(edge.source)
        return _reached(
            [source for name in names for source in sources.get(name, ())], lambda name: sources.get(name, ())
        )

    @cached_property
    def responders(self) -> list[Node]:
        """The enabled Respond nodes."""
        return [node for node in self.nodes if node.type == RESPOND and not node.disabled]

    @cached_property
    def before_respond(self) -> frozenset[str]:
        """The nodes from which a Respond node is reached."""
        return self.before(node.name for node in self.responders)

    @cached_property
    def answering(self) -> list[Node]:
        """The enabled webhooks whose caller waits for the result of the workflow."""
        return [
            node
            for node in self.webhooks
            if not node.disabled and node.parameters.get("responseMode") in ("responseNode", "lastNode")
        ]

    @cached_property
    def answered(self) -> frozenset[str]:
        """The enabled nodes that run while a caller waits."""
        return self.behind(webhook.name for webhook in self.answering)


def _reached(starts: Iterable[str], onward: Callable[[str], Iterable[str]]) -> frozenset[str]:
    seen: set[str] = set()
    waiting = list(starts)
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(onward(name))
    return frozenset(seen)


def _source_of(document: dict[str, Any]) -> Source:
    """For a workflow that comes from no file."""
    return Source(Reading("", "", values="\n".join(text for _, text in strings(document))))


def _edges(connections: Any) -> Iterator[Edge]:
    for source, kinds in _object(connections).items():
        for kind, outputs in _object(kinds).items():
            for output, targets in enumerate(outputs if isinstance(outputs, list) else ()):
                for index, target in enumerate(targets if isinstance(targets, list) else ()):
                    if isinstance(target, dict) and isinstance(target.get("node"), str):
                        path = ("connections", source, kind, output, index, "node")
                        yield Edge(source, kind, output, target["node"], path)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
