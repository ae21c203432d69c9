"""The public pages of a tournament: ladders, teams, events, joining, and invitations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

from flask import (
    Blueprint,
    Response,
    abort,
    get_template_attribute,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from flask.typing import ResponseReturnValue
from markupsafe import Markup
from msgspec import to_builtins

from cw.errors import UsageError
from cw.league.ladder import Phase
from cw.web.games import game_page
from cw_hub.accounts import login_cards, tickets
from cw_hub.accounts.actor import actor, hold, let_go, one_writing, player, players_only
from cw_hub.accounts.login_cards import RefusedCard, TeamHolder, UnknownCard
from cw_hub.accounts.pages import redirect_to
from cw_hub.competitions.service import LONGEST_TITLE
from cw_hub.competitions.tournament import ladder as tournament_ladder
from cw_hub.competitions.tournament import people, views, words
from cw_hub.competitions.tournament.api import ladder_document
from cw_hub.competitions.tournament.ladder import (
    Header,
    LadderView,
    competing_rows,
    header_of,
    ladder_view,
    tournament_or_404,
)
from cw_hub.competitions.tournament.people import InvitationView
from cw_hub.competitions.tournament.standings import GroupStandings, RoundMatch, TableRow
from cw_hub.competitions.tournament.views import (
    PER_PAGE,
    PHASES,
    GroupView,
    TournamentFilter,
    TournamentView,
    home_group,
    list_page,
    playing_teams,
)
from cw_hub.competitions.tournament.words import plain
from cw_hub.pages import polls, request_counts
from cw_hub.pages.layout import address_with, notice, part_of_page
from cw_hub.pages.polls import Polled
from cw_hub.pages.request import one_reading, resources, whole_number
from cw_hub.players.playing import is_shown

MOST_MATCHES: Final = 6
"""Maximum number of matches that the big screen shows in turn."""

MOST_TEAMS: Final = 50
"""Maximum number of teams that the big screen shows, ten at a time."""


def is_wanted() -> bool:
    """Return whether a request asks for the big screen."""
    return request.args.get("screen") == "1"


def groups_in_turn(groups: Sequence[GroupView], phases: Mapping[int, Phase]) -> Sequence[GroupView]:
    """Return the groups to show: only the final once it has started, otherwise public groups."""
    final = [group for group in groups if group.kind == "final" and phases[group.id] != "waiting"]
    public = [group for group in groups if group.kind == "public"]
    return final or public or groups


def matches_in_turn(standings: GroupStandings) -> list[RoundMatch]:
    """Return the matches to watch: live ones first, then the latest finished ones."""
    live = [
        match
        for match in standings.matches
        if match.state == "in_progress" and is_shown(standings.tournament.game)
    ]
    over = [match for match in standings.matches if match.counts]
    return [*live, *reversed(over)][:MOST_MATCHES]


def match_words(standings: GroupStandings, match: RoundMatch) -> str:
    """Return the caption of a match: its result, or its number if it has more than two teams."""
    if len(match.teams) == 2:
        return words.result_words(standings, match)
    return f"Match {match.sequence or 1} of this round"


def first_address(tournament: TournamentView, header: Header) -> str:
    """Return the URL of the screen that cycles through a tournament's groups."""
    groups = groups_in_turn(tournament.groups, phases_of(header))
    return address_of(tournament, groups[0], turn=True)


def phases_of(header: Header) -> dict[int, Phase]:
    """Return the phases of a tournament's groups, by id."""
    now = resources().clock()
    groups = header.tournament.groups
    return {group.id: views.phase_of(group, header.events, now) for group in groups}


def address_of(tournament: TournamentView, group: GroupView, *, turn: bool) -> str:
    """Return the URL of a group's screen; with `turn`, it moves on to the next group."""
    more = 1 if turn else None
    return url_for(
        "tournaments.ladder", slug=tournament.slug, group=group.slug, screen=1, turn=more
    )


