"""Arguments against a tool's JSON Schema. A validator is built once for each tool."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

from butlerctl.errors import BadInput
from butlerctl.protocol.coerce import property_schema, schema_types

_MOST_FAULTS = 5
_MOST_CHARACTERS = 300  # of one fault: it may quote a long argument

Faults = Callable[[Any], list[str]]
"""What is wrong with arguments, as `field: what is wrong`; [] when they fit."""


def build_validator(schema: Mapping[str, Any]) -> Faults:
    """A function that lists the faults of arguments. Raises BadInput when the schema itself is none."""
    from jsonschema_rs import Draft202012Validator, ValidationError

    try:
        validator = Draft202012Validator(dict(schema))
    except (ValidationError, ValueError) as error:
        raise BadInput(f"a tool's parameters are no JSON Schema: {error}") from error

    def faults(arguments: Any) -> list[str]:
        broken = (_fault(error.instance_path, error.message) for error in validator.iter_errors(arguments))
        return list(islice(chain(broken, _whole_floats(arguments, schema)), _MOST_FAULTS))

    return faults


def _whole_floats(value: Any, schema: Mapping[str, Any], path: tuple[str | int, ...] = ()) -> Iterator[str]:
    """JSON Schema takes 5.0 for an integer; a tool that asks for an integer does not."""
    if isinstance(value, float):
        types = schema_types(schema)
        if value.is_integer() and "integer" in types and "number" not in types:
            yield _fault(path, f"{value} is not of type 'integer'")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _whole_floats(item, property_schema(schema, key), (*path, key))
    elif isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        for number, item in enumerate(value):
            yield from _whole_floats(item, schema["items"], (*path, number))


def _fault(path: list[str | int] | tuple[str | int, ...], message: str) -> str:
    return f"{'.'.join(map(str, path)) or 'arguments'}: {message}"[:_MOST_CHARACTERS]
