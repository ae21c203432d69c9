"""Clients of this server: who has registered, what they see, and the match they play."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeAlias

from cw.arena.match import Match, Turn
from cw.errors import GameStarted, InvalidTeamId, MatchChanged, TeamIdTaken, UnknownTeam
from cw.games.rules import Action, Fault, Rules, State, View

Clock: TypeAlias = Callable[[], float]

ABSENCE: Final = 20.0
"""Seconds without a request of a program after which a team that waits for another one is gone."""


@dataclass(frozen=True, slots=True)
class TeamIdForm:
    """What a team may call itself."""

    pattern: re.Pattern[str]
    words: str

    def check(self, team_id: str) -> None:
        """Raise InvalidTeamId, with what to do about it, for an id of another form."""
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
    """The whole state of a session at one moment."""

    tag: str
    """Unique among all snapshots, including those of other sessions and earlier runs."""
    teams: tuple[str, ...]
    """The registered teams; the first is player 1."""
    state: State
    turns: tuple[Turn[Action], ...]
    since: float
    """When this state began, on the session's clock."""
    ends_at: float | None
    """When the current turn times out, on the session's clock; None if no clock runs."""
    replay: str = ""
    """The name of the replay of a game that is over; "" where none is kept."""


Keep: TypeAlias = Callable[[Snapshot[Any, Any]], str]
"""Takes in a game of two teams that is over, and returns the name of its replay, "" for none."""


class Observation(NamedTuple, Generic[State, Action]):
    """A snapshot, and the seconds left for the current turn; None if no clock runs."""

    snapshot: Snapshot[State, Action]
    time_left: float | None


class Registration(NamedTuple):
    """The place of a team that has registered."""

    player: int
    """Its number, from 1."""
    tag: str
    """The tag of the state that began with it."""


class Session(Protocol[State, Action]):
    """What the routes of a game need: clients register, send moves, and look."""

    limit: float | None
    """Seconds for a turn, None for no limit."""
    start: State

    def look(self, *, as_client: bool = False) -> Observation[State, Action]:
        """Return the current state; `as_client`: a program asks, not a page."""

    def register(self, team_id: str) -> Registration:
        """Seat a team and return its place; raise a RegistrationError with what to do."""

    def move(self, team_id: str, action: Action | Fault) -> Observation[State, Action]:
        """Take an action of a team and look; raise UnknownTeam if it is not registered."""

    def restart(self, seen: str | None = None) -> Observation[State, Action]:
        """Forget teams and match, and look at the new one.

        With the tag of a snapshot, raise MatchChanged and forget nothing if there is another one.
        """


def already_started(*, is_over: bool = False) -> GameStarted:
    """Return the refusal of a registration for which no seat is free."""
    if is_over:
        return GameStarted("you cannot join, the game is over: the next one begins with a restart")
    return GameStarted(
        "you cannot join, the game has already started: wait for the next one,"
        " or play in a room of your own"
    )


def duplicate(team_id: str, when_free: str = "") -> TeamIdTaken:
    """Return the refusal of a second registration of a name, and when that is free."""
    return TeamIdTaken(
        f"the team id {team_id!r} is taken: choose another and register again{when_free}"
    )


def unknown(team_id: str) -> UnknownTeam:
    """Return the refusal of a move by a team that is not registered."""
    return UnknownTeam(f"there is no team {team_id[:60]!r} in this game: register it first")


def changed() -> MatchChanged:
    """Return the refusal of a restart by a client that has seen an earlier state."""
    return MatchChanged(
        "not restarted: the match has changed since you looked. Register, or look again"
    )


NOT_STARTED: Final = Fault("illegal", "the game has not started yet: wait for the other team")


class MatchSession(Generic[State, Action, View]):
    """Seats two clients, player 1 first, and takes their moves; thread-safe.

    `limit` is the time for a turn in seconds, None for no limit. The clock of the first turn
    starts when the second team registers. Until then the first one has to ask now and then:
    without a request of a program for ABSENCE seconds its seat is free again. Without a limit
    nobody is ever late, and a seat is kept.
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
        """Open a session for one match that begins with `start`."""
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
        """Return the current state, after timing out who is late and removing who has vanished."""
        with self._lock:
            now = self._clock()
            self._free_seat(now)
            if as_client:
                self._heard = now
            return self._look(now)

    def _free_seat(self, now: float) -> None:
        """Forget a team that has vanished while it waited for another one."""
        waits = 0 < len(self._teams) < len(self._seats) and self._match.outcome is None
        if waits and self.limit is not None and now - self._heard > ABSENCE:
            self._reset()

    def _when_free(self) -> str:
        """Say when a team that waits loses its seat."""
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
        """Seat a team and return its place; the last one starts the clock.

        Raises InvalidTeamId, GameStarted or TeamIdTaken, with what to do about it.
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
        """Take a team's action, or a fault in its place, and look.

        Before the game has started it is out of turn. Raises UnknownTeam, and nothing changes, if
        the team is not registered.
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
        """Forget teams and match, and look at the new one.

        Raises MatchChanged, and forgets nothing, if `seen` is the tag of an earlier snapshot.
        """
        with self._lock:
            now = self._clock()
            self._free_seat(now)
            # Whoever restarts may be the first to see that somebody was late.
            if seen not in (None, self._look(now).snapshot.tag):
                raise changed()
            self._reset()
            return self._look(self._clock())
