"""What the server does with requests that nobody should send."""

from __future__ import annotations

import http.client
import random
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import cycle, islice
from urllib.parse import quote, urlsplit

import pytest
import requests

from cw.server.wsgi import MOST_CONNECTIONS, MOST_OF_ONE_ADDRESS
from cw.web import create_app
from cw.web.settings import SiteSettings
from tests.effort import amount
from tests.fixtures import Serve

WORDS = r"""
    status reg move restart history rooms static x ghost 1,2,top 9,9,top -1,0,left a,b,c
    .. . %2e%2e %00 %0d%0a %ff %25 %2f ; ? & = # ' " < > <script> {{7*7}} ${x} 0x1 1e400 nan
    null ∞ é １,２,top ../../etc/passwd C:\ con aux \u202e
""".split()


def hostile_path(rng: random.Random) -> str:
    """Make up a path: routes with strange parts, long ones, percent signs, any bytes."""
    parts = [rng.choice(WORDS) for _ in range(rng.randrange(1, 6))]
    if rng.random() < 0.5:
        parts[0] = rng.choice(["reg", "move", "status", "history", "rooms", "static"])
    if rng.random() < 0.3:
        parts.append(quote(rng.randbytes(rng.randrange(1, 40))))
    if rng.random() < 0.05:
        parts.append("9" * rng.randrange(100, 7000))
    text = rng.choice(["/", "//", "/./"]).join(parts)
    safe = rng.choice(["/%", "/%,.", "/%?&=;,"])
    return "/" + quote(text, safe=safe)


@pytest.fixture
def base(serve: Serve) -> str:
    base = serve(create_app(SiteSettings(timeout=-1, restart=False)))
    for path in ("reg/alpha", "reg/beta", "move/alpha/1,2,top"):
        requests.get(f"{base}/{path}", timeout=60)
    return base


def test_thousands_of_paths_give_no_server_error_and_leave_the_game_unharmed(base: str) -> None:
    before = requests.get(f"{base}/status", timeout=60).json()
    rng = random.Random(42)
    connection = http.client.HTTPConnection(urlsplit(base).netloc, timeout=30)
    codes: dict[int, int] = {}
    for _ in range(amount(500, 5000)):
        path = hostile_path(rng)
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        assert response.status < 500 or (response.status == 503 and path.startswith("/rooms/")), (
            path
        )
        codes[response.status] = codes.get(response.status, 0) + 1
    connection.close()
    assert {200, 403, 404} <= set(codes)
    assert requests.get(f"{base}/status", timeout=60).json() == before


def raw(base: str, data: bytes) -> bytes:
    """Send bytes on a connection of their own; give what comes back before it is closed."""
    address = urlsplit(base)
    with socket.create_connection((address.hostname or "", address.port or 0), 30) as connection:
        answer = b""
        with suppress(OSError):
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while chunk := connection.recv(65536):
                answer += chunk
        return answer


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /status\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /status HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"GET /move/alpha/\xff\xfe HTTP/1.1\r\nHost: nowhere\r\nConnection: close\r\n\r\n",
        b"GET /status HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n",
        b"GET /status HTTP/1.1\r\n" + b"X: " + b"y" * 100_000 + b"\r\n\r\n",
        b"POST /status HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n",
        b"POST /status HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /reg/c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_bytes_that_are_no_request_harm_nobody(base: str, data: bytes) -> None:
    before = requests.get(f"{base}/status", timeout=60).json()
    answer = raw(base, data)
    assert not answer.startswith(b"HTTP/1.1 500")
    assert requests.get(f"{base}/status", timeout=60).json() == before


def test_connections_that_send_nothing_hold_up_nobody(base: str) -> None:
    address = urlsplit(base)
    silent = [
        socket.create_connection((address.hostname or "", address.port or 0)) for _ in range(60)
    ]
    try:
        for connection in silent:
            connection.sendall(b"GET /status HTTP/1.1\r\nX-Slow: ")
        assert requests.get(f"{base}/status", timeout=60).status_code == 200
    finally:
        for connection in silent:
            connection.close()


@pytest.fixture
def many_files() -> Iterator[None]:
    """Let this process have as many connections open as the test needs."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 8192)), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.skipif(sys.platform != "linux", reason="needs the addresses of Linux' loopback")
@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.2"],
        pytest.param([f"127.0.0.{n}" for n in range(2, 6)], marks=pytest.mark.thorough),
    ],
)
def test_idle_connections_lock_nobody_out(
    base: str, many_files: None, addresses: list[str]
) -> None:
    server = (urlsplit(base).hostname or "", urlsplit(base).port or 0)
    with ExitStack() as idle:
        for source in islice(cycle(addresses), MOST_CONNECTIONS + 200):
            connection = socket.create_connection(server, 30, (source, 0))
            idle.enter_context(connection)
            connection.sendall(b"GET /status HTTP/1.1\r\nX-Slow: ")
        assert requests.get(f"{base}/status", timeout=60).status_code == 200


@pytest.mark.skipif(sys.platform != "linux", reason="needs the addresses of Linux' loopback")
def test_an_address_with_too_many_connections_ends_its_own(base: str, many_files: None) -> None:
    server = (urlsplit(base).hostname or "", urlsplit(base).port or 0)
    honest = http.client.HTTPConnection(*server, timeout=60)
    honest.connect()
    with ExitStack() as idle:
        first, *_ = [
            idle.enter_context(socket.create_connection(server, 30, ("127.0.0.2", 0)))
            for _ in range(MOST_OF_ONE_ADDRESS + 1)
        ]
        assert first.recv(1) == b""
        honest.request("GET", "/status")
        assert honest.getresponse().status == 200
    honest.close()


def test_a_page_shows_a_name_as_text(serve: Serve) -> None:
    base = serve(create_app(SiteSettings()))
    page = requests.get(f"{base}/rooms/%3Cimg%3E/", timeout=60)
    assert page.status_code == 404
    assert "<img" not in page.text
