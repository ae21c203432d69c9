"""The admin list of competitions, with hosts and recent match counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import Row, case, func, or_, select

from cw_hub.matches.results import OPEN
from cw_hub.site.admin.overview import Page, page_of
from cw_hub.store.database import Session
from cw_hub.store.models import (
    Bot,
    Competition,
    CompetitionHost,
    CompetitionState,
    Match,
    Rating,
    User,
)

DAY: Final = timedelta(days=1)

ORDER: Final = {"running": 0, "paused": 1, "planned": 2, "draft": 3, "over": 4}
"""Sort order of competitions by state."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A competition with its recent activity."""

    title: str
    slug: str
    format: str
    game: str
    state: CompetitionState
    hosts: Sequence[str]
    """The usernames of its hosts, without admins and token holders."""
    bots: int
    """Active bots rated in it."""
    matches: int
    """Matches played within a day."""
    seats: int
    """Seats in these matches."""
    open: int
    """Matches waiting or being played."""
    failed: int

    @property
    def matches_a_bot(self) -> float | None:
        """Matches per rated bot within a day, or None without rated bots."""
        return self.seats / self.bots if self.bots else None


def find_competitions(session: Session, text: str, number: int) -> Page[Listed]:
    """Return a page of the competitions whose title, slug, format, game or state contains a text.

    Running ones come first, then the latest. Five statements, however many competitions.
    """
    names = (Competition.title, Competition.slug, Competition.format, Competition.game)
    query = select(Competition).order_by(
        case(ORDER, value=Competition.state, else_=len(ORDER)), Competition.id.desc()
    )
    if text:
        key = text.lower()
        columns = (*names, Competition.state)
        query = query.where(
            or_(*(func.lower(column).contains(key, autoescape=True) for column in columns))
        )
    page: Page[Competition] = page_of(session, query, number, lambda row: row[0])
    figures = Figures.of(session, [row.id for row in page.rows])
    return Page([figures.listed(row) for row in page.rows], page.number, page.has_more)


@dataclass(frozen=True, slots=True)
class Figures:
    """Activity counts of some competitions, by their ids."""

    hosts: dict[int, list[str]]
    bots: dict[int, int]
    lately: dict[int, Row[*tuple[Any, ...]]]
    troubled: dict[int, Row[*tuple[Any, ...]]]

    @classmethod
    def of(cls, session: Session, ids: Sequence[int]) -> Figures:
        """Return the counts of competitions, in four statements."""
        hosts: dict[int, list[str]] = defaultdict(list)
        names = (
            select(CompetitionHost.competition_id, User.username)
            .join(User, User.id == CompetitionHost.user_id)
            .where(CompetitionHost.competition_id.in_(ids))
            .order_by(CompetitionHost.added_at)
        )
        for competition, name in session.execute(names):
            hosts[competition].append(name or "deleted")
        bots = (
            select(Rating.competition_id, func.count())
            .join(Bot, Bot.id == Rating.bot_id)
            .where(Rating.competition_id.in_(ids), Bot.status == "ACTIVE")
            .group_by(Rating.competition_id)
        )
        its = select(Match.competition_id).where(Match.competition_id.in_(ids))
        its = its.group_by(Match.competition_id)
        lately = its.add_columns(func.count(), func.sum(Match.players)).where(
            Match.finished_at > session.now() - DAY, Match.state == "done"
        )
        is_open = Match.state.in_(OPEN)
        troubled = its.add_columns(
            func.count().filter(is_open), func.count().filter(Match.state == "failed")
        ).where(Match.state.in_((*OPEN, "failed")))
        return cls(
            hosts,
            dict(session.execute(bots).all()),
            {row[0]: row for row in session.execute(lately)},
            {row[0]: row for row in session.execute(troubled)},
        )

    def listed(self, row: Competition) -> Listed:
        """Return a competition with its counts."""
        _, matches, seats = self.lately.get(row.id, (row.id, 0, 0))
        _, is_open, failed = self.troubled.get(row.id, (row.id, 0, 0))
        return Listed(
            row.title,
            row.slug,
            row.format,
            row.game,
            row.state,
            self.hosts.get(row.id, ()),
            self.bots.get(row.id, 0),
            matches,
            int(seats),
            is_open,
            failed,
        )
