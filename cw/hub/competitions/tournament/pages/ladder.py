"""The pages of tournaments for everybody: the list, groups, ladders, teams and events."""

from __future__ import annotations

from typing import Any, Final, cast

from flask import (
    Blueprint,
    Response,
    get_template_attribute,
    redirect,
    render_template,
    request,
    url_for,
)
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from cw.hub.competitions.tournament import timeline, words
from cw.hub.competitions.tournament.listing import listing, playing_teams
from cw.hub.competitions.tournament.pages import documents, screen
from cw.hub.competitions.tournament.pages.header import (
    header_of,
    tournament_or_404,
)
from cw.hub.competitions.tournament.pages.ladder_view import LadderView, ladder_view
from cw.hub.competitions.tournament.standings import GroupStandings, TableRow
from cw.hub.competitions.tournament.views import TournamentView
from cw.hub.competitions.tournament.words import plain
from cw.hub.matches.cards import latest
from cw.hub.matches.pages import shown_kinds
from cw.hub.pages import polls
from cw.hub.pages.polls import Polled
from cw.hub.pages.request import one_reading, resources
from cw.web.games.game_pages import game_page

routes = Blueprint("tournaments", __name__)

TEMPLATES: Final = "hub/competitions/tournament"

MOST_COMPARED: Final = 5
"""Teams that can be compared with one."""

# Pages


@routes.get("/t/")
def index() -> str:
    """Show the tournaments with public events."""
    with one_reading() as reading:
        tournaments = listing(reading)
    games = {row.game: game_page(row.game).title for row in tournaments}
    return render_template(f"{TEMPLATES}/index.html", tournaments=tournaments, games=games)


@routes.get("/t/<slug>/")
def choose(slug: str) -> ResponseReturnValue:
    """Show the groups to choose from; redirect to the only one."""
    with one_reading() as reading:
        tournament = tournament_or_404(reading, slug)
        header = header_of(reading, tournament)
    if screen.is_wanted() and tournament.groups:
        return redirect(screen.first_address(tournament, header), 303)
    if tournament.only_group is not None:
        group = tournament.only_group.slug
        return redirect(url_for("tournaments.ladder", slug=slug, group=group), 303)
    return choice_page(tournament)


def choice_page(tournament: TournamentView, token: str = "", error: str = "") -> str:
    """Return the page on which a group is chosen."""
    with one_reading() as reading:
        header = header_of(reading, tournament)
        teams = playing_teams(reading, tournament.id)
        card = latest.of_competition(reading, shown_kinds(), tournament.id)
    phases = screen.phases_of(header)
    finals = [group for group in tournament.groups if group.kind == "final" and group.rounds]
    won = next((group.slug for group in finals if phases[group.id] == "over"), None)
    return render_template(
        f"{TEMPLATES}/choose.html",
        header=header,
        phases=phases,
        view=ladder_view(tournament.slug, won) if won else None,
        words=words,
        teams=teams,
        card=card,
        token_typed=token,
        error=error,
    )


@routes.get("/t/<slug>/<group>/")
def ladder(slug: str, group: str) -> str:
    """Show the ladder of a group, also on a big screen."""
    view = ladder_view(slug, group)
    if screen.is_wanted():
        return screen.screen_page(view, poll_address("tournaments.ladder_json", view))
    return ladder_page(view)


def ladder_page(view: LadderView, token: str = "", error: str = "") -> str:
    """Return the page of a ladder."""
    rows, tournament = view.standings.rows, view.header.tournament
    with one_reading() as reading:
        card = latest.of_competition(reading, shown_kinds(), tournament.id)
    return render_template(
        f"{TEMPLATES}/group.html",
        card=card,
        header=view.header,
        view=view,
        group=view.group,
        competing=[row for row in rows if row.competes],
        outside=[row for row in rows if row.is_out and row.status == "playing"],
        disqualified=[row for row in rows if row.status == "disqualified"],
        withdrawn=[row for row in rows if row.has_left],
        cross=cross_table(view.standings),
        poll=poll_address("tournaments.ladder_json", view),
        tag=documents.tag_of(view.documents()),
        words=words,
        token_typed=token,
        error=error,
    )


