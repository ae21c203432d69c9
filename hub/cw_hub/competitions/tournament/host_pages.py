"""A tournament host's pages, under `/t/<slug>/host`."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from tempfile import SpooledTemporaryFile
from typing import Any, Concatenate, Final, ParamSpec, TypeAlias, cast

from flask import (
    Blueprint,
    Response,
    abort,
    make_response,
    render_template,
    request,
    send_file,
    url_for,
)
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import MultiDict

from cw.errors import UsageError
from cw_hub.accounts.actor import actor
from cw_hub.accounts.forms import first_errors
from cw_hub.accounts.pages import redirect_to
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.forms import change_picture_of
from cw_hub.competitions.service import CompetitionFacts
from cw_hub.competitions.tournament import export as tournament_export
from cw_hub.competitions.tournament import people as tournament_people
from cw_hub.competitions.tournament import service, views
from cw_hub.competitions.tournament import teams as tournament_teams
from cw_hub.competitions.tournament.actions import ACTIONS, perform
from cw_hub.competitions.tournament.forms import EVENT_KINDS, text_of
from cw_hub.competitions.tournament.ladder import NO_TOURNAMENT, header_of, tournament_or_404
from cw_hub.competitions.tournament.settings import CHANGEABLE, FORMAT, HOSTINGS, stored_settings
from cw_hub.competitions.tournament.teams import BadLines, Card
from cw_hub.pages.forms import zone_named, zone_names
from cw_hub.pages.layout import notice
from cw_hub.pages.request import one_reading, resources

routes = Blueprint("host", __name__, url_prefix="/t/<slug>/host")

P = ParamSpec("P")

FOR_HOSTS: Final = "This page is for the host of the tournament."
IN_MEMORY: Final = 1_000_000
"""Maximum size in bytes of an export buffered in memory; larger ones use a file."""

Errors: TypeAlias = Mapping[str, str]
"""Error messages of a form, by field."""


def hosts_only(
    view: Callable[Concatenate[CompetitionFacts, P], ResponseReturnValue],
) -> Callable[..., ResponseReturnValue]:
    """Restrict a view to hosts: 403 for others, 404 if there is no such tournament."""

    @wraps(view)
    def guarded(slug: str, *args: P.args, **kwargs: P.kwargs) -> ResponseReturnValue:
        with one_reading() as reading:
            competition = competitions_service.find(reading, FORMAT, slug)
        if competition is None:
            abort(404, NO_TOURNAMENT)
        if not actor().is_host(slug):
            abort(403, FOR_HOSTS)
        return view(competition, *args, **kwargs)

    return guarded


def audit_name() -> str:
    """Return the current user's name for the audit log."""
    user = actor().user
    return "host" if user is None else user.username


# Pages


def render(
    template: str,
    competition: CompetitionFacts,
    part: str,
    errors: Errors | None = None,
    **values: Any,
) -> str:
    """Render a host page."""
    with one_reading() as reading:
        tournament = tournament_or_404(reading, competition.slug)
        header = header_of(reading, tournament, here="host")
    return render_template(
        f"hub/competitions/tournament/{template}",
        competition=competition,
        header=header,
        part=part,
        typed=request.form,
        errors=errors or {},
        **values,
    )


@routes.get("", endpoint="page")
@hosts_only
def page(competition: CompetitionFacts, errors: Errors | None = None) -> str:
    """Show the tournament's state and settings."""
    with one_reading() as reading:
        groups = views.groups_overview(reading, competition.id)
        matches = views.matches_overview(reading, competition.id)
        end = service.end_to_undo(reading, competition.id)
    return render(
        "host.html",
        competition,
        "page",
        errors,
        groups=groups,
        can_undo=end is not None,
        failed=sum(match.state == "failed" for match in matches),
        settings=stored_settings(competition.game, competition.settings),
        hostings=HOSTINGS,
        changeable=CHANGEABLE,
        buttons=[kind for kind, states in service.BUTTONS.items() if competition.state in states],
    )


@routes.get("/teams")
@hosts_only
def teams(
    competition: CompetitionFacts, errors: Errors | None = None, problems: Sequence[str] = ()
) -> str:
    """Show the teams with the available actions."""
    with one_reading() as reading:
        rows = views.teams_overview(reading, competition.id)
        groups = views.groups_overview(reading, competition.id)
        removed = tournament_teams.removed(reading, competition.id)
    rows = [row for row in rows if row.status != "removed"]
    ticked, nonce = set(request.form.getlist("team")), secrets.token_hex(16)
    values = {"teams": rows, "removed": removed, "groups": groups}
    values |= {"ticked": ticked, "nonce": nonce}
    return render("host_teams.html", competition, "teams", errors, problems=problems, **values)


@routes.get("/people")
@hosts_only
def people(competition: CompetitionFacts, errors: Errors | None = None) -> str:
    """Show the invitation, guests, teams that are not ready, and hosts."""
    with one_reading() as reading:
        values = {
            "invitation": tournament_people.find(reading, competition.id),
            "guests": tournament_people.guests(reading, competition.id),
            "readiness": tournament_people.teams(reading, competition.id),
            "hosts": tournament_people.hosts_of(reading, competition.id),
            "audiences": {
                audience: len(tournament_people.recipients(reading, competition.id, audience))
                for audience in tournament_people.SENT_TO
            },
        }
    address = resources().settings.address
    usual = (tournament_people.USUAL_TEAMS, tournament_people.USUAL_MEMBERS)
    return render(
        "host_people.html", competition, "people", errors, address=address, usual=usual, **values
    )


