"""When the certificate of a site ends, asked of real servers."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from cw.errors import Failure
from cw_hub.operation import doctor, heartbeats
from cw_hub.operation.resources import Resources
from hub.tests.conftest import ON_SQLITE

pytestmark = ON_SQLITE

ENDED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
"""A certificate that has ended is told of too."""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate that nobody has signed, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hub.example")])
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime(2025, 1, 1, tzinfo=UTC))
        .not_valid_after(ENDED)
        .sign(key, hashes.SHA256())
    )
    paths = tmp_path / "hub.pem", tmp_path / "hub.key"
    paths[0].write_bytes(built.public_bytes(serialization.Encoding.PEM))
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8)
    paths[1].write_bytes(key.private_bytes(*form, serialization.NoEncryption()))
    return paths


@contextmanager
def listening(answer: bytes = b"", files: tuple[Path, Path] | None = None) -> Iterator[int]:
    """Take one connection: with TLS by these files, or with an answer; gives the port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            plain, _ = listener.accept()
            with plain:
                if files is not None:
                    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                    context.load_cert_chain(*files)
                    context.wrap_socket(plain, server_side=True).close()
                else:
                    with suppress(ConnectionError):
                        plain.sendall(answer)
                        while plain.recv(1 << 16):
                            continue

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


def test_the_end_of_a_certificate_is_noted(resources: Resources, files: tuple[Path, Path]) -> None:
    with listening(files=files) as port:
        settings = replace(resources.settings, public_url=f"https://127.0.0.1:{port}")
        doctor.note(replace(resources, settings=settings))
    with resources.database.reading() as session:
        assert heartbeats.moments(session)[heartbeats.CERTIFICATE] == ENDED


def test_a_site_without_https_has_none(resources: Resources) -> None:
    doctor.note(resources)
    with resources.database.reading() as session:
        assert heartbeats.CERTIFICATE not in heartbeats.moments(session)


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b""])
def test_who_shows_none_or_hangs_is_given_up(answer: bytes) -> None:
    with (
        listening(answer) as port,
        pytest.raises(Failure, match=f"the certificate of 127.0.0.1:{port} cannot be read: "),
    ):
        doctor.end_of("127.0.0.1", port, patience=0.2)
