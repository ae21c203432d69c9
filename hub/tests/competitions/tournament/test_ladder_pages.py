"""The ladder of a tournament over real HTTP: what it says to people and to scripts."""

from __future__ import annotations

import re

from sqlalchemy import update

from cw_hub.store.models import Competition, Entry, Group, Match, Round, RoundScore, Team
from hub.tests.competitions.tournament.ladder_pages import (
    LEVEL,
    first_round,
    page,
    payload_at,
)
from hub.tests.conftest import ON_SQLITE
from hub.tests.ladder_rows import HEXAGON_5, Rows, all_pairs, duel
from hub.tests.sites import Site

pytestmark = ON_SQLITE


def test_a_sandbox_is_chosen_where_there_are_several(site: Site, rows: Rows) -> None:
    rows.team("House", "GRODNO", "MINSK", out_of_competition=True)
    first_round(rows, closed=False)
    words = page(site, "/t/t1/")
    assert "Choose a sandbox" in words
    assert "GRODNO Running, round 1 Alpha Beta Gamma House (out of competition)" in words
    assert "FINAL Opens with the final." in words
    single = Rows(site.resources.database, site.clock, "t2").begin()
    single.group("MAIN")
    answer = site.visitor().open("/t/t2/")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/t/t2/main/")
    assert site.visitor().open("/t/t3/").status_code == 404


def test_the_top_line_says_how_far_the_ladder_is(site: Site) -> None:
    database, clock = site.resources.database, site.clock
    late = Rows(database, clock, "t9").begin(settings={"round_every": 60})
    late.group("GRODNO", "One")
    at = "/t/t9/grodno/"
    assert "The tournament has not started yet." in page(site, at)
    late.event("start", -1)
    assert "Waiting for a second team." in page(site, at)
    late.team("Two", "GRODNO")
    assert "The first round is about to start." in page(site, at)
    one = late.round("GRODNO", 1, HEXAGON_5)
    late.match(one, ("One", "Two"))
    assert "Round 1: Hexagon 5 (x 3), 0 of 1 matches played" in page(site, at)
    late.event("pause", title="Lunch", text="Back at two.")
    assert "Paused. Back at two." in page(site, at)
    assert payload_at(site, f"{at}ladder.json")["phase"] == "paused"
    late.event("resume")
    with database.writing() as session:
        session.execute(update(Match).values(state="void"))
        session.execute(update(Round).values(closed_at=clock()))
        late.rise(session)
    clock.advance(18)
    assert "Round 1 is over. The next round starts in 00:42." in page(site, at)
    payload = payload_at(site, f"{at}ladder.json")
    assert payload["next_round_at"] == "2026-11-20T18:01:00.000Z"
    late.event("end")
    assert "The ladder of GRODNO is final." in page(site, at)
    assert "The tournament is over" in page(site, at)


def test_a_group_that_must_end_plays_its_last_round(site: Site, rows: Rows) -> None:
    first_round(rows, closed=False)
    rows.event("end")
    assert "GRODNO plays its last round." in page(site, "/t/t1/grodno/")


def test_points_of_an_open_round_count_when_it_ends(site: Site, rows: Rows) -> None:
    one = first_round(rows, closed=False)
    payload = payload_at(site, "/t/t1/grodno/ladder.json")
    assert payload == {
        "group": "grodno",
        "name": "GRODNO",
        "phase": "running",
        "round": {"number": 1, "board": "Hexagon 3", "factor": 1, "played": 3, "matches": 3},
        "next_round_at": None,
        "entries": [
            {
                "place": 1,
                "team": name,
                "slug": name.lower(),
                "points": 0,
                "last_round": 0,
                "change": 0,
                "won": 0,
                "drawn": 0,
                "lost": 0,
                "status": "playing",
            }
            for name in ("Alpha", "Beta", "Gamma")
        ],
    }
    assert "2 points in this round, given to all teams when it ends." in page(
        site, "/t/t1/grodno/beta"
    )
    with site.resources.database.writing() as session:
        session.execute(update(Round).values(closed_at=site.clock()))
    rows.score(one, {"Alpha": (4, 4, 1, 2), "Beta": (2, 2, 2, 1, 0, 1), "Gamma": (0, 0, 3)})
    entries = payload_at(site, "/t/t1/grodno/ladder.json")["entries"]
    assert isinstance(entries, list)
    assert [(one["slug"], one["place"], one["points"], one["last_round"]) for one in entries] == [
        ("alpha", 1, 4, 4),
        ("beta", 2, 2, 2),
        ("gamma", 3, 0, 0),
    ]
    assert "2 Beta 2 +2 1 0 1" in page(site, "/t/t1/grodno/")


