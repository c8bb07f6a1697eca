"""From a vendor's payload to calls that may run, calls that may not, and what was noticed.

The order of the tests is fixed: name, completeness, decoding, schema. One bad call never spoils its neighbours.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from butlerctl.errors import ButlerctlError, UsageProblem
from butlerctl.protocol.call import Call, ErrorCode, RejectedCall
from butlerctl.protocol.coerce import coerce, property_schema, schema_types, wants_integer
from butlerctl.protocol.decode import NotStrictJson, decode, encode
from butlerctl.protocol.ids import with_ids
from butlerctl.protocol.leaks import find_leaks, name_is_delimited
from butlerctl.protocol.registry import Registry, Tool
from butlerctl.protocol.wires import ADAPTERS, Adapter
from butlerctl.protocol.wires.turn import ArgumentFields, ArgumentText, Field, WireCall, WireTurn

_RESEND = "Nothing was run. Send the whole call again as one complete JSON object."


@dataclass(frozen=True, slots=True)
class Normalized:
    """One turn of the model. `items` holds every call in wire order; each gets exactly one observation.

    `cut_off`: the turn has no good end, so its text may be a fragment. `echo` goes back to the provider as it came.
    """

    items: tuple[Call | RejectedCall, ...]
    leaks: tuple[str, ...]
    notes: tuple[str, ...]
    text: str
    cut_off: bool
    echo: Mapping[str, Any]

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(item for item in self.items if isinstance(item, Call))

    @property
    def rejected(self) -> tuple[RejectedCall, ...]:
        return tuple(item for item in self.items if isinstance(item, RejectedCall))

    @property
    def is_clean(self) -> bool:
        """Every call is good, and no text imitates one."""
        return not self.rejected and not self.leaks


class _Refused(ButlerctlError):
    """The verdict on one call; never leaves this module."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def normalize(
    adapter: str, payload: Any, registry: Registry, *, taken_ids: Collection[str] = ()
) -> Normalized:
    """Read `payload` as the declared adapter's format. Raises UsageProblem for an unknown adapter,
    BadDocument for a payload of a shape that the adapter cannot have.
    """
    wire = _adapter(adapter)
    turn = wire.read(payload)
    return judge_turn(turn, registry, wire.origin, own_leaks=wire.own_leaks, taken_ids=taken_ids)


def judge_turn(
    turn: WireTurn,
    registry: Registry,
    origin: str,
    *,
    own_leaks: Collection[str] = (),
    taken_ids: Collection[str] = (),
) -> Normalized:
    """As `normalize`, for a turn that was already read. `own_leaks`: markup that is no leak in this format."""
    numbered, id_notes = with_ids(turn.calls, taken_ids)
    notes = [*turn.notes, *id_notes]
    items = tuple(_judge(call_id, call, registry, origin, notes) for call_id, call in numbered)
    leaks = tuple(kind for kind in _leaks(turn, registry) if kind not in own_leaks)
    return Normalized(items, leaks, tuple(dict.fromkeys(notes)), turn.text, turn.cut_off, turn.echo)


def _adapter(name: str) -> Adapter:
    try:
        return ADAPTERS[name]
    except KeyError:
        raise UsageProblem(
            f"there is no adapter {name!r}", hint=f"the adapters are: {', '.join(ADAPTERS)}"
        ) from None


def _leaks(turn: WireTurn, registry: Registry) -> tuple[str, ...]:
    kinds = find_leaks(turn.text, registry.names)
    delimited = any(call.name and name_is_delimited(call.name) for call in turn.calls)
    return (*kinds, "name_delimiter") if delimited else kinds


def _judge(
    call_id: str, call: WireCall, registry: Registry, origin: str, notes: list[str]
) -> Call | RejectedCall:
    raw = call.raw_text
    if not call.complete:
        notes.append("incomplete")
    try:
        tool = _known_tool(call, registry)
        _refuse_incomplete(call)
        args = _fitting(_decoded(call, tool, notes), tool, notes)
    except _Refused as refused:
        name = call.name or ""
        return RejectedCall(call_id, name, refused.code, refused.message, call.wire_id, origin, raw)
    return Call(call_id, tool.schema.name, args, call.wire_id, origin, raw)


def _known_tool(call: WireCall, registry: Registry) -> Tool:
    if not call.readable:
        raise _Refused("invalid_json", f"There is no readable call here. {_RESEND}")
    tool = registry.get(call.name) if call.name and call.is_function else None
    if tool is None:
        wrong = f"There is no tool {call.name[:80]!r}" if call.name else "The call names no tool"
        raise _Refused("unknown_tool", f"{wrong}. The tools are: {', '.join(registry.names)}.")
    return tool


def _refuse_incomplete(call: WireCall) -> None:
    if not call.complete:
        raise _Refused("invalid_json", f"The turn ended before this call was complete. {_RESEND}")


def _decoded(call: WireCall, tool: Tool, notes: list[str]) -> Any:
    arguments = call.arguments
    try:
        if isinstance(arguments, ArgumentFields):
            return _typed(arguments, tool, notes)
        text = arguments.text if isinstance(arguments, ArgumentText) else encode(arguments.value)
        if not text.strip(" \t\r\n"):
            notes.append("empty_args")
            return {}
        return decode(text)
    except NotStrictJson as error:
        raise _Refused("invalid_json", f"The arguments are no JSON: {error}. {_RESEND}") from error


def _fitting(value: Any, tool: Tool, notes: list[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
            notes.append("double_encoded")
        raise _Refused("invalid_args", "The arguments must be a JSON object. Nothing was run.")
    args: dict[str, Any] = coerce(value, tool.schema.parameters)
    if faults := tool.faults(args):
        raise _Refused("invalid_args", f"{'; '.join(faults)}. Nothing was run. Correct it and call again.")
    return args


def _typed(arguments: ArgumentFields, tool: Tool, notes: list[str]) -> dict[str, Any]:
    """Fields of bare text as values: the schema says what they are."""
    if not arguments.well_formed:
        raise NotStrictJson("there is more than arguments in the call")
    if not arguments.fields:
        notes.append("empty_args")
    known = tool.schema.parameters.get("properties", {})
    value: dict[str, Any] = {}
    for field in arguments.fields:
        if field.key in value:
            raise NotStrictJson(f"{field.key[:80]} stands twice")
        schema = property_schema(tool.schema.parameters, field.key)
        value[field.key] = _typed_value(field, schema) if field.key in known else field.text
    decode(encode(value))
    return value


def _typed_value(field: Field, schema: Mapping[str, Any]) -> Any:
    if field.typing == "text" or "string" in schema_types(schema):
        return field.text
    if wants_integer(schema) and field.typing == "schema":
        return field.text.strip()
    return decode(field.text)