def screen_page(view: LadderView, poll: str) -> str:
    """Return the big screen of a group; `poll` is the URL that scripts poll for its ladder."""
    tournament, turn = view.standings.tournament, request.args.get("turn") == "1"
    return render_template(
        "hub/competitions/tournament/screen.html",
        embedded=True,
        header=view.header,
        view=view,
        rows=competing_rows(view.standings)[:MOST_TEAMS],
        matches=[
            (match.match_id, match_words(view.standings, match))
            for match in matches_in_turn(view.standings)
        ],
        address=address_of(tournament, view.group, turn=turn),
        following=following(view) if turn else "",
        poll=poll,
        tag=view.tag,
        words=words,
    )


def following(view: LadderView) -> str:
    """Return the URL of the next group's screen."""
    tournament = view.standings.tournament
    groups = groups_in_turn(tournament.groups, phases_of(view.header))
    slugs = [group.slug for group in groups]
    index = slugs.index(view.group.slug) + 1 if view.group.slug in slugs else 0
    return address_of(tournament, groups[index % len(groups)], turn=True)


routes = Blueprint("tournaments", __name__)

TEMPLATES: Final = "hub/competitions/tournament"

MOST_COMPARED: Final = 5
"""Maximum number of teams compared with a team."""

LONGEST_QUERY: Final = 300
"""Maximum length of the query string in a poll's key, in characters."""

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


def wanted_list() -> TournamentFilter:
    """Return the list selection in the query string; invalid values are ignored."""
    phase = request.args.get("state", "")
    return TournamentFilter(
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
    if is_wanted() and tournament.groups:
        return redirect(first_address(tournament, header), 303)
    if tournament.only_group is not None:
        group = tournament.only_group.slug
        return redirect(url_for("tournaments.ladder", slug=slug, group=group), 303)
    return choice_page(tournament)


def choice_page(tournament: TournamentView, token: str = "", error: str = "") -> str:
    """Return the page for choosing a group."""
    with one_reading() as reading:
        header = header_of(reading, tournament)
        teams = playing_teams(reading, tournament.id)
    phases = phases_of(header)
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
    if is_wanted():
        return screen_page(view, poll_address("tournaments.ladder_json", view))
    return ladder_page(view)


def ladder_page(view: LadderView, token: str = "", error: str = "") -> str:
    """Return the page of a ladder."""
    own = view.header.team
    return render_template(
        f"{TEMPLATES}/ladder.html",
        view=view,
        table_page=tournament_ladder.table_page(view.standings, tournament_ladder.wanted()),
        own_page=tournament_ladder.page_of(view.standings, own.team_id) if own else None,
        live=live_ladder(view, own),
        document=poll_address("tournaments.ladder_json", view),
        every=tournament_ladder.seconds_between_polls(view.standings),
        token_typed=token,
        error=error,
        **of_all_pages(view),
    )


def of_all_pages(view: LadderView) -> dict[str, Any]:
    """Return the template values common to all pages of a group."""
    return {"header": view.header, "group": view.group, "words": words}


def live_ladder(view: LadderView, own: TeamHolder | None) -> Markup:
    """Return the live part of a ladder page, with the user's own row marked."""
    part = tournament_ladder.table_page(view.standings, tournament_ladder.wanted())
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
        tag=view.tag,
        **of_all_pages(view),
    )


def poll_address(endpoint: str, view: LadderView, **more: Any) -> str:
    """Return the URL that a page polls."""
    group = view.group
    number = None if group.shows_last else group.round and group.round.number
    slug = view.standings.tournament.slug
    return url_for(endpoint, slug=slug, group=group.slug, round=number, **more)


def results_of_round(standings: GroupStandings) -> Markup | str:
    """Return the HTML of a round's results: a cross table, or the only match."""
    if standings.group.round is None or not standings.matches:
        return ""
    if standings.tournament.settings.plan == "pairs":
        macro = "cross" if tournament_ladder.has_cross_table(standings) else "latest"
    else:
        macro = "common"
    draw = get_template_attribute(f"{TEMPLATES}/round.html", macro)
    html: Markup = draw(standings, tournament_ladder, words)
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
        others=tournament_ladder.comparable(standings, row),
        compared=compared_rows(standings, row),
        every=tournament_ladder.seconds_between_polls(standings),
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
        tag=tournament_ladder.tag_of(tournament_ladder.team(standings, row.slug)),
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
    """Return the key of a poll: its parts, and the query string up to a maximum length."""
    return " ".join((*parts, request.query_string.decode("latin-1")[:LONGEST_QUERY]))


