"""How a team, or a host, enters a tournament by a printed token, and how that ends."""

from __future__ import annotations

import pytest
import requests

from cw_hub.accounts import login_cards, tickets
from cw_hub.accounts.login_cards import (
    HOST_LIFETIME,
    UNKNOWN_CARD,
    WRONG_LENGTH,
    RefusedCard,
    enter_by_card,
)
from cw_hub.store.database import Database
from cw_hub.store.models import Ticket
from hub.tests.conftest import ON_SQLITE, StillClock
from hub.tests.ladder_rows import Rows, duel
from hub.tests.sites import Site, Visitor, words_of

pytestmark = ON_SQLITE

TOKEN = "ABCD-EFGH-JKMN-PQRS"
OF_HOST = "Z" * 16
UNKNOWN = "ABCD-EFGH-JKMN-PQRT"


@pytest.fixture
def rows(site: Site) -> Rows:
    """A tournament of several sandboxes, with a card for Alpha and one for the host."""
    rows = duel(site.resources.database, site.clock)
    rows.card("Alpha")
    rows.card(None, OF_HOST)
    return rows


def join(visitor: Visitor, token: str, group: str = "grodno") -> requests.Response:
    return visitor.fill("/t/t1/join", on=f"/t/t1/{group}/", token=token, group=group)


def is_alpha(visitor: Visitor) -> bool:
    return "MY TEAM" in visitor.open("/t/t1/grodno/").text


def test_a_token_may_be_typed_in_any_way(site: Site, rows: Rows) -> None:
    for typed in (TOKEN, "abcdefghjkmnpqrs", " aBcD efgh–jkmn \tPQRS- "):
        visitor = site.visitor()
        answer = join(visitor, typed)
        assert (answer.status_code, answer.headers["Location"]) == (303, "/t/t1/grodno/")
        page = visitor.open("/t/t1/grodno/")
        assert "Alpha your team" in words_of(page)
        assert 'href="/t/t1/my-team">MY TEAM' in page.text
        assert "HOST" not in page.text
        assert "Login token" not in page.text


def test_what_is_no_token_is_refused_beside_its_field(site: Site, rows: Rows) -> None:
    visitor = site.visitor()
    for typed, sentence in (
        ("", "Please enter your login token"),
        (" - ", "Please enter your login token"),
        ("ABCD-EFGH-JKMN-PQR", WRONG_LENGTH.format(length=15)),
        (UNKNOWN, UNKNOWN_CARD),
        ("I0I0-I0I0-I0I0-I0I0", UNKNOWN_CARD),
        ("<b>CD-EFGH-JKMN-PQRS", WRONG_LENGTH.format(length=17)),
    ):
        for group in ("grodno", "nowhere"):
            form = {"csrf_token": visitor.token("/t/t1/"), "token": typed, "group": group}
            answer = visitor.send_form("/t/t1/join", form)
            assert answer.status_code == 422
            assert sentence in words_of(answer), typed
            assert "<b>CD" not in answer.text
    assert not is_alpha(visitor)


def test_tokens_of_others_revoked_and_expired_are_not_known(site: Site, rows: Rows) -> None:
    other = Rows(site.resources.database, site.clock, "t2").begin()
    other.group("MAIN", "One", "Two")
    other.card("One", "B" * 16)
    rows.card("Beta", "C" * 16, days=1)
    rows.card("Gamma", "D" * 16)
    with site.resources.database.writing() as session:
        tickets.revoke(session, "D" * 16)
    site.clock.advance(24 * 3600 - 1)
    assert join(site.visitor(), "C" * 16).status_code == 303
    site.clock.advance(1)
    for token in ("B" * 16, "C" * 16, "D" * 16):
        answer = join(site.visitor(), token)
        assert (answer.status_code, UNKNOWN_CARD in words_of(answer)) == (422, True)


def test_a_team_of_another_sandbox_is_let_in(site: Site, rows: Rows) -> None:
    visitor = site.visitor()
    answer = join(visitor, TOKEN, "minsk")
    assert answer.headers["Location"] == "/t/t1/grodno/"
    assert "Your team plays in GRODNO." in words_of(visitor.open("/t/t1/grodno/"))


def test_a_token_of_the_host_opens_the_pages_of_the_host(site: Site, rows: Rows) -> None:
    visitor = site.visitor()
    answer = join(visitor, OF_HOST)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/t/t1/host")
    page = visitor.open("/t/t1/grodno/").text
    assert 'href="/t/t1/host">HOST' in page
    assert "MY TEAM" not in page
    site.clock.advance(HOST_LIFETIME.total_seconds() - 1)
    assert "HOST" in visitor.open("/t/t1/grodno/").text
    site.clock.advance(1)
    assert "HOST" not in visitor.open("/t/t1/grodno/").text


