"""Reading JSON files of the command line, and printing what others wrote: a model, or a colleague in n8n."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, TextIO

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
    """Print text of others: what could steer the terminal, or what it cannot show, is spelled out."""
    encoding = sys.stdout.encoding or "utf-8"
    print(visible(line).encode(encoding, "backslashreplace").decode(encoding))


def visible(line: str) -> str:
    """One line, in which what could steer the terminal is spelled out."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in line)


def tell(line: str, out: TextIO) -> None:
    """Progress, for whoever watches. Nothing ends in the middle because nobody does any more."""
    try:
        print(line, file=out, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())


def print_json(document: Any, *, indent: int | None = 2) -> None:
    """In ASCII where the stream cannot carry all of it, or somebody wrote half of a surrogate pair."""
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(document, indent=indent)
    print(text)
