"""The settings pages: profile, avatar, password, account, access tokens, and unsubscribing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from functools import lru_cache
from typing import Final

from flask import Blueprint, Flask, abort, current_app, render_template, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup
from werkzeug.datastructures import MultiDict
from wtforms import Form

from cw.errors import UsageError
from cw_hub.accounts import administration, forms, mail, picture_uploads, tickets
from cw_hub.accounts import service as accounts_service
from cw_hub.accounts.actor import (
    actor,
    enter,
    leave,
    must_confirm,
    one_writing,
    player,
    players_only,
    players_only_json,
)
from cw_hub.accounts.pages import (
    LINK_EXPIRED,
    expired,
    is_open,
    is_password,
    note,
    passwords,
    redirect_to,
    send_soon,
)
from cw_hub.accounts.pages import routes as account_routes
from cw_hub.accounts.tickets import NewToken
from cw_hub.pages.layout import COUNTRIES, folder_of_flags, notice, show_once
from cw_hub.pages.request import one_reading, resources
from cw_hub.pages.request_counts import note_done
from cw_hub.pages.security import LARGEST_PICTURE

routes = Blueprint("settings", __name__, url_prefix="/settings")
token_routes = Blueprint("tokens", __name__, url_prefix="/settings/tokens")


def install(app: Flask, card: Callable[[int], Markup]) -> None:
    """Set the function that renders a user's card above the settings; install the image reader."""
    app.extensions["settings_card"] = card
    picture_uploads.install(app)


@routes.get("")
@players_only
def page() -> ResponseReturnValue:
    """Show the player's settings."""
    return show_with(None, {})


def values_of(settings: accounts_service.OwnSettings) -> MultiDict[str, str]:
    """Return the settings as form values."""
    return MultiDict(
        {
            "display_name": settings.profile.display_name or "",
            "country": settings.profile.country or "",
            "born": settings.born.isoformat() if settings.born else "",
        }
    )


def show_with(token_form: forms.TokenForm | None, errors: dict[str, str]) -> str:
    """Render the page with the current settings, a submitted token form, and errors."""
    settings = own_settings()
    return show(settings, profile_form(values_of(settings)), errors, token_form)


def own_settings() -> accounts_service.OwnSettings:
    """Return the player's private settings."""
    with one_reading() as reading:
        return accounts_service.own_settings(reading, player().user_id)


def profile_form(values: MultiDict[str, str]) -> forms.ProfileForm:
    """Return the profile form; a date of birth after today is invalid."""
    return forms.ProfileForm(values, today=resources().clock().astimezone(UTC).date())


def show(
    settings: accounts_service.OwnSettings,
    form: forms.ProfileForm,
    errors: dict[str, str],
    token_form: forms.TokenForm | None = None,
) -> str:
    """Render the page with submitted forms."""
    with one_reading() as reading:
        mine = tickets.of_user(reading, settings.profile.user_id)
    return render_template(
        "hub/accounts/settings.html",
        own=settings,
        card=current_app.extensions["settings_card"](settings.profile.user_id),
        form=form,
        errors=errors,
        tokens=mine,
        token_form=token_form or forms.TokenForm(data={"days": "30", "read": True}),
        valid_for=forms.VALID_FOR,
        options=country_options(form.country.data or ""),
        countries=COUNTRIES,
        flags=folder_of_flags(),
        earliest=forms.EARLIEST_BIRTH,
        change=forms.ChangePasswordForm(),
        delete_form=forms.DeleteForm(),
        github_form=forms.GitHubForm(),
        email_form=forms.EmailForm(data={"email": request.form.get("email", "")}),
        largest_picture=LARGEST_PICTURE,
        no_picture=forms.NO_PICTURE,
    )


def country_options(chosen: str) -> Markup:
    """Return the HTML options of countries with one selected, by default the first entry."""
    options = all_options()
    if chosen in COUNTRIES:
        options = options.replace(f'value="{chosen}"', f'value="{chosen}" selected', 1)
    return Markup(options)  # noqa: S704 - a template of ours has made it


@lru_cache
def all_options() -> str:
    """Return the HTML options of countries, rendered once: they are most of the page."""
    return render_template("hub/accounts/country_options.html", countries=COUNTRIES)


@routes.post("")
@players_only
def save() -> ResponseReturnValue:
    """Save display name, country and date of birth."""
    form = profile_form(request.form)
    if not form.validate():
        return show(own_settings(), form, forms.first_errors(form)), 422
    with one_writing() as writing:
        accounts_service.set_display_name(writing, player().user_id, form.display_name.data or None)
        accounts_service.save_profile(
            writing, player().user_id, form.country.data or None, form.born_on()
        )
    notice("Your settings were saved")
    return redirect_to(url_for("settings.page"))


@routes.post("/avatar")
@players_only
def change_avatar() -> ResponseReturnValue:
    """Set the player's avatar."""
    if must_confirm():
        notice(forms.CONFIRM_FIRST, "bad")
        return redirect_to(url_for("settings.page"))
    try:
        digest = picture_uploads.keep_upload(str(player().user_id))
    except UsageError as error:
        notice(str(error), "bad")
        return redirect_to(url_for("settings.page"))
    with one_writing() as writing:
        accounts_service.set_avatar(writing, player().user_id, digest)
    note_done()
    notice("Your profile picture was changed")
    return redirect_to(url_for("settings.page"))


