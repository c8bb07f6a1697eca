from __future__ import annotations

import base64
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from report_samples import good_run

from butlerctl.errors import Refused
from butlerctl.report.keys import KeyType, new_signer, public_key_of
from butlerctl.report.signing import check_signature, parse_report, report_text
from butlerctl.report.statement import payload_of

KEY_TYPES = pytest.mark.parametrize("key_type", list(KeyType), ids=str)


def signed(key_type=KeyType.P256):
    signer = new_signer(key_type)
    return report_text(good_run(), signer).encode(), public_key_of(signer)


P256_REPORT, P256_KEY = signed()
ED25519_REPORT, ED25519_KEY = signed(KeyType.ED25519)
REPORTS = {KeyType.P256: (P256_REPORT, P256_KEY), KeyType.ED25519: (ED25519_REPORT, ED25519_KEY)}


def bundle():
    return json.loads(P256_REPORT)


def check(document, key=P256_KEY):
    return check_signature(parse_report(json.dumps(document).encode()), [key])


@KEY_TYPES
def test_a_signed_report_is_accepted_with_its_own_key(key_type):
    data, key = REPORTS[key_type]
    report = parse_report(data)
    assert check_signature(report, [key]) == key
    assert report.payload == payload_of(good_run())


def test_the_right_key_is_found_among_several():
    assert check_signature(parse_report(P256_REPORT), [ED25519_KEY, P256_KEY]) is P256_KEY


def test_a_report_of_another_key_is_refused_and_the_key_named():
    with pytest.raises(Refused, match=P256_KEY.key_id):
        check_signature(parse_report(P256_REPORT), [ED25519_KEY])


def test_an_unsigned_report_is_refused():
    with pytest.raises(Refused, match="unsigned"):
        check_signature(parse_report(report_text(good_run()).encode()), [P256_KEY])


def test_a_bundle_whose_signature_was_taken_out_counts_as_unsigned():
    document = bundle()
    document["dsseEnvelope"]["signatures"] = []
    with pytest.raises(Refused, match="unsigned"):
        check(document)


@pytest.mark.parametrize("key_type", list(KeyType), ids=str)
@given(position=st.integers(0, 10**9), bit=st.integers(0, 7))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_flipped_bit_anywhere_in_the_file_is_refused(key_type, position, bit):
    data, key = REPORTS[key_type]
    damaged = bytearray(data)
    damaged[position % len(data)] ^= 1 << bit
    with pytest.raises(Refused):
        check_signature(parse_report(bytes(damaged)), [key])


