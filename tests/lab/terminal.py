"""What a command shows on a terminal: a process on a pseudo-terminal, and everything that it wrote there."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import termios

from tests.lab.shell import Shell


def on_terminal(shell: Shell, *arguments: object, columns: int = 120, **environ: str) -> tuple[int, str]:
    """Exit code and screen output of a command whose three streams are a terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    settings = {"TERM": "xterm-256color", **environ}
    with shell.start(*arguments, environ=settings, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        written = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    return process.returncode, written.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that the other end is closed
        return b""
