"""Player processes of a hub process: started on demand, used over pipes or sockets, reused."""

from __future__ import annotations

import logging
import os
import select
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from math import inf
from threading import Lock, Thread
from time import monotonic, sleep
from typing import BinaryIO, Final, Protocol, Self

from cw.arena.processes import KILL, OWN_GROUP, kill_group
from cw.errors import ArenaError, CapacityError, Failure, UsageError
from cw_hub.players.messages import (
    LAST,
    SILENCE,
    Failed,
    FromPlayer,
    Message,
    Program,
    Secrets,
    Task,
)
from cw_hub.players.process import LEAVING
from cw_hub.players.reading import Allowance, Excess, decoded, line_from

COMMAND: Final = (sys.executable, "-m", "cw", "hub", "player")

KEPT: Final = frozenset(
    "PATH HOME LANG LC_ALL TZ TMPDIR TEMP TMP PYTHONPATH SSL_CERT_FILE SSL_CERT_DIR CW_PAUSE"
    " SYSTEMROOT SYSTEMDRIVE PATHEXT COMSPEC USERPROFILE".split()
)
"""The environment variables that a player inherits: no hub settings, and no keys of its store."""

UNIX: Final = "unix:"
"""Prefix of a socket address."""

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
        """Return whether the player is still running, as far as is known."""

    def end(self) -> None:
        """End the player; nothing that it has started keeps running. Idempotent."""


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
        """Return whether the player is still running."""
        return self._process.poll() is None

    def end(self) -> None:
        """End the player by closing its input, or by force if necessary."""
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
        """Connect; raise PlayersAway if nothing is listening there."""
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
    """Connect to a player: at the socket address `unix:PATH`, or to a new child process if ""."""
    return Remote(place.removeprefix(UNIX)) if place else Child()


IDLE: Final = 4
"""Maximum number of idle players retained for later tasks; each takes 30 to 50 MB."""

LOOKS: Final = 5.0
"""Seconds between two checks for silent players."""

ERRORS: Final[Mapping[str, type[ArenaError]]] = {
    "usage": UsageError,
    "capacity": CapacityError,
    "failure": Failure,
}

logger = logging.getLogger(__name__)


class PlayerGone(Failure):
    """A player ended, or hung, before its task was done: another one can do it."""


class Distrusted(PlayerGone):
    """A player was ended because it broke the protocol, or took too long."""


class Defect(Exception):
    """An unexpected error in a player; its traceback is in the log."""


