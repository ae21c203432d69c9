"""Log in by GitHub, which a server of this machine plays: everything goes over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import requests
from sqlalchemy import select

from cw_hub.accounts import administration
from cw_hub.accounts import service as accounts_service
from cw_hub.operation.resources import Resources
from cw_hub.store.models import Mail, User
from hub.tests.conftest import ON_BOTH, ON_SQLITE, StillClock
from hub.tests.github_server import CLIENT, SECRET, GitHub, address, served_github
from hub.tests.sites import PASSWORD, Site, Visitor, site_on, words_of

pytestmark = ON_SQLITE

UNDONE = "The sign-in was not completed. Please try again."


@pytest.fixture
def github() -> Iterator[GitHub]:
    with served_github() as github:
        yield github


@pytest.fixture
def open_site(resources: Resources, hub_clock: StillClock, github: GitHub) -> Iterator[Site]:
    """A site that is set up for GitHub."""
    settings = replace(
        resources.settings,
        github_id=CLIENT,
        github_secret=SECRET,
        github_url=github.address,
        github_api=github.address,
    )
    with site_on(replace(resources, settings=settings), hub_clock) as site:
        yield site


def go_to_github(visitor: Visitor, path: str = "/login/github") -> str:
    """Begin, log in there; return the path on our site that one is sent back to."""
    there = visitor.open(path)
    assert there.status_code == 302
    back = requests.get(there.headers["Location"], allow_redirects=False, timeout=30)
    return back.headers["Location"].removeprefix(visitor.address)


def sign_in(visitor: Visitor, path: str = "/login/github") -> requests.Response:
    """Go to GitHub and come back."""
    return visitor.open(go_to_github(visitor, path))


def confirm(visitor: Visitor, password: str = PASSWORD) -> requests.Response:
    """Ask on the Settings page to connect GitHub."""
    return visitor.fill("/settings/github/connect", on="/settings", github_password=password)


def connect(visitor: Visitor) -> requests.Response:
    """Enter the password, go to GitHub and come back."""
    assert "Continue to GitHub" in confirm(visitor).text
    return sign_in(visitor)


def row_of(site: Site, username: str) -> User:
    with site.resources.database.reading() as session:
        return session.scalars(select(User).where(User.username == username)).one()


@ON_BOTH
def test_who_is_new_chooses_a_username_once(open_site: Site, github: GitHub) -> None:
    github.user["avatar_url"] = f"{github.address}/avatar.png"
    github.emails = [
        address("old@example.org", primary=False),
        address("octo@example.org"),
        address("typo@example.org", primary=False, verified=False),
    ]
    visitor = open_site.visitor()
    assert "Log in with GitHub" in visitor.open("/login").text
    assert sign_in(visitor, "/login/github?next=/settings").headers["Location"] == "/welcome"
    page = visitor.open("/welcome").text
    assert 'value="octo"' in page
    assert 'value="octo@example.org"' in page
    answer = visitor.fill("/welcome", username="octo", email="octo@example.org")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/settings")
    settings = words_of(visitor.open("/settings"))
    assert "octo@example.org confirmed" in settings
    row = row_of(open_site, "octo")
    assert (row.github_id, row.display_name, row.password_hash) == (42, "Octo", None)
    assert visitor.open(f"/avatar/{row.avatar}.webp").status_code == 200
    again = open_site.visitor()
    assert sign_in(again).headers["Location"] == "/ranking"
    assert again.is_player()
    assert visitor.open("/welcome").headers["Location"] == "/ranking"


def test_another_address_must_be_confirmed(open_site: Site, github: GitHub) -> None:
    first = open_site.visitor()
    sign_in(first)
    first.fill("/welcome", username="octo", email="other@example.org")
    assert row_of(open_site, "octo").email_verified_at is None
    github.user, github.emails = {"id": 43, "login": "new"}, [address("b@x.org", verified=False)]
    second = open_site.visitor()
    sign_in(second)
    second.fill("/welcome", username="newer", email="b@x.org")
    assert row_of(open_site, "newer").email_verified_at is None


def test_names_are_asked_for_as_at_registration_and_addresses_match_nobody(
    open_site: Site, github: GitHub
) -> None:
    open_site.visitor().register("Octo", email="octo@example.org")
    visitor = open_site.visitor()
    assert sign_in(visitor).headers["Location"] == "/welcome"
    for username, email, words in (
        ("OCTO", "octo@example.org", "This username is already taken"),
        ("a", "octo@example.org", "Your username must be longer than 3 characters"),
        ("", "x", "Please enter a username"),
        ("fine", "x", "Please enter a valid e-mail address"),
    ):
        refused = visitor.fill("/welcome", username=username, email=email)
        assert refused.status_code == 422
        assert words in words_of(refused)
    assert not visitor.is_player()
    open_site.clock.advance(1801)
    assert visitor.open("/welcome").headers["Location"] == "/login"


@ON_BOTH
def test_a_player_connects_and_disconnects(open_site: Site, github: GitHub) -> None:
    ann = open_site.player("Ann")
    assert "Connect GitHub" in ann.open("/settings").text
    assert connect(ann).headers["Location"] == "/settings"
    page = words_of(ann.open("/settings"))
    assert "Your GitHub account is connected" in page
    assert "Disconnect GitHub" in page
    assert sign_in(open_site.visitor()).headers["Location"] == "/ranking"
    bob = open_site.player("Bob")
    connect(bob)
    refusal = "This GitHub account is already connected to another account here."
    assert refusal in words_of(bob.open("/settings"))
    assert row_of(open_site, "Bob").github_id is None
    ann.fill("/settings/github", on="/settings", github_password=PASSWORD)
    assert "Your GitHub account is disconnected" in words_of(ann.open("/settings"))
    assert sign_in(open_site.visitor()).headers["Location"] == "/welcome"


def test_a_session_alone_neither_connects_nor_disconnects(open_site: Site, github: GitHub) -> None:
    ann, thief = open_site.player("Ann"), open_site.visitor()
    thief.cookies.update(ann.cookies)
    assert thief.open("/login/github").headers["Location"] == "/settings"
    for guess in ("", "guess"):
        refused = confirm(thief, guess)
        assert refused.status_code == 422
        assert "Your password is incorrect" in words_of(refused)
    assert thief.open("/login/github").headers["Location"] == "/settings"
    assert row_of(open_site, "Ann").github_id is None
    assert github.asked == []
    connect(ann)
    for guess in ("", "guess"):
        refused = thief.fill("/settings/github", on="/settings", github_password=guess)
        assert refused.status_code == 422
    assert row_of(open_site, "Ann").github_id == 42
    assert "Changing your password does not disconnect GitHub" in words_of(ann.open("/settings"))


def test_a_password_confirms_one_way_to_github_in_one_session_and_for_ten_minutes(
    open_site: Site, github: GitHub
) -> None:
    ann = open_site.player("Ann")
    before = go_to_github(open_site.visitor())
    confirm(ann)
    assert ann.open(before).headers["Location"] == "/settings"
    assert ann.open("/login/github").headers["Location"] == "/settings"
    assert row_of(open_site, "Ann").github_id is None
    confirm(ann)
    back = go_to_github(ann)
    open_site.clock.advance(601)
    ann.open(back)
    assert row_of(open_site, "Ann").github_id is None
    confirm(ann)
    open_site.clock.advance(601)
    assert ann.open("/login/github").headers["Location"] == "/settings"


@pytest.mark.parametrize("is_confirmed", [True, False])
def test_a_confirmed_address_is_told_of_github(
    open_site: Site, github: GitHub, is_confirmed: bool
) -> None:
    ann = open_site.player("Ann")
    at = open_site.clock() if is_confirmed else None
    with open_site.resources.database.writing() as session:
        accounts_service.save(session, row_of(open_site, "Ann").id, email_verified_at=at)
    connect(ann)
    ann.fill("/settings/github", on="/settings", github_password=PASSWORD)
    with open_site.resources.database.reading() as session:
        kinds = list(session.scalars(select(Mail.kind)))
    assert kinds.count("github") == (2 if is_confirmed else 0)


def test_who_has_no_password_stays_connected(open_site: Site, github: GitHub) -> None:
    visitor = open_site.visitor()
    sign_in(visitor)
    visitor.fill("/welcome", username="octo", email="octo@example.org")
    for path in ("/settings/github", "/settings/github/connect"):
        visitor.fill(path, on="/settings")
        assert "Please set a password first" in words_of(visitor.open("/settings"))
    assert row_of(open_site, "octo").github_id == 42


def test_the_locked_stay_outside(open_site: Site, github: GitHub) -> None:
    connect(open_site.player("Ann"))
    with open_site.resources.database.writing() as session:
        administration.lock(session, "Ann")
    visitor = open_site.visitor()
    assert sign_in(visitor).headers["Location"] == "/login"
    assert "Your account is locked." in words_of(visitor.open("/login"))
    assert not visitor.is_player()


def test_a_sign_in_that_is_not_ours_is_not_completed(open_site: Site, github: GitHub) -> None:
    def is_refused(visitor: Visitor, path: str) -> None:
        answer = visitor.open(path)
        assert answer.headers["Location"] == "/login"
        assert UNDONE in words_of(visitor.open("/login"))
        assert not visitor.is_player()

    victim, attacker = open_site.visitor(), open_site.visitor()
    is_refused(victim, go_to_github(attacker))
    is_refused(victim, "/login/github/callback")
    is_refused(victim, "/login/github/callback?code=x&state=x")
    is_refused(victim, "/login/github/callback?error=access_denied&state=x")
    wrong = go_to_github(victim)
    github.codes.clear()
    is_refused(victim, wrong)
    used = go_to_github(victim)
    assert victim.open(used).headers["Location"] == "/welcome"
    is_refused(victim, used)
    github.is_broken = True
    is_refused(victim, go_to_github(victim))
    assert len(victim.cookies["cw"]) < 4000


def test_a_site_that_is_not_set_up_has_no_button(site: Site) -> None:
    visitor = site.visitor()
    assert "GitHub" not in visitor.open("/login").text
    for path in ("/login/github", "/login/github/callback"):
        assert visitor.open(path).status_code == 404
    assert visitor.open("/welcome").headers["Location"] == "/login"


def test_sign_ins_are_limited_by_the_hour(open_site: Site, github: GitHub) -> None:
    visitor = open_site.visitor()
    codes = [visitor.open("/login/github").status_code for _ in range(21)]
    assert codes == [302] * 20 + [429]
    open_site.clock.advance(3601)
    assert visitor.open("/login/github").status_code == 302
