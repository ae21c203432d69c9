"""Definition of the rated format: bots are paired continuously, and every result is rated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from cw_hub.accounts.actor import actor
from cw_hub.bots.health import WORDS, conditions
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.format import Format, Leader, Settings
from cw_hub.competitions.forms import OPTIONS_HINT, SettingField
from cw_hub.competitions.rated import api, bot_pages, bot_standings, pages, pairing, standings
from cw_hub.competitions.rated import service as rated_service
from cw_hub.competitions.rated.ratings import changes_of
from cw_hub.competitions.service import CompetitionFacts
from cw_hub.matches.match_types import NO_PART, MatchPart, MatchView
from cw_hub.pages.layout import Application, address_of, part_of_page
from cw_hub.store.database import Reading, Session
from cw_hub.store.models import CompetitionState

PLACES: Final = 3
"""Number of leaders shown."""


FIELDS: Final = (
    SettingField(
        name="formats",
        label="Numbers of players",
        hint="For example 2,4. Default: those the game has maps for, or the smallest.",
    ),
    SettingField(name="rest", label="Seconds between matches of a bot", hint="Default: 60."),
    SettingField(
        name="warm_up",
        label="Warm-up",
        hint="Number of first matches without that rest. Default: 0.",
    ),
    SettingField(
        name="matches",
        label="Matches",
        hint="Maximum number of matches. Default: no limit.",
    ),
    SettingField(name="same_owner", label="Bots of the same owner can meet", kind="flag"),
    SettingField(
        name="house_plays", label="House bots play each other when no other bot can", kind="flag"
    ),
    SettingField(name="options", label="Options of the game", hint=OPTIONS_HINT, kind="json"),
)


class Rated(Format):
    """Bots are paired continuously, and every result is rated."""

    name = rated_service.FORMAT
    takes_bots = True
    about = "Bots play opponents of similar strength around the clock, and get ratings."
    fields = FIELDS
    has_maps = True
    hides_players = True
    plays_at_once = True
    keeps = "strongest"

    plan = staticmethod(pairing.plan)
    begin = staticmethod(rated_service.begin_site)
    enter = staticmethod(rated_service.enter)
    verify = staticmethod(rated_service.verify_all)
    hosting_of = staticmethod(rated_service.hosting_of)
    finish = staticmethod(rated_service.finished)
    bot_part = staticmethod(bot_pages.part)
    bot_standing = staticmethod(api.standing)
    bot_ratings = staticmethod(bot_standings.shown_ratings)
    pages = (pages.routes, bot_pages.routes)
    api = api.routes.operations

    def change(self, session: Session, facts: CompetitionFacts, values: Settings) -> None:
        """Change settings of a competition; raise UsageError if they are invalid."""
        checked = rated_service.checked(facts.game, values)
        competitions_service.set_values(session, facts.id, checked)

    def steer(self, session: Session, facts: CompetitionFacts, state: CompetitionState) -> None:
        """Set a competition's state; when it starts running, enter all bots of its game."""
        super().steer(session, facts, state)
        if state == "running":
            rated_service.open_to_all(session, facts.id, facts.game)

    def address(self, facts: CompetitionFacts) -> str:
        """Return the URL of a competition's leaderboard."""
        return address_of("leaderboard.page", game=facts.slug)

    def leaders(self, session: Session, competition: int) -> Sequence[Leader]:
        """Return the bots with the highest shown ratings; tied bots share a rank."""
        return [
            Leader(
                leader.rank, leader.name, leader.owner, leader.picture, f"{leader.shown_rating:.0f}"
            )
            for leader in standings.leaders(session, competition, PLACES)
        ]

    def profile_part(self, session: Session, user_id: int, username: str) -> Markup:
        """Render a user's bots with their ratings; empty if there are none.

        Users who may see the bots' condition on the bot pages see it here as well.
        """
        bots = bot_standings.bots_of(session, user_id)
        if not bots:
            return Markup()
        words = {bot.bot: WORDS[bot.status] for bot in bots}
        if actor().sees(user_id):
            conditions_of_bots = conditions(
                session, [bot.bot for bot in bots if bot.status != "RETIRED"]
            )
            words |= {bot: condition.word for bot, condition in conditions_of_bots.items()}
        return part_of_page("hub/competitions/rated/profile.html", bots=bots, words=words)

    def part(self, reading: Reading, match: MatchView, battle: int) -> MatchPart:
        """Render the rating change of each bot in a rated match, with the values behind it."""
        changes = changes_of(match)
        if not changes:
            return NO_PART
        below = part_of_page("hub/competitions/rated/match_changes.html", changes=changes)
        return MatchPart(below=below)

    def install(self, app: Application) -> None:
        """Add the caches of leaderboards and bot parts to an app."""
        pages.install(app)
        bot_pages.install(app)


FORMAT: Final = Rated()
