"""The ladder of a group for its pages, and a cache of standings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, cast

from flask import Flask, abort, current_app, request

from cw.league.ladder.phases import Phase
from cw_hub.competitions.tournament import standings as group_standings
from cw_hub.competitions.tournament import timeline, words
from cw_hub.competitions.tournament.pages import documents
from cw_hub.competitions.tournament.pages.header import (
    NO_ROUND,
    Header,
    group_or_404,
    header_of,
    tournament_or_404,
)
from cw_hub.competitions.tournament.rounds.matches import RoundMatch
from cw_hub.competitions.tournament.standings import GroupStandings, TableRow
from cw_hub.competitions.tournament.views import GroupView, TournamentView
from cw_hub.pages.polls import Polled
from cw_hub.pages.queries import whole_number
from cw_hub.pages.remembered import Remembered
from cw_hub.pages.request import one_reading, resources

MOST_CACHED: Final = 200
"""Maximum number of standings cached per process."""

ON_PODIUM: Final = 3
"""Number of teams on a group's podium."""

NO_TEAM: Final = "There is no such team."


@dataclass(frozen=True, slots=True)
class LadderView:
    """The ladder of a group, or of one of its teams, for a page."""

    header: Header
    standings: GroupStandings
    phase: Phase
    next_at: datetime | None
    """When the next round begins; None if unknown."""

    @property
    def group(self) -> GroupView:
        """The group."""
        return self.standings.group

    @property
    def lines(self) -> list[str]:
        """The lines above the ladder."""
        if not self.group.shows_last:
            return [words.round_words(self.standings)]
        pause = timeline.pause_of(self.group, self.header.events)
        now = resources().clock()
        return words.top_lines(self.standings, self.phase, pause, self.next_at, now)

    @property
    def podium(self) -> tuple[TableRow, ...]:
        """The top teams of a finished group, best first; empty before its end."""
        return best_of(self.standings) if self.phase == "over" else ()

    @property
    def met_at_top(self) -> list[RoundMatch]:
        """The last round's matches between teams on the podium."""
        best = {row.team_id for row in self.podium}
        return [
            match
            for match in self.standings.matches
            if match.counts and len(best.intersection(match.teams)) > 1
        ]

    def polled(self) -> Polled:
        """Return the ladder as JSON with its tag; cached while it is unchanged."""
        figures = cast("Remembered[Polled]", current_app.extensions["figures of ladders"])
        group = self.group
        key = (group.id, group.round and group.round.number, self.phase, self.next_at, group.mark)
        return figures.find(
            key,
            lambda: documents.polled(documents.ladder(self.standings, self.phase, self.next_at)),
        )


def install(app: Flask) -> None:
    """Add caches of standings, and of ladders as JSON, to an app."""
    app.extensions["ladders"] = Remembered[GroupStandings](MOST_CACHED)
    app.extensions["figures of ladders"] = Remembered[Polled](MOST_CACHED)


def cached(  # noqa: PLR0913
    session: Any,
    tournament: TournamentView,
    group: GroupView,
    phase: Phase,
    *,
    number: int | None = None,
    team: str | None = None,
) -> GroupStandings:
    """Return the standings of a group as `standings.of_group` does; cached until it changes."""
    cache = cast("Remembered[GroupStandings]", current_app.extensions["ladders"])
    return cache.find(
        (group.id, number, team, phase, group.mark),
        lambda: group_standings.of_group(session, tournament, group, phase, team),
    )


def wanted_round() -> int | None:
    """Return the requested round, None for the last; abort with 404 if it is malformed."""
    text = request.args.get("round", "")
    if not text:
        return None
    number = whole_number(text, least=1)
    if number is None:
        abort(404, NO_ROUND)
    return number


def ladder_view(slug: str, group_slug: str, team: str | None = None) -> LadderView:
    """Return the requested ladder, with the matches of all teams or of one."""
    number = wanted_round()
    with one_reading() as reading:
        tournament = tournament_or_404(reading, slug, group_slug, number)
        group = group_or_404(tournament, group_slug, number)
        header = header_of(reading, tournament, group, "ladder")
        phase = timeline.phase_of(group, header.events, resources().clock())
        standings = cached(reading, tournament, group, phase, number=number, team=team)
    if team is not None and team not in standings.by_slug:
        abort(404, NO_TEAM)
    return LadderView(header, standings, phase, next_round_at(tournament, group, phase))


def next_round_at(tournament: TournamentView, group: GroupView, phase: Phase) -> datetime | None:
    """Return when the next round of a group begins, or None if unknown."""
    last, every = group.round, tournament.settings.round_every
    if phase != "running" or last is None or group.is_open or not group.shows_last or not every:
        return None
    return last.opened_at + timedelta(seconds=every)


def best_of(standings: GroupStandings) -> tuple[TableRow, ...]:
    """Return the top rows of a group, best first; none if nothing was played."""
    return tuple(row for row in standings.rows[:ON_PODIUM] if row.place and row.history)
