"""The Settings page: what players say of themselves, their picture, password and account."""

from __future__ import annotations

from datetime import UTC
from functools import lru_cache

from flask import Blueprint, render_template, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup
from werkzeug.datastructures import MultiDict
from wtforms import Form

from cw.errors import UsageError
from cw.hub.pages import forms
from cw.hub.pages.account import go, is_password, note, passwords
from cw.hub.pages.actor import (
    enter,
    leave,
    one_reading,
    player,
    players_only,
    players_only_json,
    resources,
)
from cw.hub.pages.countries import COUNTRIES
from cw.hub.pages.layout import notice
from cw.hub.pages.security import LARGEST_PICTURE
from cw.hub.services import avatars, grader_bots, people, tickets, tokens

routes = Blueprint("settings", __name__, url_prefix="/settings")


@routes.get("")
@players_only
def page() -> ResponseReturnValue:
    """Show what the player has set."""
    return show_with(None, {})


def values_of(own: people.OwnSettings) -> MultiDict[str, str]:
    """Return what is set, as the form has it."""
    return MultiDict(
        {
            "display_name": own.profile.display_name or "",
            "country": own.profile.country or "",
            "born": own.born.isoformat() if own.born else "",
        }
    )


def show_with(token_form: forms.TokenForm | None, errors: dict[str, str]) -> str:
    """Return the page with what is set, and a form of it as it was filled."""
    own = own_settings()
    return show(own, profile_form(values_of(own)), errors, token_form)


def own_settings() -> people.OwnSettings:
    """Return what the player alone may see."""
    with one_reading() as reading:
        return people.own_settings(reading, player().user_id)


def profile_form(values: MultiDict[str, str]) -> forms.ProfileForm:
    """Return the form; nobody is born after today."""
    return forms.ProfileForm(values, today=resources().clock().astimezone(UTC).date())


def show(
    own: people.OwnSettings,
    form: forms.ProfileForm,
    errors: dict[str, str],
    token_form: forms.TokenForm | None = None,
) -> str:
    """Return the page with forms as they were filled."""
    held = resources()
    with held.database.reading() as reading:
        bot = grader_bots.find(reading, own.profile.user_id)
        mine = tokens.of_user(reading, held.clock, own.profile.user_id)
    return render_template(
        "hub/settings.html",
        own=own,
        bot=bot,
        form=form,
        errors=errors,
        tokens=mine,
        token_form=token_form or forms.TokenForm(data={"days": "30", "read": True}),
        valid_for=forms.VALID_FOR,
        options=country_options(form.country.data or ""),
        earliest=forms.EARLIEST_BIRTH,
        change=forms.ChangePasswordForm(),
        delete_form=forms.DeleteForm(),
        largest_picture=LARGEST_PICTURE,
        no_picture=forms.NO_PICTURE,
    )


def country_options(chosen: str) -> Markup:
    """Return the list of countries, with one chosen; without one the first entry is."""
    options = all_options()
    if chosen in COUNTRIES:
        options = options.replace(f'value="{chosen}"', f'value="{chosen}" selected', 1)
    return Markup(options)  # noqa: S704 - a template of ours has made it


@lru_cache
def all_options() -> str:
    """Return the list of countries, made once: it is most of the page."""
    return render_template("hub/country_options.html", countries=COUNTRIES)


@routes.post("")
@players_only
def save() -> ResponseReturnValue:
    """Keep display name, country and date of birth."""
    form = profile_form(request.form)
    if not form.validate():
        return show(own_settings(), form, forms.first_errors(form)), 422
    with resources().database.writing() as writing:
        people.set_display_name(writing, player().user_id, form.display_name.data or None)
        people.save_profile(writing, player().user_id, form.country.data or None, form.born_on())
    notice("Your settings were saved")
    return go(url_for("settings.page"))


@routes.post("/avatar")
@players_only
def change_avatar() -> ResponseReturnValue:
    """Take a picture in and show it from now on."""
    sent = request.files.get("picture")
    try:
        picture = avatars.make_avatar(sent.read(LARGEST_PICTURE + 1) if sent else b"")
    except UsageError:
        notice(forms.NO_PICTURE, "bad")
        return go(url_for("settings.page"))
    digest = avatars.digest_of(picture)
    resources().objects.put_new(avatars.key_of(digest), picture)
    with resources().database.writing() as writing:
        people.set_avatar(writing, player().user_id, digest)
    notice("Your profile picture was changed")
    return go(url_for("settings.page"))


@routes.post("/password")
@players_only_json
def change_password() -> ResponseReturnValue:
    """Change the password with the old one; other sessions and all links end."""
    form = forms.ChangePasswordForm(request.form)
    if not form.validate():
        return refuse(form)
    account = own_account()
    if not is_password(account, form.old_password.data or ""):
        return refuse(form, old_password=forms.WRONG_PASSWORD)
    held = resources()
    hashed = passwords().hash(form.password.data or "")
    remembered = player().label == tickets.REMEMBERED
    try:
        with held.database.writing() as writing:
            ticket = people.change_password(
                writing, held.clock, account, hashed, remembered=remembered
            )
    except people.Refused:
        return refuse(form, old_password=forms.WRONG_PASSWORD)
    enter(ticket, remembered=remembered)
    note("password changed", account.user_id)
    notice("Your password was changed successfully")
    return {"next": url_for("settings.page")}


@routes.post("/delete")
@players_only_json
def delete() -> ResponseReturnValue:
    """Delete the account with its password."""
    form = forms.DeleteForm(request.form)
    account = own_account()
    if not is_password(account, form.password.data or ""):
        return refuse(form, password=forms.WRONG_PASSWORD)
    held = resources()
    try:
        with held.database.writing() as writing:
            people.delete_account(writing, held.clock, account)
    except people.Refused:
        return refuse(form, password=forms.WRONG_PASSWORD)
    leave()
    note("account deleted", account.user_id)
    notice("Your account was deleted")
    return {"next": url_for("ranking.page")}


def own_account() -> people.Account:
    """Return the account of the player, with the hash of its password."""
    with one_reading() as reading:
        account = people.find_account_of(reading, player().user_id)
    if account is None:
        raise people.NoSuchUser("the account was deleted meanwhile")
    return account


def refuse(form: Form, **errors: str) -> ResponseReturnValue:
    """Tell a modal what is wrong, by field."""
    return {"errors": errors or forms.first_errors(form)}, 422
