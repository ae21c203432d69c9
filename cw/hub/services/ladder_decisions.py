"""What the host of a tournament decides about its matches, rounds and teams; it is noted.

The order in which rows are taken is that of ladder.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from sqlalchemy import and_, func, select, update
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw.hub.clock import Clock
from cw.hub.services import audit, competitions, ladder, matches
from cw.hub.services.competitions import OPERATOR
from cw.hub.services.ladder_rounds import new_match_ids
from cw.hub.services.matches import OPEN
from cw.hub.services.tournament_settings import FORMAT
from cw.hub.services.tournaments import check_room
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

DISQUALIFIED: Final = "disqualified"
LONGEST_REASON: Final = 200
"""Of a disqualification."""

PLAYED_AGAIN: Final = "it is played again"


def void(session: Session, clock: Clock, match_id: str, reason: str, actor: str = OPERATOR) -> bool:
    """Call a match of an open round off, played or not: it counts for nothing.

    Twice: False. Late, when its round is closed: UsageError.
    """
    match, row = held_match(session, match_id)
    off = and_(Match.id == match.id, Match.state != "void")
    if not call_off(session, clock, off, reason):
        return False
    audit.note(
        session,
        clock,
        actor,
        "void",
        f"match:{match_id}",
        detail={"reason": reason},
        competition_id=row.id,
    )
    ladder.touch_group_of(session, cast(int, match.round_id))
    ladder.advance(session, clock, row.id)
    return True


def void_round(
    session: Session, clock: Clock, round_id: int, reason: str, actor: str = OPERATOR
) -> int:
    """Call all matches of an open round off; return how many. Twice: UsageError, it is closed."""
    row = held_round(session, round_id)
    number = call_off(
        session, clock, and_(Match.round_id == round_id, Match.state != "void"), reason
    )
    audit.note(
        session,
        clock,
        actor,
        "void round",
        f"round:{round_id}",
        detail={"reason": reason},
        competition_id=row.id,
    )
    ladder.touch_group_of(session, round_id)
    ladder.advance(session, clock, row.id)
    return number


def play_again(session: Session, clock: Clock, match_id: str, actor: str = OPERATOR) -> str:
    """Plan a match of an open round anew; return the name of the new one, which alone counts.

    Twice: of a match that was planned anew already the newest is planned anew. Late: UsageError.
    """
    match, row = held_match(session, match_id)
    check_teams(session, match)
    same = and_(Match.round_id == match.round_id, Match.sequence == match.sequence)
    call_off(session, clock, and_(same, Match.state.in_(OPEN)), PLAYED_AGAIN)
    times = session.scalar(select(func.count()).where(same)) or 0
    (name,) = new_match_ids(session, 1)
    again = Match(
        match_id=name,
        competition_id=row.id,
        kind="ladder",
        key=f"{match.round_id}/{match.sequence}/{times + 1}",
        game=match.game,
        players=match.players,
        options=match.options,
        seed=match.seed,
        round_id=match.round_id,
        sequence=match.sequence,
        at=clock(),
    )
    session.add(again)
    session.flush()
    seats = select(MatchParticipant).where(MatchParticipant.match_id == match.id)
    for seat in session.scalars(seats.order_by(MatchParticipant.slot)).all():
        session.add(
            MatchParticipant(
                match_id=again.id,
                slot=seat.slot,
                bot_id=seat.bot_id,
                name=seat.name,
                spec=seat.spec,
            )
        )
    audit.note(
        session,
        clock,
        actor,
        "play again",
        f"match:{match_id}",
        detail={"as": name},
        competition_id=row.id,
    )
    ladder.touch_group_of(session, cast(int, match.round_id))
    return name


def check_teams(session: Session, match: Match) -> None:
    """Raise UsageError for a match of a team that is disqualified: it would count for nothing."""
    out = session.scalars(
        select(Team.name)
        .join(Entry, Entry.team_id == Team.id)
        .join(Round, Round.group_id == Entry.group_id)
        .join(Bot, Bot.team_id == Team.id)
        .join(MatchParticipant, MatchParticipant.bot_id == Bot.id)
        .where(MatchParticipant.match_id == match.id, Round.id == match.round_id)
        .where(Entry.status == DISQUALIFIED)
    ).first()
    if out is not None:
        raise UsageError(f"{out} is disqualified: reinstate it first")


def disqualify(  # noqa: PLR0913 - as many things as there are to be said
    session: Session,
    clock: Clock,
    competition_id: int,
    team_id: int,
    reason: str,
    *,
    actor: str = OPERATOR,
) -> bool:
    """Take a team out of a tournament: its matches of open rounds count for nothing, played or not.

    So nobody gains or loses by their order. Twice: False.
    """
    row = competitions.held(session, competition_id)
    out = {"status": DISQUALIFIED, "reason": reason[:LONGEST_REASON]}
    if not set_status(session, row, team_id, "playing", out):
        return False
    theirs = (
        select(MatchParticipant.match_id)
        .join(Bot, Bot.id == MatchParticipant.bot_id)
        .where(Bot.team_id == team_id)
    )
    opened = (
        select(Round.id)
        .join(Group, Group.id == Round.group_id)
        .where(Group.competition_id == row.id, Round.closed_at.is_(None))
    )
    off = and_(Match.round_id.in_(opened), Match.id.in_(theirs), Match.state != "void")
    call_off(session, clock, off, DISQUALIFIED)
    touch_groups(session, row)
    audit.note(
        session,
        clock,
        actor,
        "disqualify",
        named(session, row, team_id),
        detail={"reason": reason},
        competition_id=row.id,
    )
    ladder.advance(session, clock, row.id)
    return True


def reinstate(
    session: Session, clock: Clock, competition_id: int, team_id: int, actor: str = OPERATOR
) -> bool:
    """Let a team that was disqualified play from the next round on. Twice: False."""
    row = competitions.held(session, competition_id)
    if not set_status(session, row, team_id, DISQUALIFIED, {"status": "playing", "reason": ""}):
        return False
    check_room(session, row)
    touch_groups(session, row)
    what = named(session, row, team_id)
    audit.note(session, clock, actor, "reinstate", what, competition_id=row.id)
    ladder.advance(session, clock, row.id)
    return True


def carry_over(session: Session, clock: Clock, competition_id: int, actor: str = OPERATOR) -> bool:
    """Let the final begin as soon as the open rounds are closed: its event is due now.

    Twice: False. Raises UsageError where there is no group for it.
    """
    row = competitions.held(session, competition_id)
    groups = select(Group.id).where(Group.competition_id == row.id, Group.kind == "final")
    if session.scalar(groups) is None:
        raise UsageError("there is no final sandbox: add one first")
    finals = select(Event).where(Event.competition_id == row.id, Event.kind == "final")
    event, now = session.scalars(finals.order_by(Event.at, Event.id)).first(), clock()
    if event is not None and event.at <= now:
        return False
    if event is None:
        said = {"title": "Final", "text": "", "data": {}, "announced": True}
        event = Event(competition_id=row.id, group_id=None, kind="final", **said)
        session.add(event)
    event.at = now
    session.flush()
    audit.note(
        session,
        clock,
        actor,
        "carry over",
        f"competition:{FORMAT}/{row.slug}",
        competition_id=row.id,
    )
    row.revision += 1
    ladder.advance(session, clock, row.id)
    return True


def held_match(session: Session, match_id: str) -> tuple[Match, Competition]:
    """Return a match of an open round, and its tournament, held; raise UsageError for another."""
    match = session.scalars(select(Match).where(Match.match_id == match_id)).one_or_none()
    if match is None or match.round_id is None:
        raise UsageError(f"there is no match {match_id} in a round")
    return match, held_round(session, match.round_id)


def held_round(session: Session, round_id: int) -> Competition:
    """Return the tournament of an open round, held; raise UsageError if it is closed."""
    of_round = (
        select(Group.competition_id)
        .join(Round, Round.group_id == Group.id)
        .where(Round.id == round_id)
    )
    competition = session.scalars(of_round).one_or_none()
    if competition is None:
        raise UsageError(f"there is no round {round_id}")
    row = competitions.held(session, competition)
    if session.scalar(select(Round.closed_at).where(Round.id == round_id)) is not None:
        raise UsageError("this round is over: its points were given")
    return row


def call_off(session: Session, clock: Clock, which: Any, reason: str) -> int:
    """Call matches off, whatever they are; return how many. Who plays one stops at once."""
    off = {
        "state": "void",
        "finished_at": clock(),
        "reason": reason[: matches.LONGEST_REASON],
        "worker": None,
        "lease_until": None,
    }
    return len(session.execute(update(Match).where(which).values(off).returning(Match.id)).all())


def set_status(
    session: Session, row: Competition, team_id: int, expected: str, values: Mapping[str, str]
) -> bool:
    """Change the entries of a team; False if none has the status that is expected.

    Whoever calls this calls `touch_groups` in the end: rows of matches come before those of groups.
    """
    groups = select(Group.id).where(Group.competition_id == row.id)
    which = and_(Entry.team_id == team_id, Entry.group_id.in_(groups), Entry.status == expected)
    changed = update(Entry).where(which).values(**values)
    return bool(session.scalars(changed.returning(Entry.group_id)).all())


def named(session: Session, row: Competition, team_id: int) -> str:
    """Return how the audit names a team."""
    slug = session.scalars(select(Team.slug).where(Team.id == team_id)).one()
    return f"team:{row.slug}/{slug}"[:60]


def touch_groups(session: Session, row: Competition) -> None:
    """Note that all pages of a tournament show something else now."""
    theirs = update(Group).where(Group.competition_id == row.id)
    session.execute(theirs.values(revision=Group.revision + 1))
    row.revision += 1
