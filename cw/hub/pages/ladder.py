"""Tournaments of teams: their sandboxes, ladders, teams and events; how a team joins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final, cast

from flask import (
    Blueprint,
    Flask,
    Response,
    abort,
    current_app,
    get_template_attribute,
    json,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from cw.hub.pages import ladder_words, limits, polls
from cw.hub.pages.actor import actor, hold, let_go, one_reading, resources
from cw.hub.pages.ladder_bar import Bar, bar_of, group_of, said_at, tournament_of
from cw.hub.pages.ladder_words import neat
from cw.hub.pages.layout import notice
from cw.hub.pages.polls import Polled
from cw.hub.pages.remembered import Remembered
from cw.hub.services import ladder_standings, tickets, tournament_views
from cw.hub.services.ladder_standings import EntryView, Meeting, Standings
from cw.hub.services.tickets import RefusedCard, UnknownCard
from cw.hub.services.tournament_views import GroupView, TournamentView
from cw.league.ladder import Phase
from cw.web.game_pages import game_page

routes = Blueprint("tournaments", __name__)

MOST_COMPARED: Final = 5
"""Teams that can be compared with one."""

MOST_KEPT: Final = 200
"""Ladders that a process remembers."""

LARGEST_ROUND: Final = 10**9
NO_TEAM: Final = "There is no such team."


# What is shown of a sandbox


@dataclass(frozen=True, slots=True)
class Ladder:
    """The ladder of a sandbox as its pages show it."""

    bar: Bar
    standings: Standings
    phase: Phase
    next_at: datetime | None
    """When the next round begins; None if that is not known."""

    @property
    def group(self) -> GroupView:
        """The sandbox."""
        return self.standings.group

    @property
    def lines(self) -> list[str]:
        """What stands above the ladder."""
        if not self.group.shows_last:
            return [ladder_words.round_words(self.standings)]
        pause = tournament_views.pause_of(self.group, self.bar.events)
        now = resources().clock()
        return ladder_words.top_line(self.standings, self.phase, pause, self.next_at, now)


def install(app: Flask) -> None:
    """Let an app remember ladders."""
    app.extensions["ladders"] = Remembered[Standings](MOST_KEPT)


def wanted_round() -> int | None:
    """Return the number of the round that is asked for; answer 404 for what is none."""
    text = request.args.get("round", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and 0 < int(text[:10]) <= LARGEST_ROUND):
        abort(404, "There is no such round.")
    return int(text)


def ladder_of(slug: str, group_slug: str, team: str | None = None) -> Ladder:
    """Return the ladder that is asked for, with the matches of all teams or of one."""
    number = wanted_round()
    with one_reading() as reading:
        tournament = tournament_of(reading, slug, group_slug, number)
        group = group_of(tournament, group_slug, number)
        bar = bar_of(reading, tournament, group, "ladder")
        phase = tournament_views.phase_of(group, bar.events, resources().clock())
        kept = cast("Remembered[Standings]", current_app.extensions["ladders"])
        standings = kept.find(
            (group.id, number, team, phase, group.mark),
            lambda: ladder_standings.of_group(reading, tournament, group, phase, team),
        )
    if team is not None and team not in standings.by_slug:
        abort(404, NO_TEAM)
    return Ladder(bar, standings, phase, next_round_at(tournament, group, phase))


def next_round_at(tournament: TournamentView, group: GroupView, phase: Phase) -> datetime | None:
    """Return when the next round of a sandbox begins; None if that is open."""
    last, every = group.round, tournament.settings.round_every
    if phase != "running" or last is None or group.is_open or not group.shows_last or not every:
        return None
    return last.opened_at + timedelta(seconds=every)


# Pages


@routes.get("/t/")
def index() -> str:
    """Show the tournaments that are told of."""
    with one_reading() as reading:
        listed = tournament_views.listing(reading)
    games = {one.game: game_page(one.game).title for one in listed}
    return render_template("hub/ladder_index.html", listed=listed, games=games)


@routes.get("/t/<slug>/")
def choose(slug: str) -> ResponseReturnValue:
    """Let a sandbox be chosen; where there is but one, lead there."""
    with one_reading() as reading:
        tournament = tournament_of(reading, slug)
    if len(tournament.groups) == 1:
        only = tournament.groups[0].slug
        return redirect(url_for("tournaments.ladder", slug=slug, group=only), 303)
    return choice_page(tournament)


def choice_page(tournament: TournamentView, token: str = "", error: str = "") -> str:
    """Return the page on which a sandbox is chosen."""
    with one_reading() as reading:
        bar = bar_of(reading, tournament)
        members = tournament_views.members(reading, tournament.id)
    now = resources().clock()
    phases = {
        group.id: tournament_views.phase_of(group, bar.events, now) for group in tournament.groups
    }
    return render_template(
        "hub/ladder_choose.html",
        bar=bar,
        phases=phases,
        phase_words=ladder_words.PHASES,
        opens=ladder_words.OPENS,
        members=members,
        token_typed=token,
        error=error,
    )


@routes.get("/t/<slug>/<group>/")
def ladder(slug: str, group: str) -> str:
    """Show the ladder of a sandbox."""
    return ladder_page(ladder_of(slug, group))


def ladder_page(shown: Ladder, token: str = "", error: str = "") -> str:
    """Return the page of a ladder."""
    entries = shown.standings.entries
    return render_template(
        "hub/ladder.html",
        bar=shown.bar,
        shown=shown,
        group=shown.group,
        competing=[one for one in entries if one.competes],
        outside=[one for one in entries if one.is_out and one.status == "playing"],
        disqualified=[one for one in entries if one.status == "disqualified"],
        withdrawn=[one for one in entries if one.status == "withdrawn"],
        last=last_closed(shown),
        cross=cross_table(shown),
        renew=poll_address("tournaments.ladder_json", shown),
        tag=tag_of(ladder_document(shown)),
        words=ladder_words,
        token_typed=token,
        error=error,
    )


def last_closed(shown: Ladder) -> int:
    """Return the number of the last round that is closed, 0 if there is none."""
    group = shown.group
    return group.rounds - group.is_open


def poll_address(endpoint: str, shown: Ladder, team: str | None = None) -> str:
    """Return the address that a page polls."""
    named: dict[str, Any] = {} if team is None else {"team": team}
    number = None if shown.group.shows_last else shown.group.round and shown.group.round.number
    tournament, group = shown.standings.tournament.slug, shown.group.slug
    return url_for(endpoint, slug=tournament, group=group, round=number, **named)


def cross_table(shown: Ladder) -> Markup | str:
    """Return the HTML of who has made what of whom in a round, or of the match of all."""
    standings = shown.standings
    if standings.group.round is None or not standings.meetings:
        return ""
    name = "cross" if standings.tournament.settings.plan == "pairs" else "common"
    draw = get_template_attribute("hub/ladder_round.html", name)
    met = {
        (team, opponent): (meeting, slot)
        for meeting in standings.meetings
        for slot, team in enumerate(meeting.teams)
        for opponent in meeting.teams
        if team != opponent
    }
    drawn: Markup = draw(standings, met, ladder_words)
    return drawn


@routes.get("/t/<slug>/<group>/<team>")
def team(slug: str, group: str, team: str) -> str:
    """Show a team: its points after each round, and its results in one of them."""
    shown = ladder_of(slug, group, team)
    standings = shown.standings
    entry = standings.by_slug[team]
    compared = [standings.by_slug[name] for name in wanted_teams(standings, entry)]
    return render_template(
        "hub/ladder_team.html",
        bar=shown.bar,
        shown=shown,
        standings=standings,
        group=shown.group,
        its=entry,
        results=standings.of_team(entry.team_id),
        share=neat(standings.share(entry.team_id)),
        compared=compared,
        totals=totals_of([entry, *compared], last_closed(shown)),
        renew=poll_address("tournaments.team_json", shown, team=team),
        tag=tag_of(team_document(shown, team)),
        most=MOST_COMPARED,
        words=ladder_words,
    )


def wanted_teams(standings: Standings, entry: EntryView) -> list[str]:
    """Return the teams that one is to be compared with."""
    wanted = dict.fromkeys(request.args.getlist("with"))
    known = [one for one in wanted if one in standings.by_slug and one != entry.slug]
    return known[:MOST_COMPARED]


def totals_of(entries: list[EntryView], last: int) -> list[tuple[int, list[float | int]]]:
    """Return the points of teams after each round, and before the first."""
    gained = [{score.number: score.points for score in one.history} for one in entries]
    sums, rows = [0.0] * len(entries), []
    for number in range(last + 1):
        sums = [have + more.get(number, 0) for have, more in zip(sums, gained, strict=True)]
        rows.append((number, [neat(total) for total in sums]))
    return rows


@routes.get("/t/<slug>/events")
def events(slug: str) -> str:
    """Show what has happened, and what is announced."""
    with one_reading() as reading:
        tournament = tournament_of(reading, slug)
        bar = bar_of(reading, tournament, here="events")
    coming = [one for one in bar.events if one.applied_at is None and one.announced]
    return render_template("hub/ladder_events.html", bar=bar, coming=coming)


# What scripts poll


def tag_of(value: Any) -> str:
    """Return what differs whenever a value does."""
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:24]


def asked(name: str, *parts: str) -> str:
    """Return the key of what is polled."""
    return " ".join((name, *parts, request.args.get("round", "")[:10]))


@routes.get("/t/<slug>/<group>/ladder.json")
def ladder_json(slug: str, group: str) -> Response:
    """Return a ladder for scripts; 304 if nothing has changed."""
    return polls.answer(asked("ladder", slug, group), lambda: polled_ladder(slug, group))


def polled_ladder(slug: str, group: str) -> Polled:
    """Return what the page of a ladder asks again and again."""
    value = ladder_document(ladder_of(slug, group))
    return Polled(tag_of(value), value)


def ladder_document(shown: Ladder) -> dict[str, Any]:
    """Return a ladder for scripts."""
    return {
        "group": shown.group.slug,
        "phase": shown.phase,
        "round": round_document(shown),
        "next_round_at": None if shown.next_at is None else said_at(shown.next_at),
        "entries": [entry_document(one, last_closed(shown)) for one in shown.standings.entries],
    }


def round_document(shown: Ladder) -> dict[str, Any] | None:
    """Return a round for scripts."""
    shown_round, standings = shown.group.round, shown.standings
    if shown_round is None:
        return None
    return {
        "number": shown_round.number,
        "board": shown_round.board.name,
        "factor": shown_round.board.factor,
        "played": standings.played,
        "matches": len(standings.meetings),
    }


def entry_document(entry: EntryView, last: int) -> dict[str, Any]:
    """Return a row of a ladder for scripts."""
    return {
        "place": entry.place,
        "team": entry.name,
        "slug": entry.slug,
        "points": neat(entry.points),
        "last_round": neat(entry.points_of(last)),
        "change": entry.change or 0,
        "won": entry.won,
        "drawn": entry.drawn,
        "lost": entry.lost,
        "status": entry.status,
    }


@routes.get("/t/<slug>/<group>/<team>.json")
def team_json(slug: str, group: str, team: str) -> Response:
    """Return a team for scripts; 304 if nothing has changed."""
    return polls.answer(asked("team", slug, group, team), lambda: polled_team(slug, group, team))


def polled_team(slug: str, group: str, team: str) -> Polled:
    """Return what the page of a team asks again and again."""
    value = team_document(ladder_of(slug, group, team), team)
    return Polled(tag_of(value), value)


def team_document(shown: Ladder, team: str) -> dict[str, Any]:
    """Return a team for scripts."""
    standings = shown.standings
    entry = standings.by_slug[team]
    return {
        "team": entry.name,
        "place": entry.place,
        "points": neat(entry.points),
        "history": [
            {
                "round": score.number,
                "points": neat(score.points),
                "total": neat(score.total),
                "place": score.position,
            }
            for score in entry.history
        ],
        "round": team_round(shown),
        "results": [
            result_document(standings, meeting, slot)
            for meeting, slot in standings.of_team(entry.team_id)
        ],
    }


def team_round(shown: Ladder) -> dict[str, Any] | None:
    """Return the round of a team's results; how many all teams have played is not told there."""
    said = round_document(shown)
    return said and {key: said[key] for key in ("number", "board", "factor")}


