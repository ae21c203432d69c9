"""Matches as pages show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, TypeAlias

from cw.hub.matches.claims import wire_id
from cw.hub.store.tables import MatchState
from cw.league.statistics.glicko2 import Rating

Titling: TypeAlias = Callable[[datetime], str]
"""Returns what a match is called, by the moment when it was due."""


MOST_NAMED: Final = 6
"""Players who are all named in the title of a match; of more, the first few are."""

FEW_NAMED: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class KindTraits:
    """What is true of all matches of one kind, wherever they are shown."""

    name: str
    """As rows, messages, metrics and the API have it; of a format it is the format's name."""
    title: Titling | None = None
    """None: the names of those who play."""
    is_public: bool = True
    is_crowd: bool = False
    """Whether everybody plays: lists name the first places alone, pages the seats of who asks."""
    hides_players: bool = False
    """Whether the site alone knows who plays before the end, in games with hidden information."""
    battles: int = 1
    """The most games of a match."""
    plays_at_once: bool = False
    """Whether its replays play as soon as their page is open."""
    is_experiment: bool = False
    """Whether it tells something only with many others: it is played while nothing else waits, and
    is not among the latest matches of its player."""


@dataclass(frozen=True, slots=True)
class SeatView:
    """Who sat at a slot, and what came of it."""

    slot: int
    name: str
    is_builtin: bool
    bot: int | None
    """The id of the bot's row, None for a built-in strategy."""
    user_id: int | None
    """The owner of the bot, None for a built-in strategy and for a team."""
    owner: str | None
    """The username; None where that was deleted, too."""
    picture: str | None
    """The SHA-256 of the owner's picture."""
    country: str | None
    """Of the owner."""
    rank: int | None
    score: float | None
    faults: Sequence[Mapping[str, Any]]
    stats: Mapping[str, Any]
    after: Rating | None = None
    """The rating after the match; None where it was not rated."""
    before: Rating | None = None
    """The rating before it; None where nobody has asked for it."""
    pair_rank: int | None = None
    """The rank by which it was rated."""
    bot_id: str | None = None
    """The name of the bot outside of the database; None for a built-in strategy."""
    tournament: str | None = None
    """The slug of the tournament of the team whose bot it is."""
    team_id: int | None = None
    team: str | None = None
    """What the team is called."""

    @property
    def place(self) -> int | None:
        """Where pages show it: by what ratings compare, so that places explain ratings.

        The first place is the game's to give: what breaks a tie there counts for no rating.
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
    """None until it is over, as is the map."""
    at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    seats: tuple[SeatView, ...]
    """Those that are shown: where everybody plays few of them, and none that are hidden."""
    players: int
    replay_key: str | None
    """Of a battle; None before the end, and after the replay was given up."""
    map_id: str | None = None
    level: float | None = None
    seq: int | None = None
    is_hidden: bool = False
    """Whether slots are not shown: the seats, if any, are in the order of their names."""

    @property
    def wire_id(self) -> str:
        """The name under which bots knew it."""
        return wire_id(self.match_id, self.attempt)

    @property
    def title(self) -> str:
        """Who plays, unless its format calls it something else or that is hidden."""
        if self.kind.title is not None:
            return self.kind.title(self.at)
        if self.is_hidden and not self.seats:
            return f"Match {self.match_id}"
        return title_of([seat.team or seat.name for seat in self.seats], " - ")

    @property
    def tag(self) -> str:
        """What differs whenever the page shows something else."""
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
        """Return how a bot came out of a match: `won`, `drawn`, `lost`, `3rd of 4`."""
        seats = {seat.bot: seat.place for seat in self.seats}
        place, places = seats.get(bot), [seat.place for seat in self.seats]
        if place == 1:
            return "won" if places.count(1) == 1 else "drawn"
        if len(places) == 2 or place is None:
            return "lost"
        return f"{place}{'nd' if place == 2 else 'rd' if place == 3 else 'th'} of {len(places)}"

    def with_before(self, ratings: Mapping[int, Rating]) -> MatchView:
        """Return it with the ratings that bots had before."""
        seats = tuple(
            seat if seat.bot is None else replace(seat, before=ratings.get(seat.bot))
            for seat in self.seats
        )
        return replace(self, seats=seats)


def title_of(names: Sequence[str], between: str) -> str:
    """Return who plays, in one line: of many the first three, and how many more there are."""
    if len(names) <= MOST_NAMED:
        return between.join(names)
    return f"{between.join(names[:FEW_NAMED])} and {len(names) - FEW_NAMED} more"
