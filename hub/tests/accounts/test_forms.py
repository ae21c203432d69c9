"""The checks of the forms, in their order, in the words that people read."""

from __future__ import annotations

from datetime import date

import pytest
from werkzeug.datastructures import MultiDict
from wtforms import Form

from cw_hub.accounts.forms import (
    ChangePasswordForm,
    ForgotForm,
    ProfileForm,
    RegisterForm,
    ResetForm,
    first_errors,
)

GOOD = {"username": "ada", "password": "123456", "password_repeat": "123456", "email": "a@b.org"}
TODAY = date(2026, 11, 22)


def errors(form: type[Form], **values: str) -> dict[str, str]:
    filled = form(MultiDict(values))
    filled.validate()
    return first_errors(filled)


@pytest.mark.parametrize(
    ("username", "text"),
    [
        ("", "Please enter a username"),
        (" \t", "Please enter a username"),
        ("ab", "Your username must be longer than 3 characters"),
        ("a.", "Your username must be longer than 3 characters"),
        ("a.b", "Your username must only contain letters, numbers, and _"),
        (" ada", "Your username must only contain letters, numbers, and _"),
        ("ada\n", "Your username must only contain letters, numbers, and _"),
        ("Äda", "Your username must only contain letters, numbers, and _"),
        ("ada\u0661", "Your username must only contain letters, numbers, and _"),
        ("." * 33, "Your username must only contain letters, numbers, and _"),
        ("a" * 33, "Your username must be at most 32 characters"),
    ],
)
def test_usernames_that_are_refused(username: str, text: str) -> None:
    assert errors(RegisterForm, **GOOD | {"username": username}) == {"username": text}


@pytest.mark.parametrize("username", ["abc", "A_9", "a" * 32, "___"])
def test_usernames_that_are_taken(username: str) -> None:
    assert errors(RegisterForm, **GOOD | {"username": username}) == {}


@pytest.mark.parametrize(
    ("password", "text"),
    [
        ("", "Please enter a new password"),
        ("12345", "Your new password must be at least 6 characters long"),
        ("     ", "Your new password must be at least 6 characters long"),
        ("1" * 129, "Your new password must be at most 128 characters long"),
    ],
)
def test_new_passwords_that_are_refused(password: str, text: str) -> None:
    both = {"password": password, "password_repeat": password}
    assert errors(RegisterForm, **GOOD | both) == {"password": text}
    assert errors(ChangePasswordForm, old_password="x", **both) == {"password": text}


@pytest.mark.parametrize("password", ["      ", "1" * 128, "pässwörd", "a\0bcde"])
def test_new_passwords_that_are_taken(password: str) -> None:
    both = {"password": password, "password_repeat": password}
    assert errors(RegisterForm, **GOOD | both) == {}


def test_the_words_of_the_reset_page_differ() -> None:
    short = {"password": "12345", "password_repeat": "12345"}
    assert errors(ResetForm, **short) == {
        "password": "Your new password must be more than 6 characters"
    }
    six = {"password": "123456", "password_repeat": "123456"}
    assert errors(ResetForm, **six) == {}


def test_two_passwords_that_differ() -> None:
    assert errors(RegisterForm, **GOOD | {"password_repeat": "1234567"}) == {
        "password_repeat": "Your two passwords do not match"
    }


@pytest.mark.parametrize(
    ("email", "text"),
    [
        ("", "Please enter your e-mail"),
        ("  ", "Please enter your e-mail"),
        ("ada", "Please enter a valid e-mail address"),
        ("ada@", "Please enter a valid e-mail address"),
        ("a@b@c.org", "Please enter a valid e-mail address"),
        ("a\n@b.org", "Please enter a valid e-mail address"),
        ("a@b.org\nBcc: c@d.org", "Please enter a valid e-mail address"),
        (f"a@{'b' * 60}.{'c' * 60}.{'d' * 60}.{'e' * 60}.{'f' * 20}.org",
         "Please enter a valid e-mail address"),
    ],
)  # fmt: skip
def test_emails_that_are_refused(email: str, text: str) -> None:
    assert errors(RegisterForm, **GOOD | {"email": email}) == {"email": text}


def test_an_email_is_stripped() -> None:
    form = RegisterForm(MultiDict(GOOD | {"email": " ada@example.org\t"}))
    assert form.validate()
    assert form.email.data == "ada@example.org"


def test_all_fields_show_their_first_error_at_once() -> None:
    assert errors(RegisterForm) == {
        "username": "Please enter a username",
        "password": "Please enter a new password",
        "email": "Please enter your e-mail",
    }


def test_the_forgetful_name_themselves() -> None:
    assert errors(ForgotForm, username=" ") == {"username": "Please enter your username"}


def test_the_old_password_is_asked_for() -> None:
    new = {"password": "123456", "password_repeat": "123456"}
    assert errors(ChangePasswordForm, **new) == {
        "old_password": "Please enter your existing password"
    }


@pytest.mark.parametrize("born", ["2026-02-30", "2026-11-23", "1899-12-31", "yesterday", "1"])
def test_days_on_which_nobody_was_born(born: str) -> None:
    form = ProfileForm(MultiDict({"born": born}), today=TODAY)
    assert not form.validate()
    assert first_errors(form) == {"born": "Please enter a valid date"}


@pytest.mark.parametrize("born", ["1900-01-01", "2026-11-22", "2000-02-29"])
def test_days_on_which_one_may_be_born(born: str) -> None:
    form = ProfileForm(MultiDict({"born": born, "country": "GR"}), today=TODAY)
    assert form.validate()
    assert form.born_on() == date.fromisoformat(born)


def test_country_and_date_may_be_kept_to_oneself() -> None:
    form = ProfileForm(MultiDict({"born": "", "country": ""}), today=TODAY)
    assert form.validate()
    assert form.born_on() is None


@pytest.mark.parametrize("country", ["ZZ", "gr", "Greece"])
def test_what_is_no_country(country: str) -> None:
    form = ProfileForm(MultiDict({"country": country}), today=TODAY)
    assert not form.validate()
