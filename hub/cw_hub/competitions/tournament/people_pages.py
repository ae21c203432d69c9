"""The invitation page, and the actions of team members."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue

from cw.errors import UsageError
from cw_hub.accounts.actor import actor, one_writing, player, players_only
from cw_hub.accounts.pages import go
from cw_hub.competitions.tournament import people, views
from cw_hub.competitions.tournament.ladder import tournament_or_404
from cw_hub.competitions.tournament.people import InvitationView
from cw_hub.competitions.tournament.views import TournamentView
from cw_hub.pages import limiter
from cw_hub.pages.layout import notice
from cw_hub.pages.request import one_reading

routes = Blueprint("invited", __name__)

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
        limiter.note_wrong_link()
        abort(404, NO_INVITATION)
    return Invited(invitation, tournament)


@routes.get("/join/<code>")
def page(code: str) -> str:
    """Show the invitation, and how to take part."""
    return render(invited(code))


def render(to: Invited, errors: dict[str, str] | None = None) -> str:
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


@routes.post("/join/<code>/team")
@players_only
def form_team(code: str) -> ResponseReturnValue:
    """Form a team, with the current user as captain."""
    to, form = invited(code), request.form
    name, group = form.get("name", "")[:200], form.get("group", "")[:100]
    verb = partial(people.form_team, name=name, group=group)
    return taking_part(to, "name", verb, lambda plays: FORMED if plays else WAITS)


@routes.post("/join/<code>/member")
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
        return render(to, {field: str(error)}), 422
    notice(welcome(result))
    return go(url_for("my_team.page", slug=to.tournament.slug))


@routes.post("/t/<slug>/my-team/leave")
@players_only
def leave(slug: str) -> ResponseReturnValue:
    """Leave the team."""
    return acting(slug, people.leave, "You have left your team.", "tournaments.choose")


@routes.post("/t/<slug>/my-team/rename")
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
    return go(url_for(then, slug=slug))
