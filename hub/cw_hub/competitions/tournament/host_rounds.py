"""Host actions on rounds: calling off matches, playing them again, starting the final.

Each function locks the competition, as `progress` describes, and adds an audit entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from sqlalchemy import and_, func, select, update

from cw.errors import UsageError
from cw.games.registry import games_with_hidden_information
from cw_hub.accounts import audit
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.service import lock
from cw_hub.competitions.tournament.groups import (
    check_room,
    groups_of,
    mark_all_changed,
    mark_round_changed,
    named_group,
)
from cw_hub.competitions.tournament.host_teams import note
from cw_hub.competitions.tournament.progress import advance
from cw_hub.competitions.tournament.rounds import new_match_ids
from cw_hub.competitions.tournament.settings import FORMAT
from cw_hub.matches import planning
from cw_hub.matches.results import LONGEST_REASON as LONGEST_STORED
from cw_hub.matches.results import OPEN
from cw_hub.store.database import Session
from cw_hub.store.models import (
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
"""Maximum length of the reason for calling off a match, in characters."""

NO_REASON: Final = "Please give a reason"
PLAYED_AGAIN: Final = "it is played again"


def void(
    session: Session,
    competition: int,
    match_id: str,
    reason: str,
) -> bool:
    """Call off a match of an open round, played or not; return False if it was void already.

    A void match does not count. Raises UsageError once its round is closed.
    """
    reason = read_reason(reason)
    match, row = hold_match(session, competition, match_id)
    if not call_off(session, Match.id == match.id, reason):
        return False
    detail, subject = {"reason": reason}, f"match:{match_id}"
    audit.note(session, "void", subject, detail=detail, competition_id=row.id)
    mark_round_changed(session, cast(int, match.round_id))
    advance(session, row.id)
    return True


def void_round(
    session: Session,
    competition: int,
    round_id: int,
    reason: str,
) -> int:
    """Call off all matches of an open round; return their number. UsageError if it is closed."""
    reason = read_reason(reason)
    row = hold_round(session, competition, round_id)
    number = call_off(session, Match.round_id == round_id, reason)
    detail, subject = {"reason": reason}, f"round:{round_id}"
    audit.note(session, "void round", subject, detail=detail, competition_id=row.id)
    mark_round_changed(session, round_id)
    advance(session, row.id)
    return number


def play_again(session: Session, competition: int, match_id: str) -> str:
    """Schedule a match of an open round again; return the name of the new one.

    Only the new match counts. Raises UsageError once the round is closed, and for a match of a
    disqualified team.
    """
    match, row = hold_match(session, competition, match_id)
    check_teams(session, match)
    pair = and_(Match.round_id == match.round_id, Match.sequence == match.sequence)
    call_off(session, and_(pair, Match.state.in_(OPEN)), PLAYED_AGAIN)
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
        at=session.now(),
    )
    session.add(again)
    session.flush()
    seats = select(MatchParticipant).where(MatchParticipant.match_id == match.id)
    for seat in session.scalars(seats.order_by(MatchParticipant.slot)).all():
        copied = {"slot": seat.slot, "bot_id": seat.bot_id, "name": seat.name, "spec": seat.spec}
        session.add(MatchParticipant(match_id=again.id, **copied))
    detail, subject = {"as": name}, f"match:{match_id}"
    audit.note(session, "play again", subject, detail=detail, competition_id=row.id)
    mark_round_changed(session, cast(int, match.round_id))
    return name


def seed_again(match: Match) -> int:
    """Return the seed of a match that is played again.

    It is the original seed, which gives the same board, except in games with hidden information,
    which the first match has already revealed.
    """
    if match.game in games_with_hidden_information():
        return planning.draw_seed(match.game)
    return match.seed


def carry_over(session: Session, competition: int) -> bool:
    """Make the final due now; it starts as soon as the open rounds are closed.

    Returns False if it was due already. Raises UsageError if there is no final group.
    """
    row = competitions_service.lock(session, competition)
    groups = select(Group.id).where(Group.competition_id == row.id, Group.kind == "final")
    if session.scalar(groups) is None:
        raise UsageError("there is no final sandbox: add one first")
    finals = select(Event).where(Event.competition_id == row.id, Event.kind == "final")
    event, now = session.scalars(finals.order_by(Event.at, Event.id)).first(), session.now()
    if event is not None and event.at <= now:
        return False
    if event is None:
        texts = {"title": "Final", "text": "", "data": {}, "announced": True}
        event = Event(competition_id=row.id, group_id=None, kind="final", **texts)
        session.add(event)
    event.at = now
    session.flush()
    subject = f"competition:{FORMAT}/{row.slug}"
    audit.note(session, "carry over", subject, competition_id=row.id)
    row.revision += 1
    advance(session, row.id)
    return True


def open_round(session: Session, competition: int, group_name: str) -> int:
    """Return the id of a group's open round; raise UsageError if there is none."""
    group = named_group(groups_of(session, competition), group_name)
    query = select(Round.id).where(Round.group_id == group.id, Round.closed_at.is_(None))
    round_id = session.scalar(query)
    if round_id is None:
        raise UsageError(f"no round of {group.name} is open")
    return round_id


