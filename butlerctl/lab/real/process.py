"""A server of the lab as a process: started, waited for, stopped; its last words when it does not come up."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from butlerctl.errors import Unreachable
from butlerctl.redaction import redact_text

_START_SECONDS = 240  # ten are usual; a busy machine takes its time
_STOP_SECONDS = 15
# The server, and beside it one who waits for the end of standard input: it comes when butlerctl is gone, however it
# ended, and then nothing of this process group is left behind.
_TIED_TO_STDIN = """
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
{ trap '' TERM INT; cat <&3 >/dev/null; kill -TERM -$$; sleep 5; kill -KILL -$$; } &
trap : TERM INT
code=1
while kill -0 $server 2>/dev/null; do wait $server; code=$?; done
exit $code
"""


@dataclass(slots=True)
class ServerProcess:
    """One server and whatever it starts; it ends with butlerctl, even when that is killed.

    `ready_url` answers 200 once it is up; output goes to `log`.
    """

    name: str
    command: Sequence[str]
    environ: Mapping[str, str]
    folder: Path
    log: Path
    ready_url: str
    stop_signal: signal.Signals = signal.SIGTERM
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def start(self) -> None:
        """Raises Unreachable when it does not become ready."""
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(  # noqa: S603 - an executable that the lab installed
                ["/bin/sh", "-c", _TIED_TO_STDIN, "sh", *self.command],
                cwd=self.folder,
                env=dict(self.environ),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            self._wait_until_ready()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ask it to stop, and end it and its children after fifteen seconds. Does nothing when it does not run."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, self.stop_signal)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(_STOP_SECONDS)
        if process.stdin is not None:
            process.stdin.close()

    def last_words(self) -> str:
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return redact_text(" | ".join(line.strip() for line in lines[-5:] if line.strip()))

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if self._process is None or self._process.poll() is not None:
                raise Unreachable(f"{self.name} did not start: {self.last_words()}")
            if answers(self.ready_url):
                return
            time.sleep(0.1)
        raise Unreachable(f"{self.name} was not ready after {_START_SECONDS} s: {self.last_words()}")


def answers(url: str) -> bool:
    """Does this address answer 200?"""
    import httpx

    try:
        return httpx.get(url, timeout=2, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
