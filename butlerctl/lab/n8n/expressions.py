"""The small part of JavaScript in which n8n expressions and one-line Code nodes are written.

Literals, objects, arrays, property access with `.`, `?.` and `[]`, calls, `??`, `? :`, arrow functions of one
parameter, and scripts made of `const x = …;` lines with a `return` or `throw` at the end. Nothing else, and no
statement that loops: a text outside of it is refused with Unsupported, never guessed at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

Scope = Mapping[str, Any]
Evaluate = Callable[[Scope], Any]


class Undefined:
    """JavaScript's `undefined`: left out of objects by `to_json`."""

    def __repr__(self) -> str:
        return "undefined"

    def __bool__(self) -> bool:
        return False


UNDEFINED: Final = Undefined()


class Unsupported(Exception):
    """The text is outside the supported part of the language."""


class ExpressionError(Exception):
    """The expression throws."""


_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>\d+(?:\.\d+)?)
    | (?P<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")
    | (?P<name>[A-Za-z_$][\w$]*)
    | (?P<mark>=>|\?\.|\?\?|[-{}()\[\],.:?;=])
    )""",
    re.VERBOSE,
)
_WORDS: Mapping[str, Any] = {"true": True, "false": False, "null": None, "undefined": UNDEFINED}


def evaluate(text: str, scope: Scope) -> Any:
    """A node parameter as n8n resolves it: `=` begins a template of text and `{{ expressions }}`."""
    if not text.startswith("="):
        return text
    parts = re.split(r"\{\{(.*?)\}\}", text[1:], flags=re.DOTALL)
    if len(parts) == 3 and not parts[0].strip() and not parts[2].strip():
        return _expression(parts[1])(scope)
    values = [_as_text(_expression(part)(scope)) if at % 2 else part for at, part in enumerate(parts)]
    return "".join(values)


def resolve(parameters: Any, scope: Scope) -> Any:
    """A copy of a node's parameters with every expression in it resolved."""
    if isinstance(parameters, str):
        return evaluate(parameters, scope)
    if isinstance(parameters, Mapping):
        return {key: resolve(value, scope) for key, value in parameters.items()}
    if isinstance(parameters, list):
        return [resolve(value, scope) for value in parameters]
    return parameters


@dataclass(frozen=True, slots=True)
class Script:
    """`const` lines, then what is returned or thrown."""

    constants: tuple[tuple[str, Evaluate], ...]
    result: Evaluate
    throws: bool

    def run(self, scope: Scope) -> Any:
        """What the script returns. Raises ExpressionError with the text of what it throws."""
        names = dict(scope)
        for name, value in self.constants:
            names[name] = value(names)
        value = self.result(names)
        if self.throws:
            raise ExpressionError(str(value))
        return value


def read_script(text: str) -> Script:
    """Raises Unsupported for anything but `const` lines and a `return …;` or `throw new Error(…);`."""
    reader = _Reader(text)
    constants = []
    while reader.take("const"):
        name = reader.name()
        reader.need("=")
        constants.append((name, reader.expression()))
        reader.need(";")
    throws = reader.take("throw")
    if throws:
        reader.need("new")
        reader.need("Error")
    else:
        reader.need("return")
    result = reader.expression()
    reader.take(";")
    reader.need_end()
    return Script(tuple(constants), result, throws)


def to_json(value: Any) -> str:
    """As `JSON.stringify` writes it: no blanks, no undefined, `3` for 3.0."""
    return json.dumps(_plain(value), separators=(",", ":"), ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if item is not UNDEFINED}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return None if value is UNDEFINED else value


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "[object Object]"
    return "undefined" if value is UNDEFINED else to_json(value)


def _expression(text: str) -> Evaluate:
    reader = _Reader(text)
    result = reader.expression()
    reader.need_end()
    return result


