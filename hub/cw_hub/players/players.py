"""The players of a hub process: started on demand, and reused."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from math import inf
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Final, Self

from cw.errors import ArenaError, CapacityError, Failure, UsageError
from cw_hub.players.connections import Connection, connect
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
from cw_hub.players.reading import Allowance, Excess, decoded, line_from

IDLE: Final = 4
"""Maximum number of idle players kept for the next task; each takes 30 to 50 MB."""

LOOKS: Final = 5.0
"""Seconds between two checks for silent players."""

ERRORS: Final[Mapping[str, type[ArenaError]]] = {
    "usage": UsageError,
    "capacity": CapacityError,
    "failure": Failure,
}

logger = logging.getLogger(__name__)


class PlayerGone(Failure):
    """A player has ended, or hung, before its task was done: another one can do it."""


class Distrusted(PlayerGone):
    """A player was ended because it broke the protocol, or took too long."""


class Defect(Exception):
    """An unexpected error in a player; its trace is in the log."""


class Players:
    """Processes that play, one task at a time each."""

    def __init__(
        self,
        place: str = "",
        connect: Callable[[str], Connection] = connect,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Start no players yet; `place` is the address of a socket, or "" for child processes.

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
        """Return a task for a player, with the programs that take part in it.

        Each program is taken from the iterable when it is sent.
        """
        return Play(self, task, programs)

    def take(self, play: Play) -> Connection:
        """Return a player for a task, which is watched from now on; raise PlayersAway."""
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
        """Return a player that has finished its task to the pool; None if it has been ended."""
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
    """A task in progress on a player; none of its processes outlives the block."""

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
        """Since when the player has had something to read or write; infinity if it has not."""

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
        """Return whether the task takes too long, or is stalled."""
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
        # Concurrent callers wait for the end of the player too.
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
        # If closed meanwhile, the player has been ended already.
        self._players.release(self, connection if is_ours else None)


def write(connection: Connection, message: Message) -> None:
    """Send a message."""
    left = memoryview(message.line())
    while left:
        left = left[connection.target.write(left) :]


def error_of(failed: Failed) -> Exception:
    """Return the error with which a task has failed."""
    if failed.kind == "defect":
        logger.error("an error in a player: %s", failed.trace)
        return Defect(failed.message)
    return ERRORS[failed.kind](failed.message)
