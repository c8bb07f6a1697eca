"""Known findings that no longer fail a run: a file of fingerprints, blind to lines and indexes."""

from __future__ import annotations

import json
import os
from pathlib import Path

from butlerctl.errors import BadDocument
from butlerctl.workflows.findings import Finding, Report


def fingerprint(finding: Finding, folder: Path) -> str:
    """Code, file (relative to `folder`), node, pointer without indexes and token, as a sha256."""
    import hashlib

    file = Path(os.path.relpath(finding.file, folder)).as_posix() if finding.file else ""
    names = "/".join(part for part in finding.pointer.split("/") if not part.isdigit())
    parts = (finding.code, file, finding.node, names, finding.token)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def without_known(report: Report, path: Path) -> Report:
    """The report without the findings of a baseline file. Raises BadDocument for a file that is none."""
    known = _read(path)
    kept = tuple(item for item in report.findings if fingerprint(item, path.parent) not in known)
    return report._replace(findings=kept, in_baseline=len(report.findings) - len(kept))


def write(report: Report, path: Path) -> None:
    """Make a baseline of all findings of a report."""
    entries = sorted({(item.file, item.code, fingerprint(item, path.parent)) for item in report.findings})
    document = {
        "version": 1,
        "findings": [{"file": file, "code": code, "fingerprint": known} for file, code, known in entries],
    }
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _read(path: Path) -> frozenset[str]:
    hint = "`--write-baseline` makes one"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return frozenset(entry["fingerprint"] for entry in document["findings"])
    except OSError as error:
        raise BadDocument(f"{path}: no baseline: {error.strerror}", hint=hint) from error
    except (ValueError, KeyError, TypeError) as error:
        raise BadDocument(f"{path}: is no baseline of lint-workflows", hint=hint) from error