def result_document(standings: Standings, meeting: Meeting, slot: int) -> dict[str, Any]:
    """Return a match for scripts, as one of its teams sees it."""
    slugs = [standings.by_id[team].slug for team in meeting.teams if team in standings.by_id]
    said: dict[str, Any] = {
        "match": meeting.match_id,
        "state": meeting.state,
        "points": dict(zip(slugs, standings.points(meeting), strict=False)),
    }
    if len(meeting.teams) != 2:
        ranks = meeting.battles[-1].ranks if meeting.counts and meeting.battles else ()
        common = {"first": None, "second": None, "position": None, "outcome": None}
        ranked = dict(zip(slugs, ranks, strict=False))
        return said | common | {"result": None, "ranks": ranked, "games": []}
    return said | {
        "first": slugs[0],
        "second": slugs[-1],
        "position": standings.position(meeting.teams[1 - slot]),
        "outcome": standings.outcome(meeting, slot),
        "result": str(standings.result(meeting)) if meeting.counts else None,
        "games": games_of(standings, meeting),
    }


def games_of(standings: Standings, meeting: Meeting) -> list[str]:
    """Return how the games of a match ended, in words."""
    if not meeting.counts:
        return []
    return [ladder_words.game_words(standings, meeting, one) for one in meeting.battles]


