"""What a request tells the model about the household: the day, the zone, who lives there and what they have.

All of it comes from the system message and the tools' schemas. Nothing else is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

_AREA = r"[A-Z][A-Za-z]+(?:/[A-Z][A-Za-z0-9_+-]+){1,2}"
_ZONES = (
    re.compile(rf"(?i:time ?zone)[^\n]{{0,40}}?\b({_AREA}|UTC)\b"),
    re.compile(rf"\b({_AREA})\b"),
)
_TODAY = re.compile(r"\b(?i:today|date)\b[^\n]{0,40}?\b(\d{4}-\d{2}-\d{2})\b")
_COLUMNS = re.compile(r"([^:;()]+):\s*([^;()]+)")


@dataclass(frozen=True, slots=True)
class Household:
    """`tools` maps the name of each offered tool to its JSON Schema."""

    today: date
    zone: tzinfo
    zone_name: str
    tools: Mapping[str, Mapping[str, Any]]

    @property
    def profiles(self) -> tuple[str, ...]:
        return self._choices("profile")

    @property
    def task_lists(self) -> tuple[str, ...]:
        return self._choices("list")

    @property
    def tabs(self) -> tuple[str, ...]:
        return self._choices("sheet")

    def columns(self, profile: str) -> tuple[str, ...]:
        """The columns of a person's sheet, as the description of `values` tells them."""
        described = str(self._field("values").get("description", ""))
        found = {name.strip(): columns for name, columns in _COLUMNS.findall(described)}
        return tuple(column.strip() for column in found.get(profile, "").split(",") if column.strip())

    def width(self, profile: str) -> int | None:
        """How many cells a row has, or None where nobody said."""
        columns = self.columns(profile)
        values = self._field("values")
        fixed = values.get("minItems") if values.get("minItems") == values.get("maxItems") else None
        return len(columns) or fixed

    def offers(self, tool: str, profile: str) -> bool:
        """Whether this very tool may be called for this person."""
        choices = self.tools[tool].get("properties", {}).get("profile", {}).get("enum", ())
        return profile in choices

    def _choices(self, name: str) -> tuple[str, ...]:
        return tuple(
            dict.fromkeys(str(choice) for field in self._fields(name) for choice in field.get("enum", ()))
        )

    def _field(self, name: str) -> Mapping[str, Any]:
        return next(iter(self._fields(name)), {})

    def _fields(self, name: str) -> list[Mapping[str, Any]]:
        found = (schema.get("properties", {}).get(name) for schema in self.tools.values())
        return [field for field in found if isinstance(field, Mapping)]


def household_of(messages: Sequence[Mapping[str, Any]], tools: Iterable[Mapping[str, Any]]) -> Household:
    """Read the system messages and the offered tools. Where no day is told, it is today; where no zone is, UTC."""
    told = "\n".join(
        text_of(message) for message in messages if message.get("role") in {"system", "developer"}
    )
    name, zone = _zone(told)
    functions = [tool["function"] for tool in tools if isinstance(tool.get("function"), Mapping)]
    return Household(
        _today(told, zone), zone, name, {str(f.get("name")): f.get("parameters") or {} for f in functions}
    )


def text_of(message: Mapping[str, Any]) -> str:
    """The text of a chat message, whether its content is text or a list of parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, Mapping))


def _today(told: str, zone: tzinfo) -> date:
    for day in _TODAY.findall(told):
        with suppress(ValueError):
            return date.fromisoformat(day)
    return datetime.now(zone).date()


def _zone(told: str) -> tuple[str, tzinfo]:
    for name in (name for pattern in _ZONES for name in pattern.findall(told)):
        with suppress(KeyError, ValueError, OSError):  # no such zone
            return name, ZoneInfo(name)
    return "UTC", UTC
