"""Access tokens on the Settings page: made, shown once, revoked."""

from __future__ import annotations

from flask import Blueprint, abort, request, url_for
from flask.typing import ResponseReturnValue

from cw.hub.pages import forms, settings
from cw.hub.pages.account import go, note
from cw.hub.pages.actor import player, players_only, resources
from cw.hub.pages.layout import notice, show_once
from cw.hub.services import tokens
from cw.hub.services.tokens import NewToken

routes = Blueprint("tokens", __name__, url_prefix="/settings/tokens")


@routes.post("")
@players_only
def create() -> ResponseReturnValue:
    """Make a token and show it: this once."""
    form, held, user = forms.TokenForm(request.form), resources(), player()
    if not form.validate():
        return settings.show_with(form, forms.first_errors(form)), 422
    new = NewToken(form.token_name.data or "", form.scopes(), int(form.days.data or 0))
    try:
        with held.database.writing() as writing:
            made = tokens.create(writing, held.clock, user.user_id, new, user.username)
    except tokens.TooManyTokens as error:
        return settings.show_with(form, {"token_name": str(error)}), 422
    note("token created", user.user_id)
    return show_once(new.name, "Access token", made, url_for("settings.page"))


@routes.post("/<digest>/revoke")
@players_only
def revoke(digest: str) -> ResponseReturnValue:
    """End a token of the player."""
    held, user = resources(), player()
    with held.database.writing() as writing:
        done = tokens.revoke(writing, held.clock, user.user_id, digest, user.username)
    if not done:
        abort(404, "There is no such token.")
    note("token revoked", user.user_id)
    notice("The token was revoked")
    return go(url_for("settings.page"))