@routes.get("/t/<slug>/events.json")
def events_json(slug: str) -> Response:
    """Return the next event and those that have occurred; 304 if nothing has changed."""
    return polls.answer(f"events {slug}", lambda: polled_events(slug))


def polled_events(slug: str) -> Polled:
    """Return what the counter asks; what is not announced has no title."""
    with one_reading() as reading:
        tournament = tournament_of(reading, slug)
        known = tournament_views.events(reading, tournament.id)
    now = resources().clock()
    told = tournament_views.countdown(known, now)
    coming = told.next
    value: Mapping[str, Any] = {
        "next": coming
        and {"at": said_at(coming.at), "title": coming.title if coming.announced else None},
        "past": [
            {"at": said_at(one.applied_at or one.at), "title": one.title, "text": one.text}
            for one in told.past
        ],
        "over": told.is_over,
        "preparing": told.is_preparing,
    }
    return Polled(tag_of(value), {"now": said_at(now), **value})


# Joining


@routes.post("/t/<slug>/join")
def join(slug: str) -> ResponseReturnValue:
    """Let this browser act for the team, or the host, whose login token was entered."""
    token, held = request.form.get("token", ""), resources()
    with one_reading() as reading:
        tournament = tournament_of(reading, slug)
    try:
        with held.database.writing() as session:
            entered = tickets.enter_by_card(session, held.clock, tournament.id, token)
            home = entered.team_id and tournament_views.group_of_team(session, entered.team_id)
    except RefusedCard as error:
        if isinstance(error, UnknownCard):
            limits.note_wrong_card()
        return refused_page(tournament, token, str(error))
    if entered.kind == "host":
        to = f"{url_for('tournaments.choose', slug=slug)}host"
    else:
        to = lead_home(tournament, tournament.by_id(home or None))
    return hold(redirect(to, 303), slug, entered)


