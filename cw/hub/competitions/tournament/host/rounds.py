"""What a host does to rounds: calling matches off, playing them again, beginning the final.

Each verb holds the competition, as `progress` says, and is audited.
"""

from __future__ import annotations

from typing import Any, Final, cast

from sqlalchemy import and_, func, select, update
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw.games.registry import games_with_hidden_information
from cw.hub.accounts import audit
from cw.hub.clock import Clock
from cw.hub.competitions import verbs as competitions
from cw.hub.competitions.tournament.groups import groups_of, mark_round_changed, named_group
from cw.hub.competitions.tournament.rounds.opening import new_match_ids
from cw.hub.competitions.tournament.rounds.progress import advance
from cw.hub.competitions.tournament.settings import FORMAT
from cw.hub.competitions.verbs import OPERATOR
from cw.hub.matches import planning
from cw.hub.matches.interruptions import OPEN
from cw.hub.matches.results import LONGEST_REASON as LONGEST_STORED
from cw.hub.store.tables import (
    Bot,
    Competition,
    Entry,
    Event,
    Group,
    Match,
    MatchParticipant,
    Round,
    Team,
)

LONGEST_REASON: Final = 40
"""Characters of the reason why a match is called off."""

NO_REASON: Final = "Please give a reason"
PLAYED_AGAIN: Final = "it is played again"


def void(  # noqa: PLR0913
    session: Session,
    clock: Clock,
    competition: int,
    match_id: str,
    reason: str,
    *,
    actor: str = OPERATOR,
) -> bool:
    """Call off a match of an open round, played or not; return False if it was called off before.

    It counts for nothing. Raises UsageError once its round is closed.
    """
    reason = read_reason(reason)
    match, row = hold_match(session, competition, match_id)
    if not call_off(session, clock, Match.id == match.id, reason):
        return False
    detail, subject = {"reason": reason}, f"match:{match_id}"
    audit.note(session, clock, actor, "void", subject, detail=detail, competition_id=row.id)
    mark_round_changed(session, cast(int, match.round_id))
    advance(session, clock, row.id)
    return True


def void_round(  # noqa: PLR0913
    session: Session,
    clock: Clock,
    competition: int,
    round_id: int,
    reason: str,
    *,
    actor: str = OPERATOR,
) -> int:
    """Call off all matches of an open round; return how many. UsageError once it is closed."""
    reason = read_reason(reason)
    row = hold_round(session, competition, round_id)
    number = call_off(session, clock, Match.round_id == round_id, reason)
    detail, subject = {"reason": reason}, f"round:{round_id}"
    audit.note(session, clock, actor, "void round", subject, detail=detail, competition_id=row.id)
    mark_round_changed(session, round_id)
    advance(session, clock, row.id)
    return number


def play_again(
    session: Session, clock: Clock, competition: int, match_id: str, *, actor: str = OPERATOR
) -> str:
    """Plan a match of an open round anew; return the name of the new one, which alone counts.

    Raises UsageError once the round is closed, and for a match of a disqualified team.
    """
    match, row = hold_match(session, competition, match_id)
    check_teams(session, match)
    pair = and_(Match.round_id == match.round_id, Match.sequence == match.sequence)
    call_off(session, clock, and_(pair, Match.state.in_(OPEN)), PLAYED_AGAIN)
    times = session.scalar(select(func.count()).where(pair)) or 0
    (name,) = new_match_ids(session, 1)
    again = Match(
        match_id=name,
        competition_id=row.id,
        kind=FORMAT,
        key=f"{match.round_id}/{match.sequence}/{times + 1}",
        game=match.game,
        players=match.players,
        options=match.options,
        seed=seed_again(match),
        round_id=match.round_id,
        sequence=match.sequence,
        at=clock(),
    )
    session.add(again)
    session.flush()
    seats = select(MatchParticipant).where(MatchParticipant.match_id == match.id)
    for seat in session.scalars(seats.order_by(MatchParticipant.slot)).all():
        copied = {"slot": seat.slot, "bot_id": seat.bot_id, "name": seat.name, "spec": seat.spec}
        session.add(MatchParticipant(match_id=again.id, **copied))
    detail, subject = {"as": name}, f"match:{match_id}"
    audit.note(session, clock, actor, "play again", subject, detail=detail, competition_id=row.id)
    mark_round_changed(session, cast(int, match.round_id))
    return name


