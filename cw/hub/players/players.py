"""The players of a process of the hub: started when they are needed, and used again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from math import inf
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Final, Self

from cw.errors import ArenaError, CapacityError, Failure, UsageError
from cw.hub.players.connections import Connection, connect
from cw.hub.players.messages import (
    LAST,
    SILENCE,
    Failed,
    FromPlayer,
    Message,
    Program,
    Secrets,
    Task,
)
from cw.hub.players.reading import Allowance, Excess, decoded, line_from

IDLE: Final = 4
"""Players that are kept for the next task; each takes 30 to 50 MB."""

LOOKS: Final = 5.0
"""Seconds between two looks for players that are silent."""

ERRORS: Final[Mapping[str, type[ArenaError]]] = {
    "usage": UsageError,
    "capacity": CapacityError,
    "failure": Failure,
}

logger = logging.getLogger(__name__)


class PlayerGone(Failure):
    """A player has ended, or hung, before its task was done: another one can do it."""


class Distrusted(PlayerGone):
    """A player was ended because it wrote what none writes, or took too long."""


class Defect(Exception):
    """An error in a player that nobody expected; its trace is in the log."""


class Players:
    """Processes that play, one task at a time each."""

    def __init__(
        self,
        place: str = "",
        connect: Callable[[str], Connection] = connect,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Start none yet; `place` is the address of a socket, "" for children of this process.

        `clock` gives the seconds by which tasks are late.
        """
        self.clock = clock
        self._place = place
        self._connect = connect
        self._lock = Lock()
        self._idle: list[Connection] = []
        self._plays: set[Play] = set()
        self._watching = False

    def play(self, task: Task, programs: Iterable[Program] = ()) -> Play:
        """Return a task to be done by a player, with the programs that take part in it.

        Each program is taken when it is sent.
        """
        return Play(self, task, programs)

    def take(self, play: Play) -> Connection:
        """Return a player for a task, which is now watched; raise PlayersAway."""
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
        """Take a player back that has done its task, None if there is none."""
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
    """A task that a player does; at the end of the block nothing of it runs."""

    def __init__(self, players: Players, task: Task, programs: Iterable[Program]) -> None:
        """Send nothing yet."""
        self._players = players
        self._task = task
        self._programs = programs
        self._lock = Lock()
        """Held while something is sent, so that lines do not mix."""
        self._closing = Lock()
        self._connection: Connection | None = None
        self._is_closed = False
        self._allowance = Allowance(task, players.clock())
        self.waits_since = inf
        """The time since which the player has to read or write something; infinity if it need
        not."""

    def __enter__(self) -> Self:
        """Begin the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the player, unless its task is done."""
        self.close()

    def __iter__(self) -> Iterator[FromPlayer]:
        """Let a player do the task; yield its messages, up to the one that ends it.

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
        """Return whether the task takes too long, or has come to a stop."""
        return self._allowance.is_late(self._players.clock())

    def send(self, secrets: Secrets) -> None:
        """Send secrets that have changed, if the task has not ended."""
        with self._lock:
            if self._connection is not None:
                try:
                    write(self._connection, secrets)
                except (OSError, ValueError):
                    logger.warning("changed secrets do not reach a match that has ended")

    def close(self) -> None:
        """End the player, unless its task is done. Any thread may do that. Idempotent."""
        # Whoever closes it at the same time waits for the end of the player too.
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
            # Closed while the player was starting: there was none yet to end.
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
        # Whoever has closed it meanwhile has ended the player.
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
