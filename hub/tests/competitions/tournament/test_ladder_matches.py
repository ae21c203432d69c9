"""What pages of a tournament say of its matches, results and teams."""

from __future__ import annotations

from hub.tests.competitions.tournament.ladder_pages import (
    DRAWN,
    ILLEGAL,
    LEVEL,
    WON,
    first_round,
    page,
    payload_at,
)
from hub.tests.conftest import ON_SQLITE
from hub.tests.ladder_hub import Tournament
from hub.tests.ladder_rows import HEXAGON_5, Rows
from hub.tests.sites import Site

pytestmark = ON_SQLITE


def test_the_cross_table_has_all_results_of_a_round(site: Site, rows: Rows) -> None:
    one = rows.round("GRODNO", 1, positions=LEVEL)
    won = rows.match(one, ("Alpha", "Beta"), WON)
    rows.match(one, ("Beta", "Gamma"), DRAWN)
    rows.match(one, ("Gamma", "Alpha"), state="in_progress")
    words = page(site, "/t/t1/grodno/")
    assert "Team 1 2 3 1 Alpha · 2:0 won now 2 Beta 0:2 lost · 1:1 drawn" in words
    assert (
        f'href="/match/{won}" title="Alpha 2:0 Beta"' in site.visitor().open("/t/t1/grodno/").text
    )


def test_of_a_match_that_is_played_again_the_last_counts(site: Site, rows: Rows) -> None:
    one = rows.round("GRODNO", 1, positions=LEVEL)
    rows.match(one, ("Alpha", "Beta"), WON, key=f"{one}/0")
    rows.match(one, ("Beta", "Gamma"), WON, key=f"{one}/1")
    rows.match(one, ("Alpha", "Beta"), state="void", reason="wrong board", key=f"{one}/0/2")
    words = page(site, "/t/t1/grodno/alpha")
    assert "Alpha - Beta called off: wrong board" in words
    assert "0 points in this round" in words
    assert payload_at(site, "/t/t1/grodno/ladder.json")["round"] == {
        "number": 1,
        "board": "Hexagon 3",
        "factor": 1,
        "played": 2,
        "matches": 2,
    }


def test_the_page_of_a_team_tells_its_results(site: Site, rows: Rows) -> None:
    first_round(rows, closed=True)
    words = page(site, "/t/t1/grodno/beta")
    assert "GRODNO, place 2, 2 points" in words
    assert "Results of round 1" in words
    lost = "Alpha (position 1) Alpha 2:0 Beta lost 2 to Alpha"
    assert f"{lost} Alpha: illegal move by Beta Alpha: illegal move by Beta" in words
    won = "Gamma (position 1) Beta 2:0 Gamma won 2 to Beta"
    assert f"{won} Beta: no start by Gamma Beta: no start by Gamma" in words
    assert "2 points in this round, given to all teams when it ended." in words
    payload = payload_at(site, "/t/t1/grodno/beta.json")
    assert payload["history"] == [{"round": 1, "points": 2, "total": 2, "place": 2}]
    assert (payload["team"], payload["place"], payload["points"]) == ("Beta", 2, 2)
    results = payload["results"]
    assert isinstance(results, list)
    assert results[1] == {
        "match": "m_00000002",
        "first": "beta",
        "second": "gamma",
        "position": 1,
        "state": "done",
        "outcome": "won",
        "result": "2:0",
        "points": {"beta": 2, "gamma": 0},
        "games": ["Beta: no start by Gamma", "Beta: no start by Gamma"],
    }


def test_points_say_how_they_come_about(site: Site, rows: Rows) -> None:
    positions = {"Alpha": 1, "Beta": 2, "Gamma": 3}
    two = rows.round("GRODNO", 2, HEXAGON_5, positions=positions)
    rows.match(two, ("Beta", "Alpha"), WON)
    rows.match(two, ("Gamma", "Beta"), DRAWN)
    rows.match(two, ("Alpha", "Gamma"), [("finished", (1, 1), (28, 28))] * 2)
    text = site.visitor().open("/t/t1/grodno/beta").text
    assert 'title="4 x 3">12 to Beta' in text
    assert 'title="1 x 3">3 to Gamma' in text
    words = page(site, "/t/t1/grodno/beta")
    assert "Beta (34 - 21) Beta (30 - 28)" in words
    assert "Gamma 1:1 Beta drawn" in words
    assert "12 points in this round" in words
    words = page(site, "/t/t1/grodno/alpha")
    assert "Alpha 0:0 Gamma drawn 3 to Gamma draw (28 - 28) draw (28 - 28)" in words


