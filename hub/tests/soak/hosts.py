"""Hosts with addresses and a network of their own: namespaces, and cables that can be pulled."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

import pytest

from tests.tools import IP

MINE = f"cw{os.getpid()}"
"""How the names of all that is made begin: they must not be another's, and are short."""

BRIDGE = f"{MINE}s"
NETWORK = "198.18.0"
"""How their addresses begin; the block is kept for tries like these."""

SERVICES = f"{NETWORK}.1"
"""The address of this machine on their network."""


@dataclass(frozen=True)
class Host:
    """A host on that network."""

    number: int
    network: str = NETWORK
    last: int = 0
    """Of its address, where it is to have a certain one."""

    @property
    def address(self) -> str:
        return f"{self.network}.{self.last or 10 + self.number}"

    @property
    def name(self) -> str:
        return f"{MINE}h{self.number}"

    @property
    def within(self) -> Sequence[str]:
        """What commands begin with that are run there."""
        return ("ip", "netns", "exec", self.name)

    @property
    def cable(self) -> str:
        return f"{MINE}c{self.number}"

    def cut(self) -> None:
        """Pull its cable: nobody is told."""
        ip("link", "set", self.cable, "down")

    def heal(self) -> None:
        ip("link", "set", self.cable, "up")

    def begin(self) -> None:
        ip("netns", "add", self.name)

    def join(self) -> None:
        ip("link", "add", self.cable, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        ip("link", "set", self.cable, "master", BRIDGE, "up")
        ip("-n", self.name, "address", "add", f"{self.address}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            ip("-n", self.name, "link", "set", device, "up")

    def pids(self) -> Sequence[int]:
        """Return the processes that run there."""
        return [int(pid) for pid in ip("netns", "pids", self.name).split()]

    def signal(self, number: int) -> None:
        """Send a signal to all processes that run there."""
        for pid in self.pids():
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def end(self) -> None:
        """Turn it off: whatever runs there ends, whoever has started it."""
        self.signal(signal.SIGKILL)
        # It goes with its network otherwise, but only some time later.
        with suppress(subprocess.CalledProcessError):
            ip("link", "delete", self.cable)
        ip("netns", "delete", self.name)


def ip(*arguments: str) -> str:
    """Change the network, or ask about it; raise CalledProcessError with what is wrong.

    Ctrl-C does not reach the command, which what is made must be removed with.
    """
    command = ["ip", *arguments]
    return subprocess.run(
        command, check=True, capture_output=True, text=True, start_new_session=True
    ).stdout


@contextmanager
def hosts(number: int) -> Iterator[Sequence[Host]]:
    """Make so many hosts that reach this machine at SERVICES; skip the test where nobody can."""
    new_hosts = [Host(one) for one in range(number)]
    with joined(new_hosts):
        yield new_hosts


@contextmanager
def joined(members: Sequence[Host]) -> Iterator[None]:
    """Let hosts of one network reach each other and this machine, which is its first address."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        IP.missing()
    network = f"{members[0].network}.0/24"
    assert not ip("route", "show", network), f"{network} is in use here: see ip -br address"
    with ExitStack() as stack:
        try:
            ip("link", "add", BRIDGE, "type", "bridge")
            stack.callback(ip, "link", "delete", BRIDGE)
            ip("address", "add", f"{members[0].network}.1/24", "dev", BRIDGE)
            ip("link", "set", BRIDGE, "up")
            for host in members:
                host.begin()
                stack.callback(host.end)
                host.join()
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no network of our own can be made here: {error.stderr.strip()}")
        yield
