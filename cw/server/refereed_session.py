"""The session of a refereed match: passes requests of the clients on to the referee."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Condition
from typing import Any, Final, Generic, cast

from cw.arena.referee import MatchRecord
from cw.arena.seats import Answer, Look, Seat
from cw.arena.transports.lines import SILENT, HeadAndTail
from cw.arena.transports.stdio import StdioBot
from cw.errors import UsageError
from cw.games.rules import Action, Fault, Player, Rules, State
from cw.games.wire import Expectation, Query, QueryLimits, Transport
from cw.server.session import (
    NOT_STARTED,
    Clock,
    Observation,
    Registration,
    Snapshot,
    TeamIdForm,
    already_started,
    duplicate,
    unknown,
)

DECISION: Final = 30.0
"""Seconds that the referee has to decide on a move; it needs far less than one."""

FAREWELL: Final = 2.0
"""Seconds that clients have to notice the end and exit."""


@dataclass(slots=True)
class SentMove:
    """A move sent by a client."""

    action: Any
    """The action, or a Fault in its place."""
    sent: float
    """When it was sent, on the clock of the event loop."""
    taken: bool = False
    decided: bool = False


class Inbox:
    """The moves of one client that the referee has not taken yet; used in the event loop only."""

    def __init__(self) -> None:
        """Create an empty inbox."""
        self._moves: deque[SentMove] = deque()
        self._arrived = asyncio.Event()

    def put(self, move: SentMove) -> None:
        """Add a move."""
        self._moves.append(move)
        self._arrived.set()

    async def look(self) -> SentMove:
        """Wait for a move without removing it."""
        await self._arrived.wait()
        return self._moves[0]

    async def take(self) -> SentMove:
        """Wait for a move and remove it."""
        move = await self.look()
        self._moves.popleft().taken = True
        if not self._moves:
            self._arrived.clear()
        return move


@dataclass(frozen=True, slots=True)
class OpenSeat:
    """A seat open for registration."""

    player: Player
    form: TeamIdForm
    registered: asyncio.Event
    """Set in the event loop of the referee."""


class RefereedSession(Generic[State, Action]):
    """Hands registrations and moves to the event loop of a referee (see `session.Session`).

    Routes call it in threads of the server. `move` waits until the referee has decided, so that its
    response shows the result. The visible state is a frozen snapshot, which `show` replaces after
    every turn.
    """

    def __init__(
        self, rules: Rules[State, Action, Any], start: State, limit: float | None, clock: Clock
    ) -> None:
        """Create the session of a match starting with `start`; call this in the event loop."""
        self._rules = rules
        self.start = start
        self.limit = limit
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._inboxes = {player: Inbox() for player in rules.players(start)}
        self._teams: dict[Player, str] = {}
        self._open_seat: OpenSeat | None = None
        self._pending: list[SentMove] = []
        self._changed = Condition()
        self._name = secrets.token_hex(6)
        self._version = 0
        self.over = False
        self._snapshot: Snapshot[State, Action] = self._pictured(start, (), None)

    def _pictured(
        self, state: State, turns: tuple[Any, ...], ends_at: float | None
    ) -> Snapshot[State, Action]:
        self._version += 1
        teams = tuple(self._teams[player] for player in self._inboxes if player in self._teams)
        tag = f"{self._name}-{self._version}"
        return Snapshot(tag, teams, state, turns, self._clock(), ends_at)

    def look(self, *, as_client: bool = False) -> Observation[State, Action]:
        """Return the current state; noticing absent clients is left to the referee."""
        snapshot = self._snapshot
        left = None if snapshot.ends_at is None else max(0.0, snapshot.ends_at - self._clock())
        return Observation(snapshot, left)

    def register(self, team_id: str) -> Registration:
        """Seat a team in the currently open seat; return its number and the new state's tag."""
        with self._changed:
            seat = self._open_seat
            if seat is None or self.over:
                raise already_started()
            seat.form.check(team_id)
            if team_id in self._teams.values():
                raise duplicate(team_id)
            self._open_seat = None
            self.seat(seat.player, team_id)
            self._tell(seat.registered.set)
            number = list(self._inboxes).index(seat.player) + 1
            return Registration(number, self._snapshot.tag)

    def move(self, team_id: str, action: Action | Fault) -> Observation[State, Action]:
        """Hand a move to the referee, wait for its decision, and return the new state."""
        with self._changed:
            named = {name: player for player, name in self._teams.items()}
            if team_id not in named:
                raise unknown(team_id)
            # Stamped here, in the thread of the request: the referee may look later, and the bot
            # must not pay for it.
            move = SentMove(action, self._loop.time())
            self._pending.append(move)
            self._tell(self._inboxes[named[team_id]].put, move)
            # `wait_for` releases the lock, so the referee can call `show` in the meantime.
            self._changed.wait_for(lambda: move.decided or self.over, DECISION)
            return self.look()

    def restart(self, seen: str | None = None) -> Observation[State, Action]:
        """Raise UsageError: a refereed match is played only once."""
        raise UsageError("this match is played once: it cannot be restarted")

    def _tell(self, call: Callable[..., object], *values: object) -> None:
        """Call a function in the event loop, if the loop is still running."""
        # The referee's loop may have ended while a client's request was still in flight.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call, *values)

    def seat(self, player: Player, name: str) -> None:
        """Show a player under a name."""
        with self._changed:
            self._teams[player] = name
            self._snapshot = self._pictured(self._snapshot.state, self._snapshot.turns, None)

    def show(self, record: MatchRecord, *, clock_runs: bool) -> None:
        """Replace the snapshot after the start or a turn; all moves taken so far are decided."""
        with self._changed:
            self.over = record.outcome is not None
            runs = clock_runs and not self.over and self.limit is not None
            ends_at = self._clock() + (self.limit or 0.0) if runs else None
            self._snapshot = self._pictured(record.state, tuple(record.turns), ends_at)
            for move in self._pending:
                move.decided = move.taken
            self._pending = [move for move in self._pending if not move.taken]
            self._changed.notify_all()

    def end(self) -> None:
        """Release everyone still waiting for a decision."""
        with self._changed:
            self.over = True
            self._changed.notify_all()

    @contextmanager
    def open_seat(self, player: Player, form: TeamIdForm) -> Iterator[asyncio.Event]:
        """Open a seat to one client during the block; yield an event set on registration."""
        registered = asyncio.Event()
        with self._changed:
            self._open_seat = OpenSeat(player, form, registered)
        try:
            yield registered
        finally:
            with self._changed:
                self._open_seat = None

    async def sent_by(self, player: Player) -> SentMove:
        """Wait for the next move of a player."""
        return await self._inboxes[player].take()

    async def out_of_turn(self, player: Player) -> Fault:
        """Wait until a player moves out of turn."""
        await self._inboxes[player].look()
        if len(self._teams) < len(self._inboxes):
            return NOT_STARTED
        if player in self._rules.to_move(self._snapshot.state):
            # Every client could see that it is the player's turn, and the referee is about to ask
            # for the move.
            await asyncio.get_running_loop().create_future()
        return Fault("illegal", f"it is not the turn of player {player}")


