"""A tournament that is over, and its big screen: over real HTTP."""

from __future__ import annotations

import re

from sqlalchemy import update

from cw_hub.store.models import Competition
from hub.tests.competitions.tournament.ladder_pages import WON, first_round
from hub.tests.conftest import ON_SQLITE
from hub.tests.ladder_rows import HEXAGON_3, Rows
from hub.tests.sites import Site, words_of

pytestmark = ON_SQLITE


def played_out(rows: Rows) -> None:
    """Play the final after the sandboxes, and end all."""
    rows.event("final", -3)
    rows.enter("Alpha", "FINAL")
    rows.enter("Delta", "FINAL")
    last = rows.round("FINAL", 1, HEXAGON_3, closed=True, positions={"Alpha": 1, "Delta": 1})
    rows.match(last, ("Delta", "Alpha"), WON)
    rows.score(last, {"Delta": (4, 4, 1, 1), "Alpha": (0, 0, 2)})
    rows.event("end", -2)


def test_a_tournament_that_is_over_has_a_podium(site: Site, rows: Rows) -> None:
    first_round(rows, closed=True)
    played_out(rows)
    answer = site.visitor().open("/t/t1/")
    words = words_of(answer)
    assert "Final result Place 1 Delta 4 points super prize Place 2 Alpha 0 points" in words
    assert "Matches at the top Delta 2:0 Alpha" in words
    assert "Login token" not in words
    group = words_of(site.visitor().open("/t/t1/grodno/"))
    assert "Place 1 Alpha 4 points prize Place 2 Beta 2 points prize Place 3 Gamma" in group


def test_the_winners_stay_on_the_home_page(site: Site, rows: Rows) -> None:
    played_out(rows)
    with site.resources.database.writing() as session:
        session.execute(update(Competition).values(state="over"))
    words = words_of(site.visitor().open("/"))
    assert "Duel <1> ended now Place 1 Delta super prize" in words
    site.clock.advance(15 * 86_400)
    assert "Duel <1>" not in words_of(site.visitor().open("/"))


def test_a_screen_shows_each_sandbox_and_then_the_final(site: Site, rows: Rows) -> None:
    first_round(rows, closed=True)
    answer = site.visitor().open("/t/t1/?screen=1")
    at = answer.headers["Location"]
    assert (answer.status_code, at) == (303, "/t/t1/grodno/?screen=1&turn=1")
    page = site.visitor().open(at)
    assert 'data-following="/t/t1/minsk/?screen=1&amp;turn=1"' in page.text
    assert "/replay/m_00000001?embed=1" in page.text
    assert not re.search("<button|<form|<input|<nav", page.text)
    assert 'data-following=""' in site.visitor().open("/t/t1/grodno/?screen=1").text
    played_out(rows)
    assert site.visitor().open("/t/t1/?screen=1").headers["Location"].startswith("/t/t1/final/")
    words = words_of(site.visitor().open("/t/t1/final/?screen=1"))
    assert "Place 1 Delta 4 points super prize" in words
