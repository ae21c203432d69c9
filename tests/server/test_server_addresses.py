"""The addresses that other machines type."""

from __future__ import annotations

import socket

import pytest

from cw.server import names
from cw.server.names import addresses_in_networks, is_of_network
from cw.server.wsgi import listen


@pytest.mark.parametrize(
    ("host", "is_typed"),
    [
        ("192.168.1.7", True),
        ("10.0.0.7", True),
        ("2001:db8:1::7", True),
        ("127.0.1.1", False),
        ("::1", False),
        ("169.254.3.4", False),
        ("fe80::1", False),
    ],
)
def test_which_addresses_others_can_type(host: str, is_typed: bool) -> None:
    assert is_of_network(host) == is_typed


def test_each_address_is_said_once_with_the_port(monkeypatch: pytest.MonkeyPatch) -> None:
    own = ["10.1.2.3", "2001:db8:1::7", "127.0.1.1", "10.1.2.3", "192.168.1.7"]
    monkeypatch.setattr(names, "own_addresses", lambda: iter(own))
    listener = listen("0.0.0.0", 0)
    with listener:
        port = listener.getsockname()[1]
        urls = addresses_in_networks(listener)
    assert urls == [f"http://10.1.2.3:{port}", f"http://192.168.1.7:{port}"]


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="needs IPv6")
def test_a_server_of_ipv6_says_those_in_brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "own_addresses", lambda: iter(["2001:db8:1::7"]))
    with listen("::", 0) as listener:
        port = listener.getsockname()[1]
        assert addresses_in_networks(listener) == [f"http://[2001:db8:1::7]:{port}"]
