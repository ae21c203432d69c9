"""Forms whose token is not taken: what is said, what is kept, and what is never repeated."""

from __future__ import annotations

import re
from html import unescape

from cw_hub.accounts import administration
from hub.tests.conftest import ON_SQLITE
from hub.tests.program import make_admin
from hub.tests.sites import PASSWORD, Site, Visitor, words_of

pytestmark = ON_SQLITE

NEW = "/competitions/new"
TYPED = {
    "format": "rated",
    "game": "paint",
    "title": 'For "all" <b>',
    "description": "First line\r\n\r\nSecond & last",
}
HIDDEN = re.compile('<input type="hidden" name="([^"]+)" value="([^"]*)">')


def admin(site: Site) -> Visitor:
    visitor = site.player("Ada")
    make_admin(site, "Ada")
    return visitor


def hidden_form(page: str) -> dict[str, str]:
    """Return the last form of a page, which shows none of its fields."""
    form = page.rpartition("<form")[2].partition("</form>")[0]
    return {name: unescape(value) for name, value in HIDDEN.findall(form)}


def test_what_was_typed_is_sent_again_with_a_click(site: Site) -> None:
    ada = admin(site)
    expired = {"csrf_token": "old", **TYPED}
    answer = ada.send_form(NEW, expired, headers={"Origin": site.address})
    assert answer.status_code == 400
    words = words_of(answer)
    assert "Nothing has changed: this form is more than a day old" in words
    assert "You are logged in as Ada." in words
    assert 'For "all" <b>' in words
    form = hidden_form(answer.text)
    assert {name: form[name] for name in TYPED} == TYPED
    assert ada.send_form(NEW, form).status_code == 303
    assert ada.open("/competitions/rated/paint").status_code == 200


def test_who_was_logged_out_is_told_so_and_loses_nothing(site: Site) -> None:
    ada = admin(site)
    token = ada.token(NEW + "?format=rated&game=paint")
    ada.fill("/logout", on="/")
    headers = {"Origin": site.address, "Referer": f"{site.address}{NEW}?format=rated&game=paint"}
    answer = ada.send_form(NEW, {"csrf_token": token, **TYPED}, headers=headers)
    words = words_of(answer)
    assert "You are logged out. Log in in a new tab , then submit it again here." in words
    assert f'href="{NEW}?format=rated&amp;game=paint">Reload the page' in answer.text
    ada.log_in("Ada")
    stale = hidden_form(answer.text)
    again = ada.send_form(NEW, stale, headers=headers)
    assert again.status_code == 400
    assert ada.send_form(NEW, hidden_form(again.text)).status_code == 303


def test_a_form_of_another_site_is_not_offered(site: Site) -> None:
    ada = admin(site)
    for headers in ({}, {"Origin": "null"}, {"Origin": "https://evil.example"}):
        answer = ada.send_form(NEW, {"csrf_token": "x", **TYPED}, headers=headers)
        assert answer.status_code == 400
        assert "Submit again" not in answer.text
        assert "Second" not in answer.text
        assert "Reload the page" not in answer.text


def test_passwords_and_tokens_are_not_repeated(site: Site) -> None:
    ada = site.player("Ada")
    own = {"Origin": site.address}
    for path in ("/login", "/register", "/settings/password", "/t/t1/join"):
        values = {"csrf_token": "x", "password": PASSWORD, "token": "SECRET-TOKEN"}
        page = ada.send_form(path, values, headers=own)
        assert page.status_code == 400, path
        assert "Nothing has changed" in page.text
        assert PASSWORD not in page.text
        assert "SECRET-TOKEN" not in page.text


def test_a_session_that_has_ended_elsewhere_is_told_of(site: Site) -> None:
    ada = site.player("Ada")
    token = ada.token("/settings")
    with site.resources.database.writing() as session:
        administration.end_sessions(session, "Ada")
    answer = ada.send_form("/settings", {"csrf_token": token, "country": "GR"})
    assert answer.headers["Location"] == "/login"
    assert "You are logged out, so nothing was saved." in words_of(ada.open("/login"))
