"""`butlerctl tap`: record what passes between gateway and provider, or between plugin and n8n."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import typer

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)


@app.command()
def tap(
    to: str = typer.Option(
        ..., "--to", help="Address to pass everything on to, such as a provider's.", metavar="URL"
    ),
    record: Path = typer.Option(
        ..., "--record", help="New folder for the evidence documents.", metavar="DIR"
    ),
    port: int = typer.Option(
        0, "--port", min=0, max=65535, help="Port on 127.0.0.1; 0 takes a free one.", metavar="PORT"
    ),
) -> None:
    """Record what passes between gateway and provider, until interrupted.

    Set the provider's baseUrl (or the plugin's) to the printed address. Streams pass through as they come, keys are
    masked, and the folder is evidence for `butlerctl diagnose`.

    Exit codes: 0 it was ended, 3 something that passed could not be recorded, 78 bad address, port or folder.
    """
    from butlerctl.errors import NothingChecked
    from butlerctl.gateway.tap import Tap
    from butlerctl.gateway.tap_record import EvidenceFolder, describe
    from butlerctl.redaction import is_secret_name, register_secret

    for name, value in os.environ.items():
        if is_secret_name(name):
            register_secret(value)
    folder = EvidenceFolder(record)

    def keep(exchange: dict[str, Any]) -> None:
        folder.record(exchange)
        _say(describe(exchange))

    def lost(problem: Exception) -> None:
        _say(f"butlerctl: NOT RECORDED: {getattr(problem, 'strerror', None) or type(problem).__name__}")

    done = threading.Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, lambda *_: done.set())
    with Tap(to, keep, port, lost) as running:
        print(running.url, flush=True)
        done.wait()
    if running.lost_records:
        raise NothingChecked(
            f"{running.lost_records} of the exchanges could not be recorded in {record}",
            hint="the folder does not show all that passed: make room and record anew",
        )


def _say(line: str) -> None:
    """To whoever listens: a closed stderr is no reason to lose evidence."""
    with contextlib.suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)
