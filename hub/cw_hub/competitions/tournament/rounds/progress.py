"""The progress of tournaments: apply events, close rounds, and open the next ones.

Whoever changes a tournament locks its competition row until the end of the transaction. Locks are
taken in one order (competition, matches, groups) so that concurrent transactions cannot deadlock.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import and_, select, update
from sqlalchemy.orm import Session

from cw.errors import ArenaError
from cw.league.ladder.phases import Phase
from cw.league.ladder.points import GameResult, match_points
from cw_hub.clock import Clock
from cw_hub.competitions import verbs as competitions
from cw_hub.competitions.tournament.groups import mark_changed, mark_round_changed
from cw_hub.competitions.tournament.host.undo import forget_removed
from cw_hub.competitions.tournament.people.members import admit_waiting
from cw_hub.competitions.tournament.rounds.closing import close_complete
from cw_hub.competitions.tournament.rounds.finalists import seat_finalists
from cw_hub.competitions.tournament.rounds.opening import NUMBERED, open_if_due
from cw_hub.competitions.tournament.rounds.results import scoring_of
from cw_hub.competitions.tournament.rounds.state import TournamentState, read_state
from cw_hub.competitions.tournament.settings import FORMAT, stored_settings
from cw_hub.competitions.verbs import SINCE
from cw_hub.matches.claims import Claim
from cw_hub.matches.results import BattleResult
from cw_hub.store.tables import Bot, Competition, Event, Group, Match, MatchParticipant, Round

logger = logging.getLogger(__name__)


# Advancing


def plan(session: Session, clock: Clock) -> int:
    """Advance all tournaments; return the number of changes. See `advance`."""
    ids = select(Competition.id).where(Competition.format == FORMAT, Competition.state != "over")
    changes = 0
    forget_removed(session, clock)
    for competition in session.scalars(ids.order_by(Competition.id)).all():
        try:
            with session.begin_nested():
                changes += admit_waiting(session, clock, competition)
                changes += advance(session, clock, competition)
        except ArenaError:
            # For example, settings of a later version. Only this tournament is rolled back.
            logger.exception("competition %s cannot be advanced", competition)
    return changes


def advance(session: Session, clock: Clock, competition_id: int) -> int:
    """Do everything that is due in a tournament; return the number of changes.

    Concurrent callers wait, and then find nothing to do.
    """
    row = competitions.lock(session, competition_id)
    if row.format != FORMAT or row.state == "over":
        return 0
    tournament = read_state(session, clock, row)
    session.flush()
    # Write each row once, rather than before every query.
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
    """Recall the messages of queued matches of a group, or of all groups; workers skip them."""
    rounds = [
        row.id
        for group in tournament.groups
        if group_id in (None, group.id) and (row := tournament.open_round(group))
    ]
    waiting = and_(Match.round_id.in_(rounds), Match.state == "queued")
    session.execute(update(Match).where(waiting).values(sent_at=None))


def phase_of(session: Session, clock: Clock, group_id: int) -> Phase:
    """Return the phase of a group by its events; a due final counts even while it waits."""
    row = session.scalars(
        select(Competition)
        .join(Group, Group.competition_id == Competition.id)
        .where(Group.id == group_id)
    ).one()
    tournament = read_state(session, clock, row)
    return next(tournament.phase(group) for group in tournament.groups if group.id == group_id)


# Match hooks


def claimed(session: Session, claim: Claim) -> Claim:
    """Return a claim with its tournament's settings, and in End of Codes with the hub's ids."""
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
    """Return a claim that numbers its players and game by the ids of teams and match."""
    seats = session.execute(
        select(Bot.team_id, MatchParticipant.slot)
        .select_from(MatchParticipant)
        .outerjoin(Bot, Bot.id == MatchParticipant.bot_id)
        .where(MatchParticipant.match_id == claim.id)
        .order_by(MatchParticipant.slot)
    )
    # A built-in strategy without a row has no team; it gets a number below 1, unlike any team.
    players = tuple(-seat if team is None else team for team, seat in seats)
    return replace(claim, players=players, options={**claim.options, "gameid": claim.id})


def hold(session: Session, claim: Claim) -> None:
    """Lock the tournament of a match until the end of the transaction."""
    if claim.competition_id is not None:
        competitions.lock(session, claim.competition_id)


def finished(session: Session, clock: Clock, claim: Claim, battles: Sequence[BattleResult]) -> None:
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
    advance(session, clock, competition.id)
