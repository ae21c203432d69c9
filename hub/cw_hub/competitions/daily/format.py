"""Definition of the daily format: all bots play in one game at a set time of day."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Final

from markupsafe import Markup
from sqlalchemy import func, select

from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.daily import api, bots, history, match_page, own_bot_pages
from cw_hub.competitions.daily import pages as daily_pages
from cw_hub.competitions.daily import service as daily_service
from cw_hub.competitions.daily import standings as rankings
from cw_hub.competitions.daily.bots import PROBE
from cw_hub.competitions.daily.history import graph_of
from cw_hub.competitions.daily.service import GAME, upcoming
from cw_hub.competitions.daily.standings import is_shown
from cw_hub.competitions.format import MOST_NEWS, Format, Leader, NewsItem, Settings
from cw_hub.competitions.forms import OPTIONS_HINT, SettingField
from cw_hub.competitions.service import CompetitionFacts
from cw_hub.pages.layout import address_of, part_of_page
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, Competition, Match, MatchParticipant, User

PLACES: Final = 3
"""Number of leaders shown."""

FIELDS: Final = (
    SettingField(name="time", label="Time of day", hint="When the match is due. Default: 18:00."),
    SettingField(name="zone", label="Time zone", hint="For example Europe/Athens. Default: UTC."),
    SettingField(name="options", label="Options of the game", hint=OPTIONS_HINT, kind="json"),
)


def winners_of(session: Session, match: int) -> str:
    """Return a text that names the winner of a game, or counts its winners."""
    first = (MatchParticipant.match_id == match, MatchParticipant.rank == 1)
    names = session.scalars(select(MatchParticipant.name).where(*first).limit(2)).all()
    if len(names) == 1:
        return f"{names[0]} won"
    number = session.scalar(select(func.count()).where(*first))
    return f"{number} share first place"


class Daily(Format):
    """All bots play in one game at a set time of day."""

    name = daily_service.FORMAT
    takes_bots = True
    about = "All bots play in one match, every day at the same time."
    fields = FIELDS
    is_crowd = True
    names_apart = True
    pages = (own_bot_pages.routes, daily_pages.routes, daily_pages.history_routes)
    api = api.routes.operations
    jobs = MappingProxyType({PROBE: bots.probe_bot})

    plan = staticmethod(daily_service.plan)
    begin = staticmethod(daily_service.begin_site)
    seat = staticmethod(bots.admit)
    finish = staticmethod(daily_service.finished)
    title = staticmethod(match_page.title)
    words = staticmethod(match_page.words)
    part = staticmethod(match_page.part)

    def change(self, session: Session, facts: CompetitionFacts, values: Settings) -> None:
        """Change settings of a competition; raise UsageError if they are invalid."""
        daily_service.read_settings({**facts.settings, **values})
        competitions_service.set_values(session, facts.id, values)

    def address(self, facts: CompetitionFacts) -> str:
        """Return the URL of a competition's ranking."""
        if facts.slug == GAME:
            return address_of("ranking.page")
        return address_of("ranking.page", game=facts.slug)

    def next_at(self, session: Session, facts: CompetitionFacts) -> datetime | None:
        """Return when the next game of a competition is due."""
        return next(iter(upcoming(session, facts, 1)), None)

    def leaders(self, session: Session, competition: int) -> Sequence[Leader]:
        """Return the leaders of a daily competition: the top of its last ranked game."""
        last = rankings.find(session, competition)
        if last is None:
            return []
        rows = session.execute(
            select(MatchParticipant, User.username, User.avatar)
            .outerjoin(Bot, Bot.id == MatchParticipant.bot_id)
            .outerjoin(User, User.id == Bot.user_id)
            .where(MatchParticipant.match_id == last.game.id, MatchParticipant.rank.is_not(None))
            .order_by(MatchParticipant.rank, MatchParticipant.slot)
            .limit(PLACES)
        )
        return [
            Leader(seat.rank or 0, seat.name, owner, picture, f"outlived {seat.score or 0:g}")
            for seat, owner, picture in rows
        ]

    def news(self, session: Session) -> Iterator[NewsItem]:
        """Yield news items about the latest games and their winners."""
        games = (
            select(
                Match.id, Match.match_id, Match.at, Match.players, Competition.title.label("name")
            )
            .join(Competition, Competition.id == Match.competition_id)
            .where(is_shown())
            .order_by(Match.at.desc(), Match.id.desc())
            .limit(MOST_NEWS)
        )
        for game in session.execute(games):
            yield NewsItem(
                id=f"match/{game.match_id}",
                at=game.at,
                title=f"{game.name}: {match_page.title(game.at)}",
                text=f"{winners_of(session, game.id)} among {game.players} players.",
                address=address_of("match.page", match_id=game.match_id),
            )

    def profile_part(self, session: Session, user_id: int, username: str) -> Markup:
        """Render a user's rank graph."""
        graph = graph_of(session, GAME, user_id)
        return part_of_page("hub/competitions/daily/profile.html", graph=graph, username=username)

    def profile_line(self, session: Session, user_id: int) -> tuple[str, str]:
        """Return the label and the value of a user's rank in the last game."""
        rank = history.last_rank(session, user_id)
        return "Last game ranking", "did not play" if rank is None else str(rank)

    def profile_head(self) -> Markup:
        """Return the head content with the scripts of the rank graph."""
        return part_of_page("hub/competitions/daily/profile_head.html")

    def settings_part(self, session: Session, user_id: int) -> Markup:
        """Return the settings card of a player's daily bot."""
        bot = bots.find(session, user_id)
        return part_of_page("hub/competitions/daily/settings_card.html", bot=bot)


FORMAT: Final = Daily()
