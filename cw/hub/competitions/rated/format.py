"""Rated competitions: bots of people are paired all the time, and every result is rated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy.orm import Session

from cw.hub.clock import Clock
from cw.hub.competitions import verbs as competitions
from cw.hub.competitions.format import BotCard, Format, HomeCard, ProfileCard
from cw.hub.competitions.rated import (
    api,
    bot_pages,
    bot_standings,
    entry,
    home,
    pages,
    pairing,
    proof,
    settings,
    verbs,
)
from cw.hub.competitions.verbs import CompetitionFacts
from cw.hub.matches.kinds import Kind
from cw.hub.pages.parts import Application
from cw.hub.store.tables import CompetitionState

KIND: Final = Kind(
    name=entry.FORMAT,
    finish=verbs.finished,
    hides_players=True,
    plays_at_once=True,
    keeps="strongest",
)


def change(
    session: Session, clock: Clock, facts: CompetitionFacts, values: Mapping[str, Any]
) -> None:
    """Keep settings of a competition; raise UsageError for what cannot be."""
    competitions.set_values(session, clock, facts.id, settings.checked(facts.game, values))


def steer(session: Session, clock: Clock, facts: CompetitionFacts, state: CompetitionState) -> None:
    """Let a competition run, pause or be over; as it runs, all bots of its game take part."""
    competitions.set_state(session, clock, facts.id, state)
    if state == "running":
        verbs.open_to_all(session, clock, facts.id, facts.game)


def install(app: Application) -> None:
    """Let an application remember boards, and what it shows of bots."""
    pages.install(app)
    bot_pages.install(app)


FORMAT: Final = Format(
    kind=KIND,
    plan=pairing.plan,
    takes_bots=True,
    change=change,
    steer=steer,
    begin=verbs.begin_site,
    enter=entry.enter,
    verify=proof.verify_all,
    has_maps=True,
    home=HomeCard(address=home.address, leaders=home.leaders),
    bot=BotCard(part=bot_pages.part, standing=api.standing, ratings=bot_standings.shown_ratings),
    profile=ProfileCard(part=home.profile_part),
    pages=(pages.routes, bot_pages.routes),
    api=api.routes.operations,
    install=install,
)
