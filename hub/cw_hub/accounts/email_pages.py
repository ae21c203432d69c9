"""Views for changing the email address: the settings form, and the confirmation link."""

from __future__ import annotations

from typing import Final

from flask import render_template, request, url_for
from flask.typing import ResponseReturnValue

from cw_hub.accounts import forms
from cw_hub.accounts import service as accounts_service
from cw_hub.accounts.actor import actor, player, players_only
from cw_hub.accounts.pages import (
    LINK_EXPIRED,
    expired,
    go,
    is_open,
    is_password,
    note,
    send_soon,
)
from cw_hub.accounts.pages import routes as account_routes
from cw_hub.accounts.settings_pages import own_account, own_settings, show_with
from cw_hub.accounts.settings_pages import routes as settings_routes
from cw_hub.pages.layout import notice
from cw_hub.pages.limiter import note_done
from cw_hub.pages.request import resources

routes: Final = (account_routes, settings_routes)
"""The confirmation link is an account page, the form a settings page."""

SENT: Final = "We sent a link to {email}. Open it within a day to confirm the address."
"""The text is the same if another account has this email address, so as not to reveal it."""
THE_SAME: Final = "This is already your address"


@settings_routes.post("/email")
@players_only
def change_email() -> ResponseReturnValue:
    """Send a link to the new email address if the password is right, and notify the old one."""
    form, hub = forms.EmailForm(request.form), resources()
    errors = {} if form.validate() else forms.first_errors(form)
    own, account = own_settings(), own_account()
    email = form.email.data or ""
    if not errors and email == (own.email or "") and own.is_confirmed:
        errors = {"email": THE_SAME}
    if not errors and own.has_password and not is_password(account, form.password.data or ""):
        errors = {"password": forms.WRONG_PASSWORD}
    if errors:
        return show_with(None, errors), 422
    with hub.database.writing() as writing:
        mails = accounts_service.ask_for_email(writing, player().user_id, email)
    note_done()
    for mail in mails:
        send_soon(mail)
    note("new address asked for", player().user_id)
    notice(SENT.format(email=email))
    return go(url_for("settings.page"))


@account_routes.route("/email/<ticket>", methods=["GET", "POST"])
def confirm_email(ticket: str) -> ResponseReturnValue:
    """Change the email address to the one that the link was sent to."""
    hub = resources()
    if request.method == "GET":
        page = render_template("hub/accounts/verify.html")
        return page if is_open("email", ticket) else expired(LINK_EXPIRED)
    try:
        with hub.database.writing() as writing:
            user_id = accounts_service.change_email(writing, ticket)
    except accounts_service.LinkExpired:
        return expired(LINK_EXPIRED)
    note("address changed", user_id)
    notice("Your email address was changed")
    return go(url_for("settings.page" if actor().user else "account.login"))
