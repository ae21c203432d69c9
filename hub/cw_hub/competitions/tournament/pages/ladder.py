"""The public pages of tournaments: the list, groups, ladders, teams and events."""

from __future__ import annotations

from typing import Any, Final

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

from cw.web.games.game_pages import game_page
from cw_hub.accounts.access.cards import TeamHolder
from cw_hub.competitions.tournament import timeline, words
from cw_hub.competitions.tournament.listing import (
    PER_PAGE,
    PHASES,
    Wanted,
    list_page,
    playing_teams,
)
from cw_hub.competitions.tournament.pages import documents, screen, table
from cw_hub.competitions.tournament.pages.header import (
    header_of,
    tournament_or_404,
)
from cw_hub.competitions.tournament.pages.ladder_view import LadderView, ladder_view
from cw_hub.competitions.tournament.standings import GroupStandings, TableRow
from cw_hub.competitions.tournament.views import TournamentView
from cw_hub.competitions.tournament.words import plain
from cw_hub.competitions.verbs import LONGEST_TITLE
from cw_hub.pages import polls
from cw_hub.pages.parts import address_with, part_of_page
from cw_hub.pages.polls import Polled
from cw_hub.pages.queries import whole_number
from cw_hub.pages.request import one_reading, resources

routes = Blueprint("tournaments", __name__)

TEMPLATES: Final = "hub/competitions/tournament"

MOST_COMPARED: Final = 5
"""Maximum number of teams compared with a team."""

LONGEST_QUERY: Final = 300
"""Maximum length of a query in the key of a polled document, in characters."""

MOST_NAMES: Final = 30
"""Maximum number of teams named per group on the page for choosing a group."""

# Pages


@routes.get("/t/")
def index() -> str:
    """Show the tournaments with public events."""
    wanted = wanted_list()
    with one_reading() as reading:
        page = list_page(reading, wanted)
    return render_template(
        f"{TEMPLATES}/index.html",
        page=page,
        wanted=wanted,
        per_page=PER_PAGE,
        games={row.game: game_page(row.game).title for row in page.rows},
        address_with=address_with,
    )


def wanted_list() -> Wanted:
    """Return the list selection in the address; invalid values count as absent."""
    phase = request.args.get("state", "")
    return Wanted(
        whole_number(request.args.get("page", ""), least=1) or 1,
        request.args.get("q", "").strip()[:LONGEST_TITLE],
        next((one for one in PHASES if one == phase), None),
    )


@routes.get("/t/<slug>/")
def choose(slug: str) -> ResponseReturnValue:
    """Show the groups to choose from; redirect if there is only one."""
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
    """Return the page for choosing a group."""
    with one_reading() as reading:
        header = header_of(reading, tournament)
        teams = playing_teams(reading, tournament.id)
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
        most_names=MOST_NAMES,
        token_typed=token,
        error=error,
    )


@routes.get("/t/<slug>/<group>/")
def ladder(slug: str, group: str) -> str:
    """Show the ladder of a group, optionally on a big screen."""
    view = ladder_view(slug, group)
    if screen.is_wanted():
        return screen.screen_page(view, poll_address("tournaments.ladder_json", view))
    return ladder_page(view)


def ladder_page(view: LadderView, token: str = "", error: str = "") -> str:
    """Return the page of a ladder."""
    own = view.header.team
    return render_template(
        f"{TEMPLATES}/ladder.html",
        view=view,
        table_page=table.table_page(view.standings, table.wanted()),
        own_page=table.page_of(view.standings, own.team_id) if own else None,
        live=live_ladder(view, own),
        document=poll_address("tournaments.ladder_json", view),
        every=table.seconds_between_polls(view.standings),
        token_typed=token,
        error=error,
        **of_all_pages(view),
    )


def of_all_pages(view: LadderView) -> dict[str, Any]:
    """Return the template values common to all pages of a group."""
    return {"header": view.header, "group": view.group, "words": words}


def live_ladder(view: LadderView, own: TeamHolder | None) -> Markup:
    """Return the live part of a ladder page, with the user's own row marked."""
    part = table.table_page(view.standings, table.wanted())
    rows = view.standings.rows
    return part_of_page(
        f"{TEMPLATES}/ladder_live.html",
        view=view,
        table_page=part,
        own=own,
        outside=[row for row in rows if row.is_out and row.status == "playing"],
        disqualified=[row for row in rows if row.status == "disqualified"],
        withdrawn=[row for row in rows if row.has_left],
        cross=results_of_round(view.standings),
        poll=poll_address("tournaments.ladder_json", view, html=1, **part.choice),
        tag=view.polled().tag,
        **of_all_pages(view),
    )


def poll_address(endpoint: str, view: LadderView, **more: Any) -> str:
    """Return the address for a page to poll."""
    group = view.group
    number = None if group.shows_last else group.round and group.round.number
    slug = view.standings.tournament.slug
    return url_for(endpoint, slug=slug, group=group.slug, round=number, **more)


def results_of_round(standings: GroupStandings) -> Markup | str:
    """Return the HTML of a round's results: a cross table, or the only match."""
    if standings.group.round is None or not standings.matches:
        return ""
    if standings.tournament.settings.plan == "pairs":
        macro = "cross" if table.has_cross_table(standings) else "latest"
    else:
        macro = "common"
    draw = get_template_attribute(f"{TEMPLATES}/round.html", macro)
    html: Markup = draw(standings, table, words)
    return html


