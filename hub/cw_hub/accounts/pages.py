"""Account pages: register, log in and out, reset the password, confirm the email address."""

from __future__ import annotations

import logging
import re
from typing import Final, cast

from flask import (
    Blueprint,
    abort,
    current_app,
    redirect,
    render_template,
    request,
    session,
    url_for,
)
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from cw_hub.accounts import forms, place_of_request, tickets
from cw_hub.accounts import mail as accounts_mail
from cw_hub.accounts import service as accounts_service
from cw_hub.accounts.actor import actor, enter, leave, player, players_only
from cw_hub.accounts.service import Passwords
from cw_hub.accounts.tickets import LinkKind
from cw_hub.pages import request_counts
from cw_hub.pages.layout import notice
from cw_hub.pages.request import one_reading, resources
from cw_hub.store.database import Writing

routes = Blueprint("account", __name__)
log = logging.getLogger("cw.hub.accounts")

REFUSED: Final = "refused"
"""Session key of the input and errors that the login page shows again."""

MAIL: Final = "mail"
"""The job that sends an email of the outbox, given its id."""

RESET_EXPIRED: Final = "We're sorry, the forgot password link has expired."
LINK_EXPIRED: Final = "We're sorry, this link has expired."
SENT: Final = "You will shortly receive an e-mail with instructions to reset your password."


def passwords() -> Passwords:
    """Return the password hasher."""
    return cast(Passwords, current_app.extensions["passwords"])


def note(what: str, user_id: int | None) -> None:
    """Log an event of an account, without its password and email address."""
    log.info("%s address=%s user=%s", what, request.remote_addr, user_id or "-")


def redirect_to(address: str) -> Response:
    """Redirect after a POST (303 See Other)."""
    return redirect(address, 303)


# Log in and out


@routes.get("/login")
def login() -> ResponseReturnValue:
    """Show the login form; redirect users who are already logged in."""
    if actor().user:
        return redirect_to(destination())
    refused = session.pop(REFUSED, {})
    form = forms.LoginForm(data={"username": refused.get("username"), "remember": True})
    return render_template(
        "hub/accounts/login.html", form=form, errors=refused.get("errors", {}), next=next_path()
    )


@routes.post("/login", endpoint="login_post")
def log_in() -> ResponseReturnValue:
    """Log in, or redirect to the form with the error shown at its field."""
    if actor().user:
        return redirect_to(destination())
    form = forms.LoginForm(request.form)
    account = find_account(form.username.data or "")
    errors = login_errors(account, form.password.data or "")
    if account is None or errors:
        return refuse_login(form, errors)
    remembered = bool(form.remember.data)
    try:
        ticket = open_session(account, form.password.data or "", remembered=remembered)
    except accounts_service.Refused:
        return refuse_login(form, {"password": forms.WRONG_PASSWORD})
    address = destination()
    enter(ticket, remembered=remembered)
    place_of_request.remember_here(account.user_id)
    note("log-in", account.user_id)
    return redirect_to(address)


def find_account(username: str) -> accounts_service.Account | None:
    """Return the account with a name, or None."""
    with one_reading() as reading:
        return accounts_service.find_account(reading, username)


def login_errors(account: accounts_service.Account | None, password: str) -> dict[str, str]:
    """Return the login errors by field; empty if the login is valid."""
    if account is None:
        fail(None)
        return {"username": forms.NO_SUCH_USERNAME}
    if not is_password(account, password):
        return {"password": forms.WRONG_PASSWORD}
    if account.is_locked:
        note("log-in locked", account.user_id)
        return {"username": forms.LOCKED.format(resources().settings.contact)}
    return {}


def is_password(account: accounts_service.Account, password: str) -> bool:
    """Return whether a password is right; a wrong one is counted and logged."""
    if password and passwords().fits(password, account.password_hash):
        return True
    fail(account.user_id)
    return False


def fail(user_id: int | None) -> None:
    """Count and log a wrong password."""
    request_counts.note_wrong_password()
    note("wrong password", user_id)


def refuse_login(form: forms.LoginForm, errors: dict[str, str]) -> Response:
    """Redirect to the form with the input, except for the password."""
    # Cookies are small.
    session[REFUSED] = {"username": (form.username.data or "")[:64], "errors": errors}
    path = next_path()
    return redirect_to(url_for("account.login", next=path) if path else url_for("account.login"))


def open_session(account: accounts_service.Account, password: str, *, remembered: bool) -> str:
    """Return the ticket of a new session; a password hash of outdated cost is renewed."""
    hub = resources()
    dated = account.password_hash and passwords().is_dated(account.password_hash)
    renewed = passwords().hash(password) if dated else None
    with hub.database.writing() as writing:
        return accounts_service.log_in(
            writing, account, remembered=remembered, renewed_hash=renewed
        )


@routes.post("/logout")
def logout() -> ResponseReturnValue:
    """Log this browser out."""
    ticket = leave()
    if ticket:
        with resources().database.writing() as writing:
            accounts_service.log_out(writing, ticket)
    return redirect_to(url_for("ranking.page"))


# Register


@routes.route("/register", methods=["GET", "POST"])
def register() -> ResponseReturnValue:
    """Register an account, or show the form with its errors."""
    if actor().user:
        return redirect_to(destination())
    form = forms.RegisterForm(request.form)
    if request.method == "GET":
        return registration(form, {})
    form.validate()
    errors = forms.first_errors(form)
    if "username" not in errors and find_account(form.username.data or ""):
        errors = {"username": forms.USERNAME_IN_USE, **errors}
    if errors:
        return registration(form, errors), 422
    return make_account(form)


