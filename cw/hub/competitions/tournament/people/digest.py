"""Tournaments in digest mails: team results, and past events."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from cw.hub.accounts.news.digests import Period
from cw.hub.competitions.digest import counted, tally
from cw.hub.store.tables import Competition, Event, Group, Round, RoundScore, Team, TeamMember


def digest(session: Session, address: str, user_id: int, period: Period) -> Iterator[str]:
    """Yield a paragraph for each group in which a user's team has played, and for each event."""
    yield from rounds(session, address, user_id, period)
    yield from events(session, address, user_id, period)


def rounds(session: Session, address: str, user_id: int, period: Period) -> Iterator[str]:
    """Yield the results of a user's teams in the rounds that were closed."""
    last = func.max(RoundScore.round_id)
    sums = (func.sum(column) for column in (RoundScore.won, RoundScore.drawn, RoundScore.lost))
    rows = session.execute(
        select(Competition.title, Competition.slug, Team.id, Team.name, Group.slug, func.count())
        .add_columns(last, *sums)
        .select_from(RoundScore)
        .join(Round, Round.id == RoundScore.round_id)
        .join(Group, Group.id == Round.group_id)
        .join(Team, Team.id == RoundScore.team_id)
        .join(TeamMember, TeamMember.team_id == Team.id)
        .join(Competition, Competition.id == Team.competition_id)
        .where(TeamMember.user_id == user_id)
        .where(Round.closed_at > period.since, Round.closed_at <= period.until)
        .group_by(Competition.id, Team.id, Group.id)
        .group_by(Competition.title, Competition.slug, Team.name, Group.slug)
        .order_by(Competition.id, Group.id)
    )
    for title, slug, team, name, group, number, latest, *results in rows:
        place = session.get_one(RoundScore, (latest, team)).position
        played = f"{counted(number, 'round')}, {tally(*results)}" if any(results) else "no match"
        yield f"{title}, {name}: {played}. Place {place}: {address}/t/{slug}/{group}/"


def events(session: Session, address: str, user_id: int, period: Period) -> Iterator[str]:
    """Yield the past events of a user's tournaments."""
    rows = session.execute(
        select(Event.title, Event.text, Competition.title.label("tournament"), Competition.slug)
        .join(Competition, Competition.id == Event.competition_id)
        .join(TeamMember, TeamMember.competition_id == Competition.id)
        .where(TeamMember.user_id == user_id)
        .where(Event.applied_at > period.since, Event.applied_at <= period.until)
        .order_by(Event.applied_at, Event.id)
    )
    for event in rows:
        text = f" {event.text}" if event.text else ""
        sentence = f"{event.tournament}: {event.title}.{text}"
        yield f"{sentence}\n{address}/t/{event.slug}/events"
