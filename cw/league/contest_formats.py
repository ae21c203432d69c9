"""Contest formats, chosen before the teams are known; `Format.contest` creates the contest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, get_args

from cw.errors import UsageError, choices
from cw.league.contests import Championship, Contest, FreeForAll, Knockout, League, TableFormat
from cw.league.groups import check_groups, draw_groups
from cw.league.ladder import LADDER, Ladder
from cw.league.ladder import USUAL_ROUNDS as ROUNDS_OF_A_LADDER
from cw.league.line_ups import FREE_FOR_ALL, USUAL_ROUNDS

FORMATS: Final[tuple[str, ...]] = (
    "championship",
    "knockout",
    *get_args(TableFormat),
    LADDER,
    FREE_FOR_ALL,
)

TWO_PLAYERS: Final = range(2, 3)


@dataclass(frozen=True, slots=True)
class Format:
    """A contest format with its settings, before the teams are known; None means the default.

    >>> Format("knockout").contest(["ann", "bob", "cy"], seed=1).expected({})
    4
    """

    name: str = "championship"
    groups: int | Mapping[str, Sequence[str]] | None = None
    """Groups of a championship: the teams by group, or the number of groups to draw."""
    meetings: int | None = None
    """Meetings per team in a Swiss contest."""
    players: int | None = None
    """Players per match in a free-for-all."""
    rounds: int | None = None
    """Rounds of a free-for-all or a ladder."""

    def contest(self, teams: Sequence[str], seed: int, seats: range = TWO_PLAYERS) -> Contest:
        """Create a contest for a game with this range of seats; raise UsageError if impossible.

        All formats except the championship and the free-for-all expect the strongest teams first.
        """
        self.check(seats)
        if self.name == "championship":
            return Championship(self.drawn_groups(teams, seed), seed)
        if self.name == "knockout":
            return Knockout(tuple(teams), seed)
        if self.name == LADDER:
            number = ROUNDS_OF_A_LADDER if self.rounds is None else self.rounds
            return Ladder(tuple(teams), seed, number)
        if self.name == FREE_FOR_ALL:
            return self.free_for_all(tuple(teams), seed, seats)
        for table_format in get_args(TableFormat):
            if self.name == table_format:
                return League(table_format, tuple(teams), seed, self.meetings)
        raise UsageError(f"unknown format {self.name!r}; {choices(self.name, FORMATS)}")

    def check(self, seats: range) -> None:
        """Raise UsageError for a setting of another format, or if the seats do not fit."""
        owners = {
            "groups": ("championship",),
            "meetings": ("swiss",),
            "players": (FREE_FOR_ALL,),
            "rounds": (FREE_FOR_ALL, LADDER),
        }
        for setting, formats in owners.items():
            if getattr(self, setting) is not None and self.name not in formats:
                only = " or ".join(map(repr, formats))
                raise UsageError(
                    f"only the format {only} takes a number of {setting}, not {self.name!r}"
                )
        if self.name != FREE_FOR_ALL and 2 not in seats:
            raise UsageError(
                f"the format {self.name!r} has matches of 2 players, but this game is for "
                f"{in_words(seats)}; choose {FREE_FOR_ALL!r}"
            )

    def drawn_groups(self, teams: Sequence[str], seed: int) -> Mapping[str, tuple[str, ...]]:
        """Return the given groups, or draw them from the seed."""
        if isinstance(self.groups, Mapping):
            return check_groups(self.groups, teams)
        return draw_groups(teams, seed, self.groups)

    def free_for_all(self, teams: tuple[str, ...], seed: int, seats: range) -> FreeForAll:
        """Create a free-for-all; by default, all teams play in one match if seats are enough."""
        players = min(len(teams), seats[-1]) if self.players is None else self.players
        if seats[-1] < 3 or players not in seats:
            raise UsageError(
                f"a free-for-all cannot have matches of {players} players: this game is for "
                f"{in_words(seats)}"
            )
        rounds = min(players, USUAL_ROUNDS) if self.rounds is None else self.rounds
        return FreeForAll(teams, seed, players, rounds)


def in_words(seats: range) -> str:
    """Return a game's range of player counts as text."""
    low, high = seats[0], seats[-1]
    return f"{low} players" if low == high else f"{low} to {high} players"