def poll_address(endpoint: str, view: LadderView, **more: str) -> str:
    """Return the address that a page polls."""
    group = view.group
    number = None if group.shows_last else group.round and group.round.number
    slug = view.standings.tournament.slug
    return url_for(endpoint, slug=slug, group=group.slug, round=number, **cast(Any, more))


def cross_table(standings: GroupStandings) -> Markup | str:
    """Return the HTML of the results of a round: of each against each, or of the one match."""
    if standings.group.round is None or not standings.matches:
        return ""
    macro = "cross" if standings.tournament.settings.plan == "pairs" else "common"
    draw = get_template_attribute(f"{TEMPLATES}/round.html", macro)
    results = {
        (team, opponent): (match, seat)
        for match in standings.matches
        for seat, team in enumerate(match.teams)
        for opponent in match.teams
        if team != opponent
    }
    html: Markup = draw(standings, results, words)
    return html


@routes.get("/t/<slug>/<group>/<team>")
def team(slug: str, group: str, team: str) -> str:
    """Show a team: its points after each round, and its results in one of them."""
    view = ladder_view(slug, group, team)
    standings = view.standings
    row = standings.by_slug[team]
    compared = [standings.by_slug[name] for name in compared_slugs(standings, row)]
    return render_template(
        f"{TEMPLATES}/team.html",
        header=view.header,
        standings=standings,
        group=view.group,
        row=row,
        results=standings.matches_of_team(row.team_id),
        round_points=plain(standings.round_points(row.team_id)),
        compared=compared,
        totals=totals_by_round([row, *compared], view.group.last_closed),
        poll=poll_address("tournaments.team_json", view, team=team),
        tag=documents.tag_of(documents.team(standings, team)),
        most=MOST_COMPARED,
        words=words,
    )


def compared_slugs(standings: GroupStandings, row: TableRow) -> list[str]:
    """Return the slugs of the teams to be compared with one."""
    wanted = dict.fromkeys(request.args.getlist("with"))
    slugs = [slug for slug in wanted if slug in standings.by_slug and slug != row.slug]
    return slugs[:MOST_COMPARED]


def totals_by_round(rows: list[TableRow], last: int) -> list[tuple[int, list[float | int]]]:
    """Return each round with the points of teams after it; round 0 is the start."""
    points = [{record.number: record.points for record in row.history} for row in rows]
    sums, totals = [0.0] * len(rows), []
    for number in range(last + 1):
        sums = [total + more.get(number, 0) for total, more in zip(sums, points, strict=True)]
        totals.append((number, [plain(total) for total in sums]))
    return totals


@routes.get("/t/<slug>/events")
def events(slug: str) -> str:
    """Show the events that have occurred, and those that are announced."""
    with one_reading() as reading:
        tournament = tournament_or_404(reading, slug)
        header = header_of(reading, tournament, here="events")
    coming = [event for event in header.events if event.applied_at is None and event.announced]
    return render_template(f"{TEMPLATES}/events.html", header=header, coming=coming)


# Polled by scripts: 304 if nothing has changed


def poll_key(*parts: str) -> str:
    """Return the key of a polled document."""
    return " ".join((*parts, request.args.get("round", "")[:10]))


@routes.get("/t/<slug>/<group>/ladder.json")
def ladder_json(slug: str, group: str) -> Response:
    """Return a ladder for scripts."""
    return polls.answer(
        poll_key("ladder", slug, group),
        lambda: documents.polled(ladder_view(slug, group).documents()),
    )


@routes.get("/t/<slug>/<group>/<team>.json")
def team_json(slug: str, group: str, team: str) -> Response:
    """Return a team for scripts."""
    return polls.answer(
        poll_key("team", slug, group, team),
        lambda: documents.polled(documents.team(ladder_view(slug, group, team).standings, team)),
    )


@routes.get("/t/<slug>/events.json")
def events_json(slug: str) -> Response:
    """Return the next event and those that have occurred, for scripts."""
    return polls.answer(f"events {slug}", lambda: polled_events(slug))


def polled_events(slug: str) -> Polled:
    """Return the countdown for scripts, with the time of the server, which is not in the tag."""
    with one_reading() as reading:
        tournament = tournament_or_404(reading, slug)
        events = timeline.events_of(reading, tournament.id)
    now = resources().clock()
    value = documents.events(timeline.countdown(events, now))
    return Polled(documents.tag_of(value), documents.with_time(now, value))
