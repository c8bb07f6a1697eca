"""The only place that ends the process."""

from __future__ import annotations

import io
import os
import signal
import sys


def main() -> None:
    from butlerctl.cli.app import run

    _open_closed_streams()
    _spell_out_what_cannot_be_shown()
    # Whoever ends a run gets the same clean-up as with Ctrl-C; also who closes the terminal, unless `nohup` forbids it.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, signal.default_int_handler)
    sys.exit(run(sys.argv[1:]))


def _open_closed_streams() -> None:
    """After `>&-` or `2>&-` there is no stream, and talk must not end up in the other one."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - for all of the process


def _spell_out_what_cannot_be_shown() -> None:
    """On a terminal of few letters a command does its work all the same, and says what it did."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    main()
