"""`butlerctl protocol`: the function-calling layer on its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from butlerctl.cli.common import FORMAT, Format
from butlerctl.errors import ExitCode

if TYPE_CHECKING:
    from butlerctl.protocol.normalize import Normalized
    from butlerctl.protocol.observation import Observation
    from butlerctl.protocol.registry import Registry

app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    help="The function-calling layer on its own.",
)

REGISTRY = typer.Option(
    ..., "--registry", help="The allow-list: [{name, description, parameters}, ...].", metavar="FILE"
)


@app.command(short_help="Read a model's turn: which calls may run, and why others not.")
def normalize(
    payload: Path = typer.Argument(
        help="A provider's response as JSON; - reads it from standard input.", metavar="FILE"
    ),
    adapter: str = typer.Option(
        ..., "--adapter", help="The wire format of the payload. It is never guessed.", metavar="NAME"
    ),
    registry: Path = REGISTRY,
    format_: Format = FORMAT,
) -> None:
    """Read a model's turn: the calls that may run, the errors of those that may not, the leaks, the notes.

    The payload is a response object, a list of stream chunks, or for a *_text adapter a JSON string.

    Exit codes: 0 every call is good, 1 there are errors or leaks, 78 a file is no JSON.
    """
    from butlerctl.cli.documents import print_line, read_json
    from butlerctl.protocol.normalize import normalize as normalize_payload

    turn = normalize_payload(adapter, read_json(payload), _registry(registry))
    if format_ is Format.JSON:
        print(json.dumps(_turn_json(turn)))
    else:
        for line in _turn_lines(turn):
            print_line(line)
    raise typer.Exit(int(ExitCode.PROVEN if turn.is_clean else ExitCode.BROKEN))


@app.command(short_help="Run a list of calls against recorded answers.")
def dispatch(
    calls: Path = typer.Argument(
        help="The calls: [{id, name, args}, ...]; - reads them from standard input.", metavar="FILE"
    ),
    registry: Path = REGISTRY,
    results: Path = typer.Option(
        ..., "--results", help="What the tools answer: {tool name or call id: answer}.", metavar="FILE"
    ),
    format_: Format = FORMAT,
) -> None:
    """Dispatch a list of calls against recorded answers: one observation for each call, in order.

    Exit codes: 0 every call is good, 1 an observation is an error, 78 a file is no JSON.
    """
    from butlerctl.cli.documents import print_line, read_json
    from butlerctl.protocol.replay import read_calls, replay

    allowed = _registry(registry)
    turn = read_calls(read_json(calls), allowed)
    observations = replay(turn, allowed, read_json(results))
    if format_ is Format.JSON:
        print(json.dumps({"observations": [_observation_json(each) for each in observations]}))
    else:
        for each in observations:
            print_line(f"{each.id}  {each.name or '(no name)'}  {each.code or 'ok'}  {each.content}")
    failed = any(each.code for each in observations)
    raise typer.Exit(int(ExitCode.BROKEN if failed else ExitCode.PROVEN))


def _registry(path: Path) -> Registry:
    from butlerctl.cli.documents import read_json
    from butlerctl.protocol.registry import read_registry

    return read_registry(read_json(path))


def _turn_json(turn: Normalized) -> dict[str, Any]:
    return {
        "calls": [{"id": call.id, "name": call.name, "args": call.args} for call in turn.calls],
        "errors": [
            {"code": call.code, "id": call.id, "name": call.name, "message": call.message}
            for call in turn.rejected
        ],
        "leaks": list(turn.leaks),
        "notes": list(turn.notes),
    }


def _turn_lines(turn: Normalized) -> Iterator[str]:
    for call in turn.calls:
        yield f"call   {call.id}  {call.name}  {json.dumps(call.args, ensure_ascii=False)}"
    for rejected in turn.rejected:
        yield f"error  {rejected.code}  {rejected.name or '(no name)'}  {rejected.message}"
    for leak in turn.leaks:
        yield f"leak   {leak}"
    if turn.notes:
        yield f"notes  {', '.join(turn.notes)}"
    if not turn.items and not turn.leaks:
        yield "no call"


def _observation_json(observation: Observation) -> dict[str, Any]:
    return {
        "id": observation.id,
        "name": observation.name,
        "code": observation.code,
        "executed": observation.executed,
        "content": json.loads(observation.content),
    }
