"""`butlerctl keys`: make and show signing keys."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path

import typer

from butlerctl.cli.common import FORMAT, STATE_DIR, Format

app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    help="Make and show signing keys.",
)

FILE = typer.Argument(None, help="The key file; the key in the state folder without it.", metavar="FILE")


class Type(StrEnum):
    P256 = "p256"
    ED25519 = "ed25519"


@app.command(short_help="Make a private key and its public key beside it.")
def new(
    file: Path | None = FILE,
    key_type: Type = typer.Option(Type.P256, "--type", help="p256 can be verified by cosign too."),
    state_dir: Path | None = STATE_DIR,
) -> None:
    """Make a private key (mode 0600) and its public key beside it. Nothing is overwritten.

    Exit codes: 0 made, 78 a file of this name is there, or it cannot be written.
    """
    from butlerctl.report.keys import KeyType, new_signer, public_key_of, save_key

    path = file or _default(state_dir)
    signer = new_signer(KeyType(key_type))
    public = save_key(signer, path)
    print(f"private key {path}")
    print(f"public key  {public}")
    print(f"key id      {public_key_of(signer).key_id}")


@app.command(short_help="Show a key: its type, its ids, its public half.")
def show(
    file: Path | None = FILE,
    state_dir: Path | None = STATE_DIR,
    format_: Format = FORMAT,
) -> None:
    """Show a key, private or public: its type, its ids and its public half.

    Exit codes: 0 shown, 78 the file holds no key.
    """
    from butlerctl.report.keys import load_any_key

    path = file or _default(state_dir)
    key = load_any_key(path)
    facts = {"file": str(path), "type": str(key.type), "key_id": key.key_id, "tuf_id": key.tuf_id}
    if format_ is Format.JSON:
        print(json.dumps({**facts, "public_key": key.pem}, indent=2))
        return
    for name, value in facts.items():
        print(f"{name.replace('_', ' '):<7} {value}")
    print(key.pem, end="")


def _default(state_dir: Path | None) -> Path:
    from butlerctl.report.keys import default_key

    return default_key(state_dir)
