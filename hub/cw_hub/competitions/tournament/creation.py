"""Creation of a team tournament from its configuration: groups, teams and events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy.orm import Session

from cw.errors import UsageError, short
from cw_hub.clock import Clock
from cw_hub.competitions import verbs as competitions
from cw_hub.competitions.tournament.events import NewEvent, add_event
from cw_hub.competitions.tournament.groups import NewGroup, add_group
from cw_hub.competitions.tournament.settings import FORMAT, settings_of
from cw_hub.competitions.tournament.teams.enrolment import NewTeam, add_teams
from cw_hub.competitions.verbs import OPERATOR
from cw_hub.pages.names import is_slug

MAIN: Final = "MAIN"
"""The group of a tournament whose configuration has none."""


@dataclass(frozen=True, slots=True)
class TournamentConfig:
    """The full specification of a new tournament."""

    slug: str
    game: str
    title: str = ""
    """"": the slug."""
    seed: int | None = None
    """None: draw one."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    groups: Sequence[NewGroup] = ()
    teams: Sequence[NewTeam] = ()
    events: Sequence[NewEvent] = ()
    description: str = ""
    """Markdown."""


@dataclass(frozen=True, slots=True)
class NewTournament:
    """A newly created tournament."""

    id: int
    slug: str
    title: str
    teams: tuple[int, ...]
    """The ids of its teams, in configuration order."""


def create(
    session: Session, clock: Clock, config: TournamentConfig, actor: str = OPERATOR
) -> NewTournament:
    """Create a tournament with its groups, teams and events; it is a `draft` until it starts.

    Past events are applied at once. Raises UsageError if the configuration is invalid, and
    CompetitionTaken if there is already a tournament with this slug.
    """
    if not is_slug(config.slug):
        raise UsageError(
            f"{short(config.slug)} is not a valid slug: use 1 to 32 lower-case letters, digits "
            "and hyphens"
        )
    settings_of(config.game, config.settings)
    row = competitions.new(
        session,
        clock,
        FORMAT,
        config.game,
        slug=config.slug,
        title=config.title or config.slug,
        settings=config.settings,
        seed=config.seed,
        description=config.description,
        actor=actor,
    )
    for group in config.groups or (NewGroup(MAIN),):
        add_group(session, clock, row.id, group, actor)
    teams = add_teams(session, clock, row.id, config.teams, actor) if config.teams else []
    for event in config.events:
        add_event(session, clock, row.id, event, actor, is_late=True)
    return NewTournament(row.id, row.slug, row.title, tuple(teams))
