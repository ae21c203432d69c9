"""The ladder of a group and the matches of a round, in few statements however many teams."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

from sqlalchemy import Row, and_, bindparam, select
from sqlalchemy.orm import Session

from cw.hub.services import tournament_views
from cw.hub.services.ladder_rounds import final_order
from cw.hub.services.tournament_views import GroupView, TournamentView
from cw.hub.store.tables import (
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
from cw.league import ladder
from cw.league.ladder import Outcome, Phase, Ways

PRIZES: Final = 3
"""Teams of a public group that win a prize."""


@dataclass(frozen=True, slots=True)
class EntryView:
    """A team in a group, with what it has made of the rounds that are closed."""

    team_id: int
    slug: str
    name: str
    status: EntryStatus
    reason: str
    is_out: bool
    """Whether it plays out of competition."""
    history: tuple[Score, ...]
    """By round."""
    place: int | None = None
    """None out of competition, and for a team that plays no more."""
    change: int | None = None
    """Places won since the round before the last; None if there was none."""
    prize: str = ""

    @property
    def competes(self) -> bool:
        """Whether it has a place."""
        return self.status == "playing" and not self.is_out

    @property
    def points(self) -> float:
        """All points, of closed rounds."""
        return sum(score.points for score in self.history)

    def points_of(self, number: int) -> float:
        """Return the points of a closed round; 0 if it took no part."""
        return sum(score.points for score in self.history if score.number == number)

    @property
    def won(self) -> int:
        """Matches won, in closed rounds."""
        return sum(score.won for score in self.history)

    @property
    def drawn(self) -> int:
        """Matches drawn, in closed rounds."""
        return sum(score.drawn for score in self.history)

    @property
    def lost(self) -> int:
        """Matches lost, in closed rounds."""
        return sum(score.lost for score in self.history)


class Score(NamedTuple):
    """What a team has made of a round that is closed."""

    number: int
    points: float
    total: float
    position: int
    won: int
    drawn: int
    lost: int
    battles_diff: int
    score_diff: float


@dataclass(frozen=True, slots=True)
class BattleView:
    """One game of a match; ranks and scores are by slot."""

    number: int
    reason: str
    ranks: Sequence[int | None]
    scores: Sequence[float | None]
    first_slot: int = 0
    """Who began."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """A match of a round."""

    id: int
    match_id: str
    key: str
    sequence: int
    state: MatchState
    reason: str | None
    teams: tuple[int, ...]
    """By slot."""
    faults: tuple[Mapping[int, int], ...]
    """How many each has made, by slot and by battle; empty where nobody asks for that."""
    battles: tuple[BattleView, ...]

    @property
    def pair(self) -> str:
        """What it is in the plan of its round: a match that is played again is the same there."""
        return "/".join(self.key.split("/")[:2])

    @property
    def games(self) -> list[ladder.Battle]:
        """How its battles ended."""
        return [ladder.Battle(one.ranks, one.scores) for one in self.battles]

    @property
    def counts(self) -> bool:
        """Whether it gives points."""
        return self.state == "done"


@dataclass(frozen=True)
class Standings:
    """The ladder of a group, and one of its rounds."""

    tournament: TournamentView
    group: GroupView
    entries: tuple[EntryView, ...]
    """Those with a place first, in its order."""
    meetings: tuple[Meeting, ...]
    """The matches of the round, in the order in which they are played."""

    @cached_property
    def by_id(self) -> dict[int, EntryView]:
        """The entries by team."""
        return {one.team_id: one for one in self.entries}

    @cached_property
    def by_slug(self) -> dict[str, EntryView]:
        """The entries by the slug of their team."""
        return {one.slug: one for one in self.entries}

    @cached_property
    def ways(self) -> Ways:
        """How results of the round become points."""
        settings, its = self.tournament.settings, self.group.round
        factor = its.board.factor if its else 1
        return Ways(settings.points, factor, settings.tiebreak)

    @cached_property
    def ordered(self) -> list[EntryView]:
        """The teams that play in the round, in the order of the ladder."""
        playing = {team for meeting in self.meetings for team in meeting.teams}
        return [one for one in self.entries if one.team_id in playing]

    def by_rank(self, meeting: Meeting) -> list[tuple[int | None, int, float | None, int]]:
        """Return rank, team, score and points of all who played a match, the best first."""
        last = meeting.battles[-1] if meeting.battles else None
        nothing: Sequence[None] = (None,) * len(meeting.teams)
        ranks, scores = (last.ranks, last.scores) if last else (nothing, nothing)
        rows = zip(ranks, meeting.teams, scores, self.points(meeting), strict=False)
        return sorted(rows, key=lambda row: (row[0] is None, row[0] or 0))

    @property
    def played(self) -> int:
        """Matches of the round that are over."""
        return sum(one.state in ("done", "void", "failed") for one in self.meetings)

    def position(self, team: int) -> int:
        """Return the position of a team at the start of the round."""
        its = self.group.round
        return its.positions.get(team, 1) if its else 1

    def name(self, team: int) -> str:
        """Return what a team is called."""
        return self.by_id[team].name if team in self.by_id else "?"

    def points(self, meeting: Meeting) -> tuple[int, ...]:
        """Return the points that a match gives, by slot."""
        if not meeting.counts:
            return (0,) * len(meeting.teams)
        positions = [self.position(team) for team in meeting.teams]
        return tuple(ladder.points(meeting.games, positions, self.ways))

    def outcome(self, meeting: Meeting, slot: int) -> Outcome | None:
        """Return how a match of two ended for one of them; None before its end, and if void."""
        if not meeting.counts or len(meeting.teams) != 2:
            return None
        return self.result(meeting, slot).outcome

    def result(self, meeting: Meeting, slot: int = 0) -> ladder.Result:
        """Return the result of a match of two for one of them."""
        return ladder.result(meeting.games, slot, 1 - slot, self.ways.tiebreak)

    def of_team(self, team: int) -> list[tuple[Meeting, int]]:
        """Return the matches of a team in the round, each with its slot."""
        return [(one, one.teams.index(team)) for one in self.meetings if team in one.teams]

    def share(self, team: int) -> float:
        """Return the points of a team in the round, which it is given when the round ends."""
        its = self.group.round
        if its is not None and its.closed_at is not None and team in self.by_id:
            return self.by_id[team].points_of(its.number)
        return sum(self.points(meeting)[slot] for meeting, slot in self.of_team(team))


# Ladders

_COMPETITIONS, _GROUPS, _ROUNDS = Competition.__table__, Group.__table__, Round.__table__
_MATCHES, _BATTLES, _SEATS = Match.__table__, Battle.__table__, MatchParticipant.__table__
_TEAMS, _ENTRIES, _SCORES = Team.__table__, Entry.__table__, RoundScore.__table__
_BOTS = Bot.__table__

SCORED: Final = (
    select(
        _ENTRIES.c.team_id,
        _TEAMS.c.slug,
        _TEAMS.c.name,
        _ENTRIES.c.status,
        _ENTRIES.c.reason,
        _TEAMS.c.out_of_competition,
        _ROUNDS.c.number,
        _SCORES.c.points,
        _SCORES.c.total,
        _SCORES.c.position,
        _SCORES.c.won,
        _SCORES.c.drawn,
        _SCORES.c.lost,
        _SCORES.c.battles_diff,
        _SCORES.c.score_diff,
    )
    .join(_TEAMS, _TEAMS.c.id == _ENTRIES.c.team_id)
    .outerjoin(_ROUNDS, _ROUNDS.c.group_id == _ENTRIES.c.group_id)
    .outerjoin(
        _SCORES,
        and_(_SCORES.c.round_id == _ROUNDS.c.id, _SCORES.c.team_id == _ENTRIES.c.team_id),
    )
    .where(_ENTRIES.c.group_id == bindparam("group"))
    .order_by(_ENTRIES.c.team_id, _ROUNDS.c.number)
)
"""The teams of a group, each with what it has made of each round."""

SEATED: Final = (
    select(
        _MATCHES.c.id,
        _MATCHES.c.match_id,
        _MATCHES.c.key,
        _MATCHES.c.sequence,
        _MATCHES.c.state,
        _MATCHES.c.reason,
        _BOTS.c.team_id,
    )
    .join(_SEATS, _SEATS.c.match_id == _MATCHES.c.id)
    .join(_BOTS, _BOTS.c.id == _SEATS.c.bot_id)
    .where(_MATCHES.c.round_id == bindparam("round"))
    .order_by(_MATCHES.c.sequence, _MATCHES.c.id, _SEATS.c.slot)
)
"""The matches of a round, each with who plays it."""

FOUGHT: Final = (
    select(
        _BATTLES.c.match_id,
        _BATTLES.c.number,
        _BATTLES.c.reason,
        _BATTLES.c.ranks,
        _BATTLES.c.scores,
        _BATTLES.c.first_slot,
    )
    .join(_MATCHES, _MATCHES.c.id == _BATTLES.c.match_id)
    .where(_MATCHES.c.round_id == bindparam("round"))
    .order_by(_BATTLES.c.match_id, _BATTLES.c.number)
)
"""The battles of the matches of a round."""

_OF_TEAM: Final = _MATCHES.c.id.in_(
    select(_SEATS.c.match_id)
    .join(_BOTS, _BOTS.c.id == _SEATS.c.bot_id)
    .where(_BOTS.c.team_id == bindparam("team"))
)

SEATED_WITH: Final = SEATED.add_columns(_SEATS.c.faults).where(_OF_TEAM)
FOUGHT_WITH: Final = FOUGHT.where(_OF_TEAM)
"""The same of the matches of one team, with the faults, of which some games have many."""


def of_group(
    session: Session,
    tournament: TournamentView,
    group: GroupView,
    phase: Phase,
    team: str | None = None,
) -> Standings:
    """Return the ladder of a group with the matches of its round, or those of one team.

    Three statements at most, and some more for the prizes of a group that is over.
    """
    its = group.round
    entries = placed(entries_of(session, group.id))
    if phase == "over":
        order = final_order(session, tournament.settings, tournament.seed, group.id)
        entries = with_prizes(entries, group.kind, order)
    of = next((one.team_id for one in entries if one.slug == team), None)
    is_wanted = team is None or of is not None
    meetings = meetings_of(session, its.id, of) if its and is_wanted else ()
    return Standings(tournament, group, entries, meetings)


def entries_of(session: Session, group: int) -> list[EntryView]:
    """Return the teams of a group with what they have made of its rounds. One statement."""
    rows: dict[int, list[Row[*tuple[Any, ...]]]] = defaultdict(list)
    for row in session.execute(SCORED, {"group": group}):
        rows[row.team_id].append(row)
    return [
        EntryView(
            team,
            some[0].slug,
            some[0].name,
            some[0].status,
            some[0].reason,
            some[0].out_of_competition,
            tuple(Score(*row[6:]) for row in some if row.points is not None),
        )
        for team, some in rows.items()
    ]


def placed(entries: Iterable[EntryView]) -> tuple[EntryView, ...]:
    """Return entries with their places and what these were before the last round, in order."""
    found = list(entries)
    last = max((score.number for one in found for score in one.history), default=0)
    places = places_at(found, last)
    before = places_at(found, last - 1) if last > 1 else {}
    told = []
    for one in found:
        place = places.get(one.team_id)
        was = before.get(one.team_id) if any(score.number < last for score in one.history) else None
        change = was - place if one.competes and place is not None and was is not None else None
        told.append(replace(one, place=place if one.competes else None, change=change))
    told.sort(key=lambda one: (places.get(one.team_id, 0), one.is_out, one.name.casefold()))
    return tuple(told)


def places_at(entries: Iterable[EntryView], last: int) -> dict[int, int]:
    """Return the places of teams after a round: also those of teams out of competition."""
    totals = {
        one.team_id: sum(score.points for score in one.history if score.number <= last)
        for one in entries
    }
    competing = [one.team_id for one in entries if one.competes]
    return ladder.positions(totals, competing)


def with_prizes(
    entries: Sequence[EntryView], kind: GroupKind, order: Sequence[int]
) -> tuple[EntryView, ...]:
    """Return the entries of a group that is over with what they win, by the order of its teams."""
    if kind == "internal" or not any(one.history for one in entries):
        return tuple(entries)
    word, number = ("super prize", 1) if kind == "final" else ("prize", PRIZES)
    winners = order[:number]
    return tuple(replace(one, prize=word) if one.team_id in winners else one for one in entries)


def meetings_of(session: Session, round_id: int, team: int | None = None) -> tuple[Meeting, ...]:
    """Return the matches of a round in their order, of one played again the last alone.

    With a team: its own, with their faults. Two statements.
    """
    asked = {"round": round_id} | ({} if team is None else {"team": team})
    battles: dict[int, list[BattleView]] = defaultdict(list)
    for fought in session.execute(FOUGHT if team is None else FOUGHT_WITH, asked):
        battles[fought.match_id].append(BattleView(*fought[1:]))
    seats: dict[int, list[Any]] = defaultdict(list)
    for seated in session.execute(SEATED if team is None else SEATED_WITH, asked):
        seats[seated.id].append(seated)
    newest: dict[str, Meeting] = {}
    for some in seats.values():
        meeting = meeting_of(some, battles[some[0].id])
        known = newest.get(meeting.pair)
        if known is None or known.id < meeting.id:
            newest[meeting.pair] = meeting
    return tuple(sorted(newest.values(), key=lambda one: (one.sequence, one.id)))


def meeting_of(seats: Sequence[Any], battles: Sequence[BattleView]) -> Meeting:
    """Return a match by the rows of its seats."""
    row = seats[0]
    return Meeting(
        row.id,
        row.match_id,
        row.key,
        row.sequence or 0,
        row.state,
        row.reason,
        tuple(one.team_id for one in seats),
        tuple(faults_by_battle(getattr(one, "faults", ())) for one in seats),
        tuple(battles),
    )


def faults_by_battle(faults: Iterable[Mapping[str, Any]]) -> Mapping[int, int]:
    """Return how many faults there were in each battle."""
    return Counter(fault.get("battle", 1) for fault in faults)


# One match


PLACED: Final = (
    select(
        _MATCHES.c.id,
        _MATCHES.c.round_id,
        _ROUNDS.c.number,
        _GROUPS.c.slug.label("group"),
        _COMPETITIONS.c.slug,
    )
    .join(_ROUNDS, _ROUNDS.c.id == _MATCHES.c.round_id)
    .join(_GROUPS, _GROUPS.c.id == _ROUNDS.c.group_id)
    .join(_COMPETITIONS, _COMPETITIONS.c.id == _GROUPS.c.competition_id)
    .where(_MATCHES.c.match_id == bindparam("name"))
)
"""Where a match of a ladder belongs."""

OF_MATCH: Final = _MATCHES.c.id == bindparam("match")
SEATED_AT: Final = (
    SEATED.add_columns(
        _SEATS.c.faults,
        _TEAMS.c.slug,
        _TEAMS.c.name,
        _TEAMS.c.out_of_competition,
    )
    .join(_TEAMS, _TEAMS.c.id == _BOTS.c.team_id)
    .where(OF_MATCH)
)
FOUGHT_AT: Final = FOUGHT.where(OF_MATCH)


def of_match(session: Session, match_id: str) -> Standings | None:
    """Return a match of a ladder alone, with its round; None for any other match.

    Four statements.
    """
    row = session.execute(PLACED, {"name": match_id}).one_or_none()
    tournament = row and tournament_views.find(session, row.slug, row.group, row.number)
    group = tournament and row and tournament.group(row.group)
    if row is None or not tournament or not group:
        return None
    asked = {"round": row.round_id, "match": row.id}
    seats = session.execute(SEATED_AT, asked).all()
    battles = [BattleView(*fought[1:]) for fought in session.execute(FOUGHT_AT, asked)]
    entries = tuple(
        EntryView(seat.team_id, seat.slug, seat.name, "playing", "", seat.out_of_competition, ())
        for seat in seats
    )
    return Standings(tournament, group, entries, (meeting_of(seats, battles),))
