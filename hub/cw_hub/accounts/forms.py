"""Forms of the account pages, with their fields and validators.

Each field shows the message of the first validator that fails. Checks that need the database
(whether a name is taken or a password is wrong) are added by the views.
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

from cw_hub.accounts.tickets import DAYS, LONGEST_NAME, Scope
from cw_hub.pages.forms import MOST_OF_ONE, as_shown, is_visible
from cw_hub.pages.layout import COUNTRIES

Check: TypeAlias = Callable[[Form, Field], None]

LONGEST_DISPLAY_NAME: Final = 64
EARLIEST_BIRTH: Final = date(1900, 1, 1)
VALID_FOR: Final = {str(days): f"{days} days" for days in DAYS}
"""The offered validity periods of access tokens."""

NO_SUCH_USERNAME: Final = "Your username does not exist"
WRONG_PASSWORD: Final = "Your password is incorrect"  # noqa: S105
LOCKED: Final = "Your account is locked. Write to {}."
USERNAME_IN_USE: Final = "This username is already taken"
UNKNOWN_USERNAME: Final = "This username doesn't exist"
NO_PICTURE: Final = "Please choose a PNG, JPEG or WebP image of at most 5 MB and 4 megapixels"
CONFIRM_FIRST: Final = "Please confirm your email address before you choose a picture."
NO_DATE: Final = "Please enter a valid date"
SHORT_AT_RESET: Final = "Your new password must be more than 6 characters"


def needs(passes: Callable[[str], bool], text: str) -> Check:
    """Return a validator that stops with a message unless the field's value passes a check."""

    def check(_: Form, field: Field) -> None:
        if not passes(field.data or ""):
            raise StopValidation(text)

    return check


def is_filled(value: str) -> bool:
    """Return whether a value is not blank."""
    return bool(value.strip())


def is_email(value: str) -> bool:
    """Return whether a value is a well-formed email address; no server is contacted."""
    try:
        validate_email(value, check_deliverability=False, allow_smtputf8=False)
    except EmailNotValidError:
        return False
    return len(value) <= 254


def new_password(too_short: str) -> tuple[Check, ...]:
    """Return the validators for a new password, with the message for fewer than 6 characters."""
    return (
        needs(bool, "Please enter a new password"),
        needs(lambda value: len(value) >= 6, too_short),
        needs(
            lambda value: len(value) <= 128,
            "Your new password must be at most 128 characters long",
        ),
    )


def repeats_password(form: Form, field: Field) -> None:
    """Reject a repeated password that differs from the first."""
    if (field.data or "") != (form["password"].data or ""):
        raise ValidationError("Your two passwords do not match")


def stripped(value: str | None) -> str:
    """Return a value without leading and trailing whitespace."""
    return (value or "").strip()


def named(longest: int) -> Callable[[str | None], str]:
    """Return a filter that normalises a name for display.

    A value far too long for a name is left unchanged, to be rejected for its length.
    """

    def display_form(value: str | None) -> str:
        text = value or ""
        return as_shown(text) if len(text) <= MOST_OF_ONE * longest else text

    return display_form


NEW_PASSWORD: Final = new_password("Your new password must be at least 6 characters long")


class LoginForm(Form):
    """The login form; only the service checks its values."""

    username = StringField("Username")
    password = PasswordField("Password")
    remember = BooleanField("Remember me")


def username_field() -> Any:
    """Return the field for a new username."""
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
    """Return the field for an email address."""
    return StringField(
        label,
        [
            needs(is_filled, "Please enter your e-mail"),
            needs(is_email, "Please enter a valid e-mail address"),
        ],
        filters=[stripped],
    )


class RegisterForm(Form):
    """Register an account."""

    username = username_field()
    password = PasswordField("Password", NEW_PASSWORD)
    password_repeat = PasswordField("Password (repeat)", [repeats_password])
    email = email_field()


class WelcomeForm(Form):
    """Register an account for a new user signed in with GitHub."""

    username = username_field()
    email = email_field()


class ForgotForm(Form):
    """Request an email with a password reset link."""

    username = StringField(
        "Please enter your username", [needs(is_filled, "Please enter your username")]
    )


class ResetForm(Form):
    """Choose a new password after following a reset link."""

    password = PasswordField("New password", new_password(SHORT_AT_RESET))
    password_repeat = PasswordField("New password (repeat)", [repeats_password])


class ChangePasswordForm(Form):
    """Change the password, given the old one."""

    old_password = PasswordField(
        "Old password", [needs(bool, "Please enter your existing password")]
    )
    password = PasswordField("New password", NEW_PASSWORD)
    password_repeat = PasswordField("New password (repeat)", [repeats_password])


class EmailForm(Form):
    """Request a change of email address, with the password."""

    email = email_field("New email")
    password = PasswordField("Password")


class DeleteForm(Form):
    """Confirm the deletion of the account with the password."""

    password = PasswordField("Password")


class GitHubForm(Form):
    """Connect or disconnect GitHub, with the password if the account has one."""

    github_password = PasswordField("Password")


class TokenForm(Form):
    """Create an access token, with the password if the account has one."""

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
    read = BooleanField("Can read my data")
    bots = BooleanField("Can manage my bots")
    token_password = PasswordField("Password")

    def validate_read(self, field: Field) -> None:
        """Require at least one scope."""
        if not self.scopes():
            raise ValidationError("Please choose what the token may do")

    def scopes(self) -> frozenset[Scope]:
        """Return the selected scopes."""
        chosen: dict[Scope, bool] = {"read": self.read.data, "bots": self.bots.data}
        return frozenset(scope for scope, is_chosen in chosen.items() if is_chosen)


class ProfileForm(Form):
    """A player's profile; `today` is the latest date of birth."""

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
        """Fill the form; `today` bounds the date of birth."""
        super().__init__(*values, **more)
        self.today = today

    def validate_country(self, field: Field) -> None:
        """Reject an unknown country."""
        if field.data and field.data not in COUNTRIES:
            raise ValidationError("Please choose a country from the list")

    def validate_born(self, field: Field) -> None:
        """Reject an invalid date of birth."""
        if field.data and not self.born_on():
            raise ValidationError(NO_DATE)

    def born_on(self) -> date | None:
        """Return the date of birth, or None if it is missing or invalid."""
        try:
            day = date.fromisoformat(self.born.data or "")
        except ValueError:
            return None
        return day if EARLIEST_BIRTH <= day <= self.today else None


def first_errors(form: Form) -> dict[str, str]:
    """Return the first error of each invalid field, in form order."""
    return {field.name: str(field.errors[0]) for field in form if field.errors}
