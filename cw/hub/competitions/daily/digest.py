"""Daily games in the digest: the user's place in each."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.hub.accounts.news.digests import Period
from cw.hub.competitions.daily.match_page import title
from cw.hub.competitions.daily.standings import is_shown
from cw.hub.store.tables import Bot, Competition, Match, MatchParticipant


def digest(session: Session, address: str, user_id: int, period: Period) -> Iterator[str]:
    """Yield a line for each game that the user's bot played."""
    rows = session.execute(
        select(Match.match_id, Match.at, Match.players, MatchParticipant.rank)
        .add_columns(Competition.title.label("name"))
        .join(Competition, Competition.id == Match.competition_id)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .join(Bot, Bot.id == MatchParticipant.bot_id)
        .where(is_shown(), Bot.user_id == user_id, MatchParticipant.rank.is_not(None))
        .where(Match.finished_at > period.since, Match.finished_at <= period.until)
        .order_by(Match.at)
    )
    for game in rows:
        place = f"place {game.rank} of {game.players}"
        yield f"{game.name}, {title(game.at)}: {place}\n{address}/match/{game.match_id}"
