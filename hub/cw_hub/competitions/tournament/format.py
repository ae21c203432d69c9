"""The tournament format, as seen by the hub and its matches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy.orm import Session

from cw.errors import ProtocolError, UsageError
from cw.games.wire import read_json
from cw_hub.accounts import registration_limits
from cw_hub.clock import Clock
from cw_hub.competitions import verbs as competitions
from cw_hub.competitions.format import Format, NewCompetition
from cw_hub.competitions.setting_fields import SettingField, show_all
from cw_hub.competitions.tournament import creation, events, news, standings, words
from cw_hub.competitions.tournament import settings as tournament_settings
from cw_hub.competitions.tournament.creation import TournamentConfig
from cw_hub.competitions.tournament.groups import NewGroup, groups_of
from cw_hub.competitions.tournament.host import pages as host_pages
from cw_hub.competitions.tournament.host.settings import change_settings
from cw_hub.competitions.tournament.pages import api, home_card, join, ladder, ladder_view
from cw_hub.competitions.tournament.people import invitations
from cw_hub.competitions.tournament.people import pages as people_pages
from cw_hub.competitions.tournament.rounds import progress, sending
from cw_hub.competitions.tournament.teams import online
from cw_hub.competitions.tournament.teams import pages as team_pages
from cw_hub.competitions.tournament.teams.bots import hosting_of
from cw_hub.competitions.verbs import CompetitionFacts
from cw_hub.matches.kinds import NO_PART, Kind, MatchPart
from cw_hub.matches.views import MatchView
from cw_hub.pages.parts import Application, address_of, part_of_page
from cw_hub.store.tables import CompetitionState


def match_part(session: Session, match: MatchView, battle: int) -> MatchPart:
    """Return the part above a match's replay: the winner, the reason, and the battles."""
    met = standings.of_match(session, match.match_id)
    if met is None:
        return NO_PART
    above = {"match": match, "met": met, "words": words, "battle": battle}
    return MatchPart(
        part_of_page("hub/competitions/tournament/match_head.html"),
        part_of_page("hub/competitions/tournament/match.html", **above),
    )


def typed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Parse typed settings of a tournament; valid JSON is read as such."""
    read: dict[str, Any] = {}
    for name, value in values.items():
        try:
            read[name] = read_json(value) if isinstance(value, str) else value
        except ProtocolError:
            read[name] = value
    return read


def change(
    session: Session,
    clock: Clock,
    facts: CompetitionFacts,
    values: Mapping[str, Any],
    actor: str,
) -> None:
    """Change settings of a tournament; raise UsageError if they may not be changed."""
    change_settings(session, clock, facts.id, typed(values), actor=actor)


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


def create(
    session: Session, clock: Clock, _format: Format, wanted: NewCompetition, actor: str
) -> CompetitionFacts:
    """Create a tournament with its groups; raise UsageError if it is invalid.

    Teams, events and invitations follow on its host's pages.
    """
    settings = dict(wanted.settings)
    names = [name.strip() for name in settings.pop("groups", "").split(",") if name.strip()]
    config = TournamentConfig(
        wanted.slug,
        wanted.game,
        wanted.title,
        settings=typed(settings),
        groups=[NewGroup(name) for name in names],
        description=wanted.description,
    )
    creation.create(session, clock, config, actor)
    return competitions.named(session, f"{tournament_settings.FORMAT}/{wanted.slug}")


def texts(session: Session, format_: Format, facts: CompetitionFacts) -> dict[str, str]:
    """Return a tournament's settings and groups as form field values."""
    names = ",".join(group.name for group in groups_of(session, facts.id))
    return show_all(format_.fields, facts.settings) | {"groups": names}


def led_at(facts: CompetitionFacts) -> str:
    """Return the address of its host's pages."""
    return address_of("host.page", slug=facts.slug)


def hosts_at(slug: str) -> str:
    """Return the address for adding and removing hosts."""
    return address_of("host.people", slug=slug, _anchor="hosts-title")


EVENTS: Final = {"planned": "start", "running": "resume", "paused": "pause"}
"""The event that brings a tournament into each state."""


def steer(
    _session: Session,
    _clock: Clock,
    facts: CompetitionFacts,
    state: CompetitionState,
    _actor: str,
) -> None:
    """Raise UsageError: a tournament starts, pauses and ends by its events."""
    verb = EVENTS.get(state, "end")
    raise UsageError(f"a tournament has events: cw hub competition event {facts.slug} {verb}")


def install(app: Application) -> None:
    """Prepare an application for the pages of tournaments."""
    ladder_view.install(app)
    online.install(app)
    registration_limits.install(app, invitations.invited_to)


KIND: Final = Kind(
    name=tournament_settings.FORMAT,
    claim=progress.claimed,
    hold=progress.hold,
    finish=progress.finished,
    send=sending.to_send,
    part=match_part,
    battles=2,
    plays_at_once=True,
)

FORMAT: Final = Format(
    kind=KIND,
    plan=progress.plan,
    change=change,
    about="Teams climb a ladder round after round; the best of each group play a final.",
    fields=FIELDS,
    create=create,
    texts=texts,
    schedule=events.schedule,
    has_events=True,
    led_at=led_at,
    hosts_at=hosts_at,
    steer=steer,
    home=home_card.CARD,
    news=news.news,
    pages=(ladder.routes, join.routes, people_pages.routes, team_pages.routes, host_pages.routes),
    install=install,
    api=api.routes.operations,
    hosting_of=hosting_of,
)
