from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ec import SECP384R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from report_samples import good_run

from butlerctl.errors import BadInput
from butlerctl.report.keys import (
    PASSPHRASE_VARIABLE,
    KeyType,
    default_key,
    load_any_key,
    load_public_key,
    load_signer,
    new_signer,
    public_key_of,
    public_path,
    save_key,
)
from butlerctl.report.signing import check_signature, parse_report, report_text

KEY_TYPES = pytest.mark.parametrize("key_type", list(KeyType), ids=str)
OTHERS = {
    "rsa": lambda: rsa.generate_private_key(65537, 2048),
    "p384": lambda: generate_private_key(SECP384R1()),
}


def private_file(path, key, encoding=Encoding.PEM, form=PrivateFormat.PKCS8, encryption=None, mode=0o600):
    path.write_bytes(key.private_bytes(encoding, form, encryption or NoEncryption()))
    path.chmod(mode)
    return path


@KEY_TYPES
def test_a_new_key_is_private_and_comes_back_from_its_files(tmp_path, key_type):
    old = os.umask(0)
    try:
        signer = new_signer(key_type)
        public = save_key(signer, tmp_path / "keys" / "signing.pem")
    finally:
        os.umask(old)
    private = tmp_path / "keys" / "signing.pem"
    assert private.stat().st_mode & 0o777 == 0o600
    assert private.parent.stat().st_mode & 0o777 == 0o700
    assert public == public_path(private)
    assert b"PRIVATE" not in public.read_bytes()
    assert load_public_key(public) == public_key_of(load_signer(private)) == load_any_key(private)
    assert load_public_key(public).type is key_type
    report = parse_report(report_text(good_run(), load_signer(private)).encode())
    assert check_signature(report, [load_public_key(public)])


@pytest.mark.parametrize("existing", ["signing.pem", "signing.pem.pub"])
def test_no_key_file_is_ever_overwritten(tmp_path, existing):
    (tmp_path / existing).write_text("precious")
    with pytest.raises(BadInput, match="not overwritten"):
        save_key(new_signer(), tmp_path / "signing.pem")
    assert [path.name for path in tmp_path.iterdir()] == [existing]
    assert (tmp_path / existing).read_text() == "precious"


def test_a_dangling_link_is_not_followed_when_a_key_is_written(tmp_path):
    (tmp_path / "signing.pem").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadInput, match="not overwritten"):
        save_key(new_signer(), tmp_path / "signing.pem")


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o660, 0o604, 0o602])
def test_a_private_key_that_others_may_open_is_refused(tmp_path, mode):
    save_key(new_signer(), tmp_path / "signing.pem")
    (tmp_path / "signing.pem").chmod(mode)
    with pytest.raises(BadInput, match=f"mode {mode:04o}") as refusal:
        load_signer(tmp_path / "signing.pem")
    assert refusal.value.hint.startswith("chmod 600")


def test_a_private_key_given_as_the_trusted_one_is_refused(tmp_path):
    save_key(new_signer(), tmp_path / "signing.pem")
    with pytest.raises(BadInput, match="is a private key"):
        load_public_key(tmp_path / "signing.pem")


@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS.keys())
def test_other_kinds_of_keys_are_refused_in_one_line(tmp_path, make):
    key = make()
    with pytest.raises(BadInput, match="neither ECDSA P-256 nor Ed25519"):
        load_signer(private_file(tmp_path / "a.pem", key))
    pem = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "a.pub").write_bytes(pem)
    with pytest.raises(BadInput, match="neither ECDSA P-256 nor Ed25519"):
        load_public_key(tmp_path / "a.pub")


@pytest.mark.parametrize(
    "text", ["", "hello", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"]
)
def test_a_file_that_is_no_key_is_refused_in_one_line(tmp_path, text):
    path = tmp_path / "file"
    path.write_text(text)
    path.chmod(0o600)
    for load in (load_signer, load_public_key):
        with pytest.raises(BadInput, match="is no p"):
            load(path)


def test_a_key_that_is_not_there_is_named(tmp_path):
    for load in (load_signer, load_public_key):
        with pytest.raises(BadInput, match="No such file"):
            load(tmp_path / "none")


def test_the_operators_own_ssh_key_signs_and_verifies(tmp_path):
    key = Ed25519PrivateKey.generate()
    private = private_file(tmp_path / "id_ed25519", key, form=PrivateFormat.OpenSSH)
    public = tmp_path / "id_ed25519.pub"
    public.write_bytes(key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH) + b" me@here\n")
    report = parse_report(report_text(good_run(), load_signer(private)).encode())
    assert check_signature(report, [load_public_key(public)]).type is KeyType.ED25519


@pytest.mark.parametrize("form", [PrivateFormat.PKCS8, PrivateFormat.TraditionalOpenSSL])
def test_an_encrypted_key_takes_its_passphrase_from_the_environment(tmp_path, monkeypatch, form):
    key = generate_private_key(new_signer()._private_key.curve)
    path = private_file(
        tmp_path / "a.pem", key, form=form, encryption=BestAvailableEncryption(b"open sesame")
    )
    monkeypatch.delenv(PASSPHRASE_VARIABLE, raising=False)
    with pytest.raises(BadInput, match="is encrypted"):
        load_signer(path)
    monkeypatch.setenv(PASSPHRASE_VARIABLE, "wrong")
    with pytest.raises(BadInput, match="does not open") as refusal:
        load_signer(path)
    assert "wrong" not in refusal.value.message
    monkeypatch.setenv(PASSPHRASE_VARIABLE, "open sesame")
    assert load_signer(path)


def test_a_key_without_passphrase_is_not_disturbed_by_one_in_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv(PASSPHRASE_VARIABLE, "open sesame")
    save_key(new_signer(), tmp_path / "signing.pem")
    assert load_signer(tmp_path / "signing.pem")


@pytest.mark.skipif(
    not shutil.which("openssl"), reason="openssl is missing: the key id is NOT judged independently"
)
@KEY_TYPES
def test_the_key_id_is_what_openssl_says_it_is(tmp_path, key_type):
    public = save_key(new_signer(key_type), tmp_path / "a.pem")
    script = 'openssl pkey -pubin -in "$1" -outform DER | sha256sum | cut -c1-64'
    printed = subprocess.run(["sh", "-c", script, "id", public], capture_output=True, check=True, timeout=30)
    assert printed.stdout.decode().strip() == load_public_key(public).key_id


def test_the_default_key_lies_in_the_state_folder(tmp_path):
    assert default_key(tmp_path) == tmp_path / "keys" / "signing.pem"
