"""`butlerctl lab`: the embedded stack as a process of its own, what another process needs, plantable faults."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TextIO

import typer

from butlerctl.cli.common import STATE_DIR, find_and_load
from butlerctl.errors import NothingChecked, TryAgain

app = typer.Typer(
    rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False, no_args_is_help=True
)

_INVENTORY = typer.Option(
    None, "--inventory", help="The household to stand in for; found upwards without it.", metavar="FILE"
)
_FILE = "lab.json"


class Engine(StrEnum):
    STAND_IN = "stand-in"
    REAL = "real"


class EnvFormat(StrEnum):
    SHELL = "shell"
    JSON = "json"


@app.command(short_help="Start the lab and keep it until Ctrl-C.")
def up(
    inventory: Path | None = _INVENTORY,
    state_dir: Path | None = STATE_DIR,
    fault: list[str] = typer.Option(
        [], "--fault", help="Plant a fault (see `lab faults`); may be repeated.", metavar="NAME@ROUTE"
    ),
    engine: Engine = typer.Option(
        Engine.STAND_IN, "--engine", help="Stand-ins, or the real n8n and OpenClaw from npm (4 GB, once)."
    ),
) -> None:
    """Start the lab and keep it until Ctrl-C.

    Exit codes: 0 it was ended, 75 a lab of this inventory runs already, 78 bad input.
    """
    from butlerctl.lab.faults import plant, read_fault
    from butlerctl.lab.plan import out_of_reach
    from butlerctl.lab.stack import open_lab

    household = find_and_load(inventory)
    faults = [read_fault(text, household) for text in fault]
    stop = threading.Event()
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, lambda *_: stop.set())
    with _only_one(_state_file(household.path, state_dir)) as file, open_lab(household, engine) as lab:
        for one in faults:
            plant(lab, one)
        file.write(json.dumps(lab.environ()))
        file.flush()
        _announce(lab.environ(), out_of_reach(household))
        stop.wait()
    print("the lab is down", file=sys.stderr)


@app.command(short_help="Print what another process needs to reach the running lab.")
def env(
    inventory: Path | None = _INVENTORY,
    state_dir: Path | None = STATE_DIR,
    format_: EnvFormat = typer.Option(EnvFormat.SHELL, "--format", help="How to print them."),
) -> None:
    """Print what another process needs to reach the running lab.

    In its shell: eval "$(butlerctl lab env)"

    Exit codes: 0 printed, 3 no lab runs for this inventory, 78 bad input.
    """
    environ = _running(_state_file(find_and_load(inventory).path, state_dir))
    if format_ is EnvFormat.JSON:
        print(json.dumps(environ, indent=2))
        return
    for name, value in environ.items():
        print(f"export {name}={shlex.quote(value)}")


@app.command(short_help="List every fault that the lab can plant, by link.")
def faults() -> None:
    """List every fault that the lab can plant, by link.

    `--fault` takes its name and a route: active.inactive@calendar_add/wife. A link alone, as in
    active@calendar_add/wife, stands for the first of its faults.
    """
    from butlerctl.lab.faults import FAULTS

    width = max(map(len, FAULTS))
    for name, fault in FAULTS.items():
        print(f"{name:<{width}}  {fault.summary}")


def _announce(environ: dict[str, str], unreachable: list[str]) -> None:
    """Readiness is the first line on stdout."""
    print("the lab is up", flush=True)
    for name, value in environ.items():
        if value.startswith("http"):
            print(f"  {name} {value}", file=sys.stderr)
    for place in unreachable:
        print(f"  {place} is no ${{NAME}}: another process cannot be led to the lab there", file=sys.stderr)
    print('  in another shell: eval "$(butlerctl lab env)"; butlerctl verify', file=sys.stderr)
    print("  Ctrl-C ends it", file=sys.stderr)


def _state_file(inventory: Path, state_dir: Path | None) -> Path:
    from butlerctl.state import state_folder

    return state_folder(inventory, state_dir) / _FILE


@contextmanager
def _only_one(path: Path) -> Iterator[TextIO]:
    """The private file of this lab's settings, locked as long as the lab lives and removed with it.

    Raises:
        TryAgain: another lab of this inventory holds it.
    """
    try:
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.truncate()
            try:
                yield file
            finally:
                path.unlink(missing_ok=True)
    except BlockingIOError:
        raise TryAgain(
            "a lab of this inventory runs already", hint="end it, or give this one a --state-dir of its own"
        ) from None


def _running(path: Path) -> dict[str, str]:
    try:
        with path.open(encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        environ: dict[str, str] = json.loads(path.read_text(encoding="utf-8") or "{}")
        if environ:
            return environ
    except FileNotFoundError:
        pass
    raise NothingChecked("no lab runs for this inventory", hint="start one with `butlerctl lab up`")
