"""A group's standings for pages: ranks, points, prizes, and the results of a round."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

from sqlalchemy import Row, Select, and_, bindparam, select

from cw.league.fixtures import Outcome
from cw.league.ladder import (
    GameResult,
    PairResult,
    Phase,
    Ranked,
    Scoring,
    match_points,
    positions,
    result,
)
from cw_hub.competitions.tournament import views
from cw_hub.competitions.tournament.rounds import ranked_teams
from cw_hub.competitions.tournament.views import GroupView, TournamentView, view
from cw_hub.pages.forms import natural_order
from cw_hub.store.database import Session
from cw_hub.store.models import (
    Battle,
    Bot,
    Competition,
    Entry,
    EntryStatus,
    Group,
    GroupKind,
    Match,
    MatchParticipant,
    MatchState,
    Round,
    RoundScore,
    Team,
)


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
        """Its position in the round's plan, which a match that is played again keeps."""
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
"""Selects the seats of a round's matches."""

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
"""Selects the games of a round's matches."""

# Faults are read only for a single team or match, as bots in some games commit many.
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

    If a match was played again, only the last one is included. Two statements.
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
    """Return the games selected by a query like GAMES, by match id."""
    games: dict[int, list[GameView]] = defaultdict(list)
    for match_id, *columns in session.execute(query, wanted):
        games[match_id].append(GameView(*columns))
    return games


def round_match(seats: Sequence[Any], games: Sequence[GameView]) -> RoundMatch:
    """Return a match built from the rows of a query like SEATS."""
    first = seats[0]
    return view(
        RoundMatch,
        first,
        sequence=first.sequence or 0,
        teams=tuple(seat.team_id for seat in seats),
        faults=tuple(faults_by_game(getattr(seat, "faults", ())) for seat in seats),
        games=tuple(games),
    )


def faults_by_game(faults: Iterable[Mapping[str, Any]]) -> Mapping[int, int]:
    """Return the number of faults by game number."""
    return Counter(fault.get("battle", 1) for fault in faults)


PRIZES: Final = 3
"""Number of teams in a public group that win a prize."""


class RoundRecord(NamedTuple):
    """A team's points and results in a closed round."""

    number: int
    points: float
    total: float
    position: int
    won: int
    drawn: int
    lost: int


@dataclass(frozen=True)
class TableRow:
    """A team's row in the table of a group, over the closed rounds; sums are cached."""

    team_id: int
    slug: str
    name: str
    status: EntryStatus
    reason: str
    is_out: bool
    """Whether it plays out of competition."""
    history: tuple[RoundRecord, ...]
    """By round."""
    place: int | None = None
    """None for teams that are out of competition or no longer playing."""
    change: int | None = None
    """Places gained in the last round; None if it did not play before."""
    prize: str = ""
    ranked: Ranked[int] | None = None
    """Its position in the final order, once the group is over."""

    @property
    def competes(self) -> bool:
        """Whether it is ranked."""
        return self.status == "playing" and not self.is_out

    @property
    def has_left(self) -> bool:
        """Whether it has played, and then left or was removed by its host."""
        return self.status == "withdrawn" or (self.status == "removed" and bool(self.history))

    @cached_property
    def points(self) -> float:
        """Points from all closed rounds."""
        return sum(record.points for record in self.history)

    def points_of(self, number: int) -> float:
        """Return the points from a closed round; 0 if it did not take part."""
        return sum(record.points for record in self.history if record.number == number)

    @cached_property
    def won(self) -> int:
        """Matches won in closed rounds."""
        return sum(record.won for record in self.history)

    @cached_property
    def drawn(self) -> int:
        """Matches drawn in closed rounds."""
        return sum(record.drawn for record in self.history)

    @cached_property
    def lost(self) -> int:
        """Matches lost in closed rounds."""
        return sum(record.lost for record in self.history)


