"""The matches of a round for pages: their teams, and the results of their games."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Select, bindparam, select
from sqlalchemy.orm import Session

from cw.league.ladder.points import GameResult
from cw_hub.store.tables import Battle, Bot, Match, MatchParticipant, MatchState, Team


@dataclass(frozen=True, slots=True)
class GameView:
    """A game of a match; ranks and scores are by seat."""

    number: int
    reason: str
    ranks: Sequence[int | None]
    scores: Sequence[float | None]
    first_seat: int = 0
    """The seat of the first mover."""


@dataclass(frozen=True, slots=True)
class RoundMatch:
    """A match of a round."""

    id: int
    match_id: str
    key: str
    sequence: int
    state: MatchState
    reason: str | None
    teams: tuple[int, ...]
    """The team ids, by seat."""
    faults: tuple[Mapping[int, int], ...]
    """The number of faults by seat and by game; empty if they were not read."""
    games: tuple[GameView, ...]

    @property
    def pair(self) -> str:
        """Its place in the plan of the round, which it keeps if it is played again."""
        return "/".join(self.key.split("/")[:2])

    @property
    def results(self) -> list[GameResult]:
        """The results of its games."""
        return [GameResult(game.ranks, game.scores) for game in self.games]

    @property
    def counts(self) -> bool:
        """Whether it gives points."""
        return self.state == "done"


_ROUND: Final = Match.round_id == bindparam("round")
_TEAM: Final = Match.id.in_(
    select(MatchParticipant.match_id)
    .join(Bot, Bot.id == MatchParticipant.bot_id)
    .where(Bot.team_id == bindparam("team"))
)
_MATCH: Final = Match.id == bindparam("match")

SEATS: Final = (
    select(
        Match.id,
        Match.match_id,
        Match.key,
        Match.sequence,
        Match.state,
        Match.reason,
        Bot.team_id,
    )
    .join(MatchParticipant, MatchParticipant.match_id == Match.id)
    .join(Bot, Bot.id == MatchParticipant.bot_id)
    .where(_ROUND)
    .order_by(Match.sequence, Match.id, MatchParticipant.slot)
)
"""The seats of the matches of a round."""

GAMES: Final = (
    select(
        Battle.match_id,
        Battle.number,
        Battle.reason,
        Battle.ranks,
        Battle.scores,
        Battle.first_slot,
    )
    .join(Match, Match.id == Battle.match_id)
    .where(_ROUND)
    .order_by(Battle.match_id, Battle.number)
)
"""The games of the matches of a round."""

# Faults are read only for a single team or match, as bots of some games make many.
SEATS_OF_TEAM: Final = SEATS.add_columns(MatchParticipant.faults).where(_TEAM)
GAMES_OF_TEAM: Final = GAMES.where(_TEAM)
SEATS_OF_MATCH: Final = (
    SEATS.add_columns(MatchParticipant.faults, Team.slug, Team.name, Team.out_of_competition)
    .join(Team, Team.id == Bot.team_id)
    .where(_MATCH)
)
GAMES_OF_MATCH: Final = GAMES.where(_MATCH)


def matches_of(session: Session, round_id: int, team: int | None = None) -> tuple[RoundMatch, ...]:
    """Return the matches of a round in order of play, or those of one team with its faults.

    Of a match that was played again, only the last one is included. Two statements.
    """
    wanted = {"round": round_id} | ({} if team is None else {"team": team})
    games = games_by_match(session, GAMES if team is None else GAMES_OF_TEAM, wanted)
    seats: dict[int, list[Any]] = defaultdict(list)
    for seat in session.execute(SEATS if team is None else SEATS_OF_TEAM, wanted):
        seats[seat.id].append(seat)
    newest: dict[str, RoundMatch] = {}
    for match_id in sorted(seats):
        match = round_match(seats[match_id], games[match_id])
        newest[match.pair] = match
    return tuple(sorted(newest.values(), key=lambda match: (match.sequence, match.id)))


def games_by_match(
    session: Session, query: Select[*tuple[Any, ...]], wanted: Mapping[str, int]
) -> Mapping[int, list[GameView]]:
    """Return the games of a query like GAMES, by match id."""
    games: dict[int, list[GameView]] = defaultdict(list)
    for match_id, *columns in session.execute(query, wanted):
        games[match_id].append(GameView(*columns))
    return games


def round_match(seats: Sequence[Any], games: Sequence[GameView]) -> RoundMatch:
    """Return a match built from its rows of a query like SEATS."""
    first = seats[0]
    return RoundMatch(
        first.id,
        first.match_id,
        first.key,
        first.sequence or 0,
        first.state,
        first.reason,
        tuple(seat.team_id for seat in seats),
        tuple(faults_by_game(getattr(seat, "faults", ())) for seat in seats),
        tuple(games),
    )


def faults_by_game(faults: Iterable[Mapping[str, Any]]) -> Mapping[int, int]:
    """Return the number of faults by game number."""
    return Counter(fault.get("battle", 1) for fault in faults)
