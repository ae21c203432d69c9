"""How often something may be tried: each limit, and its end, by the clock of the test."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from threading import Barrier

import pytest
import requests
from PIL import Image

from cw_hub.operation.resources import Resources
from hub.tests.conftest import ON_SQLITE, StillClock
from hub.tests.services import new_redis
from hub.tests.sites import PASSWORD, Site, Visitor, site_on, words_of

pytestmark = ON_SQLITE

CLIENT = "urllib3.connectionpool"
"""The log of the browsers."""

MINUTE = 60
HOUR = 3600


def guess(site: Site, name: str = "Ada") -> requests.Response:
    """Try a wrong password in a new browser."""
    return site.visitor().log_in(name, "wrong")


def test_after_ten_wrong_passwords_the_right_one_must_wait_too(site: Site) -> None:
    site.player("Ada")
    for _ in range(10):
        assert guess(site).status_code == 303
    refused = site.visitor().log_in("ADA")
    assert refused.status_code == 429
    assert refused.headers["Retry-After"] == "901"
    assert "Too many attempts. Try again in 15 minutes." in words_of(refused)
    assert "<time datetime=" in refused.text
    assert site.visitor().fill("/forgot", username="Ada").status_code == 303
    site.clock.advance(15 * MINUTE - 1)
    assert site.visitor().log_in("Ada").status_code == 429
    site.clock.advance(2)
    assert site.visitor().log_in("Ada").headers["Location"] == "/ranking"


def at_once(site: Site, password: str, number: int) -> list[requests.Response]:
    """Try a password in as many browsers at the same time."""
    browsers = [site.visitor() for _ in range(number)]
    forms = [
        {"csrf_token": browser.token(), "username": "Ada", "password": password}
        for browser in browsers
    ]
    begin = Barrier(number)

    def send(browser: Visitor, form: dict[str, str]) -> requests.Response:
        begin.wait()
        return browser.send_form("/login", form)

    with ThreadPoolExecutor(number) as threads:
        return list(threads.map(send, browsers, forms))


@pytest.mark.thorough
def test_of_forty_wrong_passwords_at_once_ten_are_tried(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    site.player("Ada")
    caplog.set_level("INFO", "cw.hub.accounts")
    answers = at_once(site, "wrong", 40)
    assert sorted(answer.status_code for answer in answers) == [303] * 10 + [429] * 30
    tried = [record for record in caplog.records if "wrong password" in record.getMessage()]
    assert len(tried) == 10
    assert site.visitor().log_in("Ada").status_code == 429
    site.clock.advance(15 * MINUTE + 1)
    # What was refused was not counted, and what was right is not.
    for _ in range(3):
        answers = at_once(site, PASSWORD, 10)
        assert {answer.headers["Location"] for answer in answers} == {"/ranking"}


def test_right_passwords_are_not_counted(site: Site) -> None:
    site.player("Ada")
    for _ in range(15):
        assert site.visitor().log_in("Ada").headers["Location"] == "/ranking"


def test_the_modals_count_with_the_login_page(site: Site) -> None:
    ada = site.player("Ada")
    for number in range(9):
        path = ("/settings/delete", "/settings/password")[number % 2]
        answer = ada.fill(
            path,
            on="/settings",
            password="123456",
            password_repeat="123456",
            old_password="wrong",
        )
        assert answer.status_code == 422
    assert ada.fill("/logout", on="/ranking").status_code == 303
    assert ada.log_in("Ada", "wrong").status_code == 303
    assert ada.log_in("Ada").status_code == 429
    # Others do not count, and are not counted with: this browser is known.
    assert site.visitor().log_in("Ada").status_code == 303
    site.clock.advance(15 * MINUTE + 1)
    for _ in range(9):
        ada.log_in("Ada", "wrong")
    assert ada.log_in("Ada").status_code == 303
    ada.send_form("/settings/delete", {"csrf_token": ada.token("/settings"), "password": "wrong"})
    refused = ada.send_form(
        "/settings/delete",
        {"csrf_token": ada.token("/settings"), "password": PASSWORD},
        headers={"Accept": "application/json"},
    )
    assert refused.status_code == 429
    assert refused.json() == {"error": "Too many attempts. Try again in 15 minutes."}
    assert ada.is_player()


class Guesser:
    """Tries wrong passwords from any address."""

    def __init__(self, site: Site) -> None:
        self.client = site.app.test_client()
        self.token = (
            self.client.get("/login").text.partition('csrf_token" value="')[2].partition('"')[0]
        )

    def guess(self, name: str, address: str) -> int:
        values = {"csrf_token": self.token, "username": name, "password": "wrong"}
        origin = {"REMOTE_ADDR": address}
        return self.client.post("/login", data=values, environ_base=origin).status_code


def test_a_name_has_a_limit_for_the_hour(site: Site) -> None:
    site.player("Ada")
    guesser = Guesser(site)
    for number in range(100):
        assert guesser.guess("Ada", f"10.0.0.{number // 10}") == 303
    assert guesser.guess("ada", "10.0.1.1") == 429
    assert guesser.guess("Bob", "10.0.1.1") == 303
    site.clock.advance(HOUR + 1)
    assert guesser.guess("Ada", "10.0.1.1") == 303


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("address", "neighbour", "stranger"),
    [
        ("10.0.0.1", "10.0.0.1", "10.0.0.2"),
        ("2001:db8::1", "2001:db8::ffff:2", "2001:db8:0:1::1"),
    ],
)
def test_an_address_has_a_limit_for_the_hour(
    site: Site, address: str, neighbour: str, stranger: str
) -> None:
    guesser = Guesser(site)
    for number in range(300):
        assert guesser.guess(f"name{number}", address) == 303
    assert guesser.guess("Ada", neighbour) == 429
    assert guesser.guess("Ada", stranger) == 303
    site.clock.advance(HOUR + 1)
    assert guesser.guess("Ada", neighbour) == 303


def test_forgotten_passwords_are_limited_by_the_address_that_asks(site: Site) -> None:
    site.player("Ada")
    client = site.app.test_client()
    token = client.get("/login").text.partition('csrf_token" value="')[2].partition('"')[0]

    def forget(address: str) -> int:
        values = {"csrf_token": token, "username": "Ada"}
        origin = {"REMOTE_ADDR": address}
        return client.post("/forgot", data=values, environ_base=origin).status_code

    assert [forget("10.0.0.1") for _ in range(61)] == [303] * 60 + [429]
    assert forget("10.0.0.2") == 303
    site.clock.advance(HOUR + 1)
    assert forget("10.0.0.1") == 303


def picture() -> dict[str, tuple[str, bytes]]:
    """Return a file for the form with the picture."""
    packed = BytesIO()
    Image.new("RGB", (8, 8)).save(packed, "PNG")
    return {"picture": ("me.png", packed.getvalue())}


def send_picture(site: Site, ada: Visitor) -> int:
    values = {"csrf_token": ada.token("/settings")}
    return ada.send_form("/settings/avatar", values, files=picture()).status_code


def ask_for_link(site: Site, ada: Visitor) -> int:
    return ada.fill("/verify", on="/settings").status_code


def follow_link(site: Site, ada: Visitor) -> int:
    return 303 if site.visitor().open("/reset/x").status_code == 410 else 429


def register(site: Site, ada: Visitor) -> int:
    return 303 if site.visitor().fill("/register").status_code == 422 else 429


@pytest.mark.parametrize(
    ("most", "act"),
    [
        pytest.param(10, send_picture, marks=pytest.mark.thorough, id="avatars"),
        pytest.param(3, ask_for_link, id="verify"),
        pytest.param(30, follow_link, id="reset"),
        pytest.param(100, register, marks=pytest.mark.thorough, id="register"),
    ],
)
def test_what_is_limited_by_the_hour(
    site: Site, most: int, act: Callable[[Site, Visitor], int]
) -> None:
    ada = site.player("Ada")
    # Who registers has sent that form already.
    codes = [act(site, ada) for _ in range(most + 1)]
    assert codes[-1] == 429
    assert set(codes[: most - 1]) == {303}
    site.clock.advance(HOUR + 2)
    assert act(site, ada) == 303


@pytest.mark.thorough
def test_all_else_is_limited_by_the_minute_but_for_files(site: Site) -> None:
    visitor = site.app.test_client()
    codes = [visitor.get("/ranking").status_code for _ in range(601)]
    assert codes == [200] * 600 + [429]
    with visitor.get("/static/base.css") as style:
        assert style.status_code == 200
    assert visitor.get("/blog").status_code == 200
    site.clock.advance(MINUTE + 1)
    assert visitor.get("/ranking").status_code == 200


@pytest.mark.thorough
def test_matches_of_pages_are_begun_so_often_by_an_address(site: Site) -> None:
    visitor = site.visitor()

    def begin() -> int:
        return visitor.send_form(
            "/games/hexagon/matches", {"bot": "own:t1", "hand": "1"}
        ).status_code

    assert [begin() for _ in range(61)] == [400] * 60 + [429]
    site.clock.advance(MINUTE + 1)
    assert begin() == 400


@pytest.mark.thorough
def test_processes_count_together_and_alone_when_redis_is_gone(
    resources: Resources, hub_clock: StillClock, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        broker = stack.enter_context(ExitStack())
        url = broker.enter_context(new_redis(tmp_path))
        settings = replace(resources.settings, broker_url=url)
        both = replace(resources, settings=settings)
        first, second = (stack.enter_context(site_on(both, hub_clock)) for _ in range(2))
        first.player("Ada")
        for _ in range(11):
            assert second.visitor().log_in("Ada").headers["Location"] == "/ranking"
        for site in (first, second) * 5:
            assert guess(site).status_code == 303
        assert first.visitor().log_in("Ada").status_code == 429
        assert second.visitor().log_in("Ada").status_code == 429
        broker.close()
        assert first.visitor().log_in("Ada").headers["Location"] == "/ranking"
        for _ in range(10):
            assert guess(first).status_code == 303
        assert guess(first).status_code == 429
        assert guess(second).status_code == 303


def test_the_log_names_no_password_and_no_email(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    ada = site.player("Ada")
    guess(site)
    ada.fill("/settings/password", on="/settings", old_password=PASSWORD, password="new secret",
             password_repeat="new secret")  # fmt: skip
    site.visitor().fill("/forgot", username="Ada")
    site.do_jobs()
    site.visitor().fill(site.link(), password="newer secret", password_repeat="newer secret")
    text = "\n".join(record.getMessage() for record in caplog.records if record.name != CLIENT)
    for event in ("register", "wrong password", "password changed", "reset"):
        assert re.search(rf"{event} address=127\.0\.0\.1 user=\d", text), event
    for secret in (PASSWORD, "wrong\n", "new secret", "newer secret", "example.org", site.link()):
        assert secret not in text


@pytest.mark.parametrize(
    ("path", "number"),
    [
        ("/cup/x/report.json", 30),
        pytest.param("/matches?bot=a", 120, marks=pytest.mark.thorough),
        pytest.param("/matches/x", 600, marks=pytest.mark.thorough),
    ],
)
def test_pages_that_compute_much_and_pages_of_live_matches_are_limited(
    site: Site, path: str, number: int
) -> None:
    client = site.app.test_client()
    # Without one, a page that was made for another visitor costs nothing and is not counted.
    client.set_cookie("theme", "dark")
    codes = {client.get(path).status_code for _ in range(number)}
    assert 429 not in codes
    assert client.get(path).status_code == 429
    site.clock.advance(MINUTE + 1)
    assert client.get(path).status_code in codes


def test_mistyped_forms_use_up_no_bot(site: Site) -> None:
    site.open_competition("hexagon")
    ada = site.player("Ada")

    def register(name: str, at: str = "http://127.0.0.1:9") -> int:
        values = {"game": "hexagon", "name": name, "endpoint": at}
        return ada.fill("/bots/new", on="/bots/new?kind=address", **values).status_code

    assert {register("Swarm", at="nowhere") for _ in range(8)} == {422}
    assert [register(f"Swarm-{number}") for number in range(6)] == [200] * 5 + [429]
    site.clock.advance(HOUR + 1)
    assert register("Swarm-6") == 200


def test_refused_practice_uses_up_none_and_the_page_says_what_is_left(site: Site) -> None:
    site.open_competition("hexagon")
    ada = site.player("Ada")
    endpoint = "http://127.0.0.1:9"
    ada.fill(
        "/bots/new", on="/bots/new?kind=address", game="hexagon", name="Swarm", endpoint=endpoint
    )
    page = "/bot/Swarm?game=hexagon"

    def practise() -> bool:
        answer = ada.fill("/bot/Swarm/test-match?game=hexagon", on=page, opponent="random")
        assert answer.status_code == 303
        return "/match/" in answer.headers["Location"]

    assert "6 practice matches left this hour." in words_of(ada.open(page))
    assert [practise() for _ in range(9)] == [True] + [False] * 8
    assert "5 practice matches left this hour." in words_of(ada.open(page))


def test_refused_and_repeated_settings_of_end_of_codes_use_up_nothing(site: Site) -> None:
    ada, bob, page = site.player("Ada"), site.player("Bob"), "/bots/end-of-codes"

    def save(endpoint: str, form: str = "urlencoded", player: Visitor = ada) -> int:
        return player.fill(page, endpoint=endpoint, form=form).status_code

    assert {save("nowhere") for _ in range(25)} == {422}
    assert {save("http://127.0.0.1:9") for _ in range(25)} == {303}
    # The key and the encoding count with the address, each change of them once.
    assert ada.fill(f"{page}/key", on=page).status_code == 303
    assert {save("http://127.0.0.1:9", "multipart") for _ in range(5)} == {303}
    assert [save(f"http://127.0.0.1:{port}") for port in range(10, 28)] == [303] * 17 + [429]
    assert save("nowhere") == 429
    assert save("http://127.0.0.1:9", player=bob) == 303
    again = site.visitor()
    again.log_in("Ada")
    assert save("http://127.0.0.1:9", player=again) == 429
    site.clock.advance(HOUR + 1)
    assert save("http://127.0.0.1:9") == 303


def test_refused_and_repeated_changes_of_a_bot_use_up_no_check(site: Site) -> None:
    site.open_competition("hexagon")
    ada, page = site.player("Ada"), "/bot/Swarm?game=hexagon"
    first = {"game": "hexagon", "name": "Swarm", "endpoint": "http://127.0.0.1:9"}
    ada.fill("/bots/new", on="/bots/new?kind=address", **first)

    def edit(endpoint: str, description: str = "") -> int:
        values = {"endpoint": endpoint, "description": description}
        return ada.fill("/bot/Swarm/edit?game=hexagon", on=page, **values).status_code

    assert {edit("nowhere") for _ in range(12)} == {303}
    assert {edit("http://127.0.0.1:9") for _ in range(12)} == {303}
    assert {edit("http://127.0.0.1:9", "Plays at random") for _ in range(12)} == {303}
    changes = [edit("http://127.0.0.1:9", f"Version {number}") for number in range(10)]
    assert changes == [303] * 9 + [429]


def test_refused_pictures_use_up_none(site: Site) -> None:
    ada = site.player("Ada")

    def no_picture() -> int:
        values, file = {"csrf_token": ada.token("/settings")}, {"picture": ("me.png", b"no")}
        return ada.send_form("/settings/avatar", values, files=file).status_code

    assert {no_picture() for _ in range(12)} == {303}
    assert send_picture(site, ada) == 303
