"""Login with GitHub: log in known users, connect existing accounts, register new users."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
import requests
from authlib.integrations.base_client import OAuthError
from authlib.integrations.flask_client import OAuth
from flask import Blueprint, Flask, abort, current_app, render_template, request, session, url_for
from flask.typing import ResponseReturnValue

from cw import documents
from cw.errors import CapacityError, UsageError
from cw_hub.accounts import forms, picture_uploads, place_of_request
from cw_hub.accounts import service as accounts_service
from cw_hub.accounts.actor import actor, enter, player, players_only
from cw_hub.accounts.pages import (
    confirm,
    destination,
    find_account,
    is_password,
    next_path,
    note,
    redirect_to,
    send_soon,
)
from cw_hub.accounts.service import GitHubPerson
from cw_hub.accounts.settings_pages import own_account, own_settings, show_with
from cw_hub.operation.settings import HubSettings
from cw_hub.pages.forms import clean_name
from cw_hub.pages.layout import notice
from cw_hub.pages.request import one_reading, resources
from cw_hub.pages.security import LARGEST_PICTURE

routes = Blueprint("github", __name__)

PATIENCE: Final = 10
"""Timeout of requests to GitHub, in seconds."""

PERSON: Final = "github_person"
"""Session key of a new user who is choosing a username."""

NEXT: Final = "github_next"
"""Session key of the path to redirect to after login."""

CONFIRMED: Final = "github_confirmed"
"""Session key of a player's confirmation, by password, to connect GitHub."""

TO_CONNECT: Final = timedelta(minutes=10)
"""How long that confirmation is valid, including the time until GitHub redirects back."""

STATE: Final = "_state_github_"
"""Prefix of the session keys set by the OAuth library."""

TO_CHOOSE: Final = timedelta(minutes=30)
"""How long a new user may take to choose a username."""

UNCONFIRMED: Final = "Please start connecting GitHub on this page."
UNDONE: Final = "The sign-in was not completed. Please try again."
ACCOUNT_IN_USE: Final = "This GitHub account is already connected to another account here."
NO_PASSWORD: Final = "Please set a password first: log out, and use Forgot password?"  # noqa: S105
REFUSALS: Final = (OAuthError, requests.RequestException, msgspec.MsgspecError, ValueError)
"""Errors raised if GitHub, or a server posing as it, does not respond properly."""


class User(msgspec.Struct, frozen=True):
    """A GitHub user, as returned by its API."""

    id: int
    login: str
    name: str | None = None
    avatar_url: str | None = None


class Email(msgspec.Struct, frozen=True):
    """An email address of a GitHub user."""

    email: str
    primary: bool
    verified: bool


def install(app: Flask, settings: HubSettings) -> None:
    """Register the GitHub client with an app, if configured."""
    if not settings.github_id:
        return
    app.extensions["github"] = OAuth(app).register(
        "github",
        client_id=settings.github_id,
        client_secret=settings.github_secret,
        authorize_url=f"{settings.github_url}/login/oauth/authorize",
        access_token_url=f"{settings.github_url}/login/oauth/access_token",
        api_base_url=f"{settings.github_api}/",
        client_kwargs={
            "scope": "read:user user:email",
            "code_challenge_method": "S256",
            "default_timeout": PATIENCE,
        },
    )


def service() -> Any:
    """Return the GitHub client; abort with 404 if the site has none."""
    return current_app.extensions.get("github") or abort(404)


@routes.get("/login/github")
def begin() -> ResponseReturnValue:
    """Redirect to GitHub's login, which redirects back; players must have confirmed this first."""
    asking, user = service(), actor().user
    if user is not None and not is_confirmed(""):
        notice(UNCONFIRMED, "bad")
        return redirect_to(url_for("settings.page"))
    for key in [key for key in session if key.startswith(STATE)]:
        session.pop(key)
    session[NEXT] = next_path()
    back = f"{resources().settings.address}{url_for('github.callback')}"
    led: ResponseReturnValue = asking.authorize_redirect(back)
    if user is not None:
        (key,) = [key for key in session if key.startswith(STATE)]
        session[CONFIRMED] = {**session[CONFIRMED], "state": key.removeprefix(STATE)}
    return led