class _Reader:
    """Recursive descent over the tokens; each rule returns a function from a scope to a value."""

    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, str]] = []
        at = 0
        end = len(text.rstrip())
        while at < end:
            match = _TOKEN.match(text, at)
            if match is None or match.lastgroup is None:
                raise Unsupported(f"unexpected {text[at : at + 10]!r}")
            self._tokens.append((match.lastgroup, match[match.lastgroup]))
            at = match.end()
        self._at = 0

    def take(self, text: str) -> bool:
        found = self._peek() == text
        self._at += found
        return found

    def need(self, text: str) -> None:
        if not self.take(text):
            raise Unsupported(f"expected {text!r}, found {self._peek()!r}")

    def need_end(self) -> None:
        if self._at < len(self._tokens):
            raise Unsupported(f"unexpected {self._peek()!r}")

    def name(self) -> str:
        kind, text = self._next()
        if kind != "name":
            raise Unsupported(f"expected a name, found {text!r}")
        return text

    def expression(self) -> Evaluate:
        if self._peek(1) == "=>":
            return self._arrow()
        value = self._or_else()
        if not self.take("?"):
            return value
        yes = self.expression()
        self.need(":")
        no = self.expression()
        return lambda scope: yes(scope) if _truthy(value(scope)) else no(scope)

    def _arrow(self) -> Evaluate:
        parameter = self.name()
        self.need("=>")
        body = self.expression()
        return lambda scope: lambda value: body({**scope, parameter: value})

    def _or_else(self) -> Evaluate:
        value = self._chain()
        while self.take("??"):
            value = _either(value, self._chain())
        return value

    def _chain(self) -> Evaluate:
        value = self._primary()
        while True:
            if self.take("."):
                value = _get(value, self._constant(self.name()), optional=False)
            elif self.take("?."):
                value = _get(value, self._constant(self.name()), optional=True)
            elif self.take("["):
                value = _get(value, self.expression(), optional=False)
                self.need("]")
            elif self.take("("):
                value = _call(value, self._several(")"))
            else:
                return value

    def _primary(self) -> Evaluate:
        if self.take("("):
            value = self.expression()
            self.need(")")
            return value
        if self.take("["):
            items = self._several("]")
            return lambda scope: [item(scope) for item in items]
        if self.take("{"):
            return self._object()
        if self.take("-"):
            positive = self._primary()
            return lambda scope: -positive(scope)
        return self._word()

    def _word(self) -> Evaluate:
        kind, text = self._next()
        if kind == "number":
            return self._constant(float(text) if "." in text else int(text))
        if kind == "string":
            return self._constant(_unquoted(text))
        if kind != "name":
            raise Unsupported(f"unexpected {text!r}")
        return self._constant(_WORDS[text]) if text in _WORDS else _variable(text)

    def _object(self) -> Evaluate:
        fields: list[tuple[str, Evaluate]] = []
        while not self.take("}"):
            kind, text = self._next()
            key = _unquoted(text) if kind == "string" else text
            fields.append((key, self.expression() if self.take(":") else _variable(key)))
            if not self.take(","):
                self.need("}")
                break
        return lambda scope: {key: value(scope) for key, value in fields}

    def _several(self, close: str) -> list[Evaluate]:
        found: list[Evaluate] = []
        while not self.take(close):
            found.append(self.expression())
            if not self.take(","):
                self.need(close)
                break
        return found

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._tokens[at][1] if at < len(self._tokens) else ""

    def _next(self) -> tuple[str, str]:
        if self._at >= len(self._tokens):
            raise Unsupported("the text ends too early")
        self._at += 1
        return self._tokens[self._at - 1]

    @staticmethod
    def _constant(value: Any) -> Evaluate:
        return lambda _scope: value


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), text[1:-1])


def _truthy(value: Any) -> bool:
    """As JavaScript decides it: empty lists and objects count as true."""
    return isinstance(value, list | Mapping) or bool(value)


def _either(first: Evaluate, second: Evaluate) -> Evaluate:
    def choose(scope: Scope) -> Any:
        value = first(scope)
        return second(scope) if value is None or value is UNDEFINED else value

    return choose


def _variable(name: str) -> Evaluate:
    def look_up(scope: Scope) -> Any:
        if name in scope:
            return scope[name]
        if name in _FUNCTIONS:
            return _FUNCTIONS[name]
        raise ExpressionError(f"{name} is not defined")

    return look_up


def _get(owner: Evaluate, key: Evaluate, *, optional: bool) -> Evaluate:
    def get(scope: Scope) -> Any:
        value, name = owner(scope), key(scope)
        if value is None or value is UNDEFINED:
            if optional:
                return UNDEFINED
            text = "undefined" if value is UNDEFINED else "null"
            raise ExpressionError(f"Cannot read properties of {text} (reading '{name}')")
        return _member(value, name)

    return get


def _member(value: Any, name: Any) -> Any:
    if isinstance(value, Mapping):
        return value.get(name, UNDEFINED)
    if isinstance(value, list | str):
        if name == "length":
            return len(value)
        if isinstance(name, int):
            return value[name] if 0 <= name < len(value) else UNDEFINED
        return _METHODS[name](value) if name in _METHODS else UNDEFINED
    return UNDEFINED


def _call(function: Evaluate, arguments: list[Evaluate]) -> Evaluate:
    def call(scope: Scope) -> Any:
        found = function(scope)
        if not callable(found):
            raise ExpressionError(f"{found} is not a function")
        return found(*(argument(scope) for argument in arguments))

    return call


def _find(items: list[Any], fits: Callable[[Any], Any]) -> Any:
    return next((item for item in items if _truthy(fits(item))), UNDEFINED)


_METHODS: Mapping[str, Callable[[Any], Any]] = {
    "includes": lambda value: lambda part: part in value,
    "find": lambda value: lambda fits: _find(value, fits),
    "filter": lambda value: lambda fits: [item for item in value if _truthy(fits(item))],
    "map": lambda value: lambda change: [change(item) for item in value],
}
_FUNCTIONS: Mapping[str, Any] = {
    "String": _as_text,
    "JSON": {"stringify": to_json},
    "Object": {"keys": list},
}
