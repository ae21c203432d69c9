"""How commands act on a tournament, and what they print about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, TypeVar

import click
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw_hub.cli.user import opened
from cw_hub.clock import Clock, utc_now
from cw_hub.competitions import verbs as competitions
from cw_hub.competitions.tournament.host import overview
from cw_hub.competitions.tournament.host import teams as host_teams
from cw_hub.competitions.tournament.rounds import progress
from cw_hub.competitions.tournament.settings import FORMAT
from cw_hub.competitions.verbs import CompetitionFacts
from cw_hub.operation.settings import HubSettings

P = ParamSpec("P")
T = TypeVar("T")

FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)
NEW_FILE: Final = click.Path(dir_okay=False, path_type=Path)


def act(
    settings: HubSettings,
    slug: str,
    verb: Callable[Concatenate[Session, Clock, int, P], T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Call a service on a tournament in a separate transaction, and advance the tournament."""
    with opened(settings) as database, database.writing() as session:
        competition = find(session, slug)
        result = verb(session, utc_now, competition.id, *args, **kwargs)
        progress.advance(session, utc_now, competition.id)
        return result


def find(session: Session, slug: str) -> CompetitionFacts:
    """Return a tournament; raise UsageError if there is none."""
    competition = competitions.named(session, slug if "/" in slug else f"{FORMAT}/{slug}")
    if competition.format != FORMAT:
        raise UsageError(f"{competition.format}/{competition.slug} is not a tournament of teams")
    return competition


def ids_of(settings: HubSettings, slug: str, names: Sequence[str]) -> list[int]:
    """Return the ids of teams by their slugs or names, or of all teams without names."""
    with opened(settings) as database, database.reading() as session:
        competition = find(session, slug).id
        if not names:
            return [team.id for team in overview.teams(session, competition)]
        return [host_teams.team_named(session, competition, name).id for name in names]


def counted(number: int, word: str) -> str:
    """Return a number with its noun, in the singular or the plural."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