def test_places_change_and_are_given_to_those_who_compete(site: Site, rows: Rows) -> None:
    first_round(rows, closed=True)
    rows.team("House", "GRODNO", out_of_competition=True)
    rows.team("Cheat", "GRODNO")
    two = rows.round(
        "GRODNO", 2, HEXAGON_5, closed=True, positions={"Alpha": 1, "Beta": 2, "Gamma": 3}
    )
    rows.score(
        two,
        {
            "Alpha": (6, 10, 2, 1, 0, 1),
            "Beta": (18, 20, 1, 2),
            "Gamma": (0, 0, 3, 0, 0, 2),
            "House": (30, 30, 1, 3),
            "Cheat": (90, 90, 1, 3),
        },
    )
    with site.resources.database.writing() as session:
        session.execute(
            update(Entry)
            .where(Entry.team_id == rows.teams["Cheat"])
            .values(status="disqualified", reason="Two bots <in one>")
        )
    words = page(site, "/t/t1/grodno/")
    assert "1 up 1 Beta 20 +18 3 0 1 2 down 1 Alpha 10 +6 3 0 1 3 Gamma 0 +0 0 0 2" in words
    assert "Out of competition Place" in words
    assert "Disqualified: Cheat : Two bots <in one>" in words
    entries = payload_at(site, "/t/t1/grodno/ladder.json")["entries"]
    assert isinstance(entries, list)
    assert {one["slug"]: (one["place"], one["change"], one["status"]) for one in entries} == {
        "beta": (1, 1, "playing"),
        "alpha": (2, -1, "playing"),
        "gamma": (3, 0, "playing"),
        "house": (None, 0, "playing"),
        "cheat": (None, 0, "disqualified"),
    }
    assert "prize" not in words
    rows.event("end")
    assert "Beta prize 20" in page(site, "/t/t1/grodno/")


def test_prizes_of_equal_points_go_by_battles(site: Site, rows: Rows) -> None:
    """Four teams are on one place, and there are three prizes."""
    first_round(rows, closed=True)
    rows.team("Echo", "GRODNO")
    two = rows.round("GRODNO", 2, HEXAGON_5, closed=True, positions={})
    ahead = {"Alpha": -3, "Beta": 1, "Gamma": 2, "Echo": 3}
    rows.score(two, dict.fromkeys(ahead, (9, 9, 1, 1, 0, 1)))
    with site.resources.database.writing() as session:
        for team, battles in ahead.items():
            of_team = (RoundScore.team_id == rows.teams[team], RoundScore.round_id == two)
            session.execute(update(RoundScore).where(*of_team).values(battles_diff=battles))
        session.execute(update(RoundScore).where(RoundScore.round_id != two).values(points=0))
    rows.event("end")
    words = page(site, "/t/t1/grodno/")
    won = {team: f"{team} prize" in words for team in ahead}
    assert won == {"Alpha": False, "Beta": True, "Gamma": True, "Echo": True}
    table = words.partition("Final table")[2]
    rows_in_order = re.findall(r"(\d) (?:up \d |down \d )?(Echo|Gamma|Beta|Alpha) ", table)
    assert rows_in_order[:4] == [("1", "Echo"), ("2", "Gamma"), ("3", "Beta"), ("4", "Alpha")]
    assert "before Gamma by battles won minus lost, +3 to +2" in words


def test_by_plan_all_the_participants_are_ranked(site: Site) -> None:
    rows = Rows(site.resources.database, site.clock, game="end-of-codes").begin()
    rows.group("MAIN", "Alpha", "Beta", "Gamma")
    rows.event("start")
    one = rows.round("MAIN", 1, {"name": "M 15", "options": {}, "factor": 1}, positions=LEVEL)
    rows.match(one, ("Gamma", "Alpha", "Beta"), [("last_alive", (2, 1, 3), (5, 9, 1))])
    words = page(site, "/t/t1/main/")
    assert "Rank Team Score Points 1 Alpha 9 4 2 Gamma 5 2 3 Beta 1 0" in words
    words = page(site, "/t/t1/main/beta")
    assert "0 points in this round" in words
    results = payload_at(site, "/t/t1/main/alpha.json")["results"]
    assert isinstance(results, list)
    assert results[0]["ranks"] == {"gamma": 2, "alpha": 1, "beta": 3}
    assert results[0]["points"] == {"gamma": 2, "alpha": 4, "beta": 0}


