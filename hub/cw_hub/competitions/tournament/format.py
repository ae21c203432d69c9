"""Defines the tournament format, and its part of the match pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import func, select

from cw.errors import UsageError
from cw_hub.accounts import account_limits
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.format import MOST_NEWS, Format, Leader, NewCompetition, NewsItem, Settings
from cw_hub.competitions.forms import SettingField, show_all
from cw_hub.competitions.service import CompetitionFacts
from cw_hub.competitions.tournament import api as tournament_api
from cw_hub.competitions.tournament import (
    host_pages,
    ladder,
    people,
    progress,
    service,
    standings,
    team_pages,
    views,
    words,
)
from cw_hub.competitions.tournament import pages as tournament_pages
from cw_hub.competitions.tournament import settings as tournament_settings
from cw_hub.competitions.tournament.ladder import ON_PODIUM, cached
from cw_hub.competitions.tournament.service import (
    TournamentConfig,
    change_settings,
    settings_and_groups,
    typed,
)
from cw_hub.competitions.tournament.settings import FORMAT as SETTINGS_FORMAT
from cw_hub.competitions.tournament.standings import TableRow
from cw_hub.competitions.tournament.team_bots import hosting_of
from cw_hub.competitions.tournament.teams import groups_of
from cw_hub.competitions.tournament.views import GroupView, TournamentView
from cw_hub.competitions.tournament.words import plain
from cw_hub.matches.match_types import NO_PART, MatchPart, MatchView
from cw_hub.pages.layout import Application, address_of, part_of_page
from cw_hub.pages.request import resources
from cw_hub.store.database import Session
from cw_hub.store.models import Competition, CompetitionState, Event, Group, Round

FIELDS: Final = (
    SettingField(
        name="groups",
        label="Groups",
        hint="Separated by commas, such as Athens,Lyon,FINAL. Default: one group.",
    ),
    SettingField(
        name="round_every",
        label="Seconds from one round to the next",
        hint="Default, or 0: a round begins when the one before is over.",
    ),
    SettingField(
        name="hosting",
        label="Uploaded programs",
        kind="choice",
        choices=("", "sandboxed", "off"),
        hint="Whether teams may upload their bots.",
    ),
)

EVENTS: Final = {"planned": "start", "running": "resume", "paused": "pause"}
"""The event that puts a tournament into each state."""


def deciding_group(tournament: TournamentView) -> GroupView | None:
    """Return the final if it has started, otherwise the only group, or None."""
    finals = (group for group in tournament.groups if group.kind == "final" and group.rounds)
    return next(finals, tournament.only_group)


def place_of(row: TableRow) -> Leader:
    """Return a team's rank, name and prize or points."""
    return Leader(row.place or 0, row.name, None, None, row.prize or f"{plain(row.points)} points")


