"""Reading YAML with positions: every complaint names file, line and key, and says what would be right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from butlerctl.errors import InventoryError
from butlerctl.inventory.values import Value

# The C parser where PyYAML was built with it: five times as fast.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_STRING = "tag:yaml.org,2002:str"
_NULL = "tag:yaml.org,2002:null"


class Source:
    """One inventory file: where it lies and which environment its references read."""

    def __init__(self, path: Path, environ: Mapping[str, str]) -> None:
        self.path = path
        self.folder = path.parent
        self.environ = environ

    def complaint(self, node: yaml.Node, key: str, problem: str) -> InventoryError:
        return InventoryError(f"{self.path.name}:{node.start_mark.line + 1}: {key}: {problem}")

    def place(self, node: yaml.Node, key: str) -> str:
        return f"{self.path.name}:{node.start_mark.line + 1}: {key}"


def read_root(text: str, source: Source) -> Section:
    """The top mapping of an inventory.

    Raises:
        InventoryError: the text is no YAML, or its top is no mapping.
    """
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = 1 if mark is None else mark.line + 1
        raise InventoryError(f"{source.path.name}:{line}: no YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise InventoryError(f"{source.path.name}: no YAML: {str(error).splitlines()[0]}") from error
    if node is None:
        raise InventoryError(f"{source.path.name}: the file is empty", hint="`version: 1` is its first line")
    return Section(node, "", source)


class Section:
    """A mapping of the file, read key by key. `close` complains about keys that nobody asked for."""

    def __init__(self, node: yaml.Node, path: str, source: Source) -> None:
        if not isinstance(node, yaml.MappingNode):
            raise source.complaint(node, path or "the file", "must be a mapping of keys to values")
        self._node = node
        self._path = path
        self._source = source
        self._asked: set[str] = set()
        self._items = self._read_items(node)

    def __contains__(self, key: str) -> bool:
        return key in self._items

    def keys(self) -> Iterable[str]:
        return self._items.keys()

    def text(self, key: str, default: str | None = None) -> str:
        """Text as written. A number counts as its digits: `2.30` stays `2.30`."""
        node = self._get(key)
        if node is None and default is not None:
            return default
        return self._scalar(self._there(node, key), key)

    def choice(self, key: str, options: tuple[str, ...], default: str | None = None) -> str:
        found = self.text(key, default)
        if found not in options:
            raise self.wrong(key, f"{found!r} must be one of {', '.join(options)}")
        return found

    def number(self, key: str, default: float, *, low: float, high: float) -> float:
        node = self._get(key)
        if node is None:
            return default
        try:
            found = float(self._scalar(node, key))
        except ValueError:
            raise self.wrong(key, "must be a number") from None
        if not low <= found <= high:
            raise self.wrong(key, f"must be between {low:g} and {high:g}")
        return found

    def flag(self, key: str, *, default: bool) -> bool:
        return self.choice(key, ("true", "false"), str(default).lower()) == "true"

    def names(self, key: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """A list of texts, without repeats."""
        node = self._get(key)
        if node is None and default is not None:
            return default
        node = self._there(node, key)
        if not isinstance(node, yaml.SequenceNode):
            raise self.wrong(key, "must be a list")
        found = tuple(self._scalar(item, key) for item in node.value)
        if len(set(found)) < len(found):
            raise self.wrong(key, "names something twice")
        return found

    def value(self, key: str, *, secret: bool = False, form: str = "") -> Value:
        """A value that may be a reference; a secret must be one.

        Raises:
            InventoryError: the key is missing, or a secret stands in the file itself.
        """
        found = self.optional_value(key, secret=secret, form=form)
        if found is None:
            raise self.wrong(key, "is missing")
        return found

    def optional_value(self, key: str, *, secret: bool = False, form: str = "") -> Value | None:
        node = self._get(key)
        if node is None:
            return None
        value = Value(
            self._scalar(node, key),
            self._source.place(node, self._name(key)),
            self._source.folder,
            self._source.environ,
            secret,
            form,
        )
        if secret and value.text and not value.is_reference:
            raise self.wrong(key, "a secret must be a reference: ${NAME}, file:PATH or keyring:SERVICE/NAME")
        return value

    def section(self, key: str) -> Section:
        node = self._there(self._get(key), key)
        return Section(node, self._name(key), self._source)

    def optional_section(self, key: str) -> Section:
        """The section, or an empty one."""
        node = self._get(key)
        empty = yaml.MappingNode("tag:yaml.org,2002:map", [], self._node.start_mark, self._node.end_mark)
        return Section(node or empty, self._name(key), self._source)

    def wrong(self, key: str, problem: str) -> InventoryError:
        return self._source.complaint(self._items.get(key, self._node), self._name(key), problem)

    def close(self) -> None:
        """
        Raises:
            InventoryError: a key that is not known here.
        """
        for key, node in self._items.items():
            if key not in self._asked:
                near = get_close_matches(key, self._asked, n=1)
                known = (
                    f"did you mean {near[0]}?" if near else f"known here: {', '.join(sorted(self._asked))}"
                )
                raise self._source.complaint(node, self._name(key), f"unknown key; {known}")

    def _read_items(self, node: yaml.MappingNode) -> dict[str, yaml.Node]:
        items: dict[str, yaml.Node] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value)
            if key in items:
                raise self._source.complaint(key_node, self._name(key), "stands here twice")
            items[key] = value_node
        return items

    def _get(self, key: str) -> yaml.Node | None:
        self._asked.add(key)
        node = self._items.get(key)
        return None if node is None or node.tag == _NULL else node

    def _there(self, node: yaml.Node | None, key: str) -> yaml.Node:
        if node is None:
            raise self.wrong(key, "is missing")
        return node

    def _scalar(self, node: yaml.Node, key: str) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise self._source.complaint(node, self._name(key), "must be text")
        return str(node.value)

    def _name(self, key: str) -> str:
        return f"{self._path}.{key}" if self._path else key
