"""The mails of the hub: to files, and through a real SMTP server with STARTTLS and log-in."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from unittest.mock import patch

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from sqlalchemy import func, select

from cw.hub.jobs import mail
from cw.hub.resources import Resources
from cw.hub.services import people
from cw.hub.store.tables import Ticket
from tests.hub.conftest import StillClock
from tests.hub.site import HeldQueue
from tests.ports import free_port

MINUTE = 60
PATIENCE = 60.0
"""Seconds in which a mail server has begun."""


class Inbox:
    """Keeps the mails that a server is given."""

    def __init__(self) -> None:
        self.mails: list[Message] = []

    async def handle_DATA(self, _server: object, _session: object, envelope: Envelope) -> str:  # noqa: N802
        content = envelope.content
        assert isinstance(content, bytes)
        self.mails.append(message_from_bytes(content))
        return "250 Ok"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with a key and a certificate for `localhost`."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file


def may_send(
    _server: object, _session: object, _envelope: object, kind: str, data: object
) -> AuthResult:
    """Let one user in."""
    right = isinstance(data, LoginPassword) and (data.login, data.password) == (b"team", b"p@ss")
    return AuthResult(success=right, handled=True)


@contextmanager
def post_office(certificate: Path, port: int = 0) -> Iterator[tuple[Inbox, int]]:
    """Run a mail server that takes mail after STARTTLS and a log-in alone."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    inbox = Inbox()
    controller = Controller(
        inbox,
        hostname="localhost",
        port=port or free_port(),
        tls_context=context,
        require_starttls=True,
        auth_required=True,
        authenticator=may_send,
        ready_timeout=PATIENCE,
    )
    controller.start()
    try:
        yield inbox, controller.port
    finally:
        controller.stop()


@pytest.fixture
def trusted(certificate: Path) -> Iterator[None]:
    """Let this process trust the certificate of the test."""
    make = ssl.create_default_context
    with patch("ssl.create_default_context", lambda: make(cafile=str(certificate))):
        yield


@pytest.fixture
def queue() -> HeldQueue:
    return HeldQueue()


@pytest.fixture
def ada(resources: Resources) -> int:
    with resources.database.writing() as session:
        user, _ = people.register(session, resources.clock, "Ada", "ada@example.org", "hash")
    return user


Hub = Callable[[int], Resources]


@pytest.fixture
def with_mail(resources: Resources, queue: HeldQueue) -> Hub:
    """Return the resources of a hub that sends its mail through a port of this machine."""

    def make(port: int) -> Resources:
        server = f"smtp://team:p%40ss@localhost:{port}"
        return replace(resources, settings=replace(resources.settings, mail=server), queue=queue)

    return make


def count_links(resources: Resources) -> int:
    """Return how many links can be used."""
    with resources.database.reading() as session:
        links = select(func.count()).where(Ticket.kind.in_(("reset", "verify")))
        return session.scalar(links) or 0


@pytest.mark.usefixtures("trusted")
def test_a_mail_goes_encrypted_to_a_server_that_knows_us(
    certificate: Path, with_mail: Hub, ada: int
) -> None:
    with post_office(certificate) as (inbox, port):
        mail.send_link(with_mail(port), "reset", ada)
    (message,) = inbox.mails
    assert message["From"] == "team@endofcodes.com"
    assert message["To"] == "ada@example.org"
    assert message["Subject"] == "Reset password"
    assert message.get_content_type() == "text/plain"
    assert message.get_content_charset() == "utf-8"
    assert "\r\n\r\nHi Ada," in message.as_string().replace("\n", "\r\n")


def test_a_server_whose_certificate_nobody_knows_gets_no_mail(
    certificate: Path, with_mail: Hub, ada: int, queue: HeldQueue
) -> None:
    with post_office(certificate) as (inbox, port):
        mail.send_link(with_mail(port), "reset", ada)
    assert inbox.mails == []
    assert len(queue.jobs) == 1


