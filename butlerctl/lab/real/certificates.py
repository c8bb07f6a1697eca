"""A certificate authority of the lab's own, for one run: nothing outside the processes it starts trusts it."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

_LIFE = timedelta(days=7)


def make_authority(folder: Path, names: Sequence[str]) -> tuple[Path, ssl.SSLContext]:
    """The authority's certificate in a file, and the TLS settings of a server for these names.

    `names` may begin with `*.`. The server's key and certificate lie in the folder too, as files of this user.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    def certificate(subject: str, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(_name(subject))
            .issuer_name(_name("butlerctl lab"))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + _LIFE)
        )

    def _name(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])

    authority_key = ec.generate_private_key(ec.SECP256R1())
    authority = (
        certificate("butlerctl lab", authority_key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(authority_key, hashes.SHA256())
    )
    server_key = ec.generate_private_key(ec.SECP256R1())
    server = (
        certificate(names[0], server_key)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    trusted, chain = folder / "authority.pem", folder / "server.pem"
    trusted.write_bytes(authority.public_bytes(Encoding.PEM))
    chain.touch(mode=0o600)
    chain.write_bytes(
        server_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        + server.public_bytes(Encoding.PEM)
    )
    settings = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    settings.load_cert_chain(chain)
    settings.set_alpn_protocols(["http/1.1"])
    return trusted, settings
