"""A hub behind Caddy, as hub/deploy/Caddyfile sets it: people come over https, in Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest
import requests
from playwright.sync_api import Browser, expect

from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import opened
from cw_hub.operation.settings import HubSettings
from cw_hub.pages.security import YEAR
from hub.tests.caddy import Caddy, new_caddy, running
from hub.tests.conftest import StillClock
from hub.tests.sites import PASSWORD, Site, Visitor, site_on
from tests.browser.conftest import watch


@dataclass
class Proxied:
    """A hub, and the Caddy before it."""

    site: Site
    caddy: Caddy

    def visitor(self) -> Visitor:
        """Return a browser without a screen that trusts nobody but the authority of the Caddy."""
        visitor = Visitor(self.caddy.address)
        visitor.verify = str(self.caddy.authority)
        visitor.headers["Referer"] = f"{self.caddy.address}/"
        return visitor


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    caddy, clock = new_caddy(tmp_path_factory.mktemp("caddy")), StillClock()
    settings = HubSettings(
        data=tmp_path_factory.mktemp("data"),
        public_url=caddy.address,
        trusted_proxy=("127.0.0.1/32",),
    )
    with (
        opened(settings, CeleryQueue(settings), clock) as resources,
        site_on(resources, clock) as site,
        running(caddy, urlsplit(site.address).netloc),
    ):
        yield Proxied(site, caddy)


def test_figures_are_told_within_alone(proxied: Proxied) -> None:
    """The proxy and who asks it are on this machine, which may read them."""
    within = requests.get(f"{proxied.site.address}/metrics", timeout=60)
    assert "cw_workers_live" in within.text
    for path in ("/metrics", "/metrics?", "/METRICS", "/%6detrics", "//metrics", "/metrics/"):
        outside = proxied.visitor().get(f"{proxied.caddy.address}{path}")
        assert outside.status_code == 404, path
        assert "cw_" not in outside.text


def test_cookies_are_for_https_alone_and_browsers_stay_there(proxied: Proxied) -> None:
    visitor = proxied.visitor()
    answer = visitor.register("Ada")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/ranking")
    cookies = [line.split("; ") for line in answer.raw.headers.getlist("Set-Cookie")]
    assert {line[0].partition("=")[0] for line in cookies} == {"__Host-cw", "__Host-cw_browser"}
    for line in cookies:
        assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"} <= set(line)
    assert answer.headers["Strict-Transport-Security"] == f"max-age={YEAR}"
    assert visitor.is_player()


def test_who_asks_in_clear_is_led_to_https(proxied: Proxied) -> None:
    path = "/login?next=/bots"
    answer = requests.get(f"{proxied.caddy.plain_address}{path}", allow_redirects=False, timeout=30)
    # Caddy takes its port for one that is reached as 443.
    assert (answer.status_code, answer.headers["Location"]) == (308, f"https://localhost{path}")
    past_it = proxied.site.visitor()
    for headers in ({}, {"X-Forwarded-Proto": "http"}):
        answer = past_it.open(path, headers=headers)
        assert answer.status_code == 308
        assert answer.headers["Location"] == f"{proxied.caddy.address}{path}"
    assert past_it.send_form("/login", {}).status_code == 403


def test_the_proxy_believes_no_header_of_its_visitors(proxied: Proxied) -> None:
    lies = {"X-Forwarded-Proto": "http", "X-Forwarded-For": "203.0.113.9"}
    assert proxied.visitor().open("/login", headers=lies).status_code == 200


@pytest.mark.thorough
def test_a_player_registers_leaves_and_logs_in_again(proxied: Proxied, browser: Browser) -> None:
    context = browser.new_context(ignore_https_errors=True)
    watcher = watch(context)
    page = watcher.page
    page.goto(f"{proxied.caddy.address}/register")
    page.get_by_label("Username").fill("Bea")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password (repeat)").fill(PASSWORD)
    page.get_by_label("E-mail").fill("bea@example.org")
    page.get_by_role("button", name="Register").click()
    page.wait_for_url("**/ranking")
    cookies = {cookie["name"]: cookie["secure"] for cookie in context.cookies()}
    assert cookies == {"__Host-cw": True, "__Host-cw_browser": True}
    context.clear_cookies()
    page.goto(f"{proxied.caddy.address}/login?next=/settings")
    page.get_by_label("Username").fill("bea")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/settings")
    expect(page.get_by_role("button", name="Change password")).to_be_visible()
    assert watcher.origins() == {proxied.caddy.address}
    assert watcher.complaints == []
    context.close()
