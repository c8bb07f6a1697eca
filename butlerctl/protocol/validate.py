"""Arguments against a tool's JSON Schema. A validator is built once for each tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_MOST_FAULTS = 5

Faults = Callable[[Any], list[str]]
"""What is wrong with arguments, as `field: what is wrong`; [] when they fit."""


def build_validator(schema: Mapping[str, Any]) -> Faults:
    """A function that lists the faults of arguments. Raises BadInput when the schema itself is none."""
    from jsonschema.exceptions import SchemaError

    from butlerctl.errors import BadInput

    strict = _strict_validator()
    try:
        strict.check_schema(dict(schema))
    except SchemaError as error:
        raise BadInput(f"a tool's parameters are no JSON Schema: {error.message}") from error
    validator = strict(dict(schema))

    def faults(arguments: Any) -> list[str]:
        found = []
        for error in validator.iter_errors(arguments):
            found.append(
                f"{error.json_path.removeprefix('$').removeprefix('.') or 'arguments'}: {error.message}"
            )
            if len(found) == _MOST_FAULTS:
                break
        return found

    return faults


@cache
def _strict_validator() -> type[Validator]:
    """JSON Schema 2020-12, except that 5.0 is no integer."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    checker = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    )
    strict: type[Validator] = extend(Draft202012Validator, type_checker=checker)  # type: ignore[no-untyped-call]  # no types there
    return strict
