"""What deployments to one n8n remember: snapshots, journals, and who may write now."""

from __future__ import annotations

import errno
import fcntl
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO

from butlerctl.appendlog import AppendLog
from butlerctl.deploy.journal import Journal, Memory, PastRun
from butlerctl.deploy.snapshot import Kind, Snapshot, moment_of, read_snapshot, snapshot_files
from butlerctl.errors import BadInput, TryAgain


class Store:
    """The folder `deploy/HASH` in the state folder of an inventory; HASH is that of n8n's address."""

    def __init__(self, state: Path, target: str) -> None:
        self._target = target
        self.folder = state / "deploy" / hashlib.sha256(target.encode()).hexdigest()[:12]
        self.snapshots = self.folder / "snapshots"
        self._runs = self.folder / "runs"
        self._lock_file = self.folder / "lock"

    @contextmanager
    def lock(self, *, needed: bool = True) -> Iterator[None]:
        """Only one process at a time writes to this n8n.

        Raises:
            TryAgain: another one does.
            BadInput: the folder cannot be written, and it is needed.
        """
        handle: AppendLog | BinaryIO | None
        try:
            handle = self._locked()
        except BadInput:
            if needed:
                raise
            handle = self._locked_as_it_is()
        try:
            yield
        finally:
            if handle is not None:
                handle.close()

    def _locked(self) -> AppendLog:
        try:
            for folder in (self.snapshots, self._runs):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(
                f"{self.folder}: cannot be made: {error.strerror}",
                hint="make room or choose another --state-dir",
            ) from error
        return AppendLog(self._lock_file, what="lock of deployments")

    def _locked_as_it_is(self) -> BinaryIO | None:
        """Where nothing can be written; None where nobody ever wrote."""
        try:
            file = self._lock_file.open("rb")
        except OSError:
            return None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.close()
            if error.errno == errno.EWOULDBLOCK:
                raise TryAgain(
                    f"another run of butlerctl holds {self._lock_file}", hint="let it finish"
                ) from error
            return None
        return file

    def journal(self, run_id: str, *, needed: bool = True) -> Journal:
        """A new one, or that of an interrupted run to go on with."""
        return Journal(self._runs / f"{run_id}.jsonl", needed=needed)

    def runs(self) -> list[PastRun]:
        """The oldest first."""
        return [PastRun.read(path) for path in sorted(self._runs.glob("*.jsonl"))]

    def unfinished(self) -> list[PastRun]:
        """The runs that were interrupted, the newest first: a deployment, and perhaps the ways back from it."""
        return [run for run in reversed(self.runs()) if not run.finished]

    def memory(self, going_on: PastRun | None = None) -> Memory:
        """`going_on` is a run under way, of which the disk may not know everything."""
        runs = self.runs()
        if going_on is not None:
            runs = [*(run for run in runs if run.path != going_on.path), going_on]
        return Memory.of(runs)

    def moment(self) -> datetime:
        """Now, and after everything that is remembered: where the clock was set back, the newest stays the newest."""
        names = [path.stem for folder in (self.snapshots, self._runs) for path in folder.glob("*Z-*.json*")]
        last = max(filter(None, map(moment_of, names)), default=datetime.min.replace(tzinfo=UTC))
        return max(datetime.now(UTC), last + timedelta(milliseconds=1))

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
                f"{'no' if not found else 'more than one'} snapshot of {self._target} is called {name}",
                hint=self._of_other_addresses() or "`butlerctl snapshot list` shows them",
            )
        return read_snapshot(found[0])

    def begun_from(self, run: PastRun) -> Snapshot:
        """What an interrupted run goes back to.

        Raises:
            BadInput: it is gone, or damaged.
        """
        try:
            return self.read(str(run.begun["snapshot"]))
        except BadInput as error:
            raise BadInput(
                f"the run {run.id} was interrupted, and its way back is lost: {error.message}",
                hint="`butlerctl snapshot` keeps what n8n holds now; end the run with `butlerctl rollback --to` that"
                " snapshot, or an older one",
            ) from error

    def has(self, snapshot: Snapshot) -> bool:
        """Is it one of this inventory's own?"""
        return (self.snapshots / f"{snapshot.id}.json").is_file()

    def all_snapshots(self) -> tuple[list[Snapshot], dict[str, str]]:
        """The newest first; and by id, what is wrong with those that cannot be read."""
        found, damaged = [], {}
        for path in snapshot_files(self.snapshots):
            try:
                found.append(read_snapshot(path))
            except BadInput as error:
                damaged[path.stem] = error.message
        return found, damaged

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
        raise BadInput(
            f"there is no snapshot of {self._target} to go back to",
            hint=self._of_other_addresses()
            or "`butlerctl apply` and `snapshot` take them; --to takes that of a deployment which failed, too",
        )

    def _of_other_addresses(self) -> str:
        """Which other addresses of an n8n this inventory has snapshots of, so that a changed one is noticed."""
        others = set()
        for folder in self.folder.parent.glob("*/snapshots"):
            with suppress(BadInput):
                others |= {read_snapshot(path).target for path in snapshot_files(folder)[:1]}
        others.discard(self._target)
        return f"there are snapshots of {', '.join(sorted(others))}: is it the same n8n?" if others else ""
