"""Matches as shown on pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, TypeAlias

from cw.league.statistics.glicko2 import Rating
from cw_hub.matches.claims import wire_id
from cw_hub.store.tables import MatchState

Titling: TypeAlias = Callable[[datetime], str]
"""Returns the title of a match, given when it was due."""


MOST_NAMED: Final = 6
"""Maximum number of players all named in a title; beyond it, only the first few are."""

FEW_NAMED: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class KindTraits:
    """Properties shared by all matches of one kind, wherever they are shown."""

    name: str
    """The name in rows, messages, metrics and the API; a format's kind has the format's name."""
    title: Titling | None = None
    """None to use the names of the players."""
    is_public: bool = True
    is_crowd: bool = False
    """Whether everybody plays: lists show only the top places, pages the requester's seats."""
    hides_players: bool = False
    """Whether players are hidden until the end, in games with hidden information."""
    battles: int = 1
    """Maximum number of games in a match."""
    plays_at_once: bool = False
    """Whether its replays start playing when their page opens."""
    is_experiment: bool = False
    """Whether it is only meaningful together with many others: it is played while nothing else
    waits, and not listed among its player's latest matches.
    """


@dataclass(frozen=True, slots=True)
class SeatView:
    """A seat, and its result."""

    slot: int
    name: str
    is_builtin: bool
    bot: int | None
    """The id of the bot's row, or None for a built-in strategy."""
    user_id: int | None
    """The id of the bot's owner, or None for a built-in strategy or a team."""
    owner: str | None
    """The username; also None if it was deleted."""
    picture: str | None
    """The SHA-256 of the owner's picture."""
    country: str | None
    """The country of the owner."""
    rank: int | None
    score: float | None
    faults: Sequence[Mapping[str, Any]]
    stats: Mapping[str, Any]
    after: Rating | None = None
    """The rating after the match, or None if it was not rated."""
    before: Rating | None = None
    """The rating before it, or None if it was not loaded."""
    pair_rank: int | None = None
    """The rank that was used for ratings."""
    bot_id: str | None = None
    """The public id of the bot, or None for a built-in strategy."""
    tournament: str | None = None
    """The slug of the tournament in which the bot's team plays."""
    team_id: int | None = None
    team: str | None = None
    """The name of the team."""

    @property
    def place(self) -> int | None:
        """The place shown on pages: the rank used for ratings, so that places explain ratings.

        The game decides the first place alone: its tie-break does not count for ratings.
        """
        return self.rank if self.pair_rank in (None, 1) else self.pair_rank


@dataclass(frozen=True, slots=True)
class MatchView:
    """A match for its page."""

    match_id: str
    competition_id: int | None
    kind: KindTraits
    game: str
    state: MatchState
    attempt: int
    turn: int
    reason: str | None
    seed: int | None
    """None until it is over, and so is the map."""
    at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    seats: tuple[SeatView, ...]
    """The seats to show: few of a match in which everybody plays, and no hidden ones."""
    players: int
    replay_key: str | None
    """The replay of a battle; None before the end and after its replay was deleted."""
    map_id: str | None = None
    level: float | None = None
    seq: int | None = None
    is_hidden: bool = False
    """Whether slots are hidden: the seats, if any, are sorted by name."""

    @property
    def wire_id(self) -> str:
        """The id that was sent to bots."""
        return wire_id(self.match_id, self.attempt)

    @property
    def title(self) -> str:
        """The players, unless its format has another title or they are hidden."""
        if self.kind.title is not None:
            return self.kind.title(self.at)
        if self.is_hidden and not self.seats:
            return f"Match {self.match_id}"
        return title_of([seat.team or seat.name for seat in self.seats], " - ")

    @property
    def tag(self) -> str:
        """A tag that changes whenever the page does."""
        return f"{self.match_id}-{self.state}-{self.attempt}-{self.turn}"

    @property
    def by_place(self) -> list[SeatView]:
        """The seats, the best first; those without a place last."""
        return sorted(self.seats, key=lambda seat: (seat.place is None, seat.place, seat.slot))

    @property
    def shares_places(self) -> bool:
        """Whether bots share a place although the game has ranked them."""
        return any(seat.place != seat.rank for seat in self.seats)

    def result_of(self, bot: int) -> str:
        """Return a bot's result in a match: `won`, `drawn`, `lost`, `3rd of 4`."""
        seats = {seat.bot: seat.place for seat in self.seats}
        place, places = seats.get(bot), [seat.place for seat in self.seats]
        if place == 1:
            return "won" if places.count(1) == 1 else "drawn"
        if len(places) == 2 or place is None:
            return "lost"
        return f"{place}{'nd' if place == 2 else 'rd' if place == 3 else 'th'} of {len(places)}"

    def with_before(self, ratings: Mapping[int, Rating]) -> MatchView:
        """Return the match with the ratings that bots had before it."""
        seats = tuple(
            seat if seat.bot is None else replace(seat, before=ratings.get(seat.bot))
            for seat in self.seats
        )
        return replace(self, seats=seats)


def title_of(names: Sequence[str], between: str) -> str:
    """Return the players in one line: of many, the first three and the number of the rest."""
    if len(names) <= MOST_NAMED:
        return between.join(names)
    return f"{between.join(names[:FEW_NAMED])} and {len(names) - FEW_NAMED} more"
