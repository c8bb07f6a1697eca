"""How long the main job takes: the lab up, and all twelve routes proven.

    python benchmarks/verify.py [RUNS]

Bars on two cores: the lab is up within 1 s, the run itself takes less than 5 s. The processor time of the whole
process says what a busy machine does not blur.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

from butlerctl.inventory.loader import load_inventory
from butlerctl.lab.stack import Lab

ROOT = Path(__file__).parents[1]
MOST_SECONDS_UP = 1.0
MOST_SECONDS_RUN = 5.0


def lab_up() -> float:
    """Seconds from nothing to a lab that answers."""
    inventory = load_inventory(ROOT / "inventory.yaml", {})
    started = time.perf_counter()
    with Lab(inventory):
        return time.perf_counter() - started


def verify() -> tuple[float, float, float]:
    """Seconds of the run itself, of the whole process, and of its processor time."""
    with tempfile.TemporaryDirectory() as folder:
        environ = {**os.environ, "BUTLERCTL_STATE_DIR": folder}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "butlerctl", "verify", "--lab", "--format", "json"],
            cwd=ROOT, env=environ, capture_output=True, text=True, check=True,
        )  # fmt: skip
        whole = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    run = json.loads(done.stdout)["run"]
    began, ended = (datetime.fromisoformat(run[name]) for name in ("started", "finished"))
    return (ended - began).total_seconds(), whole, cpu


def main(runs: int) -> int:
    lab_up()  # the first one also imports
    up = statistics.median(lab_up() for _ in range(runs))
    results = [verify() for _ in range(runs)]
    itself, whole, cpu = (statistics.median(column) for column in zip(*results, strict=True))
    print(f"lab up         {up * 1000:6.0f} ms   (bar {MOST_SECONDS_UP * 1000:.0f})")
    print(f"the run        {itself * 1000:6.0f} ms   (bar {MOST_SECONDS_RUN * 1000:.0f})")
    print(f"whole process  {whole * 1000:6.0f} ms")
    print(f"processor time {cpu * 1000:6.0f} ms")
    return 0 if up < MOST_SECONDS_UP and itself < MOST_SECONDS_RUN else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5))
