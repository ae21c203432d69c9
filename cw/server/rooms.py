"""The games of one server: the one at its root, and the rooms."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from threading import Lock
from typing import Final, TypeAlias

from cw.errors import CapacityError
from cw.games.circuit_wars.protocol import milliseconds, status_document
from cw.games.circuit_wars.rules import Action, CircuitWars, State
from cw.server.session import Clock, MatchSession, Observation, Session, Snapshot
from cw.server.settings import ServerSettings

MOST_ROOMS: Final = 256
IDLE: Final = 3600.0
"""Seconds without a registration or a move after which a room makes way for another."""

CircuitSession: TypeAlias = Session[State, Action]
CircuitObservation: TypeAlias = Observation[State, Action]


class StatusPage:
    """The status document as text, printed once per snapshot; only the clock differs."""

    def __init__(self) -> None:
        """Start with nothing printed."""
        self._printed: tuple[str, str, str] = ("", "", "")

    def render(self, observation: CircuitObservation) -> str:
        """Return the text of the status document."""
        tag, head, tail = self._printed
        if tag != observation.snapshot.tag:
            head, tail = self._print(observation.snapshot)
        return f"{head}{milliseconds(observation.time_left)}{tail}"

    def _print(self, snapshot: Snapshot[State, Action]) -> tuple[str, str]:
        document = status_document(len(snapshot.teams), snapshot.state, None)
        head, tail = json.dumps(document).split('"time_left": -1', 1)
        head += '"time_left": '
        self._printed = (snapshot.tag, head, tail)
        return head, tail


@dataclass(frozen=True, slots=True)
class Room:
    """One game of the server."""

    session: CircuitSession
    page: StatusPage = field(default_factory=StatusPage)


class RoomRegistry:
    """The game at the root of the server, and up to 256 rooms that are made when used."""

    def __init__(
        self, settings: ServerSettings, clock: Clock, session: CircuitSession | None = None
    ) -> None:
        """Open the rooms; raise UsageError if a setting is out of its range.

        `session` is the game at the root, where somebody else leads that.
        """
        self._start = CircuitWars().new(
            2, settings.seed, size=settings.size, openings=settings.openings
        )
        self._clock = clock
        self._limit = settings.time_limit()
        self._team_ids = settings.team_ids
        self._main = Room(session or self._new_session())
        self._vacant = Room(self._new_session())
        self._rooms: dict[str, Room] = {}
        self._lock = Lock()

    def _new_session(self) -> CircuitSession:
        return MatchSession(CircuitWars(), self._start, self._limit, self._clock, self._team_ids)

    def find(self, room: str | None) -> Room:
        """Return the game of a room, empty if nobody has registered there; None is the root."""
        return self._main if room is None else self._rooms.get(room, self._vacant)

    def enter(self, room: str | None) -> Room:
        """Return the game of a room, which is made if it is new.

        The room in which nothing has happened for longest makes way when there are too many;
        raises CapacityError if a game is going on in each.
        """
        with self._lock:
            if room is not None and room not in self._rooms:
                if len(self._rooms) >= MOST_ROOMS:
                    del self._rooms[self._oldest_free()]
                self._rooms[room] = Room(self._new_session())
            return self.find(room)

    def _oldest_free(self) -> str:
        seen = {name: room.session.look().snapshot for name, room in self._rooms.items()}
        free = [name for name, snapshot in seen.items() if self._is_free(snapshot)]
        if not free:
            raise CapacityError(
                f"all {MOST_ROOMS} rooms are in use: try again when a game has finished,"
                " or use a room that exists"
            )
        return min(free, key=lambda name: seen[name].since)

    def _is_free(self, snapshot: Snapshot[State, Action]) -> bool:
        idle = self._clock() - snapshot.since > IDLE
        return idle or not snapshot.teams or snapshot.state.ended is not None
