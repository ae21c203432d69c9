"""How a hub reaches a process that plays for it: as a child process, or through a socket."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
from contextlib import suppress
from time import monotonic
from typing import BinaryIO, Final, Protocol

from cw.arena.processes import KILL, OWN_GROUP, kill_group
from cw.errors import Failure
from cw_hub.players.process import LEAVING

COMMAND: Final = (sys.executable, "-m", "cw", "hub", "player")

KEPT: Final = frozenset(
    "PATH HOME LANG LC_ALL TZ TMPDIR TEMP TMP PYTHONPATH SSL_CERT_FILE SSL_CERT_DIR CW_PAUSE"
    " SYSTEMROOT SYSTEMDRIVE PATHEXT COMSPEC USERPROFILE".split()
)
"""The variables that a player inherits: no hub settings, and no keys of its store."""

UNIX: Final = "unix:"
"""Prefix of the address of a socket."""

GRACE: Final = LEAVING + 1
"""Seconds that a player has to end its task before it is killed."""


class PlayersAway(Failure):
    """No player can be reached; a retry may succeed."""


class Connection(Protocol):
    """A connection to a player."""

    source: BinaryIO
    """The player's output."""
    target: BinaryIO
    """The player's input, unbuffered."""

    def is_there(self) -> bool:
        """Return whether the player still runs, as far as known."""

    def end(self) -> None:
        """End the player; afterwards nothing that it has started runs. Idempotent."""


class Child:
    """A player that is a child of this process."""

    def __init__(self) -> None:
        """Start the process; raise PlayersAway if the system cannot."""
        environment = {name: value for name, value in os.environ.items() if name in KEPT}
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(
                COMMAND, stdin=pipe, stdout=pipe, env=environment, bufsize=0, **OWN_GROUP
            )
        except OSError as error:
            raise PlayersAway(f"a player cannot be started: {error}") from None
        assert self._process.stdin is not None and self._process.stdout is not None  # noqa: PT018, S101
        self.source: BinaryIO = open(self._process.stdout.fileno(), "rb", closefd=False)  # noqa: SIM115
        self.target: BinaryIO = self._process.stdin  # type: ignore[assignment]

    def is_there(self) -> bool:
        """Return whether the player still runs."""
        return self._process.poll() is None

    def end(self) -> None:
        """End the player by closing its input, or else by force."""
        with suppress(OSError):
            self.target.close()
        try:
            self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            kill_group(self._process.pid, KILL)
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


class Remote:
    """A player behind a Unix socket, whose service starts one per connection."""

    def __init__(self, path: str) -> None:
        """Connect; raise PlayersAway if nobody listens there."""
        self._socket = unix_socket()
        try:
            self._socket.connect(path)
        except OSError as error:
            self._socket.close()
            raise PlayersAway(
                f"the players at {path} cannot be reached: {error.strerror}; start their service,"
                " cw-players.socket"
            ) from None
        self.source: BinaryIO = self._socket.makefile("rb")
        self.target: BinaryIO = self._socket.makefile("wb", buffering=0)  # type: ignore[assignment]

    def is_there(self) -> bool:
        """Return whether the player has not closed the connection."""
        with suppress(OSError):
            is_ready = select.select([self._socket], [], [], 0)[0]
            return not is_ready or self._socket.recv(1, socket.MSG_PEEK) != b""
        return True

    def end(self) -> None:
        """End the player by closing its input, and wait until it has ended."""
        until = monotonic() + GRACE
        with suppress(OSError, ValueError):
            self._socket.shutdown(socket.SHUT_WR)
            while (left := until - monotonic()) > 0:
                is_ready = select.select([self._socket], [], [], left)[0]
                if is_ready and not self._socket.recv(1 << 16):
                    break
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


def unix_socket() -> socket.socket:
    """Return a new Unix socket; raise PlayersAway on Windows."""
    if sys.platform != "win32":
        return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    else:  # noqa: RET505 - type checkers skip a branch of another platform
        raise PlayersAway("Windows has no players behind a socket: unset CW_PLAYERS")


def connect(place: str) -> Connection:
    """Start or reach a player: at the address `unix:PATH`, or as a child if ""."""
    return Remote(place.removeprefix(UNIX)) if place else Child()
