"""The host names of a server, and that nothing is served under another."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from cw.errors import UsageError
from cw.server.names import HostNames, read_name
from tests.modules import Modules
from tests.server.strangers import FOREIGN, OWN

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "Host: "


def hosts(of: tuple[tuple[str, ...], ...]) -> list[str]:
    """Return the names alone, of requests that have one."""
    return [lines[0].removeprefix(PREFIX) for lines in of if len(lines) == 1]


@pytest.mark.parametrize("host", [*hosts(FOREIGN), "\xff", "127.0.0.1\n", "[::1", "::1"])
def test_a_stranger_is_not_included(host: str) -> None:
    assert not HostNames().include(host)
    assert not HostNames.of("192.168.1.7", "arena.local").include(host)


@pytest.mark.parametrize("host", hosts(OWN))
def test_names_of_this_machine_are(host: str) -> None:
    assert HostNames().include(host)
    assert HostNames.of("192.168.1.7", "arena.local").include(host)


def test_the_address_to_listen_on_is_one_and_so_are_further_names() -> None:
    names = HostNames.of("192.168.1.7", "Arena.Example.", "[fe80:0::1]", "b\xfccher.example")
    for host in ("192.168.1.7:5000", "arena.example", "[fe80::1]:80", "xn--bcher-kva.example"):
        assert names.include(host)
    for host in ("192.168.1.8", "www.arena.example", "[fe80::2]", socket.gethostname() + ".x"):
        assert not names.include(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "0:0::0"])
def test_on_all_networks_every_address_is_one_and_so_is_the_name_of_the_machine(host: str) -> None:
    names = HostNames.of(host)
    machine = socket.gethostname()
    first = machine.partition(".")[0]
    for own in ("10.0.0.7", "203.0.113.9:80", "[2001:db8::1]", machine.upper(), f"{first}.local:1"):
        assert names.include(own)
    for other in ("evil.example", f"{machine}.evil.example", "0x7f.1", ""):
        assert not names.include(other)


@pytest.mark.parametrize(
    "text", ["", "http://arena", "arena:5000", "a b", "arena/", "a..b", "x" * 70, "a@b", "[arena]"]
)
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a host name"):
        read_name(text)


def test_every_application_is_made_where_names_are_checked() -> None:
    """An application of its own would answer under any name."""
    assert list(Modules(ROOT / "cw").calls_of("Flask")) == ["cw.server.app"]
