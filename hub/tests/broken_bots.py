"""Web services of Code Battle that break the protocol, each in a way of its own, over real HTTP."""

from __future__ import annotations

import hmac
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.message import Message
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

SECRET = "5e" * 32
NO_MOVES = b'{"moves":[]}'


def sign(headers: Message[str, str], body: bytes, secret: str = SECRET) -> str:
    """Sign an answer as the seed says."""
    head = f"{headers['X-ACB-Match-Id']}.{headers['X-ACB-Turn']}"
    message = f"{head}.{sha256(body).hexdigest()}"
    return hmac.new(secret.encode(), message.encode(), sha256).hexdigest()


class Exchange(BaseHTTPRequestHandler):
    """A request, and the ways to answer it."""

    protocol_version = "HTTP/1.1"
    server: BrokenServer

    def do_GET(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.server.health(self)

    def do_POST(self) -> None:
        self.close_connection = True
        self.body = self.rfile.read(int(self.headers["Content-Length"]))
        with suppress(OSError):
            self.server.turn(self)

    def is_genuine(self) -> bool:
        names = ("Match-Id", "Turn", "Timestamp")
        head = ".".join(self.headers[f"X-ACB-{name}"] for name in names)
        message = f"{head}.{sha256(self.body).hexdigest()}"
        mark = hmac.new(SECRET.encode(), message.encode(), sha256).hexdigest()
        return hmac.compare_digest(mark, self.headers["X-ACB-Signature"])

    def say(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def play(self, body: bytes = NO_MOVES, **changed: str) -> None:
        """Answer a turn, signed as it must be unless something is changed."""
        if self.is_genuine():
            headers = {"X_ACB_Signature": sign(self.headers, body), **changed}
            self.say(200, body, **{name: value for name, value in headers.items() if value})
        else:
            self.say(401)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class BrokenServer(ThreadingHTTPServer):
    """A bot."""

    daemon_threads = True

    def __init__(self, health: Answer, turn: Answer) -> None:
        super().__init__(("127.0.0.1", 0), Exchange)
        self.health, self.turn = health, turn

    def handle_error(self, *_: object) -> None:
        """Say nothing."""


Answer = Callable[[Exchange], None]


def well(exchange: Exchange) -> None:
    exchange.say(200, b'{"status":"ok"}')


def play(exchange: Exchange) -> None:
    exchange.play()


def raw(data: bytes) -> Answer:
    """Answer with bytes as they are, and hang up."""

    def answer(exchange: Exchange) -> None:
        exchange.wfile.write(data)

    return answer


def status(number: int, **headers: str) -> Answer:
    return lambda exchange: exchange.say(number, b"", **headers)


def moves(body: bytes, **changed: str) -> Answer:
    return lambda exchange: exchange.play(body, **changed)


def silent(exchange: Exchange) -> None:
    time.sleep(8)


def drip(exchange: Exchange) -> None:
    exchange.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    for _ in range(16):
        exchange.wfile.write(b" ")
        exchange.wfile.flush()
        time.sleep(0.5)


def endless(exchange: Exchange) -> None:
    exchange.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        exchange.wfile.write(b" " * 65536)


def careless(exchange: Exchange) -> None:
    """Answer whoever asks."""
    exchange.say(200, NO_MOVES, X_ACB_Signature=sign(exchange.headers, NO_MOVES))


def as_bytes_of_the_key(exchange: Exchange) -> None:
    """Sign with the secret read as hexadecimal digits."""
    head = f"{exchange.headers['X-ACB-Match-Id']}.{exchange.headers['X-ACB-Turn']}"
    message = f"{head}.{sha256(NO_MOVES).hexdigest()}"
    mark = hmac.new(bytes.fromhex(SECRET), message.encode(), sha256).hexdigest()
    exchange.say(200, NO_MOVES, X_ACB_Signature=mark)


def pretty(exchange: Exchange) -> None:
    """Sign another form of the body than the one that is sent."""
    body = json.dumps(json.loads(NO_MOVES), indent=1).encode()
    exchange.say(200, body, X_ACB_Signature=sign(exchange.headers, NO_MOVES))


@dataclass(frozen=True)
class Broken:
    """A bot that is broken, and what its author must be told."""

    name: str
    step: str
    sentence: str
    health: Answer = well
    turn: Answer = play


GET, POST = "GET /health", "POST /turn"
NOT_HTTP = "The answer to {} is not complete HTTP."
WRONG = (
    "The signature is wrong. Is it made with the current secret over exactly the bytes of the body?"
)
NO_ARRAY = 'The answer has no array "moves".'

BROKEN = (
    Broken("sick", "health", f"{GET} answered 503; 200 is needed.", health=status(503)),
    Broken("no health", "health", f"{GET} answered 404; 200 is needed.", health=status(404)),
    Broken(
        "redirects",
        "health",
        f"{GET} answered 302; 200 is needed.",
        health=status(302, Location="http://127.0.0.1:1/health"),
    ),
    Broken("no content", "health", f"{GET} answered 204; 200 is needed.", health=status(204)),
    Broken("silent", "health", f"{GET} was not answered within 5 seconds.", health=silent),
    Broken("drips", "health", f"{GET} was not answered within 5 seconds.", health=drip),
    Broken("hangs up", "health", NOT_HTTP.format(GET), health=raw(b"")),
    Broken("greets", "health", NOT_HTTP.format(GET), health=raw(b"hello, world\r\n\r\n")),
    Broken(
        "stops early",
        "health",
        NOT_HTTP.format(GET),
        health=raw(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok"),
    ),
    Broken("no turn", "turn", f"{POST} answered 404; 200 is needed.", turn=status(404)),
    Broken("crashes", "turn", f"{POST} answered 500; 200 is needed.", turn=status(500)),
    Broken(
        "refuses us",
        "turn",
        "Your bot refused our signature (HTTP status 401): does it have the current secret?",
        turn=status(401),
    ),
    Broken("late", "turn", f"{POST} was not answered within 3 seconds.", turn=silent),
    Broken("hangs up on turns", "turn", NOT_HTTP.format(POST), turn=raw(b"")),
    Broken(
        "unsigned",
        "signature",
        "The answer has no X-ACB-Signature.",
        turn=moves(NO_MOVES, X_ACB_Signature=""),
    ),
    Broken("other key", "signature", WRONG, turn=moves(NO_MOVES, X_ACB_Signature="0" * 64)),
    Broken("short mark", "signature", WRONG, turn=moves(NO_MOVES, X_ACB_Signature="ab")),
    Broken("key as bytes", "signature", WRONG, turn=as_bytes_of_the_key),
    Broken("other body", "signature", WRONG, turn=pretty),
    Broken("endless", "moves", "The answer is larger than 256 KiB.", turn=endless),
    Broken("text", "moves", "The answer is not JSON.", turn=moves(b"N E S W")),
    Broken("empty", "moves", "The answer is not JSON.", turn=moves(b"")),
    Broken("list", "moves", NO_ARRAY, turn=moves(b"[]")),
    Broken("null", "moves", NO_ARRAY, turn=moves(b'{"moves":null}')),
    Broken("no moves", "moves", NO_ARRAY, turn=moves(b"{}")),
)
"""One for each sentence and more; those that nobody reaches are made by the test."""


@contextmanager
def serving(bot: Broken, certificate: Path | None = None) -> Iterator[str]:
    """Serve a bot while the block runs; gives its address."""
    with BrokenServer(bot.health, bot.turn) as server:
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        scheme = "http" if certificate is None else "https"
        yield f"{scheme}://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def self_signed(folder: Path) -> Path:
    """Make a certificate that nobody trusts."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now).not_valid_after(now + timedelta(days=2))
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    cert = folder / "certificate.pem"
    cert.write_bytes(private + builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM))
    return cert
