"""The account pages over real HTTP: every text in its place, and what becomes of sessions."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
import requests

from cw_hub.accounts import administration
from cw_hub.accounts import service as accounts_service
from hub.tests.conftest import ON_BOTH, ON_SQLITE, StillClock
from hub.tests.sites import PASSWORD, Site, words_of

pytestmark = ON_SQLITE

DAY = 86_400

EMPTY = {
    "username": "Please enter a username",
    "password": "Please enter a new password",
    "email": "Please enter your e-mail",
}


def errors_of(page: requests.Response) -> dict[str, str]:
    """Return the errors that a page shows, by the fields they stand at."""
    matches = re.findall(r'<p class="error" id="(\w+)-error">([^<]*)</p>', page.text)
    return {name: unescape(words) for name, words in matches}


def value_of(page: requests.Response, name: str) -> str | None:
    """Return what stands in a field, None for nothing at all."""
    field = re.search(rf'<input[^>]* name="{name}"[^>]*>', page.text)
    assert field, name
    value = re.search(r' value="([^"]*)"', field[0])
    return value and unescape(value[1])


# Register


def test_the_register_page_has_its_fields_in_order(site: Site) -> None:
    page = site.visitor().open("/register")
    assert (
        words_of(page)
        .partition("Register Username")[2]
        .startswith(" Password Password (repeat) E-mail Register Already have an account?")
    )
    names = re.findall(r'<input[^>]* name="(\w+)"', page.text)
    assert names == ["csrf_token", "username", "password", "password_repeat", "email"]


def test_empty_fields_are_each_told(site: Site) -> None:
    page = site.visitor().fill("/register")
    assert page.status_code == 422
    assert errors_of(page) == EMPTY
    assert page.text.count("autofocus") == 1
    assert re.search(r'<input[^>]* name="username"[^>]* autofocus', page.text)


@pytest.mark.parametrize(
    ("values", "errors"),
    [
        ({"username": "ab"}, {"username": "Your username must be longer than 3 characters"}),
        (
            {"username": "a.b"},
            {"username": "Your username must only contain letters, numbers, and _"},
        ),
        (
            {"password": "12345"},
            {"password": "Your new password must be at least 6 characters long"},
        ),
        (
            {"password": "123456", "password_repeat": "1234567"},
            {"password_repeat": "Your two passwords do not match"},
        ),
        ({"email": "nobody"}, {"email": "Please enter a valid e-mail address"}),
    ],
)
def test_what_is_wrong_is_told_and_values_are_kept(
    site: Site, values: dict[str, str], errors: dict[str, str]
) -> None:
    good = {"username": "Ada", "password": "123456", "email": "ada@example.org"}
    form = good | values
    visitor = site.visitor()
    page = visitor.fill("/register", **{"password_repeat": form["password"]} | form)
    assert page.status_code == 422
    assert errors_of(page) == errors
    assert value_of(page, "username") == form["username"]
    assert value_of(page, "email") == form["email"]
    assert value_of(page, "password") is None
    assert value_of(page, "password_repeat") is None
    assert not visitor.is_player()


def session_cookie(answer: requests.Response) -> str:
    """Return the cookie that an answer logs its browser in with."""
    (cookie,) = (one for one in answer.raw.headers.getlist("Set-Cookie") if one.startswith("cw="))
    return str(cookie)


def test_who_registers_is_logged_in_for_the_browser_session(site: Site) -> None:
    visitor = site.visitor()
    answer = visitor.register("Ada")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/ranking")
    assert "expires" not in session_cookie(answer).lower()
    assert visitor.is_player()
    assert site.queue.jobs == []


@pytest.mark.parametrize("name", ["Ada", "ADA"])
def test_a_name_is_taken_in_any_case(site: Site, name: str) -> None:
    site.player("Ada")
    page = site.visitor().register(name)
    assert page.status_code == 422
    assert errors_of(page) == {"username": "This username is already taken"}


def test_an_email_may_be_shared_and_nobody_is_told(site: Site) -> None:
    site.player("Ada")
    assert site.visitor().register("Bob", email="ada@example.org").status_code == 303


def test_of_twenty_registrations_of_a_name_at_once_one_wins(site: Site) -> None:
    visitors = [site.visitor() for _ in range(20)]
    with ThreadPoolExecutor(20) as pool:
        codes = [page.status_code for page in pool.map(lambda v: v.register("Ada"), visitors)]
    assert sorted(codes) == [303] + [422] * 19
    assert sum(visitor.is_player() for visitor in visitors) == 1


def test_a_player_is_sent_on(site: Site) -> None:
    ada = site.player("Ada")
    for path in ("/login", "/register", "/forgot"):
        answer = ada.open(path)
        assert (answer.status_code, answer.headers["Location"]) == (303, "/ranking")
    assert ada.open("/login?next=/settings").headers["Location"] == "/settings"


# Log in and out


def test_the_login_page_has_its_fields_in_order(site: Site) -> None:
    page = site.visitor().open("/login")
    assert (
        words_of(page)
        .partition("Log in Username")[2]
        .startswith(" Password Remember me Log in Forgot password? Register")
    )
    assert re.search(r'type="checkbox" name="remember" value="y" checked', page.text)


@pytest.mark.parametrize(
    ("name", "password", "errors"),
    [
        ("nobody", PASSWORD, {"username": "Your username does not exist"}),
        ("", PASSWORD, {"username": "Your username does not exist"}),
        (" ", "", {"username": "Your username does not exist"}),
        ("Ada", "wrong", {"password": "Your password is incorrect"}),
        ("Ada", "", {"password": "Your password is incorrect"}),
    ],
)
def test_a_refused_login_leads_back_with_its_error(
    site: Site, name: str, password: str, errors: dict[str, str]
) -> None:
    site.player("Ada")
    visitor = site.visitor()
    answer = visitor.log_in(name, password, next="/settings")
    assert answer.status_code == 303
    assert parse_qs(urlsplit(answer.headers["Location"]).query) == {"next": ["/settings"]}
    page = visitor.open(answer.headers["Location"])
    assert errors_of(page) == errors
    assert value_of(page, "username") == name
    assert value_of(page, "password") is None
    assert value_of(page, "next") == "/settings"
    assert not visitor.is_player()
    assert errors_of(visitor.open("/login")) == {}


@pytest.mark.parametrize(
    ("wanted", "leads_to"),
    [
        ("", "/ranking"),
        ("/settings", "/settings"),
        ("/user/Ada?a=b", "/user/Ada?a=b"),
        ("//evil.example", "/ranking"),
        ("/\\evil", "/ranking"),
        ("https://evil.example/", "/ranking"),
        ("/\tevil", "/ranking"),
        ("/ok\r\nSet-Cookie: a=b", "/ranking"),
        ("settings", "/ranking"),
    ],
)
def test_where_a_login_leads(site: Site, wanted: str, leads_to: str) -> None:
    site.player("Ada")
    answer = site.visitor().log_in("ada", next=wanted)
    assert (answer.status_code, answer.headers["Location"]) == (303, leads_to)


def test_a_remembered_login_has_a_cookie_with_an_end_the_other_has_none(site: Site) -> None:
    site.player("Ada")
    remembered = site.visitor().log_in("Ada", remember="y")
    cookie = session_cookie(remembered)
    assert "Expires=" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Expires=" not in session_cookie(site.visitor().log_in("Ada"))


def test_a_copied_cookie_is_dead_after_log_out(site: Site) -> None:
    ada = site.player("Ada")
    copy = site.visitor()
    copy.cookies.update(ada.cookies)
    assert copy.is_player()
    answer = ada.fill("/logout", on="/ranking")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/ranking")
    dead = copy.open("/settings")
    assert (dead.status_code, dead.headers["Location"]) == (303, "/login?next=/settings")


def test_a_login_makes_a_new_session_and_a_new_token(site: Site) -> None:
    site.player("Ada")
    visitor = site.visitor()
    token = visitor.token()
    values = {"username": "Ada", "password": PASSWORD, "csrf_token": token}
    assert visitor.send_form("/login", values).status_code == 303
    assert visitor.send_form("/logout", {"csrf_token": token}).status_code == 400
    assert visitor.is_player()


def test_the_locked_read_so_only_with_the_right_password(site: Site) -> None:
    ada = site.player("Ada")
    with site.resources.database.writing() as session:
        administration.lock(session, "Ada")
    assert not ada.is_player()
    visitor = site.visitor()
    visitor.log_in("Ada", "wrong")
    assert errors_of(visitor.open("/login")) == {"password": "Your password is incorrect"}
    visitor.log_in("Ada")
    assert errors_of(visitor.open("/login")) == {
        "username": "Your account is locked. Write to the people who run this site."
    }
    assert not visitor.is_player()


@ON_BOTH
def test_a_session_lives_on_while_it_is_used(site: Site) -> None:
    ada = site.player("Ada")
    for _ in range(5):
        site.clock.advance(3 * DAY)
        assert ada.is_player()
    site.clock.advance(7 * DAY)
    assert not ada.is_player()


def test_the_cookie_of_a_remembered_session_is_renewed_once_a_day(site: Site) -> None:
    site.player("Ada")
    visitor = site.visitor()
    visitor.log_in("Ada", remember="y")
    visitor.open("/ranking")
    assert "Set-Cookie" not in visitor.open("/ranking").headers
    site.clock.advance(DAY)
    assert "Expires=" in visitor.open("/ranking").headers["Set-Cookie"]
    assert "Set-Cookie" not in visitor.open("/ranking").headers
    site.clock.advance(89 * DAY)
    assert visitor.is_player()


def test_a_registration_leads_on_too(site: Site) -> None:
    assert site.visitor().register("Ada", next="/settings").headers["Location"] == "/settings"
    assert site.visitor().register("Bob", next="//evil.example").headers["Location"] == "/ranking"


# Forgot and reset


def test_forgot_sends_one_mail_with_the_text_line_by_line(site: Site) -> None:
    site.player("Ada")
    visitor = site.visitor()
    page = visitor.open("/forgot")
    assert (
        "Reset password Please enter your username Reset password Log in or Create an account"
        in (words_of(page))
    )
    answer = visitor.fill("/forgot", username="ada")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/forgot")
    notice = "You will shortly receive an e-mail with instructions to reset your password."
    assert f'role="status"> <p>{notice}' in " ".join(visitor.open("/forgot").text.split())
    assert notice not in visitor.open("/forgot").text
    site.do_jobs()
    (path,) = (site.resources.settings.data / "mail").iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    head, _, body = path.read_text(encoding="utf-8").partition("\n\n")
    lines = dict(line.split(": ", 1) for line in head.splitlines())
    assert lines["From"] == "team@endofcodes.com"
    assert lines["To"] == "ada@example.org"
    assert lines["Subject"] == "Reset password"
    assert lines["Content-Type"] == 'text/plain; charset="utf-8"'
    link = f"{site.resources.settings.address}{site.link()}"
    assert body.splitlines() == [
        "Hi Ada,",
        "",
        "You requested to change your End of Codes password. To reset your password, please click"
        " the following link:",
        "",
        link,
        "",
        "If you keep having problems, just reply to this e-mail and we'll be happy to help.",
        "",
        "Best,",
        "",
        "The End of Codes Team.",
    ]


def test_forgot_says_what_is_wrong(site: Site) -> None:
    visitor = site.visitor()
    for name, text in (
        ("", "Please enter your username"),
        ("nobody", "This username doesn't exist"),
    ):
        page = visitor.fill("/forgot", username=name)
        assert page.status_code == 422
        assert errors_of(page) == {"username": text}
    assert site.queue.jobs == []


def test_the_locked_get_the_notice_and_no_mail(site: Site) -> None:
    site.player("Ada")
    with site.resources.database.writing() as session:
        administration.lock(session, "Ada")
    assert site.visitor().fill("/forgot", username="Ada").status_code == 303
    site.do_jobs()
    assert site.mails() == []


def forgotten(site: Site) -> str:
    """Return the path of a link that Ada was sent."""
    site.visitor().fill("/forgot", username="Ada")
    site.do_jobs()
    return site.link()


def test_a_link_changes_the_password_once(site: Site) -> None:
    ada = site.player("Ada")
    link, visitor = forgotten(site), site.visitor()
    for _ in range(2):
        page = visitor.open(link)
        assert page.status_code == 200
        assert "Please enter a new password New password New password (repeat) Change password" in (
            words_of(page)
        )
        assert not visitor.is_player()
    short = visitor.fill(link, password="12345", password_repeat="12345")
    assert short.status_code == 422
    assert errors_of(short) == {"password": "Your new password must be more than 6 characters"}
    unlike = visitor.fill(link, password="123456", password_repeat="1234567")
    assert errors_of(unlike) == {"password_repeat": "Your two passwords do not match"}
    right = visitor.fill(link, password="123456", password_repeat="123456")
    assert (right.status_code, right.headers["Location"]) == (303, "/ranking")
    assert visitor.is_player()
    assert not ada.is_player()
    assert site.visitor().log_in("Ada", "123456").headers["Location"] == "/ranking"
    for path in (link, link[:-1] + ("A" if link[-1] != "A" else "B")):
        page = site.visitor().open(path)
        assert page.status_code == 410
        assert "We're sorry, the forgot password link has expired." in words_of(page)
        assert "<form" not in page.text.partition("<main")[2]


def test_a_link_ends_after_a_day(site: Site, hub_clock: StillClock) -> None:
    site.player("Ada")
    link = forgotten(site)
    hub_clock.advance(DAY - 1)
    assert site.visitor().open(link).status_code == 200
    hub_clock.advance(2)
    page = site.visitor().open(link)
    assert page.status_code == 410


def test_of_twenty_uses_of_a_link_at_once_one_wins(site: Site) -> None:
    site.player("Ada")
    link = forgotten(site)
    visitors = [site.visitor() for _ in range(14)]
    tokens = [visitor.token(link) for visitor in visitors]

    def use(number: int) -> int:
        values = {"csrf_token": tokens[number], "password": "123456", "password_repeat": "123456"}
        return visitors[number].send_form(link, values).status_code

    with ThreadPoolExecutor(14) as pool:
        codes = sorted(pool.map(use, range(14)))
    assert codes == [303] + [410] * 13


def test_a_reset_by_mail_confirms_the_address(site: Site) -> None:
    ada = site.player("Ada")
    assert "not confirmed" in ada.open("/settings").text
    visitor = site.visitor()
    visitor.fill(forgotten(site), password="123456", password_repeat="123456")
    assert "not confirmed" not in visitor.open("/settings").text


# Confirm


def test_an_address_is_confirmed_by_a_link(site: Site) -> None:
    ada = site.player("Ada")
    answer = ada.fill("/verify", on="/settings")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/settings")
    site.do_jobs()
    (mail,) = site.mails()
    assert "Subject: Confirm your email address\n" in mail
    assert "\n\nTo confirm your email address, please click the following link:\n\n" in mail
    link = site.link()
    assert "Confirm my email" in ada.open(link).text
    assert "not confirmed" in ada.open("/settings").text
    visitor = site.visitor()
    done = visitor.fill(link)
    assert (done.status_code, done.headers["Location"]) == (303, "/login")
    assert "Your email address is confirmed" in visitor.open("/login").text
    assert "not confirmed" not in ada.open("/settings").text
    late = ada.open(link)
    assert late.status_code == 410
    assert "We're sorry, this link has expired." in words_of(late)
    assert ada.fill("/verify", on="/ranking").status_code == 409


def test_a_link_for_one_purpose_is_none_for_another(site: Site) -> None:
    site.player("Ada")
    ticket = forgotten(site).rpartition("/")[2]
    assert site.visitor().open(f"/verify/{ticket}").status_code == 410
    assert site.visitor().open(f"/reset/{ticket}").status_code == 200


def test_an_account_that_goes_away_ends_its_sessions(site: Site) -> None:
    ada = site.player("Ada")
    with site.resources.database.writing() as session:
        account = accounts_service.find_account(session, "Ada")
        assert account
        administration.delete_account(session, account)
    assert not ada.is_player()