class Players:
    """A pool of player processes, each of which carries out one task at a time."""

    def __init__(
        self,
        place: str = "",
        connect: Callable[[str], Connection] = connect,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Start no players yet; `place` is a socket address, or "" for child processes.

        `clock` returns the seconds by which tasks are timed.
        """
        self.clock = clock
        self._place = place
        self._connect = connect
        self._lock = Lock()
        self._idle: list[Connection] = []
        self._plays: set[Play] = set()
        self._watching = False

    def play(self, task: Task, programs: Iterable[Program] = ()) -> Play:
        """Return a `Play` that will run a task on a player, with the programs that take part in it.

        Nothing is sent yet; each program is taken from the iterable only when it is sent.
        """
        return Play(self, task, programs)

    def take(self, play: Play) -> Connection:
        """Return a player for a task, which is monitored from now on; raise PlayersAway."""
        with self._lock:
            self._plays.add(play)
            if not self._watching:
                self._watching = True
                Thread(target=self._watch, name="players", daemon=True).start()
            idle = [self._idle.pop() for _ in range(len(self._idle))]
        there = [one for one in idle if one.is_there()]
        with self._lock:
            self._idle += there[:-1]
        for one in idle:
            if one not in there:
                one.end()
        return there[-1] if there else self._connect(self._place)

    def release(self, play: Play, connection: Connection | None) -> None:
        """Return a player to the pool after its task; None if the player has been ended."""
        with self._lock:
            self._plays.discard(play)
            if connection is not None and len(self._idle) < IDLE:
                self._idle.append(connection)
                return
        if connection is not None:
            connection.end()

    def close(self) -> None:
        """End all players."""
        with self._lock:
            plays, idle, self._idle = list(self._plays), self._idle, []
        for play in plays:
            play.close()
        for connection in idle:
            connection.end()

    def _watch(self) -> None:
        while True:
            sleep(LOOKS)
            with self._lock:
                plays = list(self._plays)
            for play in plays:
                if monotonic() - play.waits_since > SILENCE:
                    logger.error("a player was silent for more than %g s, and is ended", SILENCE)
                    play.close()
                elif play.is_late():
                    logger.error("a player took too long for its task, and is ended")
                    play.close()


class Play:
    """A task in progress on a player; none of its processes outlives the `with` block."""

    def __init__(self, players: Players, task: Task, programs: Iterable[Program]) -> None:
        """Store the task; nothing is sent yet."""
        self._players = players
        self._task = task
        self._programs = programs
        self._lock = Lock()
        """Held while sending, so that lines do not interleave."""
        self._closing = Lock()
        self._connection: Connection | None = None
        self._is_closed = False
        self._allowance = Allowance(task, players.clock())
        self.waits_since = inf
        """When the current wait for the player's reading or writing started; else infinity."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the player, unless its task is done."""
        self.close()

    def __iter__(self) -> Iterator[FromPlayer]:
        """Run the task on a player; yield its messages, up to the one that ends it.

        Raises PlayersAway, PlayerGone, Defect, and the ArenaError with which a task has failed.
        """
        connection = self._begun()
        while True:
            message = self._received(connection)
            self._take(message)
            if isinstance(message, Failed):
                self.close()
                raise error_of(message)
            if isinstance(message, LAST):
                self._release(connection)
            yield message
            if isinstance(message, LAST):
                return

    def is_late(self) -> bool:
        """Return whether the task takes too long, or has stalled."""
        return self._allowance.is_late(self._players.clock())

    def send(self, secrets: Secrets) -> None:
        """Send changed secrets, if the task has not ended."""
        with self._lock:
            if self._connection is not None:
                try:
                    write(self._connection, secrets)
                except (OSError, ValueError):
                    logger.warning("changed secrets do not reach a match that has ended")

    def close(self) -> None:
        """End the player, unless its task is done. Thread-safe and idempotent."""
        # Concurrent callers also wait until the player has ended.
        with self._closing:
            self._is_closed = True
            connection, self._connection = self._connection, None
            self._players.release(self, None)
            if connection is not None:
                connection.end()

    def _begun(self) -> Connection:
        with self._lock:
            connection = self._players.take(self)
            with self._closing:
                is_closed, self._connection = self._is_closed, connection
            # Closed while the player was starting, before there was one to end.
            if is_closed:
                raise self._gone("its task was broken off before it began")
            try:
                for program in self._programs:
                    with self._waiting():
                        write(connection, program)
                with self._waiting():
                    write(connection, self._task)
            except (OSError, ValueError) as error:
                raise self._gone(str(error)) from None
        return connection

    def _received(self, connection: Connection) -> FromPlayer:
        try:
            with self._waiting():
                line = line_from(connection.source)
            if line.endswith(b"\n"):
                return decoded(line)
            why = "its output ended"
        except (OSError, ValueError) as error:
            why = str(error)
        except Excess as error:
            raise self._distrusted(str(error)) from None
        if self.is_late():
            raise self._distrusted("it took too long")
        raise self._gone(why)

    def _take(self, message: FromPlayer) -> None:
        try:
            self._allowance.take(message, self._players.clock())
        except Excess as error:
            raise self._distrusted(str(error)) from None

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        self.waits_since = monotonic()
        try:
            yield
        finally:
            self.waits_since = inf

    def _gone(self, why: str) -> PlayerGone:
        self.close()
        return PlayerGone(f"the process that played it has ended: {why}")

    def _distrusted(self, why: str) -> Distrusted:
        self.close()
        return Distrusted(f"the process that played it was ended: {why}")

    def _release(self, connection: Connection) -> None:
        with self._lock, self._closing:
            is_ours, self._connection = self._connection is connection, None
        # If closed in the meantime, the player has already been ended.
        self._players.release(self, connection if is_ours else None)


def write(connection: Connection, message: Message) -> None:
    """Send a message."""
    left = memoryview(message.line())
    while left:
        left = left[connection.target.write(left) :]


def error_of(failed: Failed) -> Exception:
    """Return the error that a failed task reports."""
    if failed.kind == "defect":
        logger.error("an error in a player: %s", failed.trace)
        return Defect(failed.message)
    return ERRORS[failed.kind](failed.message)
