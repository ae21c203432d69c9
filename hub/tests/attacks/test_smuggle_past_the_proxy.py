"""Somebody wants to get past the proxy before a hub, or into the request of another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from hub.tests.attacks.proxied import Proxied, open_proxied
from hub.tests.attacks.raw import send

pytestmark = pytest.mark.thorough

BODIES: Final = (
    ("Content-Length: {inner}", "Transfer-Encoding: chunked"),
    ("Transfer-Encoding: chunked", "Content-Length: {inner}"),
    ("Transfer-Encoding: chunked", "Transfer-Encoding: identity", "Content-Length: {inner}"),
    ("Transfer-Encoding: identity, chunked", "Content-Length: {inner}"),
    ("Transfer-Encoding: xchunked", "Content-Length: {inner}"),
    ("Transfer-Encoding : chunked", "Content-Length: {inner}"),
    (" Transfer-Encoding: chunked", "Content-Length: {inner}"),
    ("X: y\n\tTransfer-Encoding: chunked", "Content-Length: {inner}"),
    ("Transfer-Encoding:\x0bchunked", "Content-Length: {inner}"),
    ("Transfer_Encoding: chunked", "Content-Length: {inner}"),
    ("Transfer-Encoding: chunked\x00", "Content-Length: {inner}"),
    ("Transfer-Encoding\x00: chunked", "Content-Length: {inner}"),
    ("Content-Length: 0", "Content-Length: {inner}"),
    ("Content-Length: {inner}", "Content-Length: 0"),
    ("Content-Length: 0, {inner}",),
    ("Content-Length: +0",),
    ("Content-Length: 0x0",),
    ("Content_Length: 0", "Content-Length: {inner}"),
    ("Content-Length: {inner}", "Connection: Content-Length"),
    ("Transfer-Encoding: chunked", "Connection: Transfer-Encoding"),
    ("Content-Length: {inner}", "Expect: 100-continue"),
    ("Content-Length: {inner}", "Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings"),
    ("Content-Length: {inner}", "Upgrade: websocket", "Connection: Upgrade"),
)
"""Heads of which a proxy and a server might take another length for the right one."""

CHUNKS: Final = (
    b"0\r\n\r\n{hidden}",
    b"0\n\n{hidden}",
    b"00000000000000000\r\n\r\n{hidden}",
    b"1;a=\n{hidden}\r\n0\r\n\r\n",
    b"2\r\nxx\r\n0\r\nHost: x\r\n\r\n{hidden}",
    b"-1\r\n{hidden}",
    b"0x1\r\nx\r\n0\r\n\r\n{hidden}",
    b"ffffffffffffffff1\r\n{hidden}",
    b"1\r\nxx\r\n0\r\n\r\n{hidden}",
)
"""Bodies whose end is read in several ways."""

FORGED: Final = (
    ("X-Forwarded-For: 203.0.113.9",),
    ("X-Forwarded-For: 203.0.113.9", "X-Forwarded-For: 203.0.113.10"),
    ("x-forwarded-for: 203.0.113.9,",),
    ("X_Forwarded_For: 203.0.113.9",),
    ("X-Forwarded-For: 203.0.113.9", "Connection: X-Forwarded-For"),
    ("Connection: close, X-Forwarded-For, X-Forwarded-Proto",),
    ("Forwarded: for=203.0.113.9;proto=http;host=evil.example",),
    ("X-Real-IP: 203.0.113.9", "Client-IP: 203.0.113.9", "True-Client-IP: 203.0.113.9"),
    ("X-Forwarded-Proto: http",),
    ("X_Forwarded_Proto: http",),
    ("X-Forwarded-Host: evil.example", "X-Forwarded-Port: 81", "X-Forwarded-Prefix: /evil"),
    ("X-Original-URL: /metrics", "X-Rewrite-URL: /metrics"),
    ("X-HTTP-Method-Override: POST", "X-Method-Override: DELETE"),
)

FIGURES: Final = (
    "/metrics",
    "/metrics/",
    "//metrics",
    "///metrics",
    "/./metrics",
    "/x/../metrics",
    "/%6detrics",
    "/%2e/metrics",
    "/x/%2e%2e/metrics",
    "/%2fmetrics",
    "/%5cmetrics",
    "/METRICS",
    "/metrics;x",
    "/metrics%00",
    "/metrics%20",
    "/metrics?x",
    "/metrics#",
    "http://localhost/metrics",
    "http://localhost//metrics",
    "//localhost/metrics",
    "/%252e%252e/metrics",
)
"""Ways to write the address that the proxy is not to pass on."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    with open_proxied(tmp_path_factory.mktemp("proxied")) as site:
        yield site


def test_no_request_is_hidden_in_another(site: Proxied) -> None:
    tries = 0
    for number, (lines, chunk) in enumerate(
        [(lines, CHUNKS[0]) for lines in BODIES]
        + [(("Transfer-Encoding: chunked",), chunk) for chunk in CHUNKS]
    ):
        hidden = f"GET /smuggled-{number} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        body = chunk.replace(b"{hidden}", hidden)
        sent_lines = ("Host: localhost", "Connection: close", *lines)
        head = "\r\n".join(("POST /login HTTP/1.1", *sent_lines, "", ""))
        data = head.replace("{inner}", str(len(body))).encode("latin-1") + body
        for sent in (data, data.replace(b"HTTP/1.1", b"HTTP/1.0", 1)):
            site.send(sent)
            tries += 1
    assert tries == 2 * (len(BODIES) + len(CHUNKS))
    # For the proxy each connection has one request: another one is in the log if it was hidden.
    assert "/smuggled" not in site.log()
    assert site.ask("/health").status == 200


def test_nobody_takes_another_address_or_protocol(site: Proxied) -> None:
    for number, lines in enumerate(FORGED):
        answer = site.ask(f"/nowhere-{number}", *lines)
        assert answer.status == 404, (lines, answer.headers)
        assert "evil.example" not in answer.text
    noted = [line for line in site.log().splitlines() if "/nowhere-" in line]
    assert len(noted) == len(FORGED)
    assert not any("203.0.113" in line for line in noted)


def test_figures_stay_behind_the_proxy(site: Proxied) -> None:
    assert "cw_" in send(site.address, b"GET /metrics HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n").text
    for target in FIGURES:
        for version in ("HTTP/1.1", "HTTP/1.0"):
            answer = site.ask(target, version=version)
            assert answer.status in (400, 403, 404, 308), (target, answer.status)
            assert "cw_" not in answer.text, target
