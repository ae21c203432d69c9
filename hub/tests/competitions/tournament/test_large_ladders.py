"""Ladders of many teams, and what pages of tournaments cost."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import update

from cw_hub.competitions.tournament.ladder import install
from cw_hub.matches import results
from cw_hub.pages.polls import Tags
from cw_hub.store.models import RoundScore
from hub.tests.competitions.tournament.ladder_pages import LEVEL, first_round, page
from hub.tests.conftest import ON_SQLITE
from hub.tests.ladder_rows import Rows
from hub.tests.pages.test_polls import Seconds, statements
from hub.tests.sites import Site, words_of

pytestmark = ON_SQLITE


def test_polls_are_answered_without_a_statement(site: Site, rows: Rows) -> None:
    first_round(rows, closed=True)
    visitor = site.visitor()
    for path in ("grodno/ladder.json", "grodno/beta.json", "events.json"):
        tag = {"If-None-Match": visitor.open(f"/t/t1/{path}").headers["ETag"]}
        with statements(site) as queries:
            answer = visitor.open(f"/t/t1/{path}", headers=tag)
        assert (answer.status_code, answer.text, queries) == (304, "", [])
    site.clock.advance(60)
    site.app.extensions["tags"] = Tags(Seconds())
    assert visitor.open("/t/t1/events.json", headers=tag).status_code == 304
    rows.event("note")
    site.app.extensions["tags"] = Tags(Seconds())
    assert visitor.open("/t/t1/events.json", headers=tag).status_code == 200


@pytest.mark.thorough
def test_pages_of_many_teams_and_rounds_need_few_statements(site: Site) -> None:
    rows = Rows(site.resources.database, site.clock).begin()
    with site.resources.database.writing() as session:
        rows.fill(session, teams=50, rounds=100)
    for path in ("grodno/", "grodno/team7", "events", "grodno/ladder.json", "grodno/team7.json"):
        # Without the standings that another page has cached.
        install(site.app)
        with statements(site) as queries:
            assert site.visitor().open(f"/t/t1/{path}").status_code == 200
        assert len(queries) <= 5, path


def many_teams(site: Site, number: int) -> Rows:
    """Return a tournament of many teams, `TEAM1` with fewest points, and a round that is open."""
    site.app.extensions["tags"] = Tags(Seconds())
    rows = Rows(site.resources.database, site.clock).begin()
    rows.event("start")
    with site.resources.database.writing() as session:
        rows.fill(session, teams=number, rounds=2)
    return rows


def test_the_ladder_of_many_teams_has_pages(site: Site) -> None:
    rows = many_teams(site, 52)
    rows.teams["TEAM1"] = 1
    rows.card("TEAM1")
    first, last = (page(site, f"/t/t1/grodno/{more}") for more in ("", "?page=9"))
    assert "1 TEAM52 52 +52" in first
    assert "TEAM2 " not in first
    assert "Page 1 of 2 Next" in first
    assert "51 TEAM2 2 +2 1 2 3 52 TEAM1 1 +1 1 2 3 Previous Page 2 of 2" in last
    # Only a few of the results of a round are listed.
    assert first.count(" 1:1 TEAM") == 12
    words = page(site, "/t/t1/grodno/?q=team5")
    assert re.findall(r"TEAM\d+(?= \d+ \+)", words) == ["TEAM52", "TEAM51", "TEAM50", "TEAM5"]
    assert "No team has this name." in page(site, "/t/t1/grodno/?q=x%3Cb%3E")
    member = site.visitor()
    member.fill("/t/t1/join", on="/t/t1/grodno/", token="ABCD-EFGH-JKMN-PQRS")
    assert 'href="/t/t1/grodno/?page=2#own"' in member.open("/t/t1/grodno/").text
    assert "TEAM1 your team" in words_of(member.open("/t/t1/grodno/?page=2"))
    compared = page(site, "/t/t1/grodno/team20")
    assert "TEAM52 " in compared
    assert "TEAM30" not in compared.partition("Compare with")[2]


def test_a_page_of_a_ladder_is_renewed_by_one_answer(site: Site) -> None:
    rows = many_teams(site, 52)
    text = site.visitor().open("/t/t1/grodno/?page=2").text
    poll = re.findall('data-renew="([^"]+)" data-tag="([^"]+)"', text)[0]
    address, tag = poll[0].replace("&amp;", "&"), f'"{poll[1]}"'
    assert address == "/t/t1/grodno/ladder.json?html=1&page=2"
    answer = site.visitor().open(address)
    assert answer.headers["ETag"] == tag
    assert answer.json()["html"] in text
    with statements(site) as queries:
        again = site.visitor().open(address)
    assert (again.json(), queries) == (answer.json(), [])
    with site.resources.database.writing() as session:
        session.execute(update(RoundScore).where(RoundScore.team_id == 1).values(points=900))
        rows.rise(session)
    site.app.extensions["tags"] = Tags(Seconds())
    renewed = site.visitor().open(address, headers={"If-None-Match": tag})
    assert (renewed.status_code, "TEAM1<" in renewed.json()["html"]) == (200, False)


def test_a_ladder_is_renewed_when_any_of_its_matches_goes_on(site: Site, rows: Rows) -> None:
    one = rows.round("GRODNO", 1, positions=LEVEL)
    rows.match(one, ("Alpha", "Beta"))
    rows.match(one, ("Beta", "Gamma"), state="interrupted", attempt=1)
    at, _clock, seen = "/t/t1/grodno/ladder.json?html=1", site.clock, []

    def look() -> str:
        site.app.extensions["tags"] = Tags(Seconds())
        answer = site.visitor().open(at)
        seen.append(answer.headers["ETag"])
        html: str = answer.json()["html"]
        return html

    assert ">now" not in look()
    # The first match starts, and the second waits again.
    with site.resources.database.writing() as session:
        claim = results.claim(session, 1, "worker", timedelta(minutes=1))
        assert results.requeue(session) == 1
    assert ">now" in look()
    assert claim
    for change in (
        lambda session: results.interrupt(session, claim, "off"),
        results.requeue,
        lambda session: results.claim(session, 1, "worker", timedelta(minutes=1)),
        lambda session: results.refuse(session, replace(claim, attempt=2), "odd"),
        lambda session: results.requeue_failed(session, "m_00000001"),
        lambda session: results.void(session, "m_00000001", "off"),
        lambda session: results.void(session, "m_00000002", "off"),
    ):
        with site.resources.database.writing() as session:
            assert change(session)
        look()
    assert len(set(seen)) == len(seen)


def test_teams_of_equal_points_are_in_the_order_of_their_numbers(site: Site) -> None:
    rows = Rows(site.resources.database, site.clock).begin()
    rows.group("GRODNO", "Team 10", "team 9", "Alpha", "Team 2")
    rows.group("MINSK", "B 11", "B 3")
    rows.event("start")
    words = page(site, "/t/t1/grodno/")
    assert re.findall(r"(?:Alpha|[Tt]eam \d+)(?= 0)", words) == [
        "Alpha",
        "Team 2",
        "team 9",
        "Team 10",
    ]
    assert "B 3 B 11" in page(site, "/t/t1/")


def test_a_sandbox_of_many_teams_names_the_first(site: Site) -> None:
    rows = many_teams(site, 32)
    rows.group("MINSK")
    words = page(site, "/t/t1/")
    assert "TEAM29 TEAM30 and 2 more" in words
