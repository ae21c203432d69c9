"""The format of tournaments of teams, as the hub and its matches know it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw.hub.clock import Clock
from cw.hub.competitions.format import Format, HomeCard
from cw.hub.competitions.tournament import news, progress, sending, standings, words
from cw.hub.competitions.tournament import settings as tournament_settings
from cw.hub.competitions.tournament.host import pages as host_pages
from cw.hub.competitions.tournament.host.settings import change_settings
from cw.hub.competitions.tournament.pages import join, ladder
from cw.hub.competitions.tournament.teams import online
from cw.hub.competitions.tournament.teams import pages as team_pages
from cw.hub.competitions.tournament.teams.bots import hosting_of
from cw.hub.competitions.verbs import CompetitionFacts
from cw.hub.matches.kinds import NO_PART, Kind, MatchPart
from cw.hub.matches.views import MatchView
from cw.hub.pages.parts import Application, address_of, part_of_page
from cw.hub.store.tables import CompetitionState


def address(competition: CompetitionFacts) -> str:
    """Return the address of a tournament."""
    return address_of("tournaments.choose", slug=competition.slug)


def match_part(session: Session, match: MatchView, battle: int) -> MatchPart:
    """Return what a match has above its replay: who has won, what for, and its battles."""
    met = standings.of_match(session, match.match_id)
    if met is None:
        return NO_PART
    above = {"match": match, "met": met, "words": words, "battle": battle}
    return MatchPart(
        part_of_page("hub/competitions/tournament/match_head.html"),
        part_of_page("hub/competitions/tournament/match.html", **above),
    )


def typed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of a tournament that were typed: what is JSON counts as such."""
    read: dict[str, Any] = {}
    for name, value in values.items():
        try:
            read[name] = json.loads(value) if isinstance(value, str) else value
        except (ValueError, RecursionError):
            read[name] = value
    return read


def change(
    session: Session, clock: Clock, facts: CompetitionFacts, values: Mapping[str, Any]
) -> None:
    """Keep settings of a tournament that may be changed; raise UsageError for others."""
    change_settings(session, clock, facts.id, typed(values))


def steer(
    _session: Session, _clock: Clock, facts: CompetitionFacts, state: CompetitionState
) -> None:
    """Raise UsageError: a tournament begins, pauses and ends by its events."""
    verb = "resume" if state == "running" else "pause"
    raise UsageError(f"a tournament has events: cw hub competition event {facts.slug} {verb}")


def install(app: Application) -> None:
    """Prepare an application for the pages of tournaments."""
    ladder.install(app)
    online.install(app)


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
    steer=steer,
    home=HomeCard(address=address, idle="teams on a ladder"),
    news=news.news,
    pages=(ladder.routes, join.routes, team_pages.routes, host_pages.routes),
    install=install,
    hosting_of=hosting_of,
)
