"""A site that others may reach: https, the proxy before it, and where its links lead."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest
from sqlalchemy import select

from cw_hub.operation.resources import Resources
from cw_hub.operation.settings import HubSettings
from cw_hub.store.models import Mail
from hub.tests.conftest import ON_SQLITE, StillClock
from hub.tests.sites import Site, site_on, words_of

pytestmark = ON_SQLITE


@pytest.fixture
def opened_site(resources: Resources, hub_clock: StillClock) -> Iterator[object]:
    """Serve hubs with other settings."""
    with ExitStack() as stack:

        def open_with(**settings: object) -> Site:
            changed = replace(resources.settings, **settings)  # type: ignore[arg-type]
            return stack.enter_context(site_on(replace(resources, settings=changed), hub_clock))

        yield open_with


PROXIED = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.9"}


def behind_proxy(opened_site: object) -> Site:
    """Return a site on https behind a proxy of this machine."""
    return opened_site(  # type: ignore[operator,no-any-return]
        public_url="https://hub.example", trusted_proxy=("127.0.0.0/8",)
    )


def test_a_site_on_https_sends_others_there(opened_site: object) -> None:
    visitor = behind_proxy(opened_site).visitor()
    answer = visitor.open("/login?next=/settings")
    assert answer.status_code == 308
    assert answer.headers["Location"] == "https://hub.example/login?next=/settings"
    assert visitor.send_form("/login", {}).status_code == 403
    moved = visitor.open("/%0d%0aX:1")
    assert (moved.status_code, moved.headers["Location"]) == (
        308,
        "https://hub.example/%0D%0AX%3A1",
    )


def test_an_address_is_the_same_in_both_forms(opened_site: object) -> None:
    """A server that listens on IPv6 and IPv4 is told of the latter in the form of the former."""
    site = opened_site(metrics_network=("203.0.113.0/24",), trusted_proxy=("10.0.0.0/8",))  # type: ignore[operator]
    for address, status in (("203.0.113.9", 200), ("198.51.100.1", 404)):
        for written in (address, f"::ffff:{address}"):
            environ = {"REMOTE_ADDR": written}
            assert (
                site.app.test_client().get("/metrics", environ_overrides=environ).status_code
                == status
            )
    proxied = site.app.test_client().get(
        "/metrics",
        environ_overrides={"REMOTE_ADDR": "::ffff:10.0.0.7"},
        headers={"X-Forwarded-For": "203.0.113.9"},
    )
    assert proxied.status_code == 200


def test_a_site_on_https_has_a_cookie_for_https_alone(opened_site: object) -> None:
    answer = behind_proxy(opened_site).visitor().open("/login", headers=PROXIED)
    assert answer.status_code == 200
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith("__Host-cw=")
    assert "Secure" in cookie
    assert "Path=/" in cookie
    assert "Domain" not in cookie
    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"


def test_forwarded_headers_of_others_are_not_believed(opened_site: object) -> None:
    site = opened_site(public_url="https://hub.example", trusted_proxy=("10.0.0.0/8",))  # type: ignore[operator]
    assert site.visitor().open("/login", headers=PROXIED).status_code == 308


def test_the_address_of_a_visitor_comes_from_the_proxy(
    opened_site: object, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    site = behind_proxy(opened_site)
    visitor = site.visitor()
    visitor.headers.update(
        PROXIED | {"Referer": f"https://127.0.0.1:{site.resources.settings.port}/"}
    )
    page = visitor.open("/login")
    visitor.headers["Cookie"] = page.headers["Set-Cookie"].partition(";")[0]
    token = page.text.partition('name="csrf_token" value="')[2].partition('"')[0]
    visitor.send_form("/login", {"csrf_token": token, "username": "x"})
    assert "wrong password address=203.0.113.9 user=-" in caplog.text


def test_links_begin_with_the_address_of_the_site_and_never_with_the_host_header(
    opened_site: object,
) -> None:
    site = opened_site(public_url="http://localhost:9")  # type: ignore[operator]
    visitor = site.visitor()
    visitor.register("Ada")
    visitor.headers["Host"] = "evil.example"
    site.visitor().fill("/forgot", username="Ada")
    site.do_jobs()
    assert site.link().startswith("/reset/")
    assert all("evil" not in mail for mail in site.mails())


def test_accounts_are_closed_where_somebody_may_listen(opened_site: object) -> None:
    closed = opened_site(public_url="http://hub.example")  # type: ignore[operator]
    for path in ("/login", "/register", "/settings", "/reset/x"):
        page = closed.visitor().open(path)
        assert page.status_code == 403
        assert "HTTPS" in words_of(page)
    assert closed.visitor().open("/ranking").status_code == 200
    opened = opened_site(public_url="http://hub.example", allow_http=True)  # type: ignore[operator]
    assert opened.visitor().open("/login").status_code == 200


def test_a_site_that_is_not_local_sends_the_confirmation(opened_site: object) -> None:
    site = opened_site(public_url="http://localhost:9")  # type: ignore[operator]
    site.player("Ada")
    assert [(job, arguments) for job, arguments, _ in site.queue.jobs] == [("mail", (1,))]
    with site.resources.database.reading() as session:
        assert session.scalars(select(Mail.kind)).all() == ["verify"]


def test_where_the_footer_leads_is_set(opened_site: object) -> None:
    site = opened_site(blog_url="https://blog.example/")  # type: ignore[operator]
    assert 'href="https://blog.example/"' in site.visitor().open("/").text
    assert HubSettings().blog_url == "/blog"
