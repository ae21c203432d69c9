"""Sessions: the registered clients, the state that they see, and the match that they play."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeAlias

from cw.arena.referee import Match, Turn
from cw.errors import GameStarted, InvalidTeamId, MatchChanged, TeamIdTaken, UnknownTeam
from cw.games.rules import Action, Fault, Rules, State, View

Clock: TypeAlias = Callable[[], float]

ABSENCE: Final = 20.0
"""Seconds without a request from its program after which a waiting team counts as absent."""


@dataclass(frozen=True, slots=True)
class TeamIdForm:
    """The form of valid team ids."""

    pattern: re.Pattern[str]
    words: str

    def check(self, team_id: str) -> None:
        """Raise InvalidTeamId, saying what to do, if an id is malformed."""
        if not self.pattern.fullmatch(team_id):
            raise InvalidTeamId(
                f"the team id {team_id[:60]!r} is not valid: it must be {self.words};"
                " choose another and register again"
            )


SHORT: Final = TeamIdForm(
    re.compile("[A-Za-z0-9]{1,10}"), "1 to 10 letters or digits (a-z, A-Z, 0-9)"
)
GITHUB: Final = TeamIdForm(re.compile("[A-Za-z0-9-]{1,39}"), "1 to 39 letters, digits or hyphens")


@dataclass(frozen=True, slots=True)
class Snapshot(Generic[State, Action]):
    """The whole state of a session at one point in time."""

    tag: str
    """Unique among all snapshots, including those of other sessions and earlier runs."""
    teams: tuple[str, ...]
    """The registered teams; the first is player 1."""
    state: State
    turns: tuple[Turn[Action], ...]
    since: float
    """When this state started, on the session's clock."""
    ends_at: float | None
    """When the current turn times out, on the session's clock; None if no clock runs."""
    replay: str = ""
    """The name of a finished game's replay; "" if none is stored."""


Keep: TypeAlias = Callable[[Snapshot[Any, Any]], str]
"""Stores a finished game of two teams; returns the name of its replay, or ""."""


class Observation(NamedTuple, Generic[State, Action]):
    """A snapshot, and the seconds left for the current turn; None if no clock runs."""

    snapshot: Snapshot[State, Action]
    time_left: float | None


class Registration(NamedTuple):
    """A newly registered team's number, and the tag of the resulting state."""

    player: int
    """Its number, from 1."""
    tag: str
    """The tag of the resulting state."""


class Session(Protocol[State, Action]):
    """What a game's routes need: registering clients, submitting moves, and reading the state."""

    limit: float | None
    """Seconds per turn, or None for no limit."""
    start: State

    def look(self, *, as_client: bool = False) -> Observation[State, Action]:
        """Return the current state; `as_client` if a program asks, not a page."""

    def register(self, team_id: str) -> Registration:
        """Seat a team and return its number; raise a RegistrationError saying what to do."""

    def move(self, team_id: str, action: Action | Fault) -> Observation[State, Action]:
        """Take a team's action and return the new state; raise UnknownTeam if not registered."""

    def restart(self, seen: str | None = None) -> Observation[State, Action]:
        """Remove teams and match; return the new state.

        If `seen` is given and not the current tag, raises MatchChanged and removes nothing.
        """


def already_started(*, is_over: bool = False) -> GameStarted:
    """Return the refusal of a registration when no seat is free."""
    if is_over:
        return GameStarted("you cannot join, the game is over: the next one begins with a restart")
    return GameStarted(
        "you cannot join, the game has already started: wait for the next one,"
        " or play in a room of your own"
    )


def duplicate(team_id: str, when_free: str = "") -> TeamIdTaken:
    """Return the refusal of a name that is already registered, and when it becomes free."""
    return TeamIdTaken(
        f"the team id {team_id!r} is taken: choose another and register again{when_free}"
    )


def unknown(team_id: str) -> UnknownTeam:
    """Return the refusal of a move by an unregistered team."""
    return UnknownTeam(f"there is no team {team_id[:60]!r} in this game: register it first")


def changed() -> MatchChanged:
    """Return the refusal of a restart by a client that saw an earlier state."""
    return MatchChanged(
        "not restarted: the match has changed since you looked. Register, or look again"
    )


NOT_STARTED: Final = Fault("illegal", "the game has not started yet: wait for the other team")


