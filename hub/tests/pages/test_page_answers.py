"""What all pages answer beside their content: headers, errors, and what the log is told."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import OperationalError

from cw_hub.store.objects import ObjectStore, StoreAway
from hub.tests.conftest import ON_SQLITE
from hub.tests.sites import Site, words_of

pytestmark = ON_SQLITE

AWAY = OperationalError("SELECT", {}, Exception("no connection"))


# Headers


def test_all_pages_have_the_headers(site: Site) -> None:
    site.player("Ada")
    for path in ("/", "/login", "/ranking", "/user/Ada", "/games/", "/replays/", "/nothing"):
        headers = site.visitor().open(path).headers
        policy = headers["Content-Security-Policy"]
        for part in (
            "default-src 'self'",
            "img-src 'self' blob: data:",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        ):
            assert part in policy.split("; "), path
        assert "unsafe" not in policy
        assert headers["Referrer-Policy"] == "same-origin"
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "Strict-Transport-Security" not in headers


def test_account_pages_are_stored_nowhere_and_others_asked_for_again(site: Site) -> None:
    ada = site.player("Ada")
    for path, lifetime in (
        ("/settings", "no-store"),
        ("/reset/x", "no-store"),
        ("/ranking", "private, no-cache"),
        ("/games/", "private, no-cache"),
        ("/user/Ada", "private, no-cache"),
    ):
        assert ada.open(path).headers["Cache-Control"] == lifetime


# Errors


def test_errors_are_one_page_with_a_way_out(site: Site) -> None:
    page = site.visitor().open("/nothing")
    assert page.status_code == 404
    assert "Not Found There is no such page. Ranking Home Games Docs" in words_of(page)
    assert 'href="/ranking"' in page.text


def test_bots_are_answered_in_json(site: Site) -> None:
    answer = site.visitor().open("/nothing", headers={"Accept": "application/json"})
    assert answer.json() == {"error": "There is no such page."}


def test_a_fault_of_ours_has_a_number_that_the_log_knows(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> str:
        raise ZeroDivisionError("secret")

    site.app.view_functions["documents.blog"] = fail
    page = site.visitor().open("/blog")
    assert page.status_code == 500
    number = words_of(page).partition("logged as ")[2][:16]
    assert f"request {number} failed: GET /blog" in caplog.text
    assert "secret" not in page.text


def test_links_are_masked_in_the_log(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    def fail(ticket: str) -> str:
        raise ZeroDivisionError

    site.app.view_functions["account.reset"] = fail
    assert site.visitor().open("/reset/very-secret").status_code == 500
    assert "/reset/..." in caplog.text
    assert "very-secret" not in caplog.text


def test_the_log_says_why_a_page_cannot_be_had(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    with site.resources.database.writing_engine.begin() as connection:
        connection.execute(text("ALTER TABLE matches RENAME COLUMN turn TO turns"))
    assert site.visitor().open("/matches").status_code == 503
    words = "store cannot be reached: the database does not answer: no such column: matches.turn"
    assert words in caplog.text


def test_a_store_that_is_away_is_said_to_be(site: Site) -> None:
    ada = site.player("Ada")
    with patch("cw_hub.accounts.tickets.find_holder", side_effect=AWAY):
        for path in ("/ranking", "/settings"):
            page = ada.open(path)
            assert (page.status_code, page.headers["Retry-After"]) == (503, "10")
            assert "The site cannot reach its storage. Please try again soon." in words_of(page)
        assert ada.open("/nothing").status_code == 404
    with patch.object(ObjectStore, "get", side_effect=StoreAway("gone")):
        assert ada.open(f"/avatar/{'0' * 64}.webp").status_code == 503
    assert ada.is_player()


def test_a_session_costs_one_statement_and_a_visitor_none(site: Site) -> None:
    ada = site.player("Ada")
    statements: list[str] = []
    engine = site.resources.database.engine

    def note(*args: object) -> None:
        if args[2] != "BEGIN":
            statements.append(str(args[2]))

    event.listen(engine, "before_cursor_execute", note)
    try:
        assert ada.open("/contribute").status_code == 200
        assert len(statements) == 1
        assert "tickets" in statements[0]
        site.visitor().open("/contribute")
        assert len(statements) == 1
    finally:
        event.remove(engine, "before_cursor_execute", note)
