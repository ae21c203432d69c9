"""Somebody sends requests that do not end, or that are too large, so that no page is answered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Final

import pytest

from hub.tests.attacks.proxied import Proxied, open_proxied
from hub.tests.attacks.raw import connect

pytestmark = pytest.mark.thorough

SLOW: Final = 60
"""Requests without an end, by the proxy and past it: more than there are threads."""

HEAD: Final = b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    with open_proxied(tmp_path_factory.mktemp("proxied")) as site:
        yield site


@pytest.mark.parametrize("part", [HEAD, HEAD + b"\r\n", HEAD + b"\r\nusername=", b"G", b""])
def test_requests_without_an_end(site: Proxied, part: bytes) -> None:
    with ExitStack() as stack:
        for _ in range(SLOW):
            stack.enter_context(site.connected()).sendall(part or b"\r\n")
            stack.enter_context(connect(site.address)).sendall(part or b"\r\n")
        for path in ("/health", "/login", "/static/base.css"):
            assert site.ask(path).status == 200, path


def test_large_heads_and_bodies(site: Proxied) -> None:
    for lines in (
        ("X: " + "y" * 20_000,),
        ("X: " + "y" * 500_000,),
        tuple(f"X-{number}: y" for number in range(5000)),
        ("Cookie: " + "a=b; " * 10_000,),
        ("Content-Length: 99999999999",),
        ("Accept: " + "text/html;q=0.1," * 900,),
        ("Accept-Encoding: " + "gzip;q=0.1," * 1200,),
        ("Accept-Language: " + "en;q=0.1," * 1500,),
        ("If-None-Match: " + '"x",' * 3500,),
        ("Range: bytes=" + "0-1," * 3500,),
    ):
        assert site.ask("/login", *lines).status < 500, lines[0][:40]
    assert site.ask("/" + "x" * 100_000).status in (400, 404, 414, 431)
    for version in ("HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "HTTP/9.9", ""):
        assert site.ask("/login", version=version).status in (200, 400, 505)
    for upgrade in ("h2c", "websocket", "TLS/1.0, HTTP/1.1"):
        answer = site.ask("/login", f"Upgrade: {upgrade}", "Connection: Upgrade, HTTP2-Settings")
        assert answer.status != 101
    for method in ("PRI", "CONNECT", "TRACE", "x" * 5000):
        site.send(f"{method} / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    assert site.ask("/login").status == 200
    assert "Traceback" not in site.log()