def is_for_page() -> bool:
    """Return whether a page requests its live part, rather than a program the JSON."""
    return request.args.get("html") == "1"


@routes.get("/t/<slug>/<group>/ladder.json")
def ladder_json(slug: str, group: str) -> Response:
    """Return a ladder for scripts."""
    key = poll_key("ladder", slug, group)
    return polls.answer_to_many(key, lambda: polled_ladder(slug, group))


def polled_ladder(slug: str, group: str) -> Polled:
    """Return a ladder as in the API, or with `html=1` as the public part of its page."""
    view = ladder_view(slug, group)
    if is_for_page():
        return Polled(view.tag, {"html": live_ladder(view, None)})
    next_at = view.next_at and tournament_ladder.iso_time(view.next_at)
    return Polled(view.tag, to_builtins(ladder_document(view)) | {"next_round_at": next_at})


@routes.get("/t/<slug>/<group>/<team>.json")
def team_json(slug: str, group: str, team: str) -> Response:
    """Return a team for scripts."""
    return polls.answer(poll_key("team", slug, group, team), lambda: polled_team(slug, group, team))


def polled_team(slug: str, group: str, team: str) -> Polled:
    """Return a team as JSON, or with `html=1` as the public part of its page."""
    view = ladder_view(slug, group, team)
    row = view.standings.by_slug[team]
    value = tournament_ladder.team(view.standings, team)
    tag = tournament_ladder.tag_of(value)
    return Polled(tag, {"html": live_team(view, row, None)} if is_for_page() else value)


@routes.get("/t/<slug>/events.json")
def events_json(slug: str) -> Response:
    """Return the next and the past events, for scripts."""
    return polls.answer(f"events {slug}", lambda: polled_events(slug))


def polled_events(slug: str) -> Polled:
    """Return the countdown for scripts, with the server's time, which does not affect the tag."""
    with one_reading() as reading:
        tournament = tournament_or_404(reading, slug)
        events = views.events_of(reading, tournament.id)
    now = resources().clock()
    value = tournament_ladder.events(views.countdown(events, now))
    return Polled(tournament_ladder.tag_of(value), tournament_ladder.with_time(now, value))


join_routes = Blueprint("joining", __name__)


@join_routes.post("/t/<slug>/join")
def join(slug: str) -> ResponseReturnValue:
    """Log this browser in as the team or host of the entered token."""
    token = request.form.get("token", "")
    with one_reading() as reading:
        tournament = tournament_or_404(reading, slug)
    try:
        with one_writing() as session:
            entered = login_cards.enter_by_card(session, tournament.id, token)
            home = home_group(session, entered.team_id) if entered.team_id else None
    except RefusedCard as error:
        if isinstance(error, UnknownCard):
            request_counts.note_wrong_card()
        return refusal_page(tournament, token, str(error))
    if entered.kind == "host":
        address = url_for("host.page", slug=slug)
    else:
        address = address_after_joining(tournament, tournament.by_id(home))
    return hold(redirect(address, 303), slug, entered)


def address_after_joining(tournament: TournamentView, home: GroupView | None) -> str:
    """Return a team's next URL; show a notice if it chose another group than its own."""
    slug = tournament.slug
    if home is None:
        return url_for("tournaments.choose", slug=slug)
    group = request.form.get("group", "")
    if group and group != home.slug:
        notice(f"Your team plays in {home.name}.", "plain")
    return url_for("tournaments.ladder", slug=slug, group=home.slug)


def refusal_page(tournament: TournamentView, token: str, error: str) -> ResponseReturnValue:
    """Return the page on which a login token was entered, with an error."""
    group = tournament.group(request.form.get("group", "")) or tournament.only_group
    if group is None:
        return choice_page(tournament, token[:100], error), 422
    return ladder_page(ladder_view(tournament.slug, group.slug), token[:100], error), 422


@join_routes.post("/t/<slug>/leave")
def leave(slug: str) -> ResponseReturnValue:
    """End the team's session in this browser, or with `as=host` the host's."""
    with one_reading() as reading:
        tournament = tournament_or_404(reading, slug)
    is_host = request.form.get("as") == "host"
    holder = actor().host(slug) if is_host else actor().team(slug)
    if holder is not None:
        with one_writing() as session:
            tickets.revoke_digest(session, holder.digest)
    answer = redirect(url_for("tournaments.choose", slug=tournament.slug), 303)
    return let_go(make_response(answer), "host" if is_host else "team", slug)


