"""Requests that are none, on the real server: it answers 4xx or hangs up, and goes on."""

from __future__ import annotations

import random
import socket
import struct
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

import pytest
import requests

from cw.server.settings import LARGEST_REQUEST
from tests.server.served import Served, serving_process

PATIENCE: Final = 60.0
AT_ONCE: Final = 4
NUMBER: Final = 10_000


def lines_of(text: str, *more: str) -> list[str]:
    """Return the lines of a text in which escapes stand for bytes, and more."""
    return [*(line.encode().decode("unicode_escape") for line in text[1:-1].split("\n")), *more]


METHODS: Final = [
    *"GET POST HEAD OPTIONS CONNECT PRI get".split(),
    "G T",
    "G\tT",
    "",
    "\0",
    "X" * 99,
]

TARGETS: Final = lines_of(
    r"""
/status
/
/reg/a
/move/a/1,2,top
/rooms/x/status
*
//
//[
http://[
http://[::1
http://[x]/
http://a:b/
http:status
a:1
/%
/%ff%00
/\0
/\xff
/#[
/a b
""",
    "/?" + "%" * 99,
    "x" * 9000,
    "/" * 9000,
)

VERSIONS: Final = ["HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/9.9", "HTTP/1", "http/1.1", "", "X"]

HEADERS: Final = lines_of(
    r"""
Host: x
Host: [::
Host
Host : x
: x
 folded
A: \0
A: \x7f
Te_st: x
Content-Length: 5
Content-Length: -1
Content-Length: 1e9
Content-Length: 5\r\nContent-Length: 6
Content-Length: 99999999
Content-Length: \xb2
Transfer-Encoding: chunked
Transfer-Encoding: chunked, chunked
Transfer-Encoding: gzip
Expect: 100-continue
Expect: nothing
Connection: close
Connection: \0
If-None-Match: "
Accept: \xff;q=x
Origin: http://[
Cookie: =;=;"
Range: bytes=-
Content-Type: multipart/form-data; boundary=
Content-Type: \xff
Authorization: Basic \xff
""",
    "Content-Length: " + "9" * 6000,
    "A: " + "b" * 20_000,
    "X" * 3000 + ": y",
)

ENDS: Final = lines_of(r"""
\r\n
\r\n
\n
\r
\r\r\n
\0\r\n
 \r\n
""")

BODIES: Final = lines_of(
    r"""


hello
0\r\n\r\n
5\r\nhello\r\n0\r\n\r\n
5\r\nhelloX\r\n
5;\xff="\r\n
5\nhello\r\n
zz\r\n
-5\r\nhello\r\n
ffffffffffffffffffffffff\r\n
""",
    "\0" * 40_000,
    "0\r\n" + "T: x\r\n" * 3000,
)


def malformed(rng: random.Random) -> bytes:
    """Make up bytes that a client might send, most of which are no request."""
    if rng.random() < 0.05:
        return rng.randbytes(rng.randrange(1, 30_000)) + rng.choice((b"", b"\r\n\r\n"))
    parts = (METHODS, TARGETS, VERSIONS)
    first = " ".join(rng.choice(part if rng.random() < 0.4 else part[:2]) for part in parts)
    lines = [first, *rng.sample(HEADERS, rng.randrange(4))]
    ends = ENDS if rng.random() < 0.2 else ENDS[:1]
    head = "".join(line + rng.choice(ends) for line in lines) + "\r\n"
    data = (head + rng.choice(BODIES)).encode("latin-1", "replace")
    if rng.random() < 0.3:
        at = rng.randrange(len(data))
        data = data[:at] + rng.choice((b"", b"\0", b"\r", b"\n", rng.randbytes(3))) + data[at + 1 :]
    return data[: rng.randrange(len(data))] if rng.random() < 0.1 else data


def send(address: tuple[str, int], data: bytes, leaving: str) -> bytes:
    """Send bytes, and return the beginning of what comes back; leave in one of several ways."""
    with socket.create_connection(address, PATIENCE) as connection, suppress(OSError):
        if leaving == "in parts":
            connection.sendall(data[: len(data) // 2])
            connection.sendall(data[len(data) // 2 :])
        else:
            connection.sendall(data)
        if leaving == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return b""
        if leaving == "at once":
            return b""
        # Whoever has sent no whole request is left waiting: half-closed, the connection ends.
        connection.sendall(b"\r\n\r\n" * 2)
        connection.shutdown(socket.SHUT_WR)
        return connection.recv(65536)
    return b""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving_process(tmp_path_factory.mktemp("served"), "--timeout", "-1") as server:
        yield server


def address_of(served: Served) -> tuple[str, int]:
    parts = urlsplit(served.address)
    return parts.hostname or "", parts.port or 0


def answer_to(served: Served, data: bytes) -> bytes:
    """Send bytes, and return the first line of what is answered before the server hangs up."""
    with socket.create_connection(address_of(served), PATIENCE) as connection:
        connection.sendall(data)
        return b"".join(iter(lambda: connection.recv(65536), b"")).partition(b"\r\n")[0]


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (b"GET\r\n\r\n", 400),
        (b"nonsense\r\n\r\n", 400),
        (b"get /status HTTP/1.1\r\n\r\n", 400),
        (b"GET /status HTTP/1.1\r\nHost\r\n\r\n", 400),
        (b"GET http://[ HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: x\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n", 413),
        ((b"GET / HTTP/1.1\r\nA: " + b"b" * LARGEST_REQUEST)[:LARGEST_REQUEST], 431),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
    ],
    ids=lambda value: repr(value[:60]) if isinstance(value, bytes) else None,
)
def test_a_request_that_cannot_be_read_is_refused_without_a_word_in_the_log(
    served: Served, data: bytes, answer: int
) -> None:
    before = served.lines()
    for _ in range(2):
        assert answer_to(served, data).split()[1:2] == [str(answer).encode()]
    assert requests.get(f"{served.address}/status", timeout=PATIENCE).status_code == 200
    assert served.lines() == before


def test_ten_thousand_of_them_leave_a_server_that_answers_and_a_short_log(served: Served) -> None:
    for path in ("reg/alpha", "reg/beta", "move/alpha/1,2,top"):
        requests.get(f"{served.address}/{path}", timeout=PATIENCE)
    before, log = requests.get(f"{served.address}/history", timeout=PATIENCE).json(), served.lines()
    kinds = Counter[bytes]()

    def send_one(seed: int) -> bytes:
        rng = random.Random(seed)
        leaving = rng.choice(("politely", "politely", "in parts", "at once", "reset"))
        return send(address_of(served), malformed(rng), leaving)

    with ThreadPoolExecutor(AT_ONCE) as senders:
        for seed, answer in enumerate(senders.map(send_one, range(NUMBER))):
            assert not answer.startswith(b"HTTP/1.1 500"), f"seed {seed}"
            assert not answer.startswith(b"HTTP/1.0 500"), f"seed {seed}"
            kinds[answer[9:12]] += 1
    assert {b"400", b"404", b"413", b"431", b"501", b""} <= set(kinds), kinds
    assert requests.get(f"{served.address}/history", timeout=PATIENCE).json() == before
    told = served.lines()[len(log) :]
    assert not [line for line in told if "Traceback" in line], told[:50]
    assert len(told) <= NUMBER