def lead_home(tournament: TournamentView, home: GroupView | None) -> str:
    """Return where a team that has joined goes on; say so if it has chosen another sandbox."""
    slug = tournament.slug
    if home is None:
        return url_for("tournaments.choose", slug=slug)
    chosen = request.form.get("group", "")
    if chosen and chosen != home.slug:
        notice(f"Your team plays in {home.name}.", "plain")
    return url_for("tournaments.ladder", slug=slug, group=home.slug)


def refused_page(tournament: TournamentView, token: str, error: str) -> ResponseReturnValue:
    """Return the page from which a login token was sent, with what is wrong with it."""
    group = tournament.group(request.form.get("group", ""))
    if group is None and len(tournament.groups) == 1:
        group = tournament.groups[0]
    if group is None:
        return choice_page(tournament, token[:100], error), 422
    return ladder_page(ladder_of(tournament.slug, group.slug), token[:100], error), 422


@routes.post("/t/<slug>/leave")
def leave(slug: str) -> ResponseReturnValue:
    """End the session of the team in this browser, or with `as` that of the host."""
    with one_reading() as reading:
        tournament = tournament_of(reading, slug)
    held = resources()
    kind = "host" if request.form.get("as") == "host" else "team"
    holder = actor().host(slug) if kind == "host" else actor().team(slug)
    if holder is not None:
        with held.database.writing() as session:
            tickets.revoke_digest(session, holder.digest)
    left = redirect(url_for("tournaments.choose", slug=tournament.slug), 303)
    return let_go(make_response(left), "host" if kind == "host" else "team", slug)
