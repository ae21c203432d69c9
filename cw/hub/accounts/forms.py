"""The forms of the account pages: their fields, and the checks in the order in which they come.

Each field shows the text of the first check that it fails. What only the store can tell (a name
that is taken, a wrong password) is added by the pages.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Any, Final, TypeAlias

from email_validator import EmailNotValidError, validate_email
from wtforms import (
    BooleanField,
    Field,
    Form,
    PasswordField,
    StringField,
    ValidationError,
)
from wtforms.validators import StopValidation

from cw.hub.accounts.access.tickets import Scope
from cw.hub.accounts.access.tokens import DAYS, LONGEST_NAME
from cw.hub.pages.countries import COUNTRIES
from cw.hub.pages.names import MOST_OF_ONE, as_shown, is_visible

Check: TypeAlias = Callable[[Form, Field], None]

LONGEST_DISPLAY_NAME: Final = 64
EARLIEST_BIRTH: Final = date(1900, 1, 1)
VALID_FOR: Final = {str(days): f"{days} days" for days in DAYS}
"""For how long an access token may be valid."""

NO_SUCH_USERNAME: Final = "Your username does not exist"
WRONG_PASSWORD: Final = "Your password is incorrect"  # noqa: S105
LOCKED: Final = "Your account is locked. Write to {}."
USERNAME_IN_USE: Final = "This username is already taken"
UNKNOWN_USERNAME: Final = "This username doesn't exist"
NO_PICTURE: Final = "Please choose a PNG, JPEG or WebP image of at most 5 MB and 4 megapixels"
CONFIRM_FIRST: Final = "Please confirm your e-mail address before you choose a picture."
NO_DATE: Final = "Please enter a valid date"
SHORT_AT_RESET: Final = "Your new password must be more than 6 characters"


def needs(passes: Callable[[str], bool], text: str) -> Check:
    """Return a check that shows a text unless the value of its field passes; no other follows."""

    def check(_: Form, field: Field) -> None:
        if not passes(field.data or ""):
            raise StopValidation(text)

    return check


def is_filled(value: str) -> bool:
    """Return whether a value is more than white space."""
    return bool(value.strip())


def is_email(value: str) -> bool:
    """Return whether mail can be addressed to a value; no server is asked."""
    try:
        validate_email(value, check_deliverability=False, allow_smtputf8=False)
    except EmailNotValidError:
        return False
    return len(value) <= 254


def new_password(too_short: str) -> tuple[Check, ...]:
    """Return the checks of a new password, with the text for one under 6 characters."""
    return (
        needs(bool, "Please enter a new password"),
        needs(lambda value: len(value) >= 6, too_short),
        needs(
            lambda value: len(value) <= 128,
            "Your new password must be at most 128 characters long",
        ),
    )


def repeats_password(form: Form, field: Field) -> None:
    """Refuse a second password that is not the first."""
    if (field.data or "") != (form["password"].data or ""):
        raise ValidationError("Your two passwords do not match")


def stripped(value: str | None) -> str:
    """Return a value without white space around it."""
    return (value or "").strip()


def named(longest: int) -> Callable[[str | None], str]:
    """Return a filter that turns a name into the form in which pages show it.

    What is far too long to be a name stays as it is, to be refused for that.
    """

    def display_form(value: str | None) -> str:
        text = value or ""
        return as_shown(text) if len(text) <= MOST_OF_ONE * longest else text

    return display_form


NEW_PASSWORD: Final = new_password("Your new password must be at least 6 characters long")


class LoginForm(Form):
    """Log in; its values are judged by the service alone."""

    username = StringField("Username")
    password = PasswordField("Password")
    remember = BooleanField("Remember me")


def username_field() -> Any:
    """Return the field of a new username."""
    return StringField(
        "Username",
        [
            needs(is_filled, "Please enter a username"),
            needs(lambda value: len(value) >= 3, "Your username must be longer than 3 characters"),
            needs(
                lambda value: bool(re.fullmatch("[A-Za-z0-9_]+", value)),
                "Your username must only contain letters, numbers, and _",
            ),
            needs(lambda value: len(value) <= 32, "Your username must be at most 32 characters"),
        ],
    )


def email_field(label: str = "E-mail") -> Any:
    """Return the field of an e-mail address."""
    return StringField(
        label,
        [
            needs(is_filled, "Please enter your e-mail"),
            needs(is_email, "Please enter a valid e-mail address"),
        ],
        filters=[stripped],
    )


class RegisterForm(Form):
    """Make an account."""

    username = username_field()
    password = PasswordField("Password", NEW_PASSWORD)
    password_repeat = PasswordField("Password (repeat)", [repeats_password])
    email = email_field()


class WelcomeForm(Form):
    """Make an account for somebody whom GitHub knows."""

    username = username_field()
    email = email_field()


class ForgotForm(Form):
    """Ask for the mail with a link."""

    username = StringField(
        "Please enter your username", [needs(is_filled, "Please enter your username")]
    )


class ResetForm(Form):
    """Choose a new password with a link."""

    password = PasswordField("New password", new_password(SHORT_AT_RESET))
    password_repeat = PasswordField("New password (repeat)", [repeats_password])


class ChangePasswordForm(Form):
    """Choose a new password with the old one."""

    old_password = PasswordField(
        "Old password", [needs(bool, "Please enter your existing password")]
    )
    password = PasswordField("New password", NEW_PASSWORD)
    password_repeat = PasswordField("New password (repeat)", [repeats_password])


class EmailForm(Form):
    """Ask for another e-mail address, with the password."""

    email = email_field("New e-mail")
    password = PasswordField("Password")


class DeleteForm(Form):
    """Confirm with the password that the account shall go."""

    password = PasswordField("Password")


class GitHubForm(Form):
    """Connect or disconnect GitHub, with the password of an account that has one."""

    github_password = PasswordField("Password")


class TokenForm(Form):
    """Make an access token, with the password of an account that has one."""

    token_name = StringField(
        "Name",
        [
            needs(is_filled, "Please enter a name"),
            needs(
                lambda value: len(value) <= LONGEST_NAME,
                f"The name must be at most {LONGEST_NAME} characters long",
            ),
            needs(is_visible, "The name must not contain invisible characters"),
        ],
        filters=[named(LONGEST_NAME)],
    )
    days = StringField(
        "Valid for",
        [needs(lambda value: value in VALID_FOR, "Please choose how long it is valid")],
    )
    read = BooleanField("May read")
    bots = BooleanField("May manage my bots")
    token_password = PasswordField("Password")

    def validate_read(self, field: Field) -> None:
        """Refuse a token that allows nothing."""
        if not self.scopes():
            raise ValidationError("Please choose what the token may do")

    def scopes(self) -> frozenset[Scope]:
        """Return what the token may do."""
        chosen: dict[Scope, bool] = {"read": self.read.data, "bots": self.bots.data}
        return frozenset(scope for scope, is_chosen in chosen.items() if is_chosen)


class ProfileForm(Form):
    """What a player says about themselves; `today` is the last day on which one can be born."""

    display_name = StringField(
        "Display name",
        [
            needs(
                lambda name: len(name) <= LONGEST_DISPLAY_NAME,
                f"Your display name must be at most {LONGEST_DISPLAY_NAME} characters long",
            ),
            needs(is_visible, "Your display name must not contain invisible characters"),
        ],
        filters=[named(LONGEST_DISPLAY_NAME)],
    )
    country = StringField("Country")
    born = StringField("Date of Birth")

    def __init__(self, *values: Any, today: date, **more: Any) -> None:
        """Fill the form."""
        super().__init__(*values, **more)
        self.today = today

    def validate_country(self, field: Field) -> None:
        """Refuse what is not a country."""
        if field.data and field.data not in COUNTRIES:
            raise ValidationError("Please choose a country from the list")

    def validate_born(self, field: Field) -> None:
        """Refuse what is not a day of a life."""
        if field.data and not self.born_on():
            raise ValidationError(NO_DATE)

    def born_on(self) -> date | None:
        """Return the date of birth; None if there is none, or none that can be."""
        try:
            day = date.fromisoformat(self.born.data or "")
        except ValueError:
            return None
        return day if EARLIEST_BIRTH <= day <= self.today else None


def first_errors(form: Form) -> dict[str, str]:
    """Return the text of each field that is refused, in the order of the form."""
    return {field.name: str(field.errors[0]) for field in form if field.errors}
