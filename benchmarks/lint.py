"""How fast the linter is: start-up on the shipped exports, throughput and memory on generated ones, and peers.

    python benchmarks/lint.py             # the linter alone
    python benchmarks/lint.py --peers     # beside flowsentry, valn8n (pip) and flowlint (npm), installed for the run

All times are CPU seconds of the whole child process, as `getrusage` reports them.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import statistics
import string
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
LINT = (sys.executable, "-m", "butlerctl", "lint-workflows")
FILES = 2000
FILE_SIZE = 20_000
EMPTY_COMMAND = """
import typer
app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
@app.command()
def main(name: str = "x") -> None:
    print(name)
app()
"""


def cpu_seconds(command: Sequence[str], cwd: Path = ROOT) -> float:
    """User and system time of one run of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def start_up() -> None:
    """The shipped exports, the inventory included, and an empty typer command in turn."""
    empty, ours = [], []
    for _ in range(20):
        empty.append(cpu_seconds((sys.executable, "-c", EMPTY_COMMAND)))
        ours.append(cpu_seconds(LINT))
    for name, times in (("an empty typer command", empty), ("lint-workflows, 12 exports", ours)):
        print(
            f"{name:28} median {1000 * statistics.median(times):5.0f} ms, least {1000 * min(times):5.0f} ms"
        )
    print(f"{'ratio':28} {statistics.median(ours) / statistics.median(empty):.2f}")


def generate(folder: Path) -> int:
    """Write FILES workflows of about FILE_SIZE bytes; the bytes written."""
    seed = json.loads((ROOT / "workflows" / "calendar_list_husband.json").read_text(encoding="utf-8"))
    pick = random.Random(1)  # noqa: S311 - test data
    written = 0
    for number in range(FILES):
        text = json.dumps(workflow(seed, number, pick), indent=2)
        (folder / f"workflow_{number}.json").write_text(text, encoding="utf-8")
        written += len(text)
    return written


def workflow(seed: dict[str, object], number: int, pick: random.Random) -> dict[str, object]:
    document = json.loads(json.dumps(seed))
    document |= {"name": f"workflow {number}", "id": identifier(pick), "active": True}
    document["nodes"][0]["parameters"]["path"] = f"hooks/{number}"
    previous = "Webhook"
    while len(json.dumps(document, indent=2)) < FILE_SIZE:
        name = f"Set {len(document['nodes'])}"
        fields = [
            {
                "id": identifier(pick),
                "name": f"field_{index}",
                "type": "string",
                "value": f"={{{{ $json.f{index} }}}}",
            }
            for index in range(4)
        ]
        node = {
            "parameters": {"assignments": {"assignments": fields}, "options": {}},
            "type": "n8n-nodes-base.set",
            "typeVersion": 3.4,
            "position": [0, 0],
            "id": identifier(pick),
            "name": name,
        }
        document["nodes"].append(node)
        edge = {"node": name, "type": "main", "index": 0}
        document["connections"].setdefault(previous, {"main": [[]]})["main"][0].append(edge)
        previous = name
    return document


def identifier(pick: random.Random) -> str:
    return "".join(pick.choices(string.ascii_letters + string.digits, k=16))


def throughput(folder: Path, size: int) -> None:
    seconds = min(cpu_seconds((*LINT, str(folder)), cwd=folder) for _ in range(3))
    program = (
        "import resource, sys; from butlerctl.workflows import lint; lint(sys.argv[1:]);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
    )
    peak = subprocess.run(
        (sys.executable, "-c", program, str(folder)), cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    print(f"{FILES} files, {size / 1e6:.0f} MB: {size / 1e6 / seconds:.1f} MB/s, peak {peak} MB")


def peers(folder: Path, size: int, home: Path) -> None:
    """Each peer on the same files. valn8n and flowsentry come from PyPI, flowlint from npm."""
    venv.create(home / "venv", with_pip=True)
    python = home / "venv" / "bin" / "python"
    subprocess.run(
        (python, "-m", "pip", "install", "-q", "--ignore-requires-python", "flowsentry", "valn8n"),
        check=False,
    )
    npm = shutil.which("npm")
    if npm:
        subprocess.run((npm, "install", "--silent", "--prefix", str(home), "flowlint"), check=False)
    commands = {
        "flowsentry": (home / "venv" / "bin" / "flowsentry", "scan", folder),
        "valn8n": (home / "venv" / "bin" / "valn8n", folder),
        "flowlint": (home / "node_modules" / ".bin" / "flowlint", "scan", folder),
    }
    for name, command in commands.items():
        if command[0].exists():
            seconds = cpu_seconds(tuple(map(str, command)))
            print(f"{name:12} {size / 1e6 / seconds:6.1f} MB/s, {seconds:6.1f} s")
        else:
            print(f"{name:12} did not install")


def main() -> None:
    os.environ["PYTHONPATH"] = str(ROOT)
    start_up()
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        folder = home / "exports"
        folder.mkdir()
        size = generate(folder)
        throughput(folder, size)
        if "--peers" in sys.argv:
            peers(folder, size, home)


if __name__ == "__main__":
    main()