Start = Callable[[], Awaitable[StdioBot | Fault]]
"""Starts the program of a client."""


class ClientSeat:
    """A client of our server: its program is started to register; then its moves are awaited."""

    transport: Transport = "client"

    def __init__(
        self,
        session: RefereedSession[Any, Any],
        player: Player,
        form: TeamIdForm,
        address: str,
        start: Start,
    ) -> None:
        """Store the server's address and what starts the client; nothing runs yet."""
        self._session = session
        self._address = address
        self._player = player
        self._form = form
        self._start = start
        self._program: StdioBot | None = None

    @property
    def stderr(self) -> HeadAndTail:
        """Head and tail of its standard output and standard error."""
        return self._program.stderr if self._program else SILENT

    async def ask(self, query: Query, look: Look) -> Answer:
        """Wait for the client to register or move."""
        match cast(Expectation, query.message):
            case "registration":
                return Answer(await self._register(query.limits), 0.0)
            case "nothing":
                return Answer(await self._session.out_of_turn(self._player), 0.0)
        return await self._move(query.limits)

    async def _register(self, limits: QueryLimits) -> Fault | None:
        """Start the program, and wait until it has registered."""
        late = f"it did not register within {limits.seconds:g} s: it must request"
        why = f"{late} {self._address}/reg/<team_id> (the address is in CW_SERVER)"
        # Opened before the program runs: a quick one registers before we notice that it has
        # started.
        with self._session.open_seat(self._player, self._form) as registered:
            program = await self._start()
            if isinstance(program, Fault):
                return program
            self._program = program
            program.keep_output()
            end = await first_of(program, registered.wait(), limits.seconds, why)
        return Fault("startup", end.detail) if isinstance(end, Fault) else None

    async def _move(self, limits: QueryLimits) -> Answer:
        """Wait for a move, the end of the program, or the time limit."""
        if self._program is None:
            return Answer(Fault("startup", "its program was not started"), 0.0)
        began, late = self._time(), f"no action within {limits.seconds:g} s"
        sent = self._session.sent_by(self._player)
        value = await first_of(self._program, sent, limits.seconds, late)
        # Response time ends when the request arrived, not when the loop handled it.
        if isinstance(value, SentMove):
            return Answer(value.action, max(0.0, value.sent - began))
        return Answer(value, self._time() - began)

    def _time(self) -> float:
        return asyncio.get_running_loop().time()

    async def close(self) -> None:
        """Give the program time to notice the end and exit, then end it."""
        if self._program is not None:
            await self._program.close(patience=FAREWELL if self._session.over else 0.0)


async def first_of(program: StdioBot, awaited: Awaitable[Any], seconds: float, late: str) -> Any:
    """Return the awaited value, or the fault of a program that ended or is late."""
    hearing = asyncio.ensure_future(awaited)
    ending = asyncio.ensure_future(program.wait_ended())
    try:
        limit = None if seconds == float("inf") else seconds
        done, _ = await asyncio.wait(
            (hearing, ending), timeout=limit, return_when=asyncio.FIRST_COMPLETED
        )
    finally:
        hearing.cancel()
        ending.cancel()
    await asyncio.gather(hearing, ending, return_exceptions=True)
    if hearing in done:
        return hearing.result()
    return ending.result() if ending in done else Fault("timeout", late)


class AnnouncedSeat:
    """A seat in this process, in a match with clients: it registers immediately."""

    def __init__(
        self, seat: Seat, session: RefereedSession[Any, Any], player: Player, name: str
    ) -> None:
        """Store the name under which it registers."""
        self._seat = seat
        self._session = session
        self._player = player
        self._name = name
        self.transport = seat.transport

    @property
    def stderr(self) -> HeadAndTail:
        """The `stderr` of the wrapped seat."""
        return self._seat.stderr

    async def ask(self, query: Query, look: Look) -> Answer:
        """Register, or ask the seat."""
        if query.message == "registration":
            self._session.seat(self._player, self._name)
        return await self._seat.ask(query, look)

    async def close(self) -> None:
        """Close the seat."""
        await self._seat.close()
