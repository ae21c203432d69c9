"""The header of a tournament's pages: groups, pages, and the countdown."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from flask import abort

from cw_hub.accounts.access.actor import actor
from cw_hub.accounts.access.cards import TeamHolder
from cw_hub.competitions.tournament import timeline, views
from cw_hub.competitions.tournament.events import TAKEN_BACK
from cw_hub.competitions.tournament.timeline import Countdown, EventView
from cw_hub.competitions.tournament.views import GroupView, TournamentView
from cw_hub.competitions.tournament.words import countdown_words
from cw_hub.pages.request import resources

NO_TOURNAMENT: Final = "There is no such tournament."
NO_GROUP: Final = "There is no such sandbox."
NO_ROUND: Final = "There is no such round."

ANNOUNCED_FOR: Final = timedelta(days=1)
"""How long an announcement is shown above all pages of a tournament."""

ONLINE: Final = ("hexagon", "circuit-wars", "paint")
"""Games that people can play online against a bot."""


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a tournament page."""

    tournament: TournamentView
    group: GroupView | None
    """The page's group."""
    here: str
    """The page: `ladder`, `events`, `my-team`, `host`, or ""."""
    events: tuple[EventView, ...]
    """All events, including unannounced ones, which must not be shown."""
    countdown: Countdown
    countdown_text: str
    team: TeamHolder | None
    is_host: bool

    @property
    def announcement(self) -> EventView | None:
        """The latest announcement, for a day, or None.

        The note about an undone end is stale once the tournament has ended after all.
        """
        is_stale = self.countdown.is_over
        notes = (event for event in self.countdown.past if event.kind == "note")
        fresh = (note for note in notes if not (is_stale and note.title == TAKEN_BACK))
        latest = next(fresh, None)
        if latest is None or latest.applied_at is None:
            return None
        return latest if resources().clock() - latest.applied_at < ANNOUNCED_FOR else None

    @property
    def is_online(self) -> bool:
        """Whether people can play the game against a bot."""
        return self.tournament.game in ONLINE


def tournament_or_404(
    session: Any, slug: str, group: str = "", number: int | None = None
) -> TournamentView:
    """Return a tournament, with a given round of a group; abort with 404 if there is none."""
    tournament = views.find(session, slug, group, number)
    if tournament is None:
        abort(404, NO_TOURNAMENT)
    return tournament


def group_or_404(tournament: TournamentView, slug: str, number: int | None = None) -> GroupView:
    """Return a group with the round of this number; abort with 404 if there is none."""
    group = tournament.group(slug)
    if group is None:
        abort(404, NO_GROUP)
    if number is not None and group.round is None:
        abort(404, NO_ROUND)
    return group


def header_of(
    session: Any, tournament: TournamentView, group: GroupView | None = None, here: str = ""
) -> Header:
    """Return the header of a page. One statement, plus one per cookie of the tournament."""
    events = timeline.events_of(session, tournament.id)
    now = resources().clock()
    countdown = timeline.countdown(events, now)
    return Header(
        tournament,
        group or tournament.only_group,
        here,
        tuple(events),
        countdown,
        countdown_words(countdown, now),
        actor().team(tournament.slug),
        actor().is_host(tournament.slug),
    )


def iso_time(moment: datetime) -> str:
    """Return a moment for scripts, with milliseconds."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
