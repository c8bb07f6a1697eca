"""The allow-list of one surface: the tools that a model may call there, and nothing else.

Tools are registered one by one. Nothing is scanned, imported by name or looked up in globals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from butlerctl.errors import BadInput
from butlerctl.protocol.tools import ToolSchema
from butlerctl.protocol.validate import Faults, build_validator

Function = Callable[..., Any]


@dataclass(slots=True)
class Tool:
    """One registered tool: its schema, the function behind it, and a check of what the schema cannot say."""

    schema: ToolSchema
    function: Function | None = None
    beyond_schema: Callable[[Mapping[str, Any]], list[str]] | None = None
    _validator: Faults | None = field(default=None, repr=False)

    def faults(self, arguments: Any) -> list[str]:
        """What is wrong with these arguments, as `field: what is wrong`; [] when they fit."""
        if self._validator is None:
            self._validator = build_validator(self.schema.parameters)
        found = self._validator(arguments)
        if not found and self.beyond_schema is not None:
            return self.beyond_schema(arguments)
        return found


class Registry:
    """Tools by exact name. Raises BadInput for a name that is registered twice."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            self.add(tool)

    def add(self, tool: Tool) -> None:
        if tool.schema.name in self._tools:
            raise BadInput(f"the tool {tool.schema.name!r} is registered twice")
        self._tools[tool.schema.name] = tool

    def get(self, name: str) -> Tool | None:
        """The tool of exactly this name, or None."""
        return self._tools.get(name)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    @property
    def schemas(self) -> tuple[ToolSchema, ...]:
        return tuple(tool.schema for tool in self)


def read_registry(document: Any) -> Registry:
    """A registry without functions from `[{name, description, parameters}, …]`. Raises BadInput."""
    if not isinstance(document, list):
        raise BadInput("a registry file must hold a JSON list of tools")
    return Registry(Tool(_read_schema(entry, number)) for number, entry in enumerate(document, start=1))


def _read_schema(entry: Any, number: int) -> ToolSchema:
    if not isinstance(entry, dict):
        raise BadInput(f"tool {number} of the registry file must be an object")
    name, parameters = entry.get("name"), entry.get("parameters")
    if not isinstance(name, str) or not name:
        raise BadInput(f"tool {number} of the registry file needs a name")
    if not isinstance(parameters, dict):
        raise BadInput(f"the tool {name!r} of the registry file needs parameters, a JSON Schema")
    return ToolSchema(name, str(entry.get("description", "")), parameters)
