"""Advances tournaments: applies events, closes rounds, and opens the next ones.

All code that changes a tournament locks its competition row until the end of the transaction. Locks
are taken in one order (competition, matches, groups) so that concurrent transactions cannot
deadlock.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Final, cast

from sqlalchemy import and_, or_, select, update

from cw.errors import ArenaError
from cw.league.ladder import GameResult, match_points
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.service import SINCE
from cw_hub.competitions.tournament.people import admit_waiting
from cw_hub.competitions.tournament.rounds import (
    NUMBERED,
    TournamentState,
    close_complete,
    open_if_due,
    read_state,
    scoring_of,
    seat_finalists,
)
from cw_hub.competitions.tournament.settings import FORMAT, TournamentSettings, stored_settings
from cw_hub.competitions.tournament.teams import forget_removed, mark_changed, mark_round_changed
from cw_hub.matches import planning
from cw_hub.matches.planning import LOST_AFTER, Message
from cw_hub.matches.results import OPEN, BattleResult, Claim
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, Competition, Event, Match, MatchParticipant, Round

logger = logging.getLogger(__name__)


# Advancing


def plan(session: Session) -> int:
    """Advance all tournaments; return the number of changes. See `advance`."""
    ids = select(Competition.id).where(Competition.format == FORMAT, Competition.state != "over")
    changes = 0
    forget_removed(session)
    for competition in session.scalars(ids.order_by(Competition.id)).all():
        try:
            with session.begin_nested():
                changes += admit_waiting(session, competition)
                changes += advance(session, competition)
        except ArenaError:
            # For example, settings of a later version. Only this tournament is rolled back.
            logger.exception("competition %s cannot be advanced", competition)
    return changes


def advance(session: Session, competition_id: int) -> int:
    """Do everything that is due in a tournament; return the number of changes.

    Concurrent callers wait, and then find nothing to do.
    """
    row = competitions_service.lock(session, competition_id)
    if row.format != FORMAT or row.state == "over":
        return 0
    tournament = read_state(session, row)
    session.flush()
    # Flush each row once, rather than before every query.
    with session.no_autoflush:
        return advance_state(session, tournament)


def advance_state(session: Session, tournament: TournamentState) -> int:
    """Apply events, close rounds and open the next ones; return the number of changes."""
    changes = apply_due(session, tournament)
    while closed := close_complete(session, tournament):
        # Closing may release a waiting final, which opens rounds that may in turn be complete.
        changes += closed + apply_due(session, tournament)
    changes += sum(open_if_due(session, tournament, group) for group in tournament.groups)
    state = tournament.competition_state()
    if state != tournament.row.state:
        tournament.row.state = state
        mark_changed(tournament.row)
        changes += 1
    return changes


def apply_due(session: Session, tournament: TournamentState) -> int:
    """Apply the due events in order; return their number."""
    number = 0
    while (event := tournament.next_event()) is not None:
        apply(session, tournament, event)
        number += 1
    return number


def apply(session: Session, tournament: TournamentState, event: Event) -> None:
    """Apply an event."""
    event.applied_at = tournament.now
    row = tournament.row
    if event.kind == "start" and SINCE not in row.settings:
        row.settings = {**row.settings, SINCE: tournament.now.isoformat()}
    if event.kind == "pause":
        # Running matches are played to the end; only queued ones are held back.
        hold_matches(session, tournament, event.group_id)
    if event.kind == "final":
        seat_finalists(session, tournament)
    mark_changed(row, *tournament.groups)


def hold_matches(session: Session, tournament: TournamentState, group_id: int | None) -> None:
    """Mark the queued matches of a group, or of all groups, as not sent; workers skip them."""
    rounds = [
        row.id
        for group in tournament.groups
        if group_id in (None, group.id) and (row := tournament.open_round(group))
    ]
    waiting = and_(Match.round_id.in_(rounds), Match.state == "queued")
    session.execute(update(Match).where(waiting).values(sent_at=None))


# Match hooks


def claimed(session: Session, claim: Claim) -> Claim:
    """Return a claim with its tournament's settings and, in End of Codes, with the hub's ids."""
    row = session.execute(
        select(Competition.settings, Competition.slug, Match.round_id)
        .join(Match, Match.competition_id == Competition.id)
        .where(Match.id == claim.id, Competition.format == FORMAT)
    ).one_or_none()
    if row is None:
        return claim
    if row.round_id is not None:
        mark_round_changed(session, row.round_id)
    settings = stored_settings(claim.game, row.settings)
    claim = replace(claim, battles=settings.battles, hosting=settings.hosting, tournament=row.slug)
    return numbered(session, claim) if claim.game == NUMBERED else claim


def numbered(session: Session, claim: Claim) -> Claim:
    """Return a claim whose player and game numbers are the ids of its teams and match."""
    seats = session.execute(
        select(Bot.team_id, MatchParticipant.slot)
        .select_from(MatchParticipant)
        .outerjoin(Bot, Bot.id == MatchParticipant.bot_id)
        .where(MatchParticipant.match_id == claim.id)
        .order_by(MatchParticipant.slot)
    )
    # A built-in strategy without a row has no team; it gets a number below 1, which no team has.
    players = tuple(-seat if team is None else team for team, seat in seats)
    return replace(claim, players=players, options={**claim.options, "gameid": claim.id})


def hold(session: Session, claim: Claim) -> None:
    """Lock the tournament of a match until the end of the transaction."""
    if claim.competition_id is not None:
        competitions_service.lock(session, claim.competition_id)


def finished(session: Session, claim: Claim, battles: Sequence[BattleResult]) -> None:
    """Store the points of a match, which count once its round closes; advance its tournament."""
    match = session.scalars(select(Match).where(Match.id == claim.id)).one()
    if match.competition_id is None or match.round_id is None:
        return
    row = session.scalars(select(Round).where(Round.id == match.round_id)).one()
    query = select(Competition).where(Competition.id == match.competition_id)
    competition = session.scalars(query).one()
    settings = stored_settings(competition.game, competition.settings)
    games = [
        GameResult([seat.rank for seat in battle.slots], [seat.score for seat in battle.slots])
        for battle in battles
    ]
    seats = session.execute(
        select(MatchParticipant, Bot.team_id)
        .join(Bot, Bot.id == MatchParticipant.bot_id)
        .where(MatchParticipant.match_id == claim.id)
        .order_by(MatchParticipant.slot)
    ).all()
    positions = [row.positions[str(team)] for _, team in seats]
    points = match_points(games, positions, scoring_of(row, settings))
    for (seat, _), seat_points in zip(seats, points, strict=True):
        seat.points = seat_points
    mark_round_changed(session, row.id)
    advance(session, competition.id)


AHEAD: Final = 8
"""Number of matches read for each one that may be sent, as others may wait for a busy bot."""


def to_send(session: Session, lost_after: timedelta = LOST_AFTER) -> list[Message]:
    """Return the due messages of tournaments, and mark their matches as sent.

    Callers send them after the commit. Concurrent callers wait, and then count the matches already
    sent.
    """
    is_due = planning.is_due(session.now(), lost_after)
    waiting = (
        select(Match.competition_id)
        .join(Competition, Competition.id == Match.competition_id)
        .where(is_due, Competition.format == FORMAT)
        .distinct()
        .order_by(Match.competition_id)
    )
    return [
        message
        for competition in session.scalars(waiting).all()
        for message in to_send_of(session, cast(int, competition), lost_after)
    ]


def to_send_of(session: Session, competition_id: int, lost_after: timedelta) -> list[Message]:
    """Return the due messages of a tournament; see `to_send`."""
    row = competitions_service.lock(session, competition_id)
    tournament = read_state(session, row)
    load = Load(tournament.settings, planning.is_due(session.now(), lost_after))
    load.read_under_way(session, row.id)
    queues = {
        group.id: load.waiting(session, open_round.id)
        for group in tournament.groups
        if (open_round := tournament.open_round(group)) and tournament.phase(group) != "paused"
    }
    to_go: list[WaitingMatch] = []
    while (match := load.next_of(queues)) is not None:
        to_go.append(match)
    to_go += load.practice(session, row.id)
    if to_go:
        still_queued = and_(Match.id.in_([match.id for match in to_go]), Match.state == "queued")
        session.execute(update(Match).where(still_queued).values(sent_at=session.now()))
    return [match.message for match in to_go]


@dataclass(frozen=True, slots=True)
class WaitingMatch:
    """A match that may be sent."""

    id: int
    group_id: int | None
    """None for a practice match."""
    bots: tuple[int, ...]
    request_id: str | None = None

    @property
    def message(self) -> Message:
        """The message that sends it."""
        return Message(self.id, "practice" if self.group_id is None else FORMAT, self.request_id)


@dataclass(slots=True)
class Load:
    """Counts a tournament's matches under way, and applies the limits of its settings."""

    settings: TournamentSettings
    is_due: Any
    """The SQL condition for matches that may be sent."""
    total: int = 0
    practising: int = 0
    by_group: Counter[int] = field(default_factory=Counter)
    by_bot: Counter[int] = field(default_factory=Counter)

    def read_under_way(self, session: Session, competition: int) -> None:
        """Count the matches under way: claimed by a worker, or sent and not lost."""
        under_way = or_(Match.state == "in_progress", and_(Match.state == "queued", ~self.is_due))
        where = (Match.competition_id == competition, Match.state.in_(OPEN), under_way)
        for match in self.read(session, and_(*where)):
            self.add(match)

    def read(self, session: Session, where: Any, most: int | None = None) -> list[WaitingMatch]:
        """Return matches in sending order."""
        first = (
            select(Match.id, Match.sequence, Round.group_id, Match.request_id)
            .outerjoin(Round, Round.id == Match.round_id)
            .where(where)
            .order_by(Match.sequence, Match.id)
            .limit(most)
            .subquery()
        )
        rows = session.execute(
            select(first.c.id, first.c.group_id, first.c.request_id, MatchParticipant.bot_id)
            .outerjoin(MatchParticipant, MatchParticipant.match_id == first.c.id)
            .order_by(first.c.sequence, first.c.id, MatchParticipant.slot)
        )
        bots: dict[tuple[int, int | None, str | None], list[int]] = {}
        for *match, bot in rows:
            seats = bots.setdefault(tuple(match), [])
            if bot is not None:
                seats.append(bot)
        return [
            WaitingMatch(match, group, tuple(seats), request)
            for (match, group, request), seats in bots.items()
        ]

    def waiting(self, session: Session, round_id: int) -> list[WaitingMatch]:
        """Return the first matches of a round that may be sent."""
        room = self.settings.parallel - self.total
        if room <= 0:
            return []
        return self.read(session, and_(Match.round_id == round_id, self.is_due), AHEAD * (room + 8))

    def next_of(self, queues: Mapping[int, list[WaitingMatch]]) -> WaitingMatch | None:
        """Take the next match from the queues, preferring the group with the fewest under way."""
        if self.total >= self.settings.parallel:
            return None
        for group in sorted(queues, key=lambda group: (self.by_group[group], group)):
            for index, match in enumerate(queues[group]):
                if self.fits(match):
                    del queues[group][index]
                    self.add(match)
                    return match
        return None

    def practice(self, session: Session, competition: int) -> list[WaitingMatch]:
        """Return the practice matches to send; if there is no room, one at a time.

        They are considered last, so without this exception continuous rounds would starve them.
        """
        to_go = []
        where = (Match.competition_id == competition, Match.kind == "practice", self.is_due)
        for match in self.read(session, and_(*where), self.settings.parallel * AHEAD):
            has_room = self.total < self.settings.parallel or not self.practising
            if has_room and self.fits(match):
                self.add(match)
                to_go.append(match)
        return to_go

    def fits(self, match: WaitingMatch) -> bool:
        """Return whether each bot of a match may have another match under way."""
        return all(self.by_bot[bot] < self.settings.per_bot for bot in match.bots)

    def add(self, match: WaitingMatch) -> None:
        """Count a match as under way."""
        self.total += 1
        self.by_bot.update(match.bots)
        if match.group_id is None:
            self.practising += 1
        else:
            self.by_group[match.group_id] += 1
