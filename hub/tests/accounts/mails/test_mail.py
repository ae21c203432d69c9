"""The mails of the hub: to files, and through a real SMTP server with STARTTLS and log-in."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.message import Message
from functools import partial
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

from cw.errors import UsageError
from cw_hub.accounts import administration, mail, mail_delivery
from cw_hub.accounts import service as accounts_service
from cw_hub.accounts.tickets import LinkKind
from cw_hub.operation import heartbeats, scheduler
from cw_hub.operation.resources import Resources
from cw_hub.store.models import Mail, MailCount, Ticket, User
from hub.tests.conftest import StillClock
from hub.tests.sites import Site, words_of
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
    signed_certificate = (
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
    file.write_bytes(private + signed_certificate.public_bytes(serialization.Encoding.PEM))
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
def ada(resources: Resources) -> int:
    with resources.database.writing() as session:
        user, _ = accounts_service.register(session, "Ada", "ada@example.org", "hash")
    return user


Hub = Callable[[int], Resources]


def send_link(resources: Resources, kind: LinkKind, user: int) -> int:
    """Put a mail into the outbox and try to send it; return its id."""
    with resources.database.writing() as session:
        mail_id = mail.put(session, kind, user)
    mail_delivery.send_mail(resources, mail_id)
    return mail_id


def outbox_of(resources: Resources) -> list[tuple[str, int]]:
    """Return state and attempts of all mails."""
    with resources.database.reading() as session:
        rows = session.execute(select(Mail.state, Mail.attempt).order_by(Mail.id))
        return [(row.state, row.attempt) for row in rows]


@pytest.fixture
def with_mail(resources: Resources) -> Hub:
    """Return the resources of a hub that sends its mail through a port of this machine."""

    def make(port: int) -> Resources:
        server = f"smtp://team:p%40ss@localhost:{port}"
        return replace(resources, settings=replace(resources.settings, mail=server))

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
        send_link(with_mail(port), "reset", ada)
    (message,) = inbox.mails
    assert message["From"] == "team@endofcodes.com"
    assert message["To"] == "ada@example.org"
    assert message["Subject"] == "Reset password"
    assert message.get_content_type() == "text/plain"
    assert message.get_content_charset() == "utf-8"
    assert "\r\n\r\nHi Ada," in message.as_string().replace("\n", "\r\n")


def test_a_server_whose_certificate_nobody_knows_gets_no_mail(
    certificate: Path, with_mail: Hub, ada: int
) -> None:
    with post_office(certificate) as (inbox, port):
        hub = with_mail(port)
        send_link(hub, "reset", ada)
    assert inbox.mails == []
    assert outbox_of(hub) == [("waiting", 1)]


@pytest.mark.usefixtures("trusted")
def test_a_server_that_is_down_gets_one_mail_when_it_is_up(
    certificate: Path, with_mail: Hub, ada: int, hub_clock: StillClock
) -> None:
    port = free_port()
    hub = with_mail(port)
    mail_id = send_link(hub, "reset", ada)
    assert count_links(hub) == 0
    assert outbox_of(hub) == [("waiting", 1)]
    with post_office(certificate, port) as (inbox, _):
        mail_delivery.send_mail(hub, mail_id)
        assert inbox.mails == []
        hub_clock.advance(1 * MINUTE)
        for _ in range(3):
            mail_delivery.send_due(hub)
    assert len(inbox.mails) == 1
    assert outbox_of(hub) == [("sent", 2)]
    assert count_links(hub) == 1


def test_it_is_tried_again_after_longer_and_longer_and_then_given_up(
    with_mail: Hub, ada: int, hub_clock: StillClock, caplog: pytest.LogCaptureFixture
) -> None:
    hub = with_mail(free_port())
    mail_id = send_link(hub, "reset", ada)
    for attempt, pause in enumerate((1, 4, 16, 64), start=1):
        hub_clock.advance(pause * MINUTE - 1)
        mail_delivery.send_due(hub)
        assert outbox_of(hub) == [("waiting", attempt)]
        hub_clock.advance(1)
        mail_delivery.send_due(hub)
    assert outbox_of(hub) == [("dead", 5)]
    assert count_links(hub) == 0
    assert f"gave up on mail to user {ada} after 5 attempts" in caplog.text
    assert "example.org" not in caplog.text
    with hub.database.writing() as session:
        assert heartbeats.totals(session)[heartbeats.MAILS_FAILED] == 5
        assert mail.send_again(session, mail_id)
        assert not mail.send_again(session, mail_id)
    assert outbox_of(hub) == [("waiting", 0)]


def test_a_mail_is_written_with_what_causes_it_or_not_at_all(
    resources: Resources, ada: int
) -> None:
    def register_again() -> None:
        with resources.database.writing() as session:
            mail.put(session, "verify", ada)
            accounts_service.register(session, "ada", "eve@example.org", "hash")

    with pytest.raises(UsageError):
        register_again()
    assert outbox_of(resources) == []


def test_of_ten_who_send_a_mail_at_once_one_does(resources: Resources, ada: int) -> None:
    with resources.database.writing() as session:
        mail_id = mail.put(session, "verify", ada)
    with ThreadPoolExecutor(10) as threads:
        list(threads.map(lambda _: mail_delivery.send_mail(resources, mail_id), range(10)))
    assert letters(resources) == [VERIFY]
    assert outbox_of(resources) == [("sent", 1)]


def test_who_ends_while_sending_leaves_the_same_mail_to_another(
    resources: Resources, ada: int, hub_clock: StillClock
) -> None:
    with resources.database.writing() as session:
        mail_id = mail.put(session, "verify", ada)

    class Ended(BaseException):
        """What kill -9 looks like: nothing after it is done."""

    def deliver(resources: Resources, letter: mail.Letter) -> None:
        mail_delivery.write(resources, mail_delivery.compose(resources, letter))
        raise Ended

    with patch.object(mail_delivery, "deliver", deliver), pytest.raises(Ended):
        mail_delivery.send_mail(resources, mail_id)
    mail_delivery.send_due(resources)
    assert len(letters(resources)) == 1
    hub_clock.advance(mail.LEASE.total_seconds())
    mail_delivery.send_due(resources)
    folder = resources.settings.data / "mail"
    first, second = (message_from_bytes(path.read_bytes()) for path in folder.glob("*.eml"))
    assert first["Message-ID"] == second["Message-ID"]
    assert first.get_payload() == second.get_payload()
    assert outbox_of(resources) == [("sent", 2)]
    assert count_links(resources) == 1


def test_what_waits_in_a_back_up_is_not_sent_and_what_ended_is_forgotten(
    resources: Resources, ada: int, hub_clock: StillClock
) -> None:
    send_link(resources, "reset", ada)
    with resources.database.writing() as session:
        mail.put(session, "verify", ada)
        mail.drop_waiting(session)
    mail_delivery.send_due(resources)
    assert letters(resources) == [RESET]
    hub_clock.advance(7 * 86_400)
    with resources.database.writing() as session:
        mail.sweep(session)
    assert outbox_of(resources) == []


@pytest.mark.usefixtures("trusted")
def test_a_server_without_starttls_gets_nothing(with_mail: Hub, ada: int) -> None:
    inbox = Inbox()
    controller = Controller(inbox, hostname="localhost", port=free_port(), ready_timeout=PATIENCE)
    controller.start()
    try:
        send_link(with_mail(controller.port), "reset", ada)
        assert inbox.mails == []
        in_clear = with_mail(controller.port)
        server = f"smtp://localhost:{controller.port}?tls=off"
        in_clear = replace(in_clear, settings=replace(in_clear.settings, mail=server))
        send_link(in_clear, "reset", ada)
        assert len(inbox.mails) == 1
    finally:
        controller.stop()


def test_files_have_names_of_their_own_and_go_after_a_week(
    resources: Resources, ada: int, hub_clock: StillClock
) -> None:
    for _ in range(3):
        send_link(resources, "verify", ada)
    folder = resources.settings.data / "mail"
    names = sorted(path.name for path in folder.iterdir())
    assert names == [f"2026-11-20T180000Z-{number}.eml" for number in (1, 2, 3)]
    hub_clock.now = datetime.now(UTC) + timedelta(days=7, hours=1)
    send_link(resources, "reset", ada)
    assert len(list(folder.iterdir())) == 1


def test_a_local_site_prints_the_mail_and_another_does_not(
    resources: Resources, ada: int, capsys: pytest.CaptureFixture[str]
) -> None:
    send_link(resources, "verify", ada)
    printed = capsys.readouterr().err
    assert "Hi Ada,\n\nTo confirm your email address" in printed
    assert "ada@example.org" not in printed
    settings = replace(resources.settings, public_url="https://hub.example")
    send_link(replace(resources, settings=settings), "verify", ada)
    assert "/verify/" not in capsys.readouterr().err


def test_who_is_gone_or_has_no_address_gets_nothing(resources: Resources, ada: int) -> None:
    with resources.database.writing() as session:
        administration.delete(session, "Ada")
    send_link(resources, "reset", ada)
    assert outbox_of(resources) == [("dropped", 1)]
    assert not (resources.settings.data / "mail").exists()
    assert count_links(resources) == 0


def test_a_domain_in_any_script_is_written_in_ascii(resources: Resources) -> None:
    with resources.database.writing() as session:
        user, _ = accounts_service.register(session, "Ada", "ada@bücher.example", "hash")
    send_link(resources, "verify", user)
    (path,) = (resources.settings.data / "mail").iterdir()
    assert "To: ada@xn--bcher-kva.example\n" in path.read_text(encoding="ascii")


def register(resources: Resources, name: str, email: str, *, is_confirmed: bool = False) -> int:
    with resources.database.writing() as session:
        user, _ = accounts_service.register(session, name, email, "hash")
        session.get_one(User, user).email_verified_at = resources.clock() if is_confirmed else None
    return user


def letters(resources: Resources) -> list[str]:
    """Return the subjects of all mails, without those that were swept away."""
    folder = resources.settings.data / "mail"
    mails = [message_from_bytes(path.read_bytes()) for path in sorted(folder.glob("*.eml"))]
    return [str(one["Subject"]) for one in mails]


VERIFY, RESET = mail.SUBJECTS["verify"], mail.SUBJECTS["reset"]


def test_an_address_is_sent_three_mails_of_a_kind_and_five_in_all(resources: Resources) -> None:
    own = register(resources, "Ada", "ada@example.org", is_confirmed=True)
    others = [register(resources, f"Eve{number}", "ADA@example.org") for number in range(40)]
    for user in others:
        send_link(resources, "verify", user)
    assert letters(resources) == [VERIFY] * 3
    for user in others:
        send_link(resources, "reset", user)
    # The last of the day is kept for who has confirmed the address.
    assert letters(resources) == [VERIFY] * 3 + [RESET]
    for _ in range(3):
        send_link(resources, "reset", own)
    assert letters(resources) == [VERIFY] * 3 + [RESET] * 2


def test_strangers_leave_a_reset_to_who_has_confirmed_the_address(resources: Resources) -> None:
    own = register(resources, "Ada", "ada@example.org", is_confirmed=True)
    stranger = register(resources, "Eve", "ada@example.org")
    for _ in range(5):
        send_link(resources, "reset", stranger)
    assert letters(resources) == [RESET] * 2
    for _ in range(5):
        send_link(resources, "reset", own)
    assert letters(resources) == [RESET] * 3


def test_a_mail_counts_for_a_day(resources: Resources, hub_clock: StillClock) -> None:
    ada = register(resources, "Ada", "ada@example.org")
    for _ in range(4):
        send_link(resources, "verify", ada)
    hub_clock.advance(86_400 - 1)
    send_link(resources, "verify", ada)
    assert len(letters(resources)) == 3
    hub_clock.advance(1)
    send_link(resources, "verify", ada)
    assert len(letters(resources)) == 4
    hub_clock.advance(86_400)
    with resources.database.writing() as session:
        scheduler.sweep(session)
    with resources.database.reading() as session:
        assert session.scalars(select(MailCount)).all() == []


@pytest.mark.parametrize("email", ["Ada+1@Example.org", "ADA@example.org", "ada+@EXAMPLE.ORG"])
def test_one_mailbox_is_one_address(resources: Resources, email: str) -> None:
    first = register(resources, "Ada", "ada@example.org")
    second = register(resources, "Bob", email)
    for user in (first, second, first, second):
        send_link(resources, "verify", user)
    assert len(letters(resources)) == 3


def test_who_deletes_the_account_and_comes_again_is_counted_all_the_same(
    resources: Resources,
) -> None:
    for number in range(5):
        user = register(resources, f"Eve{number}", "ada@example.org")
        send_link(resources, "verify", user)
        with resources.database.writing() as session:
            administration.delete(session, f"Eve{number}")
    assert len(letters(resources)) == 3


def test_mails_about_bots_leave_room_for_those_that_let_one_in() -> None:
    about_bots = ["inactive"] * 3
    assert not mail.has_room(about_bots, "inactive", reserve=0)
    assert mail.has_room([*about_bots, "verify", "reset", "reset"], "reset", reserve=0)
    assert mail.has_room(["reset"] * 3 + ["verify"] * 2, "inactive", reserve=0)
    assert not mail.has_room(["reset"] * 3, "reset", reserve=0)


def test_of_ten_who_ask_at_once_three_are_sent_a_mail(resources: Resources) -> None:
    everybody = [register(resources, f"Eve{number}", "ada@example.org") for number in range(10)]
    with ThreadPoolExecutor(10) as threads:
        list(threads.map(partial(send_link, resources, "verify"), everybody))
    assert len(letters(resources)) == 3


def test_what_could_not_be_sent_is_not_counted(resources: Resources, ada: int) -> None:
    settings = replace(resources.settings, mail=f"smtp://localhost:{free_port()}?tls=off")
    away = replace(resources, settings=settings)
    for _ in range(5):
        send_link(away, "verify", ada)
    assert outbox_of(away) == [("waiting", 1)] * 5
    send_link(resources, "verify", ada)
    assert letters(resources) == [VERIFY]


def test_the_rows_do_not_hold_the_address(resources: Resources, ada: int) -> None:
    send_link(resources, "verify", ada)
    with resources.database.reading() as session:
        (row,) = session.scalars(select(MailCount))
    assert len(row.address) == 64
    assert "example" not in str(vars(row))
    assert row.address != mail.key_of("another", "ada@example.org")


def test_the_pages_say_the_same_to_who_asks_too_often(site: Site) -> None:
    site.player("Ada")
    words = set()
    for _ in range(7):
        visitor = site.visitor()
        assert visitor.fill("/forgot", username="Ada").status_code == 303
        words.add(words_of(visitor.open("/forgot")))
        site.do_jobs()
    assert len(words) == 1
    assert len(site.mails()) == 2
