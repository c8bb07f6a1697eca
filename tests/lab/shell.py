"""A user's shell for the tests: real `butlerctl` processes with a home, a state folder and an environment of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Ended:
    """A process that has ended."""

    code: int
    out: str
    err: str

    @property
    def document(self):
        return json.loads(self.out)


@dataclass
class Shell:
    """`folder` holds everything that its processes may write: home, state, temporary files."""

    folder: Path
    inventory: Path = ROOT / "inventory.yaml"
    environ: dict[str, str] = field(default_factory=dict)

    def __post_init__(self):
        for name in ("home", "state", "tmp"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.environ = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "HOME": str(self.folder / "home"),
            "TMPDIR": str(self.folder / "tmp"),
            "BUTLERCTL_STATE_DIR": str(self.folder / "state"),
            "BUTLERCTL_INVENTORY": str(self.inventory),
            **self.environ,
        }

    @property
    def state(self) -> Path:
        """The state folder of the inventory, once something was kept there."""
        (folder,) = (path for path in (self.folder / "state").iterdir() if path.name != "keys")
        return folder

    def start(self, *arguments: object, environ: Mapping[str, str] | None = None, **options):
        return subprocess.Popen(
            [sys.executable, "-m", "butlerctl", *map(str, arguments)],
            env={**self.environ, **(environ or {})},
            cwd=options.pop("cwd", self.folder),
            **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
            text=True,
        )

    def run(self, *arguments: object, typed: str | None = None, **options) -> Ended:
        """Run a command to its end; `typed` is its standard input."""
        if typed is not None:
            options["stdin"] = subprocess.PIPE
        with self.start(*arguments, **options) as process:
            out, err = process.communicate(typed, timeout=100)
        return Ended(process.returncode, out, err)

    @contextmanager
    def lab(self, *arguments: object) -> Iterator[dict[str, str]]:
        """A lab in a process of its own; gives what `lab env` prints for other processes."""
        with self.start("lab", "up", *arguments, stderr=subprocess.DEVNULL) as process:
            try:
                assert process.stdout.readline() == "the lab is up\n"
                yield self.run("lab", "env", "--format", "json").document
            finally:
                process.send_signal(signal.SIGTERM)
        assert process.returncode == 0
