"""Comparisons as shown on pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from cw.lab.evidence import Evidence, standing, verdict
from cw_hub.matches.comparisons.kind import GAMES, NAME, key_of
from cw_hub.matches.comparisons.progress import HYPOTHESES, MOST_PAIRS, names, scores_so_far
from cw_hub.matches.kinds import Kinds
from cw_hub.matches.lookup import views_of
from cw_hub.matches.views import MatchView
from cw_hub.store.tables import Bot, Comparison, ComparisonState, Match, User

LISTED: Final = 10
"""Comparisons listed on a bot's page."""

SHOWN_MATCHES: Final = 40
"""Latest matches shown on a comparison's page."""


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """A comparison for its page."""

    id: int
    bot: str
    """The name of the bot."""
    game: str
    owner: str
    new: str
    old: str
    state: ComparisonState
    evidence: Evidence
    reason: str
    planned: int
    wins: int
    losses: int
    created_at: datetime
    ended_at: datetime | None

    @property
    def draws(self) -> int:
        """Drawn matches."""
        return self.evidence.matches - self.wins - self.losses

    @property
    def most(self) -> int:
        """The maximum number of its matches."""
        return MOST_PAIRS * GAMES

    @property
    def sentence(self) -> str:
        """The status text: progress or result."""
        if self.state == "running":
            return standing(self.evidence) if self.evidence.matches else "No match is over yet"
        words = verdict(self.evidence)
        if self.reason:
            evidence = f": {words}" if self.evidence.matches else " before a match was over"
            return f"Stopped, as {self.reason}{evidence}"
        # A decision begins with the name of a bot.
        return words if self.evidence.decision else words[0].upper() + words[1:]

    @property
    def tag(self) -> str:
        """A tag that changes whenever the page does."""
        return f"{self.id}-{self.state}-{self.evidence.scores.pairs}-{self.planned}"


def of_bot(session: Session, bot: int) -> list[ComparisonView]:
    """Return a bot's last comparisons, the latest first."""
    wanted = rows().where(Comparison.bot_id == bot).order_by(Comparison.id.desc())
    return [view_of(*row) for row in session.execute(wanted.limit(LISTED))]


def find(session: Session, bot: int, number: int) -> ComparisonView | None:
    """Return a comparison of a bot by its id, or None."""
    wanted = rows().where(Comparison.bot_id == bot, Comparison.id == number)
    row = session.execute(wanted).one_or_none()
    return None if row is None else view_of(*row)


def queue(session: Session, most: int) -> list[ComparisonView]:
    """Return the running comparisons, the oldest first."""
    wanted = rows().where(Comparison.state == "running").order_by(Comparison.id).limit(most)
    return [view_of(*row) for row in session.execute(wanted)]


def rows() -> Select[Comparison, Bot, str | None]:
    """Return the query for comparisons with their bots and the bots' owners."""
    query = select(Comparison, Bot, User.username).join(Bot, Bot.id == Comparison.bot_id)
    return query.join(User, User.id == Comparison.user_id)


def view_of(comparison: Comparison, bot: Bot, owner: str | None) -> ComparisonView:
    """Return a comparison as shown on pages."""
    new, old = names(comparison, bot)
    evidence = Evidence(
        new,
        old,
        HYPOTHESES,
        scores_so_far(comparison),
        comparison.decision,
        comparison.pairs * GAMES,
    )
    return ComparisonView(
        comparison.id,
        bot.name,
        bot.game,
        owner or "",
        new,
        old,
        comparison.state,
        evidence,
        comparison.reason,
        comparison.planned,
        comparison.wins,
        comparison.losses,
        comparison.created_at,
        comparison.ended_at,
    )


def matches_of(session: Session, kinds: Kinds, comparison: ComparisonView) -> Sequence[MatchView]:
    """Return the last matches of a comparison, the latest first."""
    first = max(0, comparison.planned - SHOWN_MATCHES)
    keys = [key_of(comparison.id, pair) for pair in range(first, comparison.planned)]
    wanted = select(Match).where(Match.kind == NAME, Match.key.in_(keys))
    return views_of(session, kinds, session.scalars(wanted.order_by(Match.id.desc())).all())
