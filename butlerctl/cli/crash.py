"""What a person sees of a bug in butlerctl: one line, and a redacted log to send."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from pathlib import Path

import butlerctl
from butlerctl.errors import ExitCode
from butlerctl.redaction import is_secret_name, redact_text, register_secret


def report_bug(error: Exception, argv: list[str]) -> int:
    """Write the traceback to a private file, print its path, and return exit code 70."""
    for name, value in os.environ.items():
        if is_secret_name(name):
            register_secret(value)
    body = "\n".join(
        (
            f"butlerctl {butlerctl.__version__}, Python {platform.python_version()}, {platform.platform()}",
            f"command: {' '.join(argv[:1])}",
            "".join(traceback.format_exception(error)),
        )
    )
    print(f"butlerctl: a bug in butlerctl: {type(error).__name__} (exit code 70)", file=sys.stderr)
    try:
        with tempfile.NamedTemporaryFile("w", prefix="butlerctl-bug-", suffix=".log", delete=False) as log:
            log.write(redact_text(body))
    except OSError:
        print(redact_text(body), file=sys.stderr)
    else:
        print(f"  hint: please send {Path(log.name)} to the maintainers", file=sys.stderr)
    return int(ExitCode.BUG)