def is_confirmed(state: str) -> bool:
    """Return whether the player has confirmed with the password, in this session, for a state.

    The state is "" until the redirect to GitHub.
    """
    fields = session.get(CONFIRMED)
    if fields is None or (fields["session"], fields["state"]) != (player().digest, state):
        return False
    return resources().clock() - datetime.fromisoformat(fields["at"]) < TO_CONNECT


@routes.get("/login/github/callback")
def callback() -> ResponseReturnValue:
    """Handle the redirect from GitHub: log in, connect the account, or ask for a username."""
    asking, who = service(), actor()
    if who.user is not None:
        is_ours = is_confirmed(request.args.get("state", ""))
        session.pop(CONFIRMED, None)
        if not is_ours:
            notice(UNDONE, "bad")
            return redirect_to(url_for("settings.page"))
    try:
        person = ask(asking)
    except REFUSALS:
        notice(UNDONE, "bad")
        return redirect_to(url_for("settings.page" if who.user else "account.login"))
    if who.user is not None:
        return connect(person)
    with one_reading() as reading:
        account = accounts_service.find_account_at_github(reading, person.github_id)
    if account is not None:
        return log_in(account)
    session[PERSON] = {**asdict(person), "at": resources().clock().isoformat()}
    return redirect_to(url_for("github.welcome"))


def ask(asking: Any) -> GitHubPerson:
    """Return the user whom GitHub has redirected back; the access token is not stored.

    Raises one of REFUSALS.
    """
    asking.authorize_access_token()
    user = answer_of(asking, "user", User)
    emails = answer_of(asking, "user/emails", list[Email])
    best = max(emails, key=lambda email: (email.verified, email.primary), default=None)
    return GitHubPerson(
        user.id,
        user.login[:32],
        display_name(user.name or ""),
        best.email if best is not None and forms.is_email(best.email) else "",
        best is not None and best.verified,
        (user.avatar_url or "")[:500],
    )


def display_name(name: str) -> str:
    """Return the display name of a GitHub user, or "" if it is not allowed here."""
    try:
        return clean_name(name, forms.LONGEST_DISPLAY_NAME)
    except UsageError:
        return ""


def answer_of(asking: Any, path: str, kind: type[Any]) -> Any:
    """Return GitHub's response, decoded as the given type."""
    answer = asking.get(path)
    answer.raise_for_status()
    return documents.decode(answer.content, kind)


def connect(person: GitHubPerson) -> ResponseReturnValue:
    """Connect the current player to a GitHub account, unless another account here has it."""
    hub = resources()
    try:
        with hub.database.writing() as writing:
            accounts_service.connect_github(writing, player().user_id, person.github_id)
            mail = accounts_service.tell_of_github(writing, player().user_id)
    except accounts_service.GitHubTaken:
        notice(ACCOUNT_IN_USE, "bad")
    else:
        send_soon(mail)
        note("github connected", player().user_id)
        notice("Your GitHub account is connected")
    return redirect_to(url_for("settings.page"))


def log_in(account: accounts_service.Account) -> ResponseReturnValue:
    """Log in to an existing account."""
    hub = resources()
    try:
        with hub.database.writing() as writing:
            ticket = accounts_service.log_in(writing, account, remembered=False)
    except accounts_service.Refused:
        locked = forms.LOCKED.format(hub.settings.contact)
        notice(locked if account.is_locked else UNDONE, "bad")
        return redirect_to(url_for("account.login"))
    return let_in(ticket, account.user_id, "log-in github")


def let_in(ticket: str, user_id: int, what: str) -> ResponseReturnValue:
    """Log this browser in, and redirect to the page originally requested."""
    address = session.get(NEXT) or destination()
    enter(ticket, remembered=False)
    place_of_request.remember_here(user_id)
    note(what, user_id)
    return redirect_to(address)