def registration(form: forms.RegisterForm, errors: dict[str, str]) -> str:
    """Render the registration page."""
    return render_template("hub/accounts/register.html", form=form, errors=errors, next=next_path())


def make_account(form: forms.RegisterForm) -> ResponseReturnValue:
    """Create the account of a valid form, and log in."""
    hub = resources()
    hashed = passwords().hash(form.password.data or "")
    try:
        with hub.database.writing() as writing:
            user_id, ticket = accounts_service.register(
                writing, form.username.data or "", form.email.data or "", hashed
            )
            mail = None if hub.settings.is_local else confirm(writing, user_id)
    except accounts_service.UsernameTaken:
        return registration(form, {"username": forms.USERNAME_IN_USE}), 422
    send_soon(mail)
    address = destination()
    enter(ticket, remembered=False)
    place_of_request.remember_here(user_id)
    note("register", user_id)
    return redirect_to(address)


def confirm(writing: Writing, user_id: int) -> int:
    """Queue the email that confirms a user's email address; return its id."""
    return accounts_mail.put(writing, "verify", user_id)


def send_soon(mail_id: int | None) -> None:
    """Enqueue the job that sends an email of the outbox, if there is one.

    If the queue is unavailable, the scheduler finds the email in the outbox.
    """
    if mail_id is not None:
        resources().queue.send(MAIL, mail_id)


# Forgot and reset


@routes.route("/forgot", methods=["GET", "POST"])
def forgot() -> ResponseReturnValue:
    """Email a link to reset a forgotten password."""
    if actor().user:
        return redirect_to(destination())
    form = forms.ForgotForm(request.form)
    if request.method == "GET":
        return render_template("hub/accounts/forgot.html", form=form, errors={})
    form.validate()
    errors = forms.first_errors(form)
    account = None if errors else find_account(form.username.data or "")
    if account is None:
        errors = errors or {"username": forms.UNKNOWN_USERNAME}
        return render_template("hub/accounts/forgot.html", form=form, errors=errors), 422
    hub = resources()
    with hub.database.writing() as writing:
        mail = accounts_mail.put(writing, "reset", account.user_id)
    send_soon(mail)
    notice(SENT)
    return redirect_to(url_for("account.forgot"))


@routes.route("/reset/<ticket>", methods=["GET", "POST"])
def reset(ticket: str) -> ResponseReturnValue:
    """Choose a new password after following a link."""
    if not is_open("reset", ticket):
        request_counts.note_wrong_link()
        return expired(RESET_EXPIRED)
    form = forms.ResetForm(request.form)
    if request.method == "GET":
        return render_template("hub/accounts/reset.html", form=form, errors={})
    if not form.validate():
        return render_template(
            "hub/accounts/reset.html", form=form, errors=forms.first_errors(form)
        ), 422
    return change_by_link(ticket, form.password.data or "")


def is_open(kind: LinkKind, ticket: str) -> bool:
    """Return whether a link can still be used."""
    with one_reading() as reading:
        return tickets.is_open(reading, kind, ticket)


def expired(words: str) -> ResponseReturnValue:
    """Show a page saying that the link has expired."""
    return render_template("hub/site/error.html", title="Link expired", words=words), 410


def change_by_link(link: str, password: str) -> ResponseReturnValue:
    """Change the password, which uses up the link, and log in."""
    hub = resources()
    hashed = passwords().hash(password)
    try:
        with hub.database.writing() as writing:
            user_id, ticket = accounts_service.reset_password(writing, link, hashed)
    except accounts_service.LinkExpired:
        return expired(RESET_EXPIRED)
    enter(ticket, remembered=False)
    place_of_request.remember_here(user_id)
    note("reset", user_id)
    return redirect_to(url_for("ranking.page"))


# Confirm the email


@routes.route("/verify/<ticket>", methods=["GET", "POST"])
def verify(ticket: str) -> ResponseReturnValue:
    """Confirm the email address that the link was sent to."""
    hub = resources()
    if request.method == "GET":
        page = render_template("hub/accounts/verify.html")
        return page if is_open("verify", ticket) else expired(LINK_EXPIRED)
    try:
        with hub.database.writing() as writing:
            accounts_service.confirm_email(writing, ticket)
    except accounts_service.LinkExpired:
        return expired(LINK_EXPIRED)
    notice("Your email address is confirmed")
    return redirect_to(url_for("settings.page" if actor().user else "account.login"))


@routes.post("/verify")
@players_only
def send_verification() -> ResponseReturnValue:
    """Send the link that confirms the email address again."""
    hub = resources()
    with one_reading() as reading:
        settings = accounts_service.own_settings(reading, player().user_id)
    if settings.is_confirmed:
        abort(409, "Your email address is already confirmed.")
    with hub.database.writing() as writing:
        mail = confirm(writing, player().user_id)
    send_soon(mail)
    notice("You will shortly receive an email with a link to confirm your address.")
    return redirect_to(url_for("settings.page"))


PATH_OF_SITE: Final = re.compile(r"/(?![/\\])[^\\\x00-\x1f\x7f-\x9f]*")
"""A path starts with a single slash: a second one would start a host name."""


def next_path() -> str:
    """Return the `next` parameter if it is a path of this site, or ""."""
    path = request.values.get("next", "")
    return path if PATH_OF_SITE.fullmatch(path) else ""


def destination() -> str:
    """Return the URL to redirect to after login."""
    return next_path() or url_for("ranking.page")
