"""`butlerctl keys`: make and show signing keys."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path

import typer

app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    help="Make and show signing keys.",
)

FILE = typer.Argument(
    None, help="The private key file. Default: the key of the state folder.", metavar="FILE"
)
STATE_DIR = typer.Option(None, "--state-dir", help="The state folder.", metavar="DIR")


class Type(StrEnum):
    P256 = "p256"
    ED25519 = "ed25519"


class Format(StrEnum):
    TEXT = "text"
    JSON = "json"


@app.command(short_help="Make a private key and its public key beside it.")
def new(
    file: Path | None = FILE,
    key_type: Type = typer.Option(Type.P256, "--type", help="p256 can be verified by cosign too."),
    state_dir: Path | None = STATE_DIR,
) -> None:
    """Make a private key (mode 0600) and its public key beside it. Nothing is overwritten."""
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
    format_: Format = typer.Option(Format.TEXT, "--format", help="How to show it."),
) -> None:
    """Show a key, private or public: its type, its ids and its public half."""
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