@routes.route("/welcome", methods=["GET", "POST"])
def welcome() -> ResponseReturnValue:
    """Let a new user choose a username, and create the account."""
    person = newcomer()
    if person is None or actor().user is not None:
        return redirect_to(destination() if actor().user else url_for("account.login"))
    if request.method == "GET":
        form = forms.WelcomeForm(data={"username": person.login, "email": person.email})
        return render_template("hub/accounts/welcome.html", form=form, errors={})
    form = forms.WelcomeForm(request.form)
    form.validate()
    errors = forms.first_errors(form)
    if "username" not in errors and find_account(form.username.data or ""):
        errors = {"username": forms.USERNAME_IN_USE, **errors}
    if errors:
        return render_template("hub/accounts/welcome.html", form=form, errors=errors), 422
    return make_account(form, person)


def newcomer() -> GitHubPerson | None:
    """Return the new user from GitHub, or None if there is none or the time limit has passed."""
    if PERSON not in session:
        return None
    fields = dict(session[PERSON])
    came = datetime.fromisoformat(fields.pop("at"))
    return GitHubPerson(**fields) if resources().clock() - came < TO_CHOOSE else None


def make_account(form: forms.WelcomeForm, person: GitHubPerson) -> ResponseReturnValue:
    """Create the account of a valid form, and log in."""
    hub = resources()
    try:
        is_confirmed = person.is_verified and form.email.data == person.email
        avatar = take_picture(person) if is_confirmed else None
        with hub.database.writing() as writing:
            user_id, ticket = accounts_service.register_from_github(
                writing,
                form.username.data or "",
                form.email.data or "",
                person,
                avatar,
            )
            is_open = not (accounts_service.is_confirmed(writing, user_id) or hub.settings.is_local)
            mail = confirm(writing, user_id) if is_open else None
    except accounts_service.UsernameTaken:
        errors = {"username": forms.USERNAME_IN_USE}
        return render_template("hub/accounts/welcome.html", form=form, errors=errors), 422
    send_soon(mail)
    return let_in(ticket, user_id, "register github")


def take_picture(person: GitHubPerson) -> str | None:
    """Store a re-encoded copy of a user's GitHub avatar; return its SHA-256, or None.

    A failure does not prevent registration.
    """
    settings = resources().settings
    is_safe = urlsplit(person.picture).scheme == "https"
    if not is_safe and not person.picture.startswith(f"{settings.github_url}/"):
        return None
    try:
        with requests.get(
            person.picture, timeout=PATIENCE, stream=True, allow_redirects=False
        ) as answer:
            answer.raise_for_status()
            data = answer.raw.read(LARGEST_PICTURE + 1, decode_content=True)
        return picture_uploads.keep(f"github {person.github_id}", data)
    except (requests.RequestException, UsageError, CapacityError, OSError):
        return None


@routes.post("/settings/github/connect")
@players_only
def confirm_connection() -> ResponseReturnValue:
    """Show the link to GitHub if the password is right."""
    service()
    account, user = own_account(), player()
    if account.password_hash is None and own_settings().has_github:
        notice(NO_PASSWORD, "bad")
        return redirect_to(url_for("settings.page"))
    if account.password_hash and not is_right(account):
        return refuse()
    at = resources().clock().isoformat()
    session[CONFIRMED] = {"session": user.digest, "state": "", "at": at}
    # A link, because the content security policy forbids forms that lead to another site.
    return render_template("hub/accounts/connect_github.html")


@routes.post("/settings/github")
@players_only
def disconnect() -> ResponseReturnValue:
    """Disconnect the player's GitHub account if the password is right."""
    account, hub = own_account(), resources()
    if account.password_hash is None:
        notice(NO_PASSWORD, "bad")
        return redirect_to(url_for("settings.page"))
    if not is_right(account):
        return refuse()
    try:
        with hub.database.writing() as writing:
            accounts_service.touch(writing, account, github_id=None)
            mail = accounts_service.tell_of_github(writing, account.user_id)
    except accounts_service.Refused:
        return refuse()
    send_soon(mail)
    note("github disconnected", account.user_id)
    notice("Your GitHub account is disconnected")
    return redirect_to(url_for("settings.page"))


def is_right(account: accounts_service.Account) -> bool:
    """Return whether the form contains the account's password."""
    return is_password(account, forms.GitHubForm(request.form).github_password.data or "")


def refuse() -> ResponseReturnValue:
    """Show the page again with the message that the password is wrong."""
    return show_with(None, {"github_password": forms.WRONG_PASSWORD}), 422
