"""Signed reports as a condition of a deployment, as the voucher of a snapshot, and as the last word on drift."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from butlerctl.errors import BadInput, ButlerctlError, Refused
from butlerctl.judge.result import ChainVerdict
from butlerctl.redaction import redact_text
from butlerctl.report.policy import Policy, Refusal, address_of, verify_report
from butlerctl.report.run import Run
from butlerctl.report.signing import check_signature, parse_report, read_file
from butlerctl.report.statement import run_of

if TYPE_CHECKING:
    from butlerctl.report.keys import PublicKey


@dataclass(frozen=True, slots=True)
class VouchingReport:
    """A report of `verify`. `key` is the id of the trusted key that signed it, empty where none did."""

    file: str
    run: Run
    key: str

    def is_about(self, target: str) -> bool:
        """Is it about this n8n, and not about the lab's own?"""
        return not self.run.lab and address_of(self.run.target) == address_of(target)

    def vouches_for(self, target: str, published: Mapping[str, str]) -> bool:
        """Is it a PASS of exactly these workflows on this n8n, signed with a trusted key?"""
        return (
            bool(self.key)
            and self.run.verdict is ChainVerdict.PASS
            and address_of(self.run.target) == address_of(target)
            and dict(self.run.workflows) == dict(published)
        )

    def as_json(self) -> dict[str, str]:
        return {
            "id": self.run.id,
            "file": self.file,
            "started": self.run.started.isoformat(timespec="seconds"),
            "verdict": str(self.run.verdict),
            "key": self.key,
        }


def read_reports(files: Iterable[Path], trusted: Sequence[PublicKey]) -> tuple[VouchingReport, ...]:
    """The reports that can be read, the newest run first; a file that is none is passed over.

    By their ends: a joined report ends with the last of its parts, and comes before it.
    """
    found = []
    for path in files:
        try:
            report = parse_report(read_file(path))
            run = run_of(report.payload)
        except ButlerctlError:
            continue
        try:
            key = check_signature(report, tuple(trusted)).key_id
        except ButlerctlError:
            key = ""
        found.append(VouchingReport(str(path), run, key))
    return tuple(sorted(found, key=_age, reverse=True))


def _age(report: VouchingReport) -> tuple[datetime, bool, datetime]:
    run = report.run
    return run.finished, bool(run.parts), run.started


def last_report(reports: Iterable[VouchingReport], target: str) -> VouchingReport | None:
    """The newest PASS about this n8n that a trusted key signed, of reports that are sorted by their age."""
    good = (each for each in reports if each.key and each.run.verdict is ChainVerdict.PASS)
    return next((report for report in good if report.is_about(target)), None)


def named_report(
    path: Path, trusted: Sequence[PublicKey], target: str, workflows: Collection[str]
) -> VouchingReport:
    """The report at `path`, whatever its verdict.

    Raises:
        BadInput: it is no report, no trusted key signed it, or it is about another n8n or none of these workflows.
    """
    try:
        report = parse_report(read_file(path))
        key = check_signature(report, trusted)
        run = run_of(report.payload)
    except Refused as refusal:
        raise BadInput(
            f"{path}: nothing is compared with it: {refusal.message}",
            hint="--key names a public key that you trust; without it that is your own",
        ) from refusal
    found = VouchingReport(str(path), run, key.key_id)
    if not found.is_about(target):
        about = "the lab" if run.lab else redact_text(run.target)
        raise BadInput(
            f"{path}: the report is about {about}, not about {target}",
            hint="without --report it is the newest that `verify` made here",
        )
    if run.workflows.keys().isdisjoint(workflows):
        raise BadInput(f"{path}: the report is about none of these workflows")
    return found


def require_report(
    path: Path, policy: Policy, lab_workflows: Callable[[], Mapping[str, str]], now: datetime
) -> VouchingReport:
    """The report at `path`, if it fulfils the policy.

    A report of the lab is about the same files with the lab's own values in them: it is held to
    `lab_workflows` instead of to the policy's workflows and target.

    Raises:
        BadInput: it does not, with every reason.
    """
    data = read_file(path)
    verification = verify_report(data, policy, now)
    run = verification.run
    if run is not None and run.lab:
        verification = verify_report(data, replace(policy, target=None, workflows=lab_workflows()), now)
    if not verification.accepted or run is None or verification.key is None:
        raise BadInput(
            f"{path}: the report does not vouch for this deployment: {_reasons(verification.refusals)}",
            hint="`butlerctl verify` makes one; nothing was written to n8n",
        )
    return VouchingReport(str(path), run, verification.key.key_id)


def _reasons(refusals: Iterable[Refusal]) -> str:
    return "; ".join(refusal.message for refusal in refusals)