@dataclass(frozen=True)
class GroupStandings:
    """The table of a group, and the matches of one of its rounds."""

    tournament: TournamentView
    group: GroupView
    rows: tuple[TableRow, ...]
    """Sorted by position."""
    matches: tuple[RoundMatch, ...]
    """In order of play."""

    @cached_property
    def by_id(self) -> dict[int, TableRow]:
        """The rows by team id."""
        return {row.team_id: row for row in self.rows}

    @cached_property
    def by_slug(self) -> dict[str, TableRow]:
        """The rows by team slug."""
        return {row.slug: row for row in self.rows}

    @cached_property
    def scoring(self) -> Scoring:
        """How the round's results turn into points."""
        settings, current = self.tournament.settings, self.group.round
        return Scoring(settings.points, current.board.factor if current else 1, settings.tiebreak)

    @cached_property
    def round_rows(self) -> list[TableRow]:
        """The rows of the teams playing in the round."""
        playing = {team for match in self.matches for team in match.teams}
        return [row for row in self.rows if row.team_id in playing]

    def by_rank(self, match: RoundMatch) -> list[tuple[int | None, int, float | None, int]]:
        """Return rank, team, score and points of each seat of a match, best first."""
        last = match.games[-1] if match.games else None
        nothing: Sequence[None] = (None,) * len(match.teams)
        ranks, scores = (last.ranks, last.scores) if last else (nothing, nothing)
        seats = zip(ranks, match.teams, scores, self.points(match), strict=False)
        return sorted(seats, key=lambda seat: (seat[0] is None, seat[0] or 0))

    @property
    def played(self) -> int:
        """The number of finished matches of the round."""
        return sum(match.state in ("done", "void", "failed") for match in self.matches)

    def position(self, team: int) -> int:
        """Return a team's position at the start of the round."""
        current = self.group.round
        return current.positions.get(team, 1) if current else 1

    def name(self, team: int) -> str:
        """Return the name of a team."""
        return self.by_id[team].name if team in self.by_id else "?"

    def points(self, match: RoundMatch) -> tuple[int, ...]:
        """Return the points of a match by seat; 0 if it does not count."""
        if not match.counts:
            return (0,) * len(match.teams)
        positions = [self.position(team) for team in match.teams]
        return match_points(match.results, positions, self.scoring)

    def outcome(self, match: RoundMatch, seat: int) -> Outcome | None:
        """Return the outcome of a two-team match for a seat, or None if it does not count."""
        if not match.counts or len(match.teams) != 2:
            return None
        return self.result(match, seat).outcome

    def result(self, match: RoundMatch, seat: int = 0) -> PairResult:
        """Return the result of a two-team match for a seat."""
        return result(match.results, seat, 1 - seat, self.scoring.tiebreak)

    def matches_of_team(self, team: int) -> list[tuple[RoundMatch, int]]:
        """Return a team's matches in the round, each with its seat."""
        return [(match, match.teams.index(team)) for match in self.matches if team in match.teams]

    def round_points(self, team: int) -> float:
        """Return a team's points in the round, which are credited when the round closes."""
        current = self.group.round
        if current is not None and current.closed_at is not None and team in self.by_id:
            return self.by_id[team].points_of(current.number)
        return sum(self.points(match)[seat] for match, seat in self.matches_of_team(team))


RECORDS: Final = (
    select(
        Entry.team_id,
        Team.slug,
        Team.name,
        Entry.status,
        Entry.reason,
        Team.out_of_competition,
        Round.number,
        RoundScore.points,
        RoundScore.total,
        RoundScore.position,
        RoundScore.won,
        RoundScore.drawn,
        RoundScore.lost,
    )
    .join(Team, Team.id == Entry.team_id)
    .outerjoin(Round, Round.group_id == Entry.group_id)
    .outerjoin(
        RoundScore,
        and_(RoundScore.round_id == Round.id, RoundScore.team_id == Entry.team_id),
    )
    .where(Entry.group_id == bindparam("group"))
    .order_by(Entry.team_id, Round.number)
)
"""The statement for a group's teams, each with its record of each round."""


def of_group(
    session: Session,
    tournament: TournamentView,
    group: GroupView,
    phase: Phase,
    slug: str | None = None,
) -> GroupStandings:
    """Return the standings of a group with the matches of its round, or only those of one team.

    At most three statements, plus a few for the prizes of a finished group.
    """
    rows = placed(rows_of(session, group.id))
    if phase == "over":
        order = ranked_teams(session, tournament.settings, tournament.seed, group.id)
        rows = with_prizes(in_order(rows, order), group.kind)
    team = next((row.team_id for row in rows if row.slug == slug), None)
    is_known = slug is None or team is not None
    matches = matches_of(session, group.round.id, team) if group.round and is_known else ()
    return GroupStandings(tournament, group, rows, matches)