@routes.get("/events")
@hosts_only
def events(competition: CompetitionFacts, errors: Errors | None = None) -> str:
    """Show the events, and the form for a new one."""
    with one_reading() as reading:
        rows = views.events_overview(reading, competition.id)
        groups = views.groups_overview(reading, competition.id)
    values = {"events": rows, "groups": groups, "kinds": EVENT_KINDS}
    values |= {"zone": request.form.get("zone") or competition.zone, "zones": zone_names()}
    values |= {"local": lambda at: at.astimezone(zone_named(competition.zone))}
    return render("host_events.html", competition, "events", errors, **values)


@routes.get("/rounds")
@hosts_only
def rounds(competition: CompetitionFacts, errors: Errors | None = None) -> str:
    """Show running, queued and failed matches."""
    with one_reading() as reading:
        matches = views.matches_overview(reading, competition.id)
    return render("host_rounds.html", competition, "rounds", errors, matches=matches)


@routes.get("/log")
@hosts_only
def log(competition: CompetitionFacts) -> str:
    """Show the tournament's audit log."""
    with one_reading() as reading:
        rows = views.log_overview(reading, competition.id)
    return render("host_log.html", competition, "log", log=rows)


@routes.get("/export.zip")
@hosts_only
def export(competition: CompetitionFacts) -> ResponseReturnValue:
    """Send the exported tournament as a zip; `?replays=1` adds the replays."""
    # The server closes the file after sending it.
    file = cast(Any, SpooledTemporaryFile(IN_MEMORY))  # noqa: SIM115
    with one_reading() as reading:
        tournament_export.write_zip(reading, competition.id, file)
        if request.args.get("replays"):
            objects = resources().objects
            tournament_export.add_replays(reading, objects, competition.id, file)
    file.seek(0)
    name = f"{competition.slug}.zip"
    answer = send_file(file, "application/zip", as_attachment=True, download_name=name, max_age=0)
    answer.headers["Cache-Control"] = "no-store"
    return answer


# Forms


PAGES: Final[Mapping[str, Callable[..., ResponseReturnValue]]] = {
    "host.page": page,
    "host.teams": teams,
    "host.people": people,
    "host.events": events,
    "host.rounds": rounds,
}


@routes.post("/picture")
@hosts_only
def change_picture(competition: CompetitionFacts) -> ResponseReturnValue:
    """Set or remove the tournament's image; show errors in the form."""
    user = actor().user
    owner = str(user.user_id) if user else f"host of {competition.slug}"
    try:
        change_picture_of(competition, owner, audit_name())
    except UsageError as error:
        return refusal(competition, "host.page", {"picture": str(error)})
    return redirect_to(url_for("host.page", slug=competition.slug))


@routes.post("/<verb>")
@hosts_only
def post(competition: CompetitionFacts, verb: str) -> ResponseReturnValue:
    """Perform a form's action, or show its page with errors."""
    if verb not in ACTIONS:
        abort(404)
    action, hub = ACTIONS[verb], resources()
    form = action.form(values_sent(), now=hub.clock())
    if not form.validate():
        return refusal(competition, action.page, first_errors(form))
    values = form.arguments()
    try:
        with hub.database.writing(audit_name()) as session:
            if action.confirmation is not None:
                confirm(form["sure"].data, action.confirmation(session, competition, values))
            values |= action.of_site(hub.settings)
            result = perform(session, competition.id, action, values)
    except UsageError as error:
        problems = {"problems": error.problems} if isinstance(error, BadLines) else {}
        errors = {form.error_field or verb: str(error)}
        return refusal(competition, action.page, errors, **problems)
    if verb == "issue-tokens":
        return card_sheet(competition, result)
    notice(action.done if isinstance(action.done, str) else action.done(result))
    return redirect_to(url_for(action.page, slug=competition.slug))


def confirm(typed: str, expected: str) -> None:
    """Raise UsageError unless the host typed the expected text, which prevents accidents."""
    if typed.casefold() != expected.casefold():
        raise UsageError(f"Nothing has changed: to confirm, type {expected}, not {typed!r}.")


def values_sent() -> MultiDict[str, str]:
    """Return the submitted fields; an uploaded list is replaced by its text."""
    file = request.files.get("file")
    if not file:
        return request.form
    values = request.form.copy()
    values["file"] = text_of(file.read())
    return values


def refusal(
    competition: CompetitionFacts, endpoint: str, errors: Errors, **values: Any
) -> ResponseReturnValue:
    """Return the form's page with errors and status 422."""
    page = PAGES[endpoint](competition.slug, errors=errors, **values)
    return cast(str, page), 422


def card_sheet(competition: CompetitionFacts, issued: Sequence[Card]) -> Response:
    """Return the cards of new tokens, which cannot be shown again."""
    address = f"{resources().settings.address}/t/{competition.slug}/"
    values = tournament_teams.values_of(competition.title, address, issued)
    back = url_for("host.teams", slug=competition.slug)
    sheet: Response = make_response(
        render_template(tournament_teams.TEMPLATE, **values, style="", back=back)
    )
    sheet.headers["Cache-Control"] = "no-store"
    return sheet
