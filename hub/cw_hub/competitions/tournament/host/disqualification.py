"""Disqualification and reinstatement of a team.

Each function locks the competition, as `progress` describes, and is audited.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlalchemy import and_, select, update
from sqlalchemy.orm import Session

from cw_hub.clock import Clock
from cw_hub.competitions.tournament.groups import check_room, mark_all_changed
from cw_hub.competitions.tournament.host.rounds import call_off
from cw_hub.competitions.tournament.host.teams import note
from cw_hub.competitions.tournament.rounds.progress import advance
from cw_hub.competitions.verbs import OPERATOR, lock
from cw_hub.store.tables import Bot, Competition, Entry, Group, Match, MatchParticipant, Round, Team

DISQUALIFIED: Final = "disqualified"
LONGEST_REASON: Final = 200


def disqualify(  # noqa: PLR0913
    session: Session,
    clock: Clock,
    competition: int,
    team_id: int,
    reason: str,
    *,
    actor: str = OPERATOR,
) -> bool:
    """Disqualify a team; return False if it is not playing.

    All its matches of open rounds become void, including played ones: otherwise the order of play
    would favour some opponents.
    """
    row = lock(session, competition)
    out = {"status": DISQUALIFIED, "reason": reason[:LONGEST_REASON]}
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
    call_off(session, clock, and_(Match.round_id.in_(rounds), Match.id.in_(seats)), DISQUALIFIED)
    mark_all_changed(session, row)
    team = session.get_one(Team, team_id)
    note(session, clock, row, team, "disqualify", actor, reason=reason)
    advance(session, clock, row.id)
    return True


def reinstate(
    session: Session, clock: Clock, competition: int, team_id: int, *, actor: str = OPERATOR
) -> bool:
    """Reinstate a team from the next round on; return False if it is not disqualified."""
    row = lock(session, competition)
    if not set_status(session, row, team_id, DISQUALIFIED, {"status": "playing", "reason": ""}):
        return False
    check_room(session, row)
    mark_all_changed(session, row)
    note(session, clock, row, session.get_one(Team, team_id), "reinstate", actor)
    advance(session, clock, row.id)
    return True


def set_status(
    session: Session, row: Competition, team_id: int, expected: str, values: Mapping[str, str]
) -> bool:
    """Change the entries of a team that have the expected status; return False if none has.

    Callers mark the groups as changed at the end, because rows of matches are locked before them.
    """
    groups = select(Group.id).where(Group.competition_id == row.id)
    which = and_(Entry.team_id == team_id, Entry.group_id.in_(groups), Entry.status == expected)
    change = update(Entry).where(which).values(**values).returning(Entry.group_id)
    return bool(session.scalars(change).all())