def read_reason(reason: str) -> str:
    """Return the reason, truncated to fit the match page; raise UsageError if it is blank."""
    if not reason.strip():
        raise UsageError(NO_REASON)
    return reason.strip()[:LONGEST_REASON]


def hold_match(session: Session, competition: int, match_id: str) -> tuple[Match, Competition]:
    """Lock a match's tournament; return both. Raises UsageError unless its round is open."""
    of_round = (Match.competition_id == competition, Match.round_id.is_not(None))
    match = session.scalars(select(Match).where(*of_round, Match.match_id == match_id)).first()
    if match is None:
        raise UsageError("this tournament has no such match")
    return match, hold_round(session, competition, cast(int, match.round_id))


def hold_round(session: Session, competition: int, round_id: int) -> Competition:
    """Lock and return the tournament of an open round; raise UsageError if the round is closed."""
    row = competitions_service.lock(session, competition)
    rounds = select(Round.closed_at).join(Group, Group.id == Round.group_id)
    query = rounds.where(Group.competition_id == competition, Round.id == round_id)
    times = session.execute(query).first()
    if times is None:
        raise UsageError("this tournament has no such round")
    if times.closed_at is not None:
        raise UsageError("this round is over: its points have been awarded")
    return row


def check_teams(session: Session, match: Match) -> None:
    """Raise UsageError for a match of a disqualified team, as it would not count."""
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


def call_off(session: Session, which: Any, reason: str) -> int:
    """Call off matches in any state but `void`; return their number.

    A worker that is playing one of them stops at its next report.
    """
    off = {
        "state": "void",
        "finished_at": session.now(),
        "reason": reason[:LONGEST_STORED],
        "worker": None,
        "lease_until": None,
    }
    change = update(Match).where(which, Match.state != "void").values(off).returning(Match.id)
    return len(session.execute(change).all())


DISQUALIFIED: Final = "disqualified"
LONGEST_DISQUALIFICATION: Final = 200


def disqualify(
    session: Session,
    competition: int,
    team_id: int,
    reason: str,
) -> bool:
    """Disqualify a team; return False if it is not playing.

    All its matches in open rounds become void, including played ones: otherwise the order of play
    would favour some opponents.
    """
    row = lock(session, competition)
    out = {"status": DISQUALIFIED, "reason": reason[:LONGEST_DISQUALIFICATION]}
    if not set_status(session, row, team_id, "playing", out):
        return False
    seats = (
        select(MatchParticipant.match_id)
        .join(Bot, Bot.id == MatchParticipant.bot_id)
        .where(Bot.team_id == team_id)
    )
    rounds = (
        select(Round.id)
        .join(Group, Group.id == Round.group_id)
        .where(Group.competition_id == row.id, Round.closed_at.is_(None))
    )
    call_off(session, and_(Match.round_id.in_(rounds), Match.id.in_(seats)), DISQUALIFIED)
    mark_all_changed(session, row)
    team = session.get_one(Team, team_id)
    note(session, row, team, "disqualify", reason=reason)
    advance(session, row.id)
    return True


def reinstate(session: Session, competition: int, team_id: int) -> bool:
    """Reinstate a team from the next round on; return False if it is not disqualified."""
    row = lock(session, competition)
    if not set_status(session, row, team_id, DISQUALIFIED, {"status": "playing", "reason": ""}):
        return False
    check_room(session, row)
    mark_all_changed(session, row)
    note(session, row, session.get_one(Team, team_id), "reinstate")
    advance(session, row.id)
    return True


def set_status(
    session: Session, row: Competition, team_id: int, expected: str, values: Mapping[str, str]
) -> bool:
    """Change the entries of a team that have the expected status; return False if none has.

    Callers mark the groups as changed last, because match rows are locked before group rows.
    """
    groups = select(Group.id).where(Group.competition_id == row.id)
    which = and_(Entry.team_id == team_id, Entry.group_id.in_(groups), Entry.status == expected)
    change = update(Entry).where(which).values(**values).returning(Entry.group_id)
    return bool(session.scalars(change).all())
