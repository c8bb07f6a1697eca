"""The one coercion: a plain digit string becomes an integer where the schema asks for an integer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_DIGITS = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")


def schema_types(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The types that a schema allows; () when it does not say. An enum of texts says `string`."""
    declared = schema.get("type")
    if isinstance(declared, str):
        return (declared,)
    if isinstance(declared, list):
        return tuple(declared)
    allowed = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    return ("string",) if allowed and all(isinstance(item, str) for item in allowed) else ()


def property_schema(schema: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """What a schema says about one property; {} when it says nothing, or only `true` or `false`."""
    found = schema.get("properties", {}).get(key)
    return found if isinstance(found, Mapping) else {}


def wants_integer(schema: Mapping[str, Any]) -> bool:
    types = schema_types(schema)
    return "integer" in types and "string" not in types


def coerce(value: Any, schema: Mapping[str, Any]) -> Any:
    """The value with digit strings turned to integers where the schema says integer. Nothing else changes."""
    if isinstance(value, str):
        return int(value) if wants_integer(schema) and _DIGITS.fullmatch(value) else value
    if isinstance(value, dict):
        return {key: coerce(item, property_schema(schema, key)) for key, item in value.items()}
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        return [coerce(item, schema["items"]) for item in value]
    return value