def test_account_team_and_host_fit_into_one_browser(site: Site, rows: Rows) -> None:
    visitor = site.player("Ada")
    join(visitor, TOKEN)
    visitor.send_form("/t/t1/join", {"csrf_token": visitor.token("/settings"), "token": OF_HOST})
    assert {"cw", "cw-team-t1", "cw-host-t1"} <= set(visitor.cookies.keys())
    page = visitor.open("/t/t1/grodno/").text
    assert "MY TEAM" in page
    assert "HOST" in page
    visitor.fill("/logout", on="/settings")
    assert not visitor.is_player()
    assert is_alpha(visitor)


def test_a_copied_cookie_is_dead_after_leaving(site: Site, rows: Rows) -> None:
    visitor, copy = site.visitor(), site.visitor()
    join(visitor, TOKEN)
    copy.cookies.set("cw-team-t1", visitor.cookies["cw-team-t1"])
    assert is_alpha(copy)
    token = visitor.token("/t/t1/grodno/") or visitor.token("/login")
    answer = visitor.send_form("/t/t1/leave", {"csrf_token": token})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/t/t1/")
    assert "cw-team-t1" not in visitor.cookies
    assert not is_alpha(copy)
    assert not is_alpha(visitor)
    assert join(visitor, TOKEN).status_code == 303


def test_sessions_end_with_their_card(site: Site, rows: Rows) -> None:
    first, second = site.visitor(), site.visitor()
    join(first, TOKEN)
    join(second, TOKEN)
    assert is_alpha(first)
    assert is_alpha(second)
    with site.resources.database.writing() as session:
        tickets.revoke(session, "ABCDEFGHJKMNPQRS")
    assert not is_alpha(first)
    assert not is_alpha(second)
    with site.resources.database.reading() as session:
        assert session.query(Ticket).filter_by(kind="team").count() == 0


def test_a_card_that_is_shortened_ends_its_sessions(site: Site, rows: Rows) -> None:
    visitor = site.visitor()
    join(visitor, TOKEN)
    with site.resources.database.writing() as session:
        session.query(Ticket).filter_by(kind="card").update({"expires_at": site.clock()})
    assert not is_alpha(visitor)


def test_a_cookie_is_good_for_its_own_tournament_and_kind(site: Site, rows: Rows) -> None:
    other = Rows(site.resources.database, site.clock, "t2").begin()
    other.group("GRODNO")
    visitor = site.visitor()
    join(visitor, TOKEN)
    ticket = visitor.cookies["cw-team-t1"]
    for name, path in (
        ("cw-team-t2", "/t/t2/grodno/"),
        ("cw-host-t1", "/t/t1/grodno/"),
        ("cw-team-t1", "/t/t1/grodno/"),
    ):
        browser = site.visitor()
        browser.cookies.set(name, ticket if name != "cw-team-t1" else ticket[:-1])
        page = browser.open(path)
        assert page.status_code == 200
        assert "MY TEAM" not in page.text
        assert ">HOST<" not in page.text


def test_wrong_tokens_are_limited_and_right_ones_let_in(site: Site, rows: Rows) -> None:
    visitor = site.visitor()
    token = visitor.token("/t/t1/grodno/")
    wrong = {"csrf_token": token, "token": UNKNOWN}
    for typed in ("", "ABC"):
        assert visitor.send_form("/t/t1/join", {**wrong, "token": typed}).status_code == 422
    for _ in range(60):
        assert visitor.send_form("/t/t1/join", wrong).status_code == 422
    answer = visitor.send_form("/t/t1/join", wrong)
    assert answer.status_code == 429
    assert 0 < int(answer.headers["Retry-After"]) <= 600
    assert "Too many attempts. Try again in 10 minutes." in words_of(answer)
    assert visitor.send_form("/t/t1/join", {**wrong, "token": TOKEN}).status_code == 303
    assert visitor.send_form("/t/t1/join", wrong).status_code == 429
    site.clock.advance(601)
    assert visitor.send_form("/t/t1/join", wrong).status_code == 422


def test_the_team_and_the_host_are_known_by_their_actor(
    database: Database, hub_clock: StillClock
) -> None:
    rows = duel(database, hub_clock)
    rows.card("Alpha")
    rows.card(None, OF_HOST)
    with database.writing() as session:
        team = enter_by_card(session, rows.id, TOKEN)
        host = enter_by_card(session, rows.id, OF_HOST)
    with database.reading() as session:
        alpha = login_cards.find_team(session, "t1", team.ticket)
        assert alpha is not None
        assert (alpha.slug, alpha.name, alpha.team_id) == ("alpha", "Alpha", rows.teams["Alpha"])
        assert login_cards.find_team(session, "t1", host.ticket) is None
        assert login_cards.find_host(session, "t1", team.ticket) is None
        assert login_cards.find_host(session, "t1", host.ticket) is not None
    with database.writing() as session, pytest.raises(RefusedCard):
        enter_by_card(session, rows.id + 1, TOKEN)