@routes.get("/t/<slug>/<group>/<team>")
def team(slug: str, group: str, team: str) -> str:
    """Show a team: its points after each round, and its results in one round."""
    view = ladder_view(slug, group, team)
    standings = view.standings
    row = standings.by_slug[team]
    return render_template(
        f"{TEMPLATES}/team.html",
        row=row,
        live=live_team(view, row, view.header.team),
        others=table.comparable(standings, row),
        compared=compared_rows(standings, row),
        every=table.seconds_between_polls(standings),
        most=MOST_COMPARED,
        **of_all_pages(view),
    )


def live_team(view: LadderView, row: TableRow, own: TeamHolder | None) -> Markup:
    """Return the live part of a team page; the user's own team is marked."""
    standings = view.standings
    compared = compared_rows(standings, row)
    return part_of_page(
        f"{TEMPLATES}/team_live.html",
        standings=standings,
        row=row,
        own=own,
        results=standings.matches_of_team(row.team_id),
        round_points=plain(standings.round_points(row.team_id)),
        compared=compared,
        totals=totals_by_round([row, *compared], view.group.last_closed),
        poll=poll_address(
            "tournaments.team_json",
            view,
            team=row.slug,
            html=1,
            **{"with": [other.slug for other in compared]},
        ),
        tag=documents.tag_of(documents.team(standings, row.slug)),
        **of_all_pages(view),
    )


def compared_rows(standings: GroupStandings, row: TableRow) -> list[TableRow]:
    """Return the rows of the teams to compare with a team."""
    return [standings.by_slug[name] for name in compared_slugs(standings, row)]


def compared_slugs(standings: GroupStandings, row: TableRow) -> list[str]:
    """Return the slugs of the teams to compare with a team."""
    wanted = dict.fromkeys(request.args.getlist("with"))
    slugs = [slug for slug in wanted if slug in standings.by_slug and slug != row.slug]
    return slugs[:MOST_COMPARED]


def totals_by_round(rows: list[TableRow], last: int) -> list[tuple[int, list[float | int]]]:
    """Return each round with the teams' points after it; round 0 is the start."""
    points = [{record.number: record.points for record in row.history} for row in rows]
    sums, totals = [0.0] * len(rows), []
    for number in range(last + 1):
        sums = [total + more.get(number, 0) for total, more in zip(sums, points, strict=True)]
        totals.append((number, [plain(total) for total in sums]))
    return totals


@routes.get("/t/<slug>/events")
def events(slug: str) -> str:
    """Show the past events, and the announced ones."""
    with one_reading() as reading:
        tournament = tournament_or_404(reading, slug)
        header = header_of(reading, tournament, here="events")
    coming = [event for event in header.events if event.applied_at is None and event.announced]
    return render_template(f"{TEMPLATES}/events.html", header=header, coming=coming)


# Polled by scripts; 304 if unchanged


def poll_key(*parts: str) -> str:
    """Return the key of a polled document: the request, cut to a maximum length."""
    return " ".join((*parts, request.query_string.decode("latin-1")[:LONGEST_QUERY]))


def is_for_page() -> bool:
    """Return whether a page requests its live part, rather than a program the figures."""
    return request.args.get("html") == "1"


@routes.get("/t/<slug>/<group>/ladder.json")
def ladder_json(slug: str, group: str) -> Response:
    """Return a ladder for scripts."""
    key = poll_key("ladder", slug, group)
    return polls.answer_to_many(key, lambda: polled_ladder(slug, group))


def polled_ladder(slug: str, group: str) -> Polled:
    """Return a ladder as figures, or as the public part of its page."""
    view = ladder_view(slug, group)
    figures = view.polled()
    return Polled(figures.tag, {"html": live_ladder(view, None)}) if is_for_page() else figures


@routes.get("/t/<slug>/<group>/<team>.json")
def team_json(slug: str, group: str, team: str) -> Response:
    """Return a team for scripts."""
    return polls.answer(poll_key("team", slug, group, team), lambda: polled_team(slug, group, team))


def polled_team(slug: str, group: str, team: str) -> Polled:
    """Return a team as figures, or as the public part of its page."""
    view = ladder_view(slug, group, team)
    row = view.standings.by_slug[team]
    figures = documents.team(view.standings, team)
    if not is_for_page():
        return documents.polled(figures)
    return Polled(documents.tag_of(figures), {"html": live_team(view, row, None)})


@routes.get("/t/<slug>/events.json")
def events_json(slug: str) -> Response:
    """Return the next and the past events, for scripts."""
    return polls.answer(f"events {slug}", lambda: polled_events(slug))


def polled_events(slug: str) -> Polled:
    """Return the countdown for scripts, with the server's time, which does not affect the tag."""
    with one_reading() as reading:
        tournament = tournament_or_404(reading, slug)
        events = timeline.events_of(reading, tournament.id)
    now = resources().clock()
    value = documents.events(timeline.countdown(events, now))
    return Polled(documents.tag_of(value), documents.with_time(now, value))
