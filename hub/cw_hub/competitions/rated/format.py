"""Rated competitions: users' bots are paired continuously, and every result is rated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy.orm import Session

from cw_hub.clock import Clock
from cw_hub.competitions import verbs as competitions
from cw_hub.competitions.format import BotCard, Format, HomeCard, ProfileCard
from cw_hub.competitions.rated import (
    api,
    entry,
    home,
    pages,
    pairing,
    proof,
    settings,
    verbs,
)
from cw_hub.competitions.rated.bots import bot_pages, bot_standings
from cw_hub.competitions.rated.explanations import match_page
from cw_hub.competitions.setting_fields import OPTIONS_HINT, SettingField
from cw_hub.competitions.verbs import CompetitionFacts
from cw_hub.matches.kinds import Kind
from cw_hub.pages.parts import Application
from cw_hub.store.tables import CompetitionState

KIND: Final = Kind(
    name=entry.FORMAT,
    finish=verbs.finished,
    hides_players=True,
    plays_at_once=True,
    keeps="strongest",
    part=match_page.part,
)


FIELDS: Final = (
    SettingField(
        name="formats",
        label="Numbers of players",
        hint="Such as 2,4. Default: those for which the game has maps, or the fewest.",
    ),
    SettingField(name="rest", label="Seconds between two matches of a bot", hint="Default: 60."),
    SettingField(
        name="warm_up",
        label="Warm-up",
        hint="How many first matches are played without a rest. Default: none.",
    ),
    SettingField(
        name="matches",
        label="Matches",
        hint="Maximum number of matches. Default: no limit.",
    ),
    SettingField(name="same_owner", label="Bots of one owner may meet", kind="flag"),
    SettingField(
        name="house_plays", label="House bots play each other when nobody else can", kind="flag"
    ),
    SettingField(name="options", label="Options of the game", hint=OPTIONS_HINT, kind="json"),
)


def change(
    session: Session,
    clock: Clock,
    facts: CompetitionFacts,
    values: Mapping[str, Any],
    actor: str,
) -> None:
    """Change settings of a competition; raise UsageError if they are invalid."""
    checked = settings.checked(facts.game, values)
    competitions.set_values(session, clock, facts.id, checked, actor)


def steer(
    session: Session,
    clock: Clock,
    facts: CompetitionFacts,
    state: CompetitionState,
    actor: str,
) -> None:
    """Set a competition's state; when it runs, enter all bots of its game."""
    competitions.set_state(session, clock, facts.id, state, actor)
    if state == "running":
        verbs.open_to_all(session, clock, facts.id, facts.game)


def install(app: Application) -> None:
    """Add caches of leaderboards and bot parts to an application."""
    pages.install(app)
    bot_pages.install(app)


FORMAT: Final = Format(
    kind=KIND,
    plan=pairing.plan,
    takes_bots=True,
    change=change,
    steer=steer,
    begin=verbs.begin_site,
    about="Bots play others of similar strength, day and night, and get ratings.",
    fields=FIELDS,
    enter=entry.enter,
    verify=proof.verify_all,
    hosting_of=verbs.hosting_of,
    has_maps=True,
    home=HomeCard(address=home.address, leaders=home.leaders),
    bot=BotCard(part=bot_pages.part, standing=api.standing, ratings=bot_standings.shown_ratings),
    profile=ProfileCard(part=home.profile_part),
    pages=(pages.routes, bot_pages.routes),
    api=api.routes.operations,
    install=install,
)
