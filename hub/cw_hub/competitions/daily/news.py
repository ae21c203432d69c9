"""Recent daily games, for the site's feed."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from cw_hub.competitions.daily.match_page import title
from cw_hub.competitions.daily.standings import is_shown
from cw_hub.competitions.news import MOST_NEWS, NewsItem
from cw_hub.pages.parts import address_of
from cw_hub.store.tables import Competition, Match, MatchParticipant


def news(session: Session) -> Iterator[NewsItem]:
    """Yield the latest games with their winners."""
    games = (
        select(Match.id, Match.match_id, Match.at, Match.players, Competition.title.label("name"))
        .join(Competition, Competition.id == Match.competition_id)
        .where(is_shown())
        .order_by(Match.at.desc(), Match.id.desc())
        .limit(MOST_NEWS)
    )
    for game in session.execute(games):
        yield NewsItem(
            id=f"match/{game.match_id}",
            at=game.at,
            title=f"{game.name}: {title(game.at)}",
            text=f"{winners_of(session, game.id)} among {game.players} players.",
            address=address_of("match.page", match_id=game.match_id),
        )


def winners_of(session: Session, match: int) -> str:
    """Name the winners of a game, by the id of its row."""
    first = (MatchParticipant.match_id == match, MatchParticipant.rank == 1)
    names = session.scalars(select(MatchParticipant.name).where(*first).limit(2)).all()
    if len(names) == 1:
        return f"{names[0]} won"
    number = session.scalar(select(func.count()).where(*first))
    return f"{number} share the first place"