def test_matches_without_a_result_say_why(site: Site, rows: Rows) -> None:
    one = rows.round("GRODNO", 1, positions=LEVEL)
    rows.match(one, ("Alpha", "Beta"), state="failed")
    rows.match(one, ("Gamma", "Alpha"), state="in_progress")
    words = page(site, "/t/t1/grodno/alpha")
    assert "Alpha - Beta could not be played: no points" in words
    assert "Gamma - Alpha being played" in words
    assert "Gamma - Alpha being played" in page(site, "/t/t1/grodno/gamma")
    assert "No round has begun yet." in page(site, "/t/t1/minsk/delta")


def test_faults_that_end_nothing_are_counted(site: Site) -> None:
    rows = Rows(site.resources.database, site.clock, game="paint").begin()
    rows.group("MAIN", "Alpha", "Beta")
    rows.event("start")
    one = rows.round("MAIN", 1, {"name": "square", "options": {}, "factor": 1})
    name = rows.match(one, ("Alpha", "Beta"), [("round_cap", (1, 2), (61, 39))] * 2)
    faults = [{"kind": "timeout", "turn": turn, "battle": 2} for turn in range(3)]
    rows.set_faults(name, 1, faults)
    words = page(site, "/t/t1/main/alpha")
    assert "Alpha (61 - 39) Alpha (61 - 39), 3 faults by Beta" in words


def test_teams_are_compared(site: Site, rows: Rows) -> None:
    first_round(rows, closed=True)
    words = page(site, "/t/t1/grodno/beta?with=alpha&with=nobody&with=beta")
    assert "Round Beta Alpha Start 0 0 1 2 4" in words


def test_a_match_says_what_it_was_and_shows_its_battles(site: Site, rows: Rows) -> None:
    positions = {"Alpha": 1, "Beta": 2, "Gamma": 3}
    two = rows.round("GRODNO", 2, HEXAGON_5, positions=positions)
    won = rows.match(two, ("Beta", "Alpha"), [WON[0], ILLEGAL[0]])
    words = page(site, f"/match/{won}")
    assert "Duel <1> , GRODNO, round 2 : Hexagon 5 (x 3) Beta 2:0 Alpha 12 to Beta (4 x 3)" in words
    assert "Battle 1 Battle 2 Beta had the first move. Beta (34 - 21)." in words
    words = page(site, f"/match/{won}?battle=2")
    assert (
        "Alpha had the first move. Beta: illegal move by Alpha. Alpha made an illegal move."
        in words
    )
    text = site.visitor().open(f"/match/{won}?battle=2").text
    assert f'href="/match/{won}?battle=2" aria-current="page"' in text
    assert "deleted player" not in words
    for wrong in ("3", "0", "x", ""):
        assert site.visitor().open(f"/match/{won}?battle={wrong}").status_code == 404
    waiting = rows.match(two, ("Beta", "Gamma"))
    assert "Beta - Gamma not played yet" in page(site, f"/match/{waiting}")


def test_faults_are_for_the_team_and_the_host(site: Site, rows: Rows) -> None:
    one = rows.round("GRODNO", 1, positions=LEVEL)
    name = rows.match(one, ("Alpha", "Beta"), ILLEGAL)
    rows.set_faults(name, 1, [{"kind": "illegal", "turn": 1, "battle": 1, "detail": "from [0, 9]"}])
    tokens = {"Alpha": "A" * 16, "Beta": "B" * 16, None: "H" * 16}
    for team, token in tokens.items():
        rows.card(team, token)
    faults_by_team = {}
    for team, token in tokens.items():
        visitor = site.visitor()
        visitor.fill("/t/t1/join", on="/t/t1/", token=token)
        faults_by_team[team] = "from [0, 9]" in visitor.open(f"/match/{name}").text
    assert faults_by_team == {"Alpha": False, "Beta": True, None: True}
    assert "from [0, 9]" not in site.visitor().open(f"/match/{name}").text


def test_a_round_that_was_really_played_is_told_as_its_replays_end(site: Site) -> None:
    trio = Tournament(
        site.resources,
        {"grodno": {"alpha": "greedy", "beta": "constant", "gamma": ""}, "final": {}},
        {"round_every": 60},
    )
    trio.happens("start")
    at = "/t/duel/grodno"
    assert trio.play() == 3
    entries = payload_at(site, f"{at}/ladder.json")["entries"]
    assert isinstance(entries, list)
    assert {one["slug"]: one["points"] for one in entries} == {"alpha": 4, "beta": 2, "gamma": 0}
    results = payload_at(site, f"{at}/beta.json")["results"]
    assert isinstance(results, list)
    games = {tuple(one["games"]) for one in results}
    assert games == {
        ("Beta: no start by Gamma",) * 2,
        ("Alpha: illegal move by Beta",) * 2,
    }
    for one in results:
        for battle in ("", "?battle=2"):
            visitor = site.visitor()
            assert visitor.open(f"/match/{one['match']}{battle}").status_code == 200
            leads_to = visitor.open(f"/match/{one['match']}/replay{battle}").headers["Location"]
            assert visitor.get(f"{site.address}{leads_to}").json()["game"] == "hexagon"