def seed_again(match: Match) -> int:
    """Return the seed with which a match is played again.

    It is the same, so that the board is the same; another one where players would know from the
    first time what is hidden from them.
    """
    if match.game in games_with_hidden_information():
        return planning.draw_seed(match.game)
    return match.seed


def carry_over(session: Session, clock: Clock, competition: int, *, actor: str = OPERATOR) -> bool:
    """Let the final begin as soon as the open rounds are closed: its event is due now.

    Returns False if it was due already. Raises UsageError if there is no group for it.
    """
    row = competitions.lock(session, competition)
    groups = select(Group.id).where(Group.competition_id == row.id, Group.kind == "final")
    if session.scalar(groups) is None:
        raise UsageError("there is no final sandbox: add one first")
    finals = select(Event).where(Event.competition_id == row.id, Event.kind == "final")
    event, now = session.scalars(finals.order_by(Event.at, Event.id)).first(), clock()
    if event is not None and event.at <= now:
        return False
    if event is None:
        texts = {"title": "Final", "text": "", "data": {}, "announced": True}
        event = Event(competition_id=row.id, group_id=None, kind="final", **texts)
        session.add(event)
    event.at = now
    session.flush()
    subject = f"competition:{FORMAT}/{row.slug}"
    audit.note(session, clock, actor, "carry over", subject, competition_id=row.id)
    row.revision += 1
    advance(session, clock, row.id)
    return True


def open_round(session: Session, competition: int, group_name: str) -> int:
    """Return the id of the open round of a group; raise UsageError if there is none."""
    group = named_group(groups_of(session, competition), group_name)
    query = select(Round.id).where(Round.group_id == group.id, Round.closed_at.is_(None))
    round_id = session.scalar(query)
    if round_id is None:
        raise UsageError(f"no round of {group.name} is open")
    return round_id


def read_reason(reason: str) -> str:
    """Return the reason why a match is called off, as its page has room for it."""
    if not reason.strip():
        raise UsageError(NO_REASON)
    return reason.strip()[:LONGEST_REASON]


def hold_match(session: Session, competition: int, match_id: str) -> tuple[Match, Competition]:
    """Return a match of an open round of a tournament, which is held; raise UsageError if none."""
    of_round = (Match.competition_id == competition, Match.round_id.is_not(None))
    match = session.scalars(select(Match).where(*of_round, Match.match_id == match_id)).first()
    if match is None:
        raise UsageError("this tournament has no such match")
    return match, hold_round(session, competition, cast(int, match.round_id))


def hold_round(session: Session, competition: int, round_id: int) -> Competition:
    """Return the tournament of an open round, held; raise UsageError if the round is closed."""
    row = competitions.lock(session, competition)
    rounds = select(Round.closed_at).join(Group, Group.id == Round.group_id)
    query = rounds.where(Group.competition_id == competition, Round.id == round_id)
    times = session.execute(query).first()
    if times is None:
        raise UsageError("this tournament has no such round")
    if times.closed_at is not None:
        raise UsageError("this round is over: its points have been awarded")
    return row


def check_teams(session: Session, match: Match) -> None:
    """Raise UsageError for a match of a disqualified team: it would count for nothing."""
    team = session.scalars(
        select(Team.name)
        .join(Entry, Entry.team_id == Team.id)
        .join(Round, Round.group_id == Entry.group_id)
        .join(Bot, Bot.team_id == Team.id)
        .join(MatchParticipant, MatchParticipant.bot_id == Bot.id)
        .where(MatchParticipant.match_id == match.id, Round.id == match.round_id)
        .where(Entry.status == "disqualified")
    ).first()
    if team is not None:
        raise UsageError(f"{team} is disqualified: reinstate it first")


def call_off(session: Session, clock: Clock, which: Any, reason: str) -> int:
    """Call matches off, in any state but `void`; return how many.

    A worker that plays one of them stops at its next report.
    """
    off = {
        "state": "void",
        "finished_at": clock(),
        "reason": reason[:LONGEST_STORED],
        "worker": None,
        "lease_until": None,
    }
    change = update(Match).where(which, Match.state != "void").values(off).returning(Match.id)
    return len(session.execute(change).all())
