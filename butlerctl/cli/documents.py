"""Reading JSON files of the command line, and printing text that came from a model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from butlerctl.errors import BadInput


def read_json(path: Path) -> Any:
    """The JSON value in a file; `-` is standard input. Raises BadInput when there is none."""
    from butlerctl.protocol.decode import NotStrictJson, read_payload

    name = "standard input" if str(path) == "-" else str(path)
    try:
        content = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        return read_payload(content.decode())
    except OSError as error:
        raise BadInput(f"{name}: {error.strerror}") from error
    except (UnicodeDecodeError, NotStrictJson) as error:
        raise BadInput(f"{name} is no JSON: {error}") from error


def print_line(line: str) -> None:
    """Print text of a model: what could steer the terminal, or what it cannot show, is spelled out."""
    visible = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in line)
    encoding = sys.stdout.encoding or "utf-8"
    print(visible.encode(encoding, "backslashreplace").decode(encoding))
