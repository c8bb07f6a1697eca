"""Values against the schemas of a discovery document: query parameters, request bodies, own responses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from butlerctl.lab.google.times import parse_instant


class Mismatch(ValueError):
    """Something does not fit; the text names the field and what was expected."""


@dataclass(frozen=True, slots=True)
class Checker:
    """Holds values against the schemas of one API.

    `unknown` says what becomes of fields that no schema knows: "reject", or "drop".
    """

    schemas: Mapping[str, Mapping[str, Any]]
    unknown: str = "reject"

    def check(self, schema_name: str, value: Any) -> Any:
        """The value without dropped fields.

        Raises:
            Mismatch: the first field that does not fit.
        """
        return self._value({"$ref": schema_name}, value, "")

    def _value(self, schema: Mapping[str, Any], value: Any, where: str) -> Any:
        while "$ref" in schema:
            schema = self.schemas[schema["$ref"]]
        kind = schema.get("type", "any")
        if kind == "any" or value is None:
            return value
        if kind == "integer" and isinstance(value, str) and re.fullmatch(r"-?\d+", value):
            return int(value)  # protobuf's JSON takes a number in quotes; n8n's Sheets node sends one
        if not _is_of_type(kind, value):
            raise Mismatch(f"{where or 'body'}: expected {kind}, got {type(value).__name__}")
        if kind == "object":
            return dict(self._fields(schema, value, where))
        if kind == "array":
            items = schema["items"]
            return [self._value(items, item, f"{where}[{index}]") for index, item in enumerate(value)]
        check_text(schema, value, where)
        return value

    def _fields(
        self, schema: Mapping[str, Any], value: Mapping[str, Any], where: str
    ) -> Iterator[tuple[str, Any]]:
        known = schema.get("properties", {})
        others = schema.get("additionalProperties")
        for name, item in value.items():
            described = known.get(name, others)
            if described is not None:
                yield name, self._value(described, item, f"{where}.{name}" if where else name)
            elif self.unknown == "reject":
                raise Mismatch(
                    f'Unknown name "{name}"{f" at {where!r}" if where else ""}: Cannot find field.'
                )


_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "object": (dict,),
    "array": (list,),
}


def _is_of_type(kind: str, value: Any) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES.get(kind, ()))


def check_text(schema: Mapping[str, Any], value: Any, where: str) -> None:
    """Enumerations and the formats that Google checks at its edge.

    Raises:
        Mismatch: the value is none of them.
    """
    if "enum" in schema and value not in schema["enum"]:
        raise Mismatch(f"{where}: Invalid value: {value!r}")
    fits = _FORMATS.get(schema.get("format", ""))
    if fits and isinstance(value, str) and not fits(value):
        raise Mismatch(f"{where}: Invalid value for {schema['format']}: {value!r}")


def _is_date(text: str) -> bool:
    try:
        return bool(re.fullmatch(r"\d{4}-\d{2}-\d{2}", text)) and date.fromisoformat(text) is not None
    except ValueError:
        return False


_FORMATS: Mapping[str, Callable[[str], bool]] = {
    "date-time": lambda text: parse_instant(text) is not None,
    "date": _is_date,
    "int64": lambda text: re.fullmatch(r"-?\d+", text) is not None,
}


def parse_parameter(schema: Mapping[str, Any], text: str, name: str) -> Any:
    """The typed value of one query or path parameter.

    Raises:
        Mismatch: it has another type, or is not one of the allowed values.
    """
    kind = schema.get("type", "string")
    if kind == "boolean":
        if text not in {"true", "false"}:
            raise Mismatch(f"Invalid value for {name}: {text!r} is no boolean")
        return text == "true"
    if kind == "integer":
        if not re.fullmatch(r"-?\d+", text) or int(text) < int(schema.get("minimum", "-2147483648")):
            raise Mismatch(f"Invalid value for {name}: {text!r}")
        return int(text)
    check_text(schema, text, name)
    return text
