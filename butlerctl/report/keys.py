"""Signing keys: made, kept in private files, read back. ECDSA P-256 and Ed25519.

A key id is the sha256 of the public key's SubjectPublicKeyInfo in DER, which
`openssl pkey -pubin -in KEY.pub -outform DER | sha256sum` prints too. It is a hint, never trust.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from butlerctl.errors import BadInput
from butlerctl.state import state_root

if TYPE_CHECKING:
    from securesystemslib.signer import CryptoSigner, SSlibKey

PASSPHRASE_VARIABLE = "BUTLERCTL_KEY_PASSPHRASE"  # noqa: S105 - the name of a variable


class KeyType(StrEnum):
    """P-256 is the default: cosign verifies it; with its defaults it refuses Ed25519."""

    P256 = "p256"
    ED25519 = "ed25519"


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A public key. `tuf_id` is the other id in use, that of TUF and in-toto."""

    type: KeyType
    key_id: str
    tuf_id: str
    pem: str
    verifier: SSlibKey


def new_signer(key_type: KeyType = KeyType.P256) -> CryptoSigner:
    """A new private key, in memory only."""
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = generate_private_key(SECP256R1()) if key_type is KeyType.P256 else Ed25519PrivateKey.generate()
    return _signer(private)


def public_key_of(signer: CryptoSigner) -> PublicKey:
    return _public_key(signer.public_key._crypto_key(), "the signer's key")  # noqa: SLF001 - no public way


def default_key(state_dir: Path | None = None) -> Path:
    """The signing key of this user: a key belongs to a person or host, not to an inventory."""
    return state_root(state_dir) / "keys" / "signing.pem"


def public_path(private: Path) -> Path:
    """Where the public half of a private key file lies: `NAME.pub` beside it."""
    return private.with_name(private.name + ".pub")


def save_key(signer: CryptoSigner, path: Path) -> Path:
    """Write the private key to `path` (0600) and the public one beside it; return the path of the latter.

    Raises:
        BadInput: one of the two files is there already, or cannot be written.
    """
    public = public_path(path)
    for file in (path, public):
        if os.path.lexists(file):
            raise BadInput(f"{file} exists and is not overwritten", hint="choose another name")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write_new(path, signer.private_bytes, 0o600)
        _write_new(public, public_key_of(signer).pem.encode(), 0o644)
    except OSError as error:
        raise BadInput(f"{error.filename or path}: cannot be written: {error.strerror}") from error
    return public


def load_signer(path: Path) -> CryptoSigner:
    """Read a private key: PEM (PKCS#8) or OpenSSH. An encrypted one takes its passphrase from the environment.

    Raises:
        BadInput: the file is no such key, or others than its owner may read it.
    """
    data = _read(path)
    _require_private(path)
    return _signer(_private_key(data, path))


def load_public_key(path: Path) -> PublicKey:
    """Read a public key: PEM or OpenSSH (`ssh-ed25519 …`).

    Raises:
        BadInput: the file is no public key of a supported type.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_public_key, load_ssh_public_key

    data = _read(path)
    if b"PRIVATE KEY" in data:
        raise BadInput(f"{path} is a private key", hint=f"the public one is usually {public_path(path)}")
    for load in (load_pem_public_key, load_ssh_public_key):
        with suppress(ValueError, UnsupportedAlgorithm):
            return _public_key(load(data), str(path))
    raise BadInput(f"{path} is no public key", hint="a PEM or OpenSSH public key, P-256 or Ed25519")


def load_any_key(path: Path) -> PublicKey:
    """The public half of a key file, private or public.

    Raises:
        BadInput: the file is no key of a supported type.
    """
    return public_key_of(load_signer(path)) if b"PRIVATE KEY" in _read(path) else load_public_key(path)


def _signer(private: Any) -> CryptoSigner:
    from securesystemslib.signer import CryptoSigner

    return CryptoSigner(private, _public_key(private.public_key(), "the key").verifier)


def _public_key(key: Any, name: str) -> PublicKey:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
    from securesystemslib.signer import SSlibKey

    key_type = _type_of(key, name)
    der = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    key_id = hashlib.sha256(der).hexdigest()
    return PublicKey(
        type=key_type,
        key_id=key_id,
        tuf_id=SSlibKey.from_crypto(key).keyid,
        pem=key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode(),
        verifier=SSlibKey.from_crypto(key, keyid=key_id),
    )


def _type_of(key: Any, name: str) -> KeyType:
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if isinstance(key, Ed25519PublicKey):
        return KeyType.ED25519
    if isinstance(key, EllipticCurvePublicKey) and isinstance(key.curve, SECP256R1):
        return KeyType.P256
    raise BadInput(f"{name} is neither ECDSA P-256 nor Ed25519", hint="butlerctl keys new makes one")


def _private_key(data: bytes, path: Path) -> Any:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_ssh_private_key

    passphrase = os.environ.get(PASSPHRASE_VARIABLE, "").encode() or None
    load = load_ssh_private_key if b"OPENSSH PRIVATE KEY" in data else load_pem_private_key
    try:
        try:
            return load(data, None)
        except TypeError:  # how cryptography says that the key is encrypted
            return load(data, passphrase)
    except TypeError:
        raise BadInput(f"{path} is encrypted", hint=f"set {PASSPHRASE_VARIABLE}") from None
    except (ValueError, UnsupportedAlgorithm):
        if passphrase and b"ENCRYPTED" in data:
            raise BadInput(f"{path} does not open with {PASSPHRASE_VARIABLE}") from None
        raise BadInput(f"{path} is no private key", hint="butlerctl keys new makes one") from None


def _require_private(path: Path) -> None:
    mode = path.stat().st_mode & 0o777
    if mode & 0o077:
        raise BadInput(
            f"{path} holds a private key and is open to others (mode {mode:04o})", hint=f"chmod 600 {path}"
        )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(
            f"{path}: cannot be read: {error.strerror}", hint="butlerctl keys new makes a key"
        ) from error


def _write_new(path: Path, data: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