def flipped(encoded, index):
    raw = bytearray(base64.b64decode(encoded))
    raw[index // 8 % len(raw)] ^= 1 << index % 8
    return base64.b64encode(raw).decode()


@pytest.mark.parametrize("key_type", list(KeyType), ids=str)
def test_every_flipped_bit_of_the_signature_is_refused(key_type):
    data, key = REPORTS[key_type]
    length = len(base64.b64decode(json.loads(data)["dsseEnvelope"]["signatures"][0]["sig"]))
    for index in range(length * 8):
        document = json.loads(data)
        entry = document["dsseEnvelope"]["signatures"][0]
        entry["sig"] = flipped(entry["sig"], index)
        with pytest.raises(Refused):
            check(document, key)


@given(index=st.integers(0, 10**9))
@settings(max_examples=150, deadline=None)
def test_any_flipped_bit_of_the_payload_is_refused(index):
    document = bundle()
    document["dsseEnvelope"]["payload"] = flipped(document["dsseEnvelope"]["payload"], index)
    with pytest.raises(Refused, match="changed after it was signed"):
        check(document)


def test_a_signature_over_another_payload_type_is_refused():
    document = bundle()
    document["dsseEnvelope"]["payloadType"] = "application/json"
    with pytest.raises(Refused):
        check(document)


def damaged_bundles():
    def change(name):
        def wrap(edit):
            document = bundle()
            edit(document)
            return pytest.param(document, id=name)

        return wrap

    yield change("two signatures")(lambda d: d["dsseEnvelope"].update(signatures=[{}, {}]))
    yield change("no envelope")(lambda d: d.pop("dsseEnvelope"))
    yield change("no key id")(lambda d: d["dsseEnvelope"]["signatures"][0].pop("keyid"))
    yield change("another hint")(lambda d: d["verificationMaterial"]["publicKey"].update(hint="x"))
    yield change("another media type")(lambda d: d.update(mediaType="application/json"))
    yield change("a further field")(lambda d: d.update(comment="trust me"))
    yield change("payload not base64")(lambda d: d["dsseEnvelope"].update(payload="%%%"))
    yield change("payload a number")(lambda d: d["dsseEnvelope"].update(payload=3))
    yield change("payload type a list")(lambda d: d["dsseEnvelope"].update(payloadType=[]))
    yield change("signatures null")(lambda d: d["dsseEnvelope"].update(signatures=None))
    yield change("signature not hex")(lambda d: d["dsseEnvelope"]["signatures"][0].update(sig="AA="))


@pytest.mark.parametrize("document", list(damaged_bundles()))
def test_a_damaged_bundle_is_an_invalid_report(document):
    with pytest.raises(Refused, match="invalid report"):
        check(document)


@pytest.mark.parametrize("document", [[], "text", 5, None, {}, {"dsseEnvelope": []}, {"dsseEnvelope": None}])
def test_json_that_is_no_bundle_is_an_invalid_report(document):
    with pytest.raises(Refused, match="invalid report"):
        check(document)


@given(st.binary(max_size=300))
@settings(max_examples=50, deadline=None)
def test_random_bytes_are_an_invalid_report(data):
    with pytest.raises(Refused):
        parse_report(data)


# The auditor's way, with openssl and jq only; docs/report.md prints the same script.
AUDIT = """
set -eu; t=$(mktemp -d); trap 'rm -rf "$t"' EXIT
jq -r .dsseEnvelope.payload "$1" | base64 -d >"$t/p"
jq -r .dsseEnvelope.payloadType "$1" | tr -d '\\n' >"$t/t"
jq -r '.dsseEnvelope.signatures[0].sig' "$1" | base64 -d >"$t/s"
{ printf 'DSSEv1 %d ' "$(wc -c <"$t/t")"; cat "$t/t"; printf ' %d ' "$(wc -c <"$t/p")"; cat "$t/p"; } >"$t/pae"
openssl pkeyutl -verify -pubin -inkey "$2" -rawin -in "$t/pae" -sigfile "$t/s"
"""
HAS_OPENSSL = shutil.which("openssl") and shutil.which("jq")
needs_openssl = pytest.mark.skipif(
    not HAS_OPENSSL, reason="openssl or jq is missing: NOT judged independently"
)


def audit(folder, data, key):
    (folder / "report.json").write_bytes(data)
    (folder / "key.pub").write_text(key.pem)
    command = ["sh", "-c", AUDIT, "audit", folder / "report.json", folder / "key.pub"]
    return subprocess.run(command, capture_output=True, check=False, timeout=30).returncode == 0


@needs_openssl
@KEY_TYPES
def test_openssl_alone_accepts_a_report_and_refuses_a_changed_one(tmp_path, key_type):
    data, key = REPORTS[key_type]
    assert audit(tmp_path, data, key)
    document = json.loads(data)
    payload = base64.b64decode(document["dsseEnvelope"]["payload"]).replace(
        b"calendar_add", b"calendar_bad", 1
    )
    document["dsseEnvelope"]["payload"] = base64.b64encode(payload).decode()
    assert not audit(tmp_path, json.dumps(document).encode(), key)


def test_the_script_of_the_documentation_is_the_one_that_is_tested_here():
    text = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")
    assert AUDIT.strip() in text


@KEY_TYPES
def test_twelve_lines_with_cryptography_alone_agree(key_type):
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    data, key = REPORTS[key_type]
    envelope = json.loads(data)["dsseEnvelope"]
    payload, kind = base64.b64decode(envelope["payload"]), envelope["payloadType"].encode()
    signature = base64.b64decode(envelope["signatures"][0]["sig"])
    pae = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
    public = load_pem_public_key(key.pem.encode())
    how = () if key_type is KeyType.ED25519 else (ECDSA(SHA256()),)
    public.verify(signature, pae, *how)
    with pytest.raises(InvalidSignature):
        public.verify(signature, pae.replace(b"PASSED", b"FAILED"), *how)


def test_the_report_is_the_same_bytes_each_time_it_is_written_unsigned():
    assert report_text(good_run()) == report_text(good_run())
