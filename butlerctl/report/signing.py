"""A report as a file: a DSSE envelope in a Sigstore bundle v0.3, or the bare statement when it is unsigned.

What is signed is DSSE's pre-authentication encoding of the payload, so that an auditor can check a report
with openssl alone (docs/report.md). An unsigned report is the plain in-toto statement: it cannot be taken
for a signed one.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from butlerctl.errors import BadInput, Refused
from butlerctl.report.statement import payload_of
from butlerctl.report.strict import strict_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from securesystemslib.dsse import Envelope
    from securesystemslib.signer import Signer

    from butlerctl.report.keys import PublicKey
    from butlerctl.report.run import Run

BUNDLE_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json"
PAYLOAD_TYPE = "application/vnd.in-toto+json"

LONGEST = 64 * 1024 * 1024
"""Bytes of a report file. One of twelve routes is far below a megabyte."""


@dataclass(frozen=True, slots=True)
class Report:
    """A report file, parsed but not trusted. `envelope` and `key_id` are None when it is unsigned."""

    payload: bytes
    envelope: Envelope | None = None
    key_id: str | None = None


def write_report(path: Path, run: Run, signer: Signer | None = None) -> None:
    """Write the report of a run: whole or not at all.

    Raises:
        BadInput: the file cannot be written.
    """
    text = report_text(run, signer)
    draft = draft_path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from error


def draft_path(path: Path) -> Path:
    """Where a report is written before it takes its place."""
    return path.with_name(f".{path.name}.{os.getpid()}")


def report_text(run: Run, signer: Signer | None = None) -> str:
    """The report of a run: signed, or the bare statement without a signer."""
    payload = payload_of(run)
    document = json.loads(payload) if signer is None else sign(payload, signer)
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def sign(payload: bytes, signer: Signer) -> dict[str, Any]:
    """The Sigstore bundle that holds the payload with one signature."""
    from securesystemslib.dsse import Envelope

    envelope = Envelope(payload, PAYLOAD_TYPE, {})
    signature = envelope.sign(signer)
    return _bundle(payload, bytes.fromhex(signature.signature), signature.keyid)


def read_file(path: Path) -> bytes:
    """The bytes of a report file.

    Raises:
        BadInput: there is no such file, or it cannot be read, or it is longer than any report.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LONGEST + 1)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from error
    if len(data) > LONGEST:
        raise BadInput(f"{path}: longer than {LONGEST // 1024**2} MiB: that is no report")
    return data


def read_report(path: Path) -> Report:
    """Read a report file.

    Raises:
        BadInput: there is no such file.
        Refused: it is no report.
    """
    try:
        return parse_report(read_file(path))
    except Refused as refusal:
        raise Refused(f"{path}: {refusal.message}") from None


def parse_report(data: bytes) -> Report:
    """Parse a bundle strictly: exactly one signature, canonical base64, no field that says nothing.

    Raises:
        Refused: it is no report.
    """
    document = strict_json(data)
    if isinstance(document, dict) and "_type" in document:
        return Report(payload=data)
    try:
        return _signed_report(document)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Refused("invalid report: neither a Sigstore bundle v0.3 nor an in-toto statement") from None


def check_signature(report: Report, trusted: Sequence[PublicKey]) -> PublicKey:
    """The trusted key that signed this report.

    Raises:
        Refused: it is unsigned, signed by another key, or the signature is not that of these bytes.
    """
    from securesystemslib.exceptions import VerificationError

    if report.envelope is None:
        raise Refused("the report is unsigned")
    key = next((key for key in trusted if key.key_id == report.key_id), None)
    if key is None:
        raise Refused(f"the report is signed by a key that is not trusted here: {report.key_id}")
    try:
        report.envelope.verify([key.verifier], threshold=1)
    except VerificationError:
        raise Refused("the signature does not fit: the report was changed after it was signed") from None
    return key


def _signed_report(document: Any) -> Report:
    from securesystemslib.dsse import Envelope
    from securesystemslib.signer import Signature

    envelope = document["dsseEnvelope"]
    if envelope["signatures"] == []:
        return Report(_decode(envelope["payload"]))
    (entry,) = envelope["signatures"]
    payload, signature = _decode(envelope["payload"]), _decode(entry["sig"])
    key_id = entry["keyid"]
    if document != _bundle(payload, signature, key_id):
        raise ValueError("not the bundle that butlerctl writes")
    signatures = {key_id: Signature(key_id, signature.hex())}
    return Report(payload, Envelope(payload, PAYLOAD_TYPE, signatures), key_id)


def _bundle(payload: bytes, signature: bytes, key_id: str) -> dict[str, Any]:
    return {
        "mediaType": BUNDLE_TYPE,
        "verificationMaterial": {
            "publicKey": {"hint": key_id},
            "tlogEntries": [],
            "timestampVerificationData": {"rfc3161Timestamps": []},
        },
        "dsseEnvelope": {
            "payload": _encode(payload),
            "payloadType": PAYLOAD_TYPE,
            "signatures": [{"keyid": key_id, "sig": _encode(signature)}],
        },
    }


def _encode(data: bytes) -> str:
    return base64.standard_b64encode(data).decode("ascii")


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError("not base64") from error
