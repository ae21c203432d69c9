"""A team's view of its bot: its settings, and whether it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.games.registry import load_protocol
from cw_hub.bots.checks.condition import Condition, condition_of
from cw_hub.bots.checks.health import BotHosting
from cw_hub.bots.seats import ClaimedSeat, Hosting, seat_of, version_played
from cw_hub.bots.versions.verbs import failed_step
from cw_hub.bots.versions.views import Version, versions_of
from cw_hub.competitions.tournament.settings import (
    TournamentSettings,
    defaults_of,
    stored_settings,
)
from cw_hub.store.tables import (
    Bot,
    BotKind,
    BotStatus,
    Competition,
    Team,
)

NO_BOT: Final = "You have not set up your bot yet."

WITH_API_KEY: Final = ("end-of-codes",)
"""Games whose requests carry an API key specific to the bot."""

Health: TypeAlias = Literal["none", "waiting", "fine", "faulty", "wrong"]


@dataclass(frozen=True, slots=True)
class TeamBot:
    """A bot in its team's view."""

    id: int
    bot_id: str
    team_id: int
    competition_id: int
    tournament: str
    """The tournament's slug."""
    game: str
    team: str
    """The team's name."""
    slug: str
    """The team's slug."""
    kind: BotKind
    endpoint: str
    version: int | None
    status: BotStatus
    checks: Sequence[Mapping[str, Any]]
    """The steps of the last check."""
    checked_at: datetime | None
    kinds: tuple[BotKind, ...]
    """The kinds that the tournament allows."""
    settings: TournamentSettings
    machine: str | None
    ssh_key: str | None
    lacks_secret: bool
    """Whether the team has yet to be shown a secret, which happens when it saves the address."""
    has_secret: bool
    """Whether it is a web service with a secret."""
    secret_version: int
    """The number of secrets issued so far."""
    condition: Condition
    versions: Sequence[Version] = ()
    """Latest first."""

    @property
    def hosting(self) -> Hosting:
        """How its program is run."""
        return self.settings.hosting

    @property
    def training(self) -> str:
        """The training bot's strategy."""
        return self.settings.training

    @property
    def stores(self) -> bool:
        """Whether its machine has databases."""
        return self.settings.stores

    @property
    def is_set(self) -> bool:
        """Whether a bot is set up."""
        return self.version is not None if self.kind == "program" else bool(self.endpoint)

    @property
    def failed(self) -> Mapping[str, Any] | None:
        """The first failed step of the last check."""
        return failed_step(self.checks)

    @property
    def health(self) -> Health:
        """Whether the bot answers: not set up, or judged by its last check and its last match."""
        if not self.is_set:
            return "none"
        if self.failed is not None:
            return "wrong"
        if self.condition.last is not None:
            return "fine" if self.condition.is_well else "faulty"
        return "fine" if self.checks or self.kind == "builtin" else "waiting"


def find(session: Session, team_id: int) -> TeamBot | None:
    """Return the bot of a team with its versions, or None if the team is unknown."""
    row = session.execute(
        select(Bot, Team, Competition)
        .join(Team, Team.id == Bot.team_id)
        .join(Competition, Competition.id == Team.competition_id)
        .where(Team.id == team_id)
    ).one_or_none()
    if row is None:
        return None
    bot, team, competition = row
    settings = stored_settings(competition.game, competition.settings)
    kinds = defaults_of(competition.game).kinds
    return TeamBot(
        bot.id,
        bot.bot_id,
        team.id,
        competition.id,
        competition.slug,
        competition.game,
        team.name,
        team.slug,
        bot.kind,
        bot.endpoint,
        version_played(bot),
        bot.status,
        bot.checks,
        bot.checked_at,
        tuple(kind for kind in kinds if kind != "program" or settings.hosting != "off"),
        settings,
        team.machine,
        team.ssh_key,
        lacks_secret(bot),
        bot.kind == "url" and bot.secret is not None,
        bot.secret_version,
        condition_of(session, bot.id),
        versions_of(session, bot.id),
    )


def lacks_secret(bot: Bot) -> bool:
    """Return whether a bot is a web service that needs a secret but has none."""
    needs_secret = load_protocol(bot.game).signed_with is not None or bot.game in WITH_API_KEY
    return bot.kind == "url" and bot.secret is None and needs_secret


def seated(session: Session, bot: TeamBot) -> ClaimedSeat:
    """Return a team's bot as it would be seated in a match now."""
    return seat_of(session, session.get_one(Bot, bot.id))


def hosting_of(session: Session, bot: Bot) -> BotHosting | None:
    """Return how a team's tournament runs its bot's program, or None for a bot without a team."""
    if bot.team_id is None:
        return None
    row = session.execute(
        select(Competition.settings, Competition.game, Competition.slug)
        .join(Team, Team.competition_id == Competition.id)
        .where(Team.id == bot.team_id)
    ).one()
    settings = stored_settings(row.game, row.settings)
    return BotHosting(settings.hosting, row.slug, settings.boards[0].options)