@pytest.mark.usefixtures("trusted")
def test_a_server_that_is_down_gets_one_mail_when_it_is_up(
    certificate: Path, with_mail: Hub, ada: int, queue: HeldQueue
) -> None:
    port = free_port()
    hub = with_mail(port)
    mail.send_link(hub, "reset", ada)
    assert count_links(hub) == 0
    assert queue.jobs == [("mail", ("reset", ada, 1), 1 * MINUTE)]
    with post_office(certificate, port) as (inbox, _):
        (_, arguments, _) = queue.jobs.pop()
        mail.send_link(hub, *arguments)  # type: ignore[arg-type]
    assert len(inbox.mails) == 1
    assert queue.jobs == []
    assert count_links(hub) == 1


def test_it_is_tried_again_after_longer_and_longer_and_then_given_up(
    with_mail: Hub, ada: int, queue: HeldQueue, caplog: pytest.LogCaptureFixture
) -> None:
    hub = with_mail(free_port())
    mail.send_link(hub, "reset", ada)
    pauses = []
    while queue.jobs:
        _, arguments, after = queue.jobs.pop()
        pauses.append(after)
        mail.send_link(hub, *arguments)  # type: ignore[arg-type]
    assert pauses == [1 * MINUTE, 4 * MINUTE, 16 * MINUTE, 64 * MINUTE]
    assert count_links(hub) == 0
    assert f"mail to user {ada} given up after 5 attempts" in caplog.text
    assert "example.org" not in caplog.text


@pytest.mark.usefixtures("trusted")
def test_a_server_without_starttls_gets_nothing(with_mail: Hub, ada: int, queue: HeldQueue) -> None:
    inbox = Inbox()
    controller = Controller(inbox, hostname="localhost", port=free_port(), ready_timeout=PATIENCE)
    controller.start()
    try:
        mail.send_link(with_mail(controller.port), "reset", ada)
        assert inbox.mails == []
        in_clear = with_mail(controller.port)
        server = f"smtp://localhost:{controller.port}?tls=off"
        in_clear = replace(in_clear, settings=replace(in_clear.settings, mail=server))
        mail.send_link(in_clear, "reset", ada)
        assert len(inbox.mails) == 1
    finally:
        controller.stop()


def test_files_have_names_of_their_own_and_go_after_a_week(
    resources: Resources, ada: int, hub_clock: StillClock
) -> None:
    for _ in range(3):
        mail.send_link(resources, "reset", ada)
    folder = resources.settings.data / "mail"
    names = sorted(path.name for path in folder.iterdir())
    assert names == [f"2026-11-20T180000Z-{number}.eml" for number in (1, 2, 3)]
    hub_clock.now = datetime.now(UTC) + timedelta(days=7, hours=1)
    mail.send_link(resources, "reset", ada)
    assert len(list(folder.iterdir())) == 1


def test_a_local_site_prints_the_mail_and_another_does_not(
    resources: Resources, ada: int, capsys: pytest.CaptureFixture[str]
) -> None:
    mail.send_link(resources, "verify", ada)
    printed = capsys.readouterr().err
    assert "Hi Ada,\n\nTo confirm your e-mail address" in printed
    assert "ada@example.org" not in printed
    settings = replace(resources.settings, public_url="https://hub.example")
    mail.send_link(replace(resources, settings=settings), "verify", ada)
    assert "/verify/" not in capsys.readouterr().err


def test_who_is_gone_or_has_no_address_gets_nothing(resources: Resources) -> None:
    mail.send_link(resources, "reset", 12345)
    assert not (resources.settings.data / "mail").exists()
    assert count_links(resources) == 0


def test_a_domain_in_any_script_is_written_in_ascii(resources: Resources) -> None:
    with resources.database.writing() as session:
        user, _ = people.register(session, resources.clock, "Ada", "ada@bücher.example", "hash")
    mail.send_link(resources, "verify", user)
    (path,) = (resources.settings.data / "mail").iterdir()
    assert "To: ada@xn--bcher-kva.example\n" in path.read_text(encoding="ascii")