def test_an_earlier_round_is_shown_again(site: Site, rows: Rows) -> None:
    first_round(rows, closed=True)
    rows.round("GRODNO", 2, HEXAGON_5, positions=LEVEL)
    assert "Round 1: Hexagon 3 (x 1), 3 of 3 matches played" in page(site, "/t/t1/grodno/?round=1")
    assert "Results of round 1" in page(site, "/t/t1/grodno/beta?round=1")
    assert "Results of round 2" in page(site, "/t/t1/grodno/beta")
    assert payload_at(site, "/t/t1/grodno/beta.json?round=1")["results"]
    for wrong in ("3", "0", "-1", "x", "9" * 30, "%00"):
        assert site.visitor().open(f"/t/t1/grodno/?round={wrong}").status_code in (400, 404)


def test_events_are_told_once_they_are_announced(site: Site, rows: Rows) -> None:
    assert "No event planned" in page(site, "/t/t1/grodno/")
    rows.event("boards", 2 * 86_400 + 3 * 3600, title="A secret", announced=False)
    words = page(site, "/t/t1/events")
    assert "Next event in 2 days 03:00:00" in words
    assert "A secret" not in words
    rows.event("note", 4329, title="Larger boards", text="Up to size 7.")
    words = page(site, "/t/t1/events")
    assert "Larger boards in 01:12:09" in words
    assert "Announced in 1 hour Larger boards Up to size 7." in words
    payload = payload_at(site, "/t/t1/events.json")
    assert payload["next"] == {"at": "2026-11-20T19:12:09.000Z", "title": "Larger boards"}
    assert payload["past"] == [
        {"at": "2026-11-20T17:59:00.000Z", "title": "The duel begins", "text": ""}
    ]
    assert payload["now"] == "2026-11-20T18:00:00.000Z"
    site.clock.advance(5000)
    assert "Larger boards: now" in page(site, "/t/t1/events")
    assert "A secret" not in site.visitor().open("/t/t1/events.json").text


def test_a_final_that_waits_is_being_prepared(site: Site, rows: Rows) -> None:
    rows.event("final", -5, applied=False, title="The final")
    assert "FINAL is being prepared" in page(site, "/t/t1/final/")
    assert payload_at(site, "/t/t1/events.json")["preparing"] is True


def test_nothing_that_happened_is_said_to_be_nothing(site: Site) -> None:
    duel(site.resources.database, site.clock, begun=False)
    assert "Nothing has happened yet." in page(site, "/t/t1/events")
    assert payload_at(site, "/t/t1/events.json")["next"] is None


def test_pages_leak_no_address_and_no_token(site: Site, rows: Rows) -> None:
    rows.card("Alpha")
    first_round(rows, closed=True)
    visitor = site.visitor()
    for path in ("", "grodno/", "grodno/beta", "grodno/beta.json", "grodno/ladder.json", "events"):
        text = visitor.open(f"/t/t1/{path}").text
        assert "127.0.0.1" not in text.replace(site.address, "")
        assert "ABCDEFGHJKMNPQRS" not in text


def test_names_are_shown_as_they_are(site: Site, rows: Rows) -> None:
    with site.resources.database.writing() as session:
        session.execute(update(Team).where(Team.slug == "alpha").values(name="<b>Ä</b>&amp;\u0130"))
        session.execute(update(Group).where(Group.slug == "minsk").values(name="<i>M"))
        session.execute(update(Competition).values(title="{{ 1 + 1 }}"))
    first_round(rows, closed=True)
    for path in ("", "grodno/", "grodno/alpha", "events"):
        text = site.visitor().open(f"/t/t1/{path}").text
        assert "<b>Ä" not in text
        assert "<i>M" not in text
        assert "{{ 1 + 1 }}" in text, path


def test_a_change_is_shown_at_once_on_pages(site: Site, rows: Rows) -> None:
    one = rows.round("GRODNO", 1, positions=LEVEL)
    names = [rows.match(one, pair) for pair in all_pairs(("Alpha", "Beta", "Gamma"))]
    assert "0 of 3 matches played" in page(site, "/t/t1/grodno/")
    for number, name in enumerate(names, 1):
        with site.resources.database.writing() as session:
            session.execute(update(Match).where(Match.match_id == name).values(state="failed"))
        assert f"{number} of 3 matches played" in page(site, "/t/t1/grodno/")