def rows_of(session: Session, group: int) -> list[TableRow]:
    """Return the teams of a group with their records, not yet ranked. One statement."""
    records: dict[int, list[Row[*tuple[Any, ...]]]] = defaultdict(list)
    for record in session.execute(RECORDS, {"group": group}):
        records[record.team_id].append(record)
    return [
        view(
            TableRow,
            first,
            is_out=first.out_of_competition,
            history=tuple(
                RoundRecord(*record[6:]) for record in (first, *others) if record.points is not None
            ),
        )
        for first, *others in records.values()
    ]


def placed(rows: Sequence[TableRow]) -> tuple[TableRow, ...]:
    """Return sorted rows with their ranks, and how these changed in the last round."""
    last = max((record.number for row in rows for record in row.history), default=0)
    positions = positions_after(rows, last)
    before = positions_after(rows, last - 1) if last > 1 else {}
    with_places = [
        replace(
            row,
            place=positions[row.team_id],
            change=before[row.team_id] - positions[row.team_id]
            if before and any(record.number < last for record in row.history)
            else None,
        )
        if row.competes
        else row
        for row in rows
    ]
    with_places.sort(key=lambda row: (positions[row.team_id], row.is_out, natural_order(row.name)))
    return tuple(with_places)


def positions_after(rows: Iterable[TableRow], number: int) -> dict[int, int]:
    """Return the positions of teams after a round, including teams out of competition."""
    totals = {
        row.team_id: sum(record.points for record in row.history if record.number <= number)
        for row in rows
    }
    return positions(totals, [row.team_id for row in rows if row.competes])


def in_order(rows: Sequence[TableRow], order: Sequence[Ranked[int]]) -> tuple[TableRow, ...]:
    """Return the rows of a finished group in final order, without equal ranks."""
    if not any(row.history for row in rows):
        return tuple(rows)
    places = {ranked.entry: (place, ranked) for place, ranked in enumerate(order, 1)}
    final = [
        replace(row, place=places[row.team_id][0], ranked=places[row.team_id][1])
        if row.team_id in places
        else row
        for row in rows
    ]
    return tuple(sorted(final, key=lambda row: row.place or len(final)))


def with_prizes(rows: Sequence[TableRow], kind: GroupKind) -> tuple[TableRow, ...]:
    """Return the rows of a finished group with prizes according to their ranks."""
    if kind == "internal" or not any(row.history for row in rows):
        return tuple(rows)
    prize, number = ("super prize", 1) if kind == "final" else ("prize", PRIZES)
    return tuple(
        replace(row, prize=prize) if row.place is not None and row.place <= number else row
        for row in rows
    )


# One match


PLACE_OF_MATCH: Final = (
    select(
        Match.id,
        Match.round_id,
        Round.number,
        Group.slug.label("group"),
        Competition.slug,
    )
    .join(Round, Round.id == Match.round_id)
    .join(Group, Group.id == Round.group_id)
    .join(Competition, Competition.id == Group.competition_id)
    .where(Match.match_id == bindparam("name"))
)
"""The statement for the tournament, group and round of a match."""


def of_match(session: Session, match_id: str) -> GroupStandings | None:
    """Return the standings of a single match, without records, or None if it is in no round.

    Four statements.
    """
    place = session.execute(PLACE_OF_MATCH, {"name": match_id}).one_or_none()
    tournament = place and views.find(session, place.slug, place.group, place.number)
    group = tournament and place and tournament.group(place.group)
    if place is None or not tournament or not group:
        return None
    wanted = {"round": place.round_id, "match": place.id}
    seats = session.execute(SEATS_OF_MATCH, wanted).all()
    games = games_by_match(session, GAMES_OF_MATCH, wanted)[place.id]
    unread: dict[str, Any] = {"status": "playing", "reason": "", "history": ()}
    rows = tuple(view(TableRow, seat, is_out=seat.out_of_competition, **unread) for seat in seats)
    return GroupStandings(tournament, group, rows, (round_match(seats, games),))
