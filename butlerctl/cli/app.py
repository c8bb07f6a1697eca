"""The root command, and the one place where an error becomes a line and an exit code."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command as typer_command

import butlerctl
from butlerctl.cli.registry import COMMANDS
from butlerctl.errors import ButlerctlError, ExitCode

HELP = "Prove that a household's AI butler really did what it says."


class LazyGroup(TyperGroup):
    """Imports a command's module when that command runs, so that lint does not pay for verify."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the interface of the base class
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - as above
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command = typer_command(import_module(entry.module).app)
        command.name = cmd_name
        command.help = command.help or entry.summary
        command.short_help = entry.summary
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        self.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment]  # only the names, for suggestions
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=LazyGroup,
    help=HELP,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"butlerctl {butlerctl.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(
        False, "--version", help="Print the version and leave.", callback=_print_version, is_eager=True
    ),
) -> None:
    del version


def run(argv: list[str]) -> int:
    """Run one command line and return its exit code. Never raises, never prints a traceback."""
    try:
        result = typer_command(app).main(args=argv, prog_name="butlerctl", standalone_mode=False)
    except ButlerctlError as error:
        return _say(error)
    except typer.TyperException as error:
        _say_usage(error)
        return int(ExitCode.USAGE)
    except (KeyboardInterrupt, typer.Abort):
        print("butlerctl: interrupted", file=sys.stderr)
        return int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        return _closed_pipe()
    except Exception as error:  # noqa: BLE001 - the last line of defence: a bug is reported, not thrown
        from butlerctl.cli.crash import report_bug

        return report_bug(error, argv)
    return result if isinstance(result, int) else int(ExitCode.PROVEN)


def _say(error: ButlerctlError) -> int:
    print(f"butlerctl: {error.message}", file=sys.stderr)
    if error.hint:
        print(f"  hint: {error.hint}", file=sys.stderr)
    return int(error.exit_code)


def _say_usage(error: typer.TyperException) -> None:
    show = getattr(error, "show", None)
    if show is None:
        print(f"butlerctl: {error.format_message()}", file=sys.stderr)
    else:
        show()


def _closed_pipe() -> int:
    """The reader (`| head`) went away: no more output, and no complaint from the interpreter's shutdown."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return int(ExitCode.BUG)
