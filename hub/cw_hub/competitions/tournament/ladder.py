"""The data of a group's ladder page: its header and its table, also as JSON for scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final, cast

from flask import Flask, abort, current_app, json, request

from cw.league.ladder import Phase
from cw_hub.accounts.actor import actor
from cw_hub.accounts.login_cards import TeamHolder
from cw_hub.competitions.tournament import standings as group_standings
from cw_hub.competitions.tournament import views, words
from cw_hub.competitions.tournament.service import TAKEN_BACK
from cw_hub.competitions.tournament.settings import LONGEST_TEAM
from cw_hub.competitions.tournament.standings import GroupStandings, RoundMatch, TableRow
from cw_hub.competitions.tournament.views import Countdown, EventView, GroupView, TournamentView
from cw_hub.competitions.tournament.words import countdown_words, game_words, plain
from cw_hub.pages.forms import natural_order
from cw_hub.pages.request import Remembered, one_reading, resources, whole_number

PER_PAGE: Final = 50
"""Number of teams per page."""

MOST_CROSSED: Final = 20
"""Maximum number of teams in a cross table; with more, only the latest results are listed."""

MOST_LISTED: Final = 12
"""Maximum number of results listed instead of a cross table."""

OFTEN: Final = 2
SELDOM: Final = 10
"""Seconds between two polls of a page; SELDOM for large groups, which many teams may watch."""

BESIDE: Final = 6
"""In large groups, a team is compared with this many teams above it, below it, and at the top."""


@dataclass(frozen=True, slots=True)
class LadderRequest:
    """The part of a ladder that a request selects."""

    page: int
    named: str
    """Part of the teams' names; "" for all."""


def wanted() -> LadderRequest:
    """Return the selection in the query string; invalid values are ignored."""
    return LadderRequest(
        whole_number(request.args.get("page", ""), least=1) or 1,
        request.args.get("q", "").strip()[:LONGEST_TEAM],
    )


@dataclass(frozen=True, slots=True)
class TablePage:
    """A page of a group's competing teams."""

    rows: Sequence[TableRow]
    page: int
    pages: int
    named: str
    is_long: bool
    """Whether the group has more than one page."""

    @property
    def choice(self) -> dict[str, Any]:
        """The query parameters that select this page."""
        return {"page": self.page if self.page > 1 else None, "q": self.named or None}