class Tournament(Format):
    """Teams climb a ladder, round after round; the best of each group play a final."""

    name = tournament_settings.FORMAT
    about = "Teams climb a ladder round after round; the best of each group play a final."
    fields = FIELDS
    has_events = True
    battles = 2
    plays_at_once = True
    sends_itself = True
    idle = "teams on a ladder"
    pages = (
        tournament_pages.routes,
        tournament_pages.join_routes,
        tournament_pages.invited_routes,
        team_pages.routes,
        host_pages.routes,
    )
    api = tournament_api.routes.operations

    plan = staticmethod(progress.plan)
    claim = staticmethod(progress.claimed)
    lock_rows = staticmethod(progress.hold)
    finish = staticmethod(progress.finished)
    send = staticmethod(progress.to_send)
    schedule = staticmethod(service.schedule)
    hosting_of = staticmethod(hosting_of)

    def create(self, session: Session, wanted: NewCompetition) -> CompetitionFacts:
        """Create a tournament with its groups; raise UsageError if it is invalid.

        Teams, events and invitations are added later, on the host's pages.
        """
        settings, groups = settings_and_groups(wanted.settings)
        config = TournamentConfig(
            wanted.slug,
            wanted.game,
            wanted.title,
            settings=settings,
            groups=groups,
            description=wanted.description,
        )
        service.create(session, config)
        return competitions_service.named(session, f"{tournament_settings.FORMAT}/{wanted.slug}")

    def change(self, session: Session, facts: CompetitionFacts, values: Settings) -> None:
        """Change settings of a tournament; raise UsageError if they may not be changed."""
        change_settings(session, facts.id, typed(values))

    def steer(self, session: Session, facts: CompetitionFacts, state: CompetitionState) -> None:
        """Raise UsageError: only events can start, pause and end a tournament."""
        verb = EVENTS.get(state, "end")
        raise UsageError(f"a tournament has events: cw hub competition event {facts.slug} {verb}")

    def texts(self, session: Session, facts: CompetitionFacts) -> dict[str, str]:
        """Return a tournament's settings and groups as form field values."""
        names = ",".join(group.name for group in groups_of(session, facts.id))
        return show_all(self.fields, facts.settings) | {"groups": names}

    def host_page(self, facts: CompetitionFacts) -> str:
        """Return the URL of the tournament's host pages."""
        return address_of("host.page", slug=facts.slug)

    def hosts_page(self, slug: str) -> str:
        """Return the URL of the page where hosts are added and removed."""
        return address_of("host.people", slug=slug, _anchor="hosts-title")

    def address(self, facts: CompetitionFacts) -> str:
        """Return a tournament's URL."""
        return address_of("tournaments.choose", slug=facts.slug)

    def leaders(self, session: Session, competition: int) -> Sequence[Leader]:
        """Return the deciding group's top teams; none before a round, or without such a group."""
        slug = session.scalar(
            select(Competition.slug)
            .join(Group, Group.competition_id == Competition.id)
            .join(Round, Round.group_id == Group.id)
            .where(Competition.id == competition)
            .limit(1)
        )
        tournament = slug and views.find(session, slug)
        group = tournament and deciding_group(tournament)
        if not tournament or not group:
            return ()
        events = views.events_of(session, competition)
        phase = views.phase_of(group, events, resources().clock())
        rows = cached(session, tournament, group, phase).rows[:ON_PODIUM]
        return [place_of(row) for row in rows if row.place and row.history]

    def ended_at(self, session: Session, competition: int) -> datetime | None:
        """Return when a tournament ended, or None."""
        its = (Event.competition_id == competition, Event.kind == "end", Event.group_id.is_(None))
        return session.scalar(select(func.max(Event.applied_at)).where(*its))

    def news(self, session: Session) -> Iterator[NewsItem]:
        """Yield the latest events: starts, ends, finals, and hosts' announcements."""
        latest = (
            select(Event.id, Event.applied_at, Event.title, Event.text)
            .add_columns(Competition.title.label("tournament"), Competition.slug)
            .join(Competition, Competition.id == Event.competition_id)
            .where(Competition.format == SETTINGS_FORMAT, Event.applied_at.is_not(None))
            .order_by(Event.applied_at.desc(), Event.id.desc())
            .limit(MOST_NEWS)
        )
        for event in session.execute(latest):
            yield NewsItem(
                id=f"event/{event.id}",
                at=event.applied_at,
                title=f"{event.tournament}: {event.title}",
                text=event.text,
                address=address_of("tournaments.events", slug=event.slug),
            )

    def part(self, reading: Session, match: MatchView, battle: int) -> MatchPart:
        """Return the section above a match's replay: the winner, the reason, and the battles."""
        met = standings.of_match(reading, match.match_id)
        if met is None:
            return NO_PART
        above = {"match": match, "met": met, "words": words, "battle": battle}
        return MatchPart(
            part_of_page("hub/competitions/tournament/match_head.html"),
            part_of_page("hub/competitions/tournament/match.html", **above),
        )

    def install(self, app: Application) -> None:
        """Set up the tournament pages of an application."""
        ladder.install(app)
        team_pages.install(app)
        account_limits.install_invitations(app, people.invited_to)


FORMAT: Final = Tournament()