@routes.post("/mails")
@players_only
def want_mails() -> ResponseReturnValue:
    """Save which news the player wants by email."""
    wanted = {"about_bots": "bots" in request.form, "from_hosts": "hosts" in request.form}
    with one_writing() as writing:
        accounts_service.want_mails(writing, player().user_id, **wanted)
    notice("Your settings were saved")
    return redirect_to(url_for("settings.page"))


@routes.post("/password")
@players_only_json
def change_password() -> ResponseReturnValue:
    """Change the password, given the old one; other sessions and all links are revoked."""
    form = forms.ChangePasswordForm(request.form)
    if not form.validate():
        return refuse(form)
    account = own_account()
    if not is_password(account, form.old_password.data or ""):
        return refuse(form, old_password=forms.WRONG_PASSWORD)
    hashed = passwords().hash(form.password.data or "")
    remembered = player().label == tickets.REMEMBERED
    try:
        with one_writing() as writing:
            ticket = accounts_service.change_password(
                writing, account, hashed, remembered=remembered
            )
    except accounts_service.Refused:
        return refuse(form, old_password=forms.WRONG_PASSWORD)
    enter(ticket, remembered=remembered)
    note("password changed", account.user_id)
    notice("Your password was changed successfully")
    return {"next": url_for("settings.page")}


@routes.post("/delete")
@players_only_json
def delete() -> ResponseReturnValue:
    """Delete the account, given its password."""
    form = forms.DeleteForm(request.form)
    account = own_account()
    if not is_password(account, form.password.data or ""):
        return refuse(form, password=forms.WRONG_PASSWORD)
    try:
        with one_writing() as writing:
            administration.delete_account(writing, account)
    except accounts_service.Refused:
        return refuse(form, password=forms.WRONG_PASSWORD)
    leave()
    note("account deleted", account.user_id)
    notice("Your account was deleted")
    return {"next": url_for("ranking.page")}


def own_account() -> accounts_service.Account:
    """Return the player's account, with its password hash."""
    with one_reading() as reading:
        account = accounts_service.find_account_of(reading, player().user_id)
    if account is None:
        raise accounts_service.NoSuchUser("the account has been deleted in the meantime")
    return account


def refuse(form: Form, **errors: str) -> ResponseReturnValue:
    """Return the errors by field, as JSON for a modal."""
    return {"errors": errors or forms.first_errors(form)}, 422


@token_routes.post("")
@players_only
def create() -> ResponseReturnValue:
    """Create a token if the password is right, and show it this one time."""
    form, user = forms.TokenForm(request.form), player()
    if not form.validate():
        return show_with(form, forms.first_errors(form)), 422
    account = own_account()
    if account.password_hash and not is_password(account, form.token_password.data or ""):
        return show_with(form, {"token_password": forms.WRONG_PASSWORD}), 422
    new = NewToken(form.token_name.data or "", form.scopes(), int(form.days.data or 0))
    try:
        with one_writing() as writing:
            token = tickets.create(writing, user.user_id, new)
    except tickets.TooManyTokens as error:
        return show_with(form, {"token_name": str(error)}), 422
    note_done()
    note("token created", user.user_id)
    return show_once(new.name, "Access token", token, url_for("settings.page"))


@token_routes.post("/<digest>/revoke")
@players_only
def revoke(digest: str) -> ResponseReturnValue:
    """Revoke one of the player's tokens."""
    user = player()
    with one_writing() as writing:
        done = tickets.revoke_token(writing, user.user_id, digest)
    if not done:
        abort(404, "There is no such token.")
    note("token revoked", user.user_id)
    notice("The token was revoked")
    return redirect_to(url_for("settings.page"))


news_routes = Blueprint("news", __name__)

NOT_OURS = "This link is incomplete. Turn emails off in your settings instead."


@news_routes.route("/unsubscribe/<ticket>", methods=["GET", "POST"])
def unsubscribe(ticket: str) -> ResponseReturnValue:
    """Ask whether to turn news off; a POST does so, with the link as its only token (RFC 8058).

    Opening the link changes nothing: security scanners open all links in emails.
    """
    hub = resources()
    subscription = mail.read_ticket(hub.secret_key, ticket)
    if subscription is None:
        abort(404, NOT_OURS)
    is_off = request.method == "POST"
    if is_off:
        with one_writing() as session:
            mail.turn_off(session, subscription)
    about = mail.CHOICES[subscription.kind].about
    return render_template("hub/accounts/unsubscribe.html", about=about, is_off=is_off)


email_pages_routes: Final = (account_routes, routes)
"""The confirmation link is an account page, the form a settings page."""

SENT: Final = "We sent a link to {email}. Open it within a day to confirm the address."
"""The text is the same if another account has this email address, so as not to reveal it."""
THE_SAME: Final = "This is already your address"


@routes.post("/email")
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
    for mail_id in mails:
        send_soon(mail_id)
    note("new address asked for", player().user_id)
    notice(SENT.format(email=email))
    return redirect_to(url_for("settings.page"))


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
    return redirect_to(url_for("settings.page" if actor().user else "account.login"))