invited_routes = Blueprint("invited", __name__)

Result = TypeVar("Result")

FORMED: Final = "Your team takes part. Give its code to the people who are to join."
WAITS: Final = "The tournament is full: your team is on the waiting list."
JOINED: Final = "You are now in {}."
NO_INVITATION: Final = "This invitation is not known. Check the link or ask the host for a new one."


@dataclass(frozen=True, slots=True)
class Invited:
    """An invitation with its tournament."""

    invitation: InvitationView
    tournament: TournamentView


def invited(code: str) -> Invited:
    """Return the invitation with a code; for an unknown one, count a guess and abort with 404."""
    with one_reading() as reading:
        invitation = people.find_by_code(reading, code)
        tournament = invitation and views.find(reading, invitation.slug)
    if not invitation or not tournament:
        request_counts.note_wrong_link()
        abort(404, NO_INVITATION)
    return Invited(invitation, tournament)


@invited_routes.get("/join/<code>", endpoint="page")
def invitation(code: str) -> str:
    """Show the invitation, and how to take part."""
    return invitation_page(invited(code))


def invitation_page(to: Invited, errors: dict[str, str] | None = None) -> str:
    """Return the page of an invitation."""
    user = actor().user
    with one_reading() as reading:
        email = people.email_of(reading, user.user_id) if user else None
        guest = people.guest_named(reading, to.tournament.id, email)
    return render_template(
        "hub/competitions/tournament/invitation.html",
        invitation=to.invitation,
        tournament=to.tournament,
        groups=[group for group in to.tournament.groups if group.kind == "public"],
        team=actor().team(to.tournament.slug),
        proposed=guest.team if guest else "",
        errors=errors or {},
        typed=request.form,
    )


@invited_routes.post("/join/<code>/team")
@players_only
def form_team(code: str) -> ResponseReturnValue:
    """Form a team, with the current user as captain."""
    to, form = invited(code), request.form
    name, group = form.get("name", "")[:200], form.get("group", "")[:100]
    verb = partial(people.form_team, name=name, group=group)
    return taking_part(to, "name", verb, lambda plays: FORMED if plays else WAITS)


@invited_routes.post("/join/<code>/member")
@players_only
def join_team(code: str) -> ResponseReturnValue:
    """Join the team with the entered code."""
    verb = partial(people.join_team, code=request.form.get("code", "")[:40])
    return taking_part(invited(code), "code", verb, JOINED.format)


def taking_part(
    to: Invited, field: str, verb: Callable[..., Result], welcome: Callable[[Result], str]
) -> ResponseReturnValue:
    """Run a function that makes the user take part; welcome them, redirect to their team."""
    user = player()
    try:
        with one_writing() as session:
            about = (session, to.invitation, user.user_id)
            result = verb(*about)
    except UsageError as error:
        return invitation_page(to, {field: str(error)}), 422
    notice(welcome(result))
    return redirect_to(url_for("my_team.page", slug=to.tournament.slug))


@invited_routes.post("/t/<slug>/my-team/leave", endpoint="leave")
@players_only
def leave_team(slug: str) -> ResponseReturnValue:
    """Leave the team."""
    return acting(slug, people.leave, "You have left your team.", "tournaments.choose")


@invited_routes.post("/t/<slug>/my-team/rename")
@players_only
def rename(slug: str) -> ResponseReturnValue:
    """Rename the team."""
    name = request.form.get("name", "")[:200]
    return acting(slug, people.rename, "Your team has a new name.", "my_team.page", name)


def acting(
    slug: str, verb: Callable[..., Any], done: str, then: str, *values: Any
) -> ResponseReturnValue:
    """Run a member's action on a team, and show the result."""
    user = player()
    with one_reading() as reading:
        tournament = tournament_or_404(reading, slug)
    try:
        with one_writing() as session:
            about = (session, tournament.id, user.user_id, *values)
            verb(*about)
        notice(done)
    except UsageError as error:
        notice(str(error), "bad")
        then = "my_team.page"
    return redirect_to(url_for(then, slug=slug))
