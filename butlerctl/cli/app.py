"""The root command, and the one place where an error becomes a line and an exit code."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from copy import copy
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command as typer_command

import butlerctl
from butlerctl.cli.registry import COMMANDS
from butlerctl.errors import ButlerctlError, ExitCode

# As every program ends whose reader (`| head`) went away: 128 and the number of SIGPIPE.
CLOSED_PIPE = 141
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})

HELP = "Prove that a household's AI butler really did what it says."
EPILOG = (
    "Exit codes: 0 proven or done, 1 broken or refused, 2 wrong command line, 3 not proven, 4 something was left behind, "
    "70 a bug of butlerctl, 75 try again, 77 not permitted, 78 bad input, 130 interrupted. The help of each command says "
    "what they mean there. BUTLERCTL_INVENTORY and BUTLERCTL_STATE_DIR stand in for --inventory and --state-dir."
)


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
        self._also_tells_version(command)
        return command

    def _also_tells_version(self, command: Any) -> None:
        """`butlerctl verify --version` answers as `butlerctl --version` does, unlisted."""
        option: Any = copy(next(each for each in self.params if each.name == "version"))
        option.expose_value, option.hidden = False, True
        for each in (command, *getattr(command, "commands", {}).values()):
            each.params.append(option)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        self.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment]  # only the names, for suggestions
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=LazyGroup,
    help=HELP,
    epilog=EPILOG,
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
        code = _run(argv)
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # typer makes a SystemExit of a closed pipe
        return _silenced(CLOSED_PIPE)
    except OSError as error:
        with suppress(OSError):
            print(f"butlerctl: the output cannot be written: {error.strerror}", file=sys.stderr)
        return _silenced(ExitCode.TRY_AGAIN)
    return code


def _run(argv: list[str]) -> int:
    try:
        result = typer_command(app).main(args=argv, prog_name="butlerctl", standalone_mode=False)
    except ButlerctlError as error:
        return _say(error)
    except typer.TyperException as error:
        _say_usage(error)
        return int(ExitCode.USAGE)
    except (KeyboardInterrupt, typer.Abort):
        result = ExitCode.INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
            raise
        from butlerctl.cli.crash import report_bug

        return report_bug(error, argv)
    if result == ExitCode.INTERRUPTED:
        print("butlerctl: interrupted", file=sys.stderr)
    return int(result) if isinstance(result, int) else int(ExitCode.PROVEN)


def _say(error: ButlerctlError) -> int:
    from butlerctl.cli.documents import visible
    from butlerctl.redaction import redact_words  # only where something went wrong: it takes its time

    print(f"butlerctl: {visible(redact_words(error.message))}", file=sys.stderr)
    if error.hint:
        print(f"  hint: {visible(redact_words(error.hint))}", file=sys.stderr)
    return int(error.exit_code)


def _say_usage(error: typer.TyperException) -> None:
    show = getattr(error, "show", None)
    if show is None:
        print(f"butlerctl: {error.format_message()}", file=sys.stderr)
    else:
        show()


def _silenced(code: int) -> int:
    """No more output, and no complaint of the interpreter's shutdown about what it could not write."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return int(code)
