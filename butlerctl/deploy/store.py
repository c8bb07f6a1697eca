"""What deployments to one n8n remember: snapshots, journals, and who may write now."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from butlerctl.appendlog import AppendLog
from butlerctl.deploy.journal import Journal, Memory, PastRun
from butlerctl.deploy.snapshot import Kind, Snapshot, read_snapshot, snapshot_files
from butlerctl.errors import BadInput


class Store:
    """The folder `deploy/HASH` in the state folder of an inventory; HASH is that of n8n's address."""

    def __init__(self, state: Path, target: str) -> None:
        self.folder = state / "deploy" / hashlib.sha256(target.encode()).hexdigest()[:12]
        self.snapshots = self.folder / "snapshots"
        self._runs = self.folder / "runs"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Only one process at a time writes to this n8n. Raises TryAgain when another one does."""
        for folder in (self.snapshots, self._runs):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = AppendLog(self.folder / "lock", what="lock of deployments")
        try:
            yield
        finally:
            lock.close()

    def journal(self, run_id: str) -> Journal:
        """A new one, or that of an interrupted run to go on with."""
        return Journal(self._runs / f"{run_id}.jsonl")

    def runs(self) -> list[PastRun]:
        """The oldest first."""
        return [PastRun.read(path) for path in sorted(self._runs.glob("*.jsonl"))]

    def unfinished(self) -> list[PastRun]:
        """The runs that were interrupted, the newest first: a deployment, and perhaps the ways back from it."""
        return [run for run in reversed(self.runs()) if not run.finished]

    def memory(self) -> Memory:
        return Memory.of(self.runs())

    def read(self, name: str) -> Snapshot:
        """The snapshot of this id, or of an id that begins so, or the file.

        Raises:
            BadInput: there is none, or more than one.
            BadDocument: it is damaged.
        """
        if Path(name).suffix == ".json":
            return read_snapshot(Path(name))
        found = [path for path in snapshot_files(self.snapshots) if path.stem.startswith(name)]
        if len(found) != 1:
            raise BadInput(
                f"{'no' if not found else 'more than one'} snapshot is called {name}",
                hint="`butlerctl snapshot list` shows them",
            )
        return read_snapshot(found[0])

    def all_snapshots(self) -> list[Snapshot]:
        """The newest first. Raises BadDocument when one is damaged."""
        return [read_snapshot(path) for path in snapshot_files(self.snapshots)]

    def newest(self) -> Snapshot:
        """The newest way back: no rollback took it for its own safety, and no deployment that failed.

        Raises:
            BadInput: there is none.
            BadDocument: it is damaged.
        """
        put_back = {run.id for run in self.runs() if run.came_back}
        for path in snapshot_files(self.snapshots):
            snapshot = read_snapshot(path)
            if snapshot.kind is not Kind.ROLLBACK and snapshot.id not in put_back:
                return snapshot
        raise BadInput("there is no snapshot of this n8n", hint="`butlerctl apply` and `snapshot` take them")
