"""Who has logged in before is not kept out by the guesses of others; nor is who has a link."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from cw_hub.accounts import administration, known_places, place_of_request
from cw_hub.store.models import KnownPlace
from hub.tests.conftest import ON_BOTH, ON_SQLITE, StillClock
from hub.tests.sites import PASSWORD, Site
from tests.effort import first_is_fast

pytestmark = ON_SQLITE

DAY = 86_400
HOME, OFFICE, CAFE = "10.1.0.1", "10.2.0.1", "10.3.0.1"


@dataclass
class Browser:
    """A browser that may be taken to any network."""

    site: Site
    address: str = HOME
    client: FlaskClient = field(init=False)

    def __post_init__(self) -> None:
        self.client = self.site.app.test_client()

    def post(self, path: str, on: str = "/login", **values: str) -> int:
        origin = {"REMOTE_ADDR": self.address}
        page = self.client.get(on, environ_base=origin).text
        token = re.search('name="csrf_token" value="([^"]+)"', page)
        form = {"csrf_token": token[1] if token else "", **values}
        return self.client.post(path, data=form, environ_base=origin).status_code

    def log_in(self, name: str = "Ada", password: str = PASSWORD) -> bool:
        """Try a password; return whether it was looked at and right."""
        code = self.post("/login", username=name, password=password)
        assert code in (303, 429)
        return code == 303 and self.client.get("/settings").status_code == 200

    def log_out(self) -> None:
        assert self.post("/logout", on="/settings") == 303

    def register(self, name: str) -> None:
        values = {"username": name, "email": f"{name}@example.org", "password": PASSWORD}
        assert self.post("/register", "/register", **values, password_repeat=PASSWORD) == 303
        self.log_out()


@pytest.fixture
def ada(site: Site) -> Browser:
    """The browser of Ada, who has logged out."""
    browser = Browser(site)
    browser.register("Ada")
    return browser


def besiege(site: Site, name: str = "Ada") -> None:
    """Guess from so many networks that strangers are kept out for an hour."""
    for number in range(10):
        stranger = Browser(site, f"10.9.0.{number}")
        for _ in range(10):
            stranger.post("/login", username=name, password="wrong")
    assert Browser(site, CAFE).post("/login", username=name, password=PASSWORD) == 429


@pytest.mark.parametrize("role", first_is_fast(["player", "admin"]))
def test_a_known_browser_and_a_known_network_are_let_in(
    site: Site, ada: Browser, role: str
) -> None:
    if role == "admin":
        with site.resources.database.writing() as session:
            administration.set_role(session, "Ada", "admin")
    besiege(site)
    ada.address = OFFICE
    assert ada.log_in()
    # By that the office is known too.
    assert Browser(site, HOME).log_in()
    assert Browser(site, OFFICE).log_in()
    assert not Browser(site, CAFE).log_in()


def test_others_in_a_known_network_do_not_keep_a_known_browser_out(
    site: Site, ada: Browser
) -> None:
    neighbour = Browser(site, HOME)
    for _ in range(11):
        neighbour.log_in(password="wrong")
    assert not neighbour.log_in()
    assert ada.log_in()


def test_guesses_of_a_known_browser_are_limited_too(site: Site, ada: Browser) -> None:
    for _ in range(10):
        assert not ada.log_in(password="wrong")
    assert not ada.log_in()
    ada.address = OFFICE
    assert not ada.log_in()
    assert Browser(site, HOME).log_in()


@pytest.mark.thorough
def test_a_place_is_known_for_one_account(site: Site, ada: Browser) -> None:
    bob = Browser(site, OFFICE)
    bob.register("Bob")
    besiege(site)
    assert not bob.log_in("Ada")
    assert ada.log_in()


@pytest.mark.thorough
def test_a_cookie_that_somebody_makes_up_is_known_for_nothing(site: Site, ada: Browser) -> None:
    besiege(site)
    for value in ("A" * 22, "x", "", "ä", "A" * 3000):
        forger = Browser(site, CAFE)
        forger.client.set_cookie("cw_browser", value)
        assert not forger.log_in()


@pytest.mark.thorough
def test_the_link_to_reset_a_password_always_passes(site: Site, ada: Browser) -> None:
    besiege(site)
    clean = Browser(site, CAFE)
    for _ in range(4):
        assert clean.post("/forgot", on="/forgot", username="Ada") == 303
    site.do_jobs()
    link = site.link()
    for number in range(40):
        code = clean.client.get(f"/reset/{number}", environ_base={"REMOTE_ADDR": CAFE}).status_code
        assert code == (410 if number < 30 else 429)
    new = {"password": "another one", "password_repeat": "another one"}
    assert clean.post(link, on=link, **new) == 303
    clean.log_out()
    assert clean.log_in(password="another one")
    # Whoever knew the old password may have logged in from somewhere.
    assert not ada.log_in(password="another one")


@pytest.mark.thorough
@ON_BOTH
def test_a_place_is_known_for_half_a_year_after_the_last_log_in(site: Site, ada: Browser) -> None:
    site.clock.advance(180 * DAY - 1)
    besiege(site)
    assert ada.log_in()
    ada.log_out()
    site.clock.advance(180 * DAY)
    besiege(site)
    assert not ada.log_in()
    with site.resources.database.writing() as session:
        known_places.sweep(session)
    assert rows(site) == []


def rows(site: Site) -> list[KnownPlace]:
    with site.resources.database.reading() as session:
        return list(session.scalars(select(KnownPlace)))


@pytest.mark.thorough
def test_twenty_places_are_known_those_of_the_latest_log_ins(
    site: Site, hub_clock: StillClock, ada: Browser
) -> None:
    for number in range(30):
        hub_clock.advance(60)
        assert Browser(site, f"10.4.0.{number}").log_in()
    assert len(rows(site)) == known_places.MOST
    besiege(site)
    assert Browser(site, "10.4.0.29").log_in()
    assert not Browser(site, "10.4.0.2").log_in()


def test_rows_name_neither_browser_nor_network_and_go_with_the_account(
    site: Site, ada: Browser
) -> None:
    text = str([vars(row) for row in rows(site)])
    cookie = ada.client.get_cookie("cw_browser")
    assert cookie is not None
    assert cookie.value not in text
    assert HOME not in text
    with site.resources.database.writing() as session:
        administration.delete(session, "Ada")
    assert rows(site) == []


def test_the_cookie_of_a_browser_logs_nobody_in(site: Site, ada: Browser) -> None:
    thief = Browser(site, CAFE)
    cookie = ada.client.get_cookie("cw_browser")
    assert cookie is not None
    assert (cookie.http_only, cookie.same_site, cookie.path) == (True, "Lax", "/")
    thief.client.set_cookie("cw_browser", cookie.value)
    assert thief.client.get("/settings").status_code == 303
    with site.app.test_request_context(headers={"Cookie": f"cw_browser={cookie.value}"}):
        assert place_of_request.known_here("Ada").startswith("browser ")
        assert place_of_request.known_here("nobody") == ""
