"""Apply the safe fixes to files, or show them as a diff."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from butlerctl.workflows.document import decode
from butlerctl.workflows.engine import lint_paths
from butlerctl.workflows.fixes import fix
from butlerctl.workflows.settings import LintSettings

_NO_NEWLINE = "\\ No newline at end of file"


class Change(NamedTuple):
    """One file that the fixes change, and the rules that asked for it."""

    file: str
    codes: frozenset[str]
    before: bytes
    after: bytes

    def diff(self) -> str:
        """A unified diff; a removed byte order mark shows in its first line."""
        from difflib import unified_diff

        before, after = (decode(data)[0].splitlines(keepends=True) for data in (self.before, self.after))
        lines = unified_diff(before, after, f"a/{self.file}", f"b/{self.file}")
        return "".join(line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}\n" for line in lines)


def fix_files(names: Sequence[str], settings: LintSettings, *, write: bool) -> list[Change]:
    """Fix what the selected rules find; suppressed findings are left alone. Raises OSError."""
    wanted: dict[str, set[str]] = {}
    for finding in lint_paths(names, settings).findings:
        wanted.setdefault(finding.file, set()).add(finding.code)
    changes = []
    for file, codes in wanted.items():
        if Path(file).is_file():
            before = Path(file).read_bytes()
            after = fix(before, frozenset(codes))
            if after != before:
                changes.append(Change(file, frozenset(codes & _FIXABLE), before, after))
    if write:
        for change in changes:
            _replace(Path(change.file), change.after)
    return changes


_FIXABLE = frozenset({"BW002", "BW502", "BW503", "BW504"})


def _replace(path: Path, data: bytes) -> None:
    """Write beside the file and move: an interrupted run leaves the old file whole."""
    target = path.resolve()
    beside = target.with_name(f".{target.name}.butlerctl")
    beside.write_bytes(data)
    shutil.copymode(target, beside)
    os.replace(beside, target)  # noqa: PTH105 - the same as Path.replace, said plainly
