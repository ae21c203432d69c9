"""Runs service functions on a competition named on the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy.orm import Session

from cw_hub.cli.user import opened
from cw_hub.clock import Clock, utc_now
from cw_hub.competitions import verbs as competitions
from cw_hub.competitions.verbs import CompetitionFacts
from cw_hub.operation.settings import HubSettings

P = ParamSpec("P")
T = TypeVar("T")


def do(
    settings: HubSettings,
    name: str,
    act: Callable[Concatenate[Session, Clock, CompetitionFacts, P], T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Run a function on a competition in a separate transaction; return its result."""
    with opened(settings) as database, database.writing() as session:
        return act(session, utc_now, competitions.named(session, name), *args, **kwargs)
