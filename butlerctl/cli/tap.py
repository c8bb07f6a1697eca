"""`butlerctl tap`: record what passes between gateway and provider, or between plugin and n8n."""

from __future__ import annotations

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
    """
    from butlerctl.gateway.tap import Tap
    from butlerctl.gateway.tap_record import EvidenceFolder, describe

    folder = EvidenceFolder(record)

    def keep(exchange: dict[str, Any]) -> None:
        folder.record(exchange)
        print(describe(exchange), file=sys.stderr, flush=True)

    done = threading.Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, lambda *_: done.set())
    with Tap(to, keep, port) as running:
        print(running.url, flush=True)
        done.wait()
