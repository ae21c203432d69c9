"""The head of all pages of a tournament: its sandboxes, its pages, and what happens next."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from flask import abort

from cw.hub.pages.actor import actor, resources
from cw.hub.pages.ladder_words import countdown_words
from cw.hub.services import tournament_views
from cw.hub.services.tickets import TeamHolder
from cw.hub.services.tournament_views import Countdown, EventView, GroupView, TournamentView

NO_TOURNAMENT: Final = "There is no such tournament."
NO_GROUP: Final = "There is no such sandbox."
NO_ROUND: Final = "There is no such round."

ONLINE: Final = ("hexagon", "circuit-wars", "paint")
"""Games that people can play against a bot."""


@dataclass(frozen=True, slots=True)
class Bar:
    """The head of a page of a tournament."""

    tournament: TournamentView
    group: GroupView | None
    """The sandbox whose pages are shown."""
    here: str
    """Which of the pages is shown: `ladder`, `events`, `my-team`, `host`, or none of them."""
    events: tuple[EventView, ...]
    """All of them: what is not announced must not be shown."""
    told: Countdown
    words: str
    """What the counter says."""
    team: TeamHolder | None
    is_host: bool

    @property
    def is_online(self) -> bool:
        """Whether people can play the game against a bot."""
        return self.tournament.game in ONLINE


def tournament_of(
    session: Any, slug: str, group: str = "", number: int | None = None
) -> TournamentView:
    """Return the tournament that is asked for; answer 404 for one that is not there."""
    found = tournament_views.find(session, slug, group, number)
    if found is None:
        abort(404, NO_TOURNAMENT)
    return found


def group_of(tournament: TournamentView, slug: str, number: int | None = None) -> GroupView:
    """Return the sandbox that is asked for; answer 404 for one that is not there."""
    group = tournament.group(slug)
    if group is None:
        abort(404, NO_GROUP)
    if number is not None and group.round is None:
        abort(404, NO_ROUND)
    return group


def bar_of(
    session: Any, tournament: TournamentView, group: GroupView | None = None, here: str = ""
) -> Bar:
    """Return the head of a page. One statement, and one for each cookie of the tournament."""
    events = tournament_views.events(session, tournament.id)
    now = resources().clock()
    told = tournament_views.countdown(events, now)
    team = actor().team(tournament.slug)
    return Bar(
        tournament,
        group or home_of(tournament),
        here,
        tuple(events),
        told,
        countdown_words(told, now),
        team,
        actor().is_host(tournament.slug),
    )


def home_of(tournament: TournamentView) -> GroupView | None:
    """Return the sandbox of pages that belong to none: the only one."""
    return tournament.groups[0] if len(tournament.groups) == 1 else None


def said_at(moment: datetime) -> str:
    """Return a moment as scripts read it, to the millisecond."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
