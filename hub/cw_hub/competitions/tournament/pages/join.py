"""Joining and leaving a tournament with a login token."""

from __future__ import annotations

from flask import Blueprint, make_response, redirect, request, url_for
from flask.typing import ResponseReturnValue

from cw_hub.accounts.access import cards, tickets
from cw_hub.accounts.access.actor import actor, hold, let_go
from cw_hub.accounts.access.cards import RefusedCard, UnknownCard
from cw_hub.competitions.tournament.pages.header import tournament_or_404
from cw_hub.competitions.tournament.pages.ladder import choice_page, ladder_page
from cw_hub.competitions.tournament.pages.ladder_view import ladder_view
from cw_hub.competitions.tournament.views import GroupView, TournamentView, home_group
from cw_hub.pages import limiter
from cw_hub.pages.parts import notice
from cw_hub.pages.request import one_reading, resources

routes = Blueprint("joining", __name__)


@routes.post("/t/<slug>/join")
def join(slug: str) -> ResponseReturnValue:
    """Log this browser in as the team or host of the entered token."""
    token, hub = request.form.get("token", ""), resources()
    with one_reading() as reading:
        tournament = tournament_or_404(reading, slug)
    try:
        with hub.database.writing() as session:
            entered = cards.enter_by_card(session, hub.clock, tournament.id, token)
            home = home_group(session, entered.team_id) if entered.team_id else None
    except RefusedCard as error:
        if isinstance(error, UnknownCard):
            limiter.note_wrong_card()
        return refusal_page(tournament, token, str(error))
    if entered.kind == "host":
        address = url_for("host.page", slug=slug)
    else:
        address = address_after_joining(tournament, tournament.by_id(home))
    return hold(redirect(address, 303), slug, entered)


def address_after_joining(tournament: TournamentView, home: GroupView | None) -> str:
    """Return a team's next page; show a notice if it chose another group than its own."""
    slug = tournament.slug
    if home is None:
        return url_for("tournaments.choose", slug=slug)
    group = request.form.get("group", "")
    if group and group != home.slug:
        notice(f"Your team plays in {home.name}.", "plain")
    return url_for("tournaments.ladder", slug=slug, group=home.slug)


def refusal_page(tournament: TournamentView, token: str, error: str) -> ResponseReturnValue:
    """Return the page from which a login token was sent, with an error."""
    group = tournament.group(request.form.get("group", "")) or tournament.only_group
    if group is None:
        return choice_page(tournament, token[:100], error), 422
    return ladder_page(ladder_view(tournament.slug, group.slug), token[:100], error), 422


@routes.post("/t/<slug>/leave")
def leave(slug: str) -> ResponseReturnValue:
    """End the team's session in this browser, or with `as=host` the host's."""
    with one_reading() as reading:
        tournament = tournament_or_404(reading, slug)
    hub = resources()
    is_host = request.form.get("as") == "host"
    holder = actor().host(slug) if is_host else actor().team(slug)
    if holder is not None:
        with hub.database.writing() as session:
            tickets.revoke_digest(session, holder.digest)
    answer = redirect(url_for("tournaments.choose", slug=tournament.slug), 303)
    return let_go(make_response(answer), "host" if is_host else "team", slug)