class MatchSession(Generic[State, Action, View]):
    """Seats two clients, player 1 first, and takes their moves; thread-safe.

    `limit` is the time for a turn in seconds, or None. The clock of the first turn starts when the
    second team registers. Until then the first team has to poll: after ABSENCE seconds without a
    request from its program, its seat is free again. Without a limit no team is ever late, and
    teams keep their seats.
    """

    def __init__(  # noqa: PLR0913 - each of them is a thing of its own
        self,
        game: Rules[State, Action, View],
        start: State,
        limit: float | None,
        clock: Clock,
        team_ids: TeamIdForm = SHORT,
        *,
        keep: Keep = lambda _: "",
    ) -> None:
        """Open a session for one match that starts with `start`."""
        self._game = game
        self.limit = limit
        self.start = start
        self._clock = clock
        self._team_ids = team_ids
        self._keep = keep
        self._seats = game.players(start)
        self._lock = Lock()
        self._name = secrets.token_hex(6)
        self._version = 0
        self._reset()

    def _reset(self) -> None:
        self._teams: tuple[str, ...] = ()
        now = self._heard = self._clock()
        self._match = Match(self._game, self.start, None, now)
        self._changed(now)

    def _changed(self, now: float) -> None:
        self._version += 1
        snapshot = Snapshot(
            tag=f"{self._name}-{self._version}",
            teams=self._teams,
            state=self._match.state,
            turns=tuple(self._match.turns),
            since=now,
            ends_at=self._match.deadline,
        )
        is_played = len(self._teams) == len(self._seats) and self._match.outcome is not None
        self._snapshot = replace(snapshot, replay=self._keep(snapshot)) if is_played else snapshot

    def look(self, *, as_client: bool = False) -> Observation[State, Action]:
        """Return the current state, after timing out late players and freeing absent seats."""
        with self._lock:
            now = self._clock()
            self._free_seat(now)
            if as_client:
                self._heard = now
            return self._look(now)

    def _free_seat(self, now: float) -> None:
        """Free the seat of a team that vanished while waiting for an opponent."""
        waits = 0 < len(self._teams) < len(self._seats) and self._match.outcome is None
        if waits and self.limit is not None and now - self._heard > ABSENCE:
            self._reset()

    def _when_free(self) -> str:
        """Return when a waiting team's seat becomes free, for a message."""
        if self.limit is None:
            return ""
        return f"; if its program has ended, its seat is free after {ABSENCE:g} s"

    def _look(self, now: float) -> Observation[State, Action]:
        # No thread waits for deadlines: the first request after one finds that the turn has timed
        # out.
        self._match.expire(now)
        # A snapshot is made on change only, so that polls of an unchanged board share its ETag
        # (decisions 0002).
        if len(self._match.turns) != len(self._snapshot.turns):
            self._changed(now)
        ends_at = self._snapshot.ends_at
        return Observation(self._snapshot, None if ends_at is None else max(0.0, ends_at - now))

    def register(self, team_id: str) -> Registration:
        """Seat a team and return its number; the last one starts the clock.

        Raises InvalidTeamId, GameStarted or TeamIdTaken, saying what to do.
        """
        self._team_ids.check(team_id)
        with self._lock:
            now = self._clock()
            self._free_seat(now)
            if len(self._teams) == len(self._seats) or self._match.outcome is not None:
                raise already_started(is_over=self._match.outcome is not None)
            if team_id in self._teams:
                raise duplicate(team_id, self._when_free())
            self._teams += (team_id,)
            self._heard = now
            if len(self._teams) == len(self._seats):
                # The clock starts with the last registration, not with the first.
                self._match = Match(self._game, self.start, self.limit, now)
            self._changed(now)
            return Registration(len(self._teams), self._snapshot.tag)

    def move(self, team_id: str, action: Action | Fault) -> Observation[State, Action]:
        """Take a team's action, or a fault in its place; return the new state.

        Before the game has started it is out of turn. If the team is not registered, raises
        UnknownTeam and changes nothing.
        """
        with self._lock:
            now = self._clock()
            self._free_seat(now)
            if team_id not in self._teams:
                raise unknown(team_id)
            player = self._seats[self._teams.index(team_id)]
            if len(self._teams) < len(self._seats):
                self._match.fault(player, NOT_STARTED, now)
            elif isinstance(action, Fault):
                self._match.fault(player, action, now)
            else:
                self._match.submit(player, action, now)
            return self._look(now)

    def restart(self, seen: str | None = None) -> Observation[State, Action]:
        """Remove teams and match; return the new state.

        If `seen` is the tag of an earlier snapshot, raises MatchChanged and removes nothing.
        """
        with self._lock:
            now = self._clock()
            self._free_seat(now)
            # This call may be the first to notice that a player was late.
            if seen not in (None, self._look(now).snapshot.tag):
                raise changed()
            self._reset()
            return self._look(self._clock())