def table_page(standings: GroupStandings, choice: LadderRequest) -> TablePage:
    """Return the requested page, or the last page if the number is too high."""
    competing = competing_rows(standings)
    wanted_name = choice.named.casefold()
    rows = [row for row in competing if wanted_name in row.name.casefold()]
    pages = max(1, -(-len(rows) // PER_PAGE))
    page = min(choice.page, pages)
    first = (page - 1) * PER_PAGE
    is_long = len(competing) > PER_PAGE
    return TablePage(rows[first : first + PER_PAGE], page, pages, choice.named, is_long)


def competing_rows(standings: GroupStandings) -> list[TableRow]:
    """Return the ranked teams, best first."""
    return [row for row in standings.rows if row.competes]


def page_of(standings: GroupStandings, team: int) -> int | None:
    """Return the number of a team's page, or None if it is not ranked."""
    ids = [row.team_id for row in competing_rows(standings)]
    return ids.index(team) // PER_PAGE + 1 if team in ids else None


def seconds_between_polls(standings: GroupStandings) -> int:
    """Return the number of seconds between two polls of an open page."""
    return OFTEN if len(standings.rows) <= MOST_CROSSED else SELDOM


def has_cross_table(standings: GroupStandings) -> bool:
    """Return whether a round's results fit into a cross table."""
    return len(standings.round_rows) <= MOST_CROSSED


def results_by_pair(standings: GroupStandings) -> dict[tuple[int, int], tuple[RoundMatch, int]]:
    """Return the match of each pair of teams, with the first team's seat."""
    return {
        (team, opponent): (match, seat)
        for match in standings.matches
        for seat, team in enumerate(match.teams)
        for opponent in match.teams
        if team != opponent
    }


def last_results(standings: GroupStandings) -> list[RoundMatch]:
    """Return the latest scoring matches of a round, latest first."""
    return [match for match in reversed(standings.matches) if match.counts][:MOST_LISTED]


def comparable(standings: GroupStandings, row: TableRow) -> list[TableRow]:
    """Return the teams to compare with one: all by name or, if many, the top and nearby ones."""
    rows = standings.rows
    others = [other for other in rows if other.team_id != row.team_id]
    if len(rows) <= MOST_CROSSED:
        return sorted(others, key=lambda other: natural_order(other.name))
    index = rows.index(row)
    near = {other.team_id for other in rows[max(0, index - BESIDE) : index + BESIDE + 1]}
    top = {other.team_id for other in rows[:BESIDE]}
    return [other for other in others if other.team_id in near | top]


NO_TOURNAMENT: Final = "There is no such tournament."
NO_GROUP: Final = "There is no such sandbox."
NO_ROUND: Final = "There is no such round."

ANNOUNCED_FOR: Final = timedelta(days=1)
"""How long an announcement is shown above all pages of a tournament."""

ONLINE: Final = ("hexagon", "circuit-wars", "paint")
"""Games that users can play online against a bot."""


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a tournament page."""

    tournament: TournamentView
    group: GroupView | None
    """The page's group."""
    here: str
    """The current page: `ladder`, `events`, `my-team`, `host`, or ""."""
    events: tuple[EventView, ...]
    """All events, including unannounced ones, which must not be shown."""
    countdown: Countdown
    countdown_text: str
    team: TeamHolder | None
    is_host: bool

    @property
    def announcement(self) -> EventView | None:
        """The latest announcement if it is less than a day old, or None.

        The note about an undone end is omitted once the tournament has ended after all.
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
        """Whether users can play the game online against a bot."""
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
    """Return a page's header. One statement, plus one per cookie of the tournament."""
    events = views.events_of(session, tournament.id)
    now = resources().clock()
    countdown = views.countdown(events, now)
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
    """Return a time in ISO format for scripts, with milliseconds."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def tag_of(value: Any) -> str:
    """Return a hash of a JSON value, which serves as its tag."""
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:24]


def with_time(now: datetime, value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON object with the server's time added."""
    return {"now": iso_time(now), **value}


def round_of(standings: GroupStandings) -> dict[str, Any] | None:
    """Return the round as JSON, or None."""
    current = standings.group.round
    if current is None:
        return None
    return {
        "number": current.number,
        "board": current.board.name,
        "factor": current.board.factor,
    }


def team(standings: GroupStandings, slug: str) -> dict[str, Any]:
    """Return a team as JSON."""
    row = standings.by_slug[slug]
    return {
        "team": row.name,
        "place": row.place,
        "points": plain(row.points),
        "history": [
            {
                "round": record.number,
                "points": plain(record.points),
                "total": plain(record.total),
                "place": record.position,
            }
            for record in row.history
        ],
        "round": round_of(standings),
        "results": [
            match_result(standings, match, seat)
            for match, seat in standings.matches_of_team(row.team_id)
        ],
    }


def match_result(standings: GroupStandings, match: RoundMatch, seat: int) -> dict[str, Any]:
    """Return a match as JSON, from the perspective of a seat."""
    slugs = [standings.by_id[team].slug for team in match.teams if team in standings.by_id]
    common: dict[str, Any] = {
        "match": match.match_id,
        "state": match.state,
        "points": dict(zip(slugs, standings.points(match), strict=False)),
    }
    if len(match.teams) != 2:
        ranks = match.games[-1].ranks if match.counts and match.games else ()
        nobody = {"first": None, "second": None, "position": None, "outcome": None}
        by_slug = dict(zip(slugs, ranks, strict=False))
        return common | nobody | {"result": None, "ranks": by_slug, "games": []}
    return common | {
        "first": slugs[0],
        "second": slugs[-1],
        "position": standings.position(match.teams[1 - seat]),
        "outcome": standings.outcome(match, seat),
        "result": str(standings.result(match)) if match.counts else None,
        "games": [game_words(standings, match, game) for game in match.games]
        if match.counts
        else [],
    }


def events(countdown: Countdown) -> dict[str, Any]:
    """Return the events as JSON; unannounced events have no title."""
    coming = countdown.next
    return {
        "next": coming
        and {"at": iso_time(coming.at), "title": coming.title if coming.announced else None},
        "past": [
            {"at": iso_time(event.applied_at or event.at), "title": event.title, "text": event.text}
            for event in countdown.past
        ],
        "over": countdown.is_over,
        "preparing": countdown.is_preparing,
    }


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
    """When the next round starts; None if unknown."""

    @property
    def group(self) -> GroupView:
        """The group."""
        return self.standings.group

    @property
    def lines(self) -> list[str]:
        """The lines of text above the ladder."""
        if not self.group.shows_last:
            return [words.round_words(self.standings)]
        pause = views.pause_of(self.group, self.header.events)
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

    @property
    def tag(self) -> str:
        """A tag that changes whenever the ladder does."""
        group = self.group
        number = group.round and group.round.number
        return tag_of((group.id, number, self.phase, str(self.next_at), group.mark))


def install(app: Flask) -> None:
    """Add a cache of standings to an app."""
    app.extensions["ladders"] = Remembered[GroupStandings](MOST_CACHED)


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
        (group.id, number, team),
        lambda: group_standings.of_group(session, tournament, group, phase, team),
        (phase, group.mark),
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
        phase = views.phase_of(group, header.events, resources().clock())
        standings = cached(reading, tournament, group, phase, number=number, team=team)
    if team is not None and team not in standings.by_slug:
        abort(404, NO_TEAM)
    return LadderView(header, standings, phase, next_round_at(tournament, group, phase))


def next_round_at(tournament: TournamentView, group: GroupView, phase: Phase) -> datetime | None:
    """Return when the next round of a group starts, or None if unknown."""
    last, every = group.round, tournament.settings.round_every
    if phase != "running" or last is None or group.is_open or not group.shows_last or not every:
        return None
    return last.opened_at + timedelta(seconds=every)


def best_of(standings: GroupStandings) -> tuple[TableRow, ...]:
    """Return the top rows of a group, best first; none if nothing was played."""
    return tuple(row for row in standings.rows[:ON_PODIUM] if row.place and row.history)
