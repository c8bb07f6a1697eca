"""What a reader of a wire format hands over: the turn as it was written, nothing decoded and nothing judged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from butlerctl.protocol.decode import NotStrictJson, encode


@dataclass(frozen=True, slots=True)
class ArgumentText:
    """Arguments as JSON text. Blank text means that none were given."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class ArgumentValue:
    """Arguments that came as a JSON value inside the payload."""

    value: Any


@dataclass(frozen=True, slots=True)
class Field:
    """One argument of a format whose values are bare text.

    `typing`: `schema` asks the tool's schema what the text is, `text` keeps it, `json` reads it as JSON
    unless the schema asks for a string.
    """

    key: str
    text: str
    typing: Literal["schema", "text", "json"] = "schema"


@dataclass(frozen=True, slots=True)
class ArgumentFields:
    """Arguments as separate fields. `raw` is the text they were read from; not `well_formed`: more stood there."""

    fields: tuple[Field, ...]
    raw: str
    well_formed: bool = True


Arguments = ArgumentText | ArgumentValue | ArgumentFields


@dataclass(frozen=True, slots=True)
class WireCall:
    """One call as written. `complete` is the wire's word that nothing of it is missing.

    `readable` is False for the shell of a call in which no call can be seen (a failed generation, a block
    that holds no call object). `is_function` is False for a call of another type than function.
    """

    name: str | None
    wire_id: str | None
    arguments: Arguments
    complete: bool = True
    is_function: bool = True
    readable: bool = True

    @property
    def raw_arguments(self) -> str:
        """The arguments as the wire had them, as text. Raises NotStrictJson for a value that is no JSON."""
        if isinstance(self.arguments, ArgumentValue):
            return encode(self.arguments.value)
        return self.arguments.text if isinstance(self.arguments, ArgumentText) else self.arguments.raw

    @property
    def raw_text(self) -> str:
        """As `raw_arguments`; a value that is no JSON as Python writes it."""
        try:
            return self.raw_arguments
        except NotStrictJson:
            return repr(getattr(self.arguments, "value", ""))


@dataclass(slots=True)
class WireTurn:
    """One turn of the model: its calls in wire order, its visible text, and what the reader noticed.

    `cut_off`: the turn has no good end. `echo`: fields of the message that the provider wants back unchanged.
    """

    calls: list[WireCall] = field(default_factory=list)
    text: str = ""
    notes: list[str] = field(default_factory=list)
    cut_off: bool = False
    echo: dict[str, Any] = field(default_factory=dict)


def arguments_of(given: Any) -> Arguments:
    """The arguments field of a wire format that allows JSON text, a value, or nothing."""
    if given is None:
        return ArgumentText()
    return ArgumentText(given) if isinstance(given, str) else ArgumentValue(given)


def unreadable(raw: str, *, complete: bool = True) -> WireCall:
    return WireCall(None, None, ArgumentText(raw), complete=complete, readable=False)
