"""The pages of tournaments over real HTTP: what they say to people and to scripts."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import update

from cw.hub.competitions.tournament.pages.ladder_view import install
from cw.hub.pages.polls import Tags
from cw.hub.store.tables import Competition, Entry, Group, Match, Round, RoundScore, Team
from tests.hub.conftest import ON_SQLITE
from tests.hub.ladder_hub import Tournament
from tests.hub.ladder_rows import HEXAGON_3, HEXAGON_5, Rows, all_pairs, duel
from tests.hub.pages.test_polls import Seconds, statements
from tests.hub.sites import Site, words_of

pytestmark = ON_SQLITE

WON = [("finished", (1, 2), (34, 21)), ("finished", (1, 2), (30, 28))]
NO_START = [("startup", (1, 2), (3, 3)), ("startup", (1, 2), (3, 3))]
ILLEGAL = [("illegal", (1, 2), (3, 3)), ("illegal", (1, 2), (3, 3))]
DRAWN = [("finished", (1, 2), (34, 21)), ("finished", (2, 1), (21, 34))]
LEVEL = {"Alpha": 1, "Beta": 1, "Gamma": 1}


@pytest.fixture
def rows(site: Site) -> Rows:
    site.app.extensions["tags"] = Tags(Seconds())
    return duel(site.resources.database, site.clock)


def first_round(rows: Rows, *, closed: bool) -> int:
    """Play the first round of GRODNO."""
    one = rows.round("GRODNO", 1, HEXAGON_3, closed=closed, positions=LEVEL)
    rows.match(one, ("Alpha", "Beta"), ILLEGAL)
    rows.match(one, ("Beta", "Gamma"), NO_START)
    rows.match(one, ("Gamma", "Alpha"), [("startup", (2, 1), (3, 3))] * 2)
    if closed:
        rows.score(one, {"Alpha": (4, 4, 1, 2), "Beta": (2, 2, 2, 1, 0, 1), "Gamma": (0, 0, 3)})
    return one


def page(site: Site, path: str) -> str:
    """Return the words of a page that is there."""
    answer = site.visitor().open(path)
    assert answer.status_code == 200, answer.text
    return words_of(answer)


def payload_at(site: Site, path: str) -> dict[str, object]:
    """Return what scripts are told now."""
    site.app.extensions["tags"] = Tags(Seconds())
    payload: dict[str, object] = site.visitor().open(path).json()
    return payload


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


def test_the_cross_table_has_all_results_of_a_round(site: Site, rows: Rows) -> None:
    one = rows.round("GRODNO", 1, positions=LEVEL)
    won = rows.match(one, ("Alpha", "Beta"), WON)
    rows.match(one, ("Beta", "Gamma"), DRAWN)
    rows.match(one, ("Gamma", "Alpha"), state="in_progress")
    words = page(site, "/t/t1/grodno/")
    assert "Alpha · 2:0 won now Beta 0:2 lost · 1:1 drawn Gamma now 1:1 drawn ·" in words
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


def test_teams_are_compared(site: Site, rows: Rows) -> None:
    first_round(rows, closed=True)
    words = page(site, "/t/t1/grodno/beta?with=alpha&with=nobody&with=beta")
    assert "Round Beta Alpha Start 0 0 1 2 4" in words


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


def test_polls_are_answered_without_a_statement(site: Site, rows: Rows) -> None:
    first_round(rows, closed=True)
    visitor = site.visitor()
    for path in ("grodno/ladder.json", "grodno/beta.json", "events.json"):
        tag = {"If-None-Match": visitor.open(f"/t/t1/{path}").headers["ETag"]}
        with statements(site) as asked:
            answer = visitor.open(f"/t/t1/{path}", headers=tag)
        assert (answer.status_code, answer.text, asked) == (304, "", [])
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
        with statements(site) as asked:
            assert site.visitor().open(f"/t/t1/{path}").status_code == 200
        assert len(asked) <= 5, path


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
    found = page(site, "/t/t1/grodno/?q=team5")
    assert re.findall(r"TEAM\d+(?= \d+ \+)", found) == ["TEAM52", "TEAM51", "TEAM50", "TEAM5"]
    assert "No team has such a name." in page(site, "/t/t1/grodno/?q=x%3Cb%3E")
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
    told = site.visitor().open(address)
    assert told.headers["ETag"] == tag
    assert told.json()["html"] in text
    with statements(site) as asked:
        again = site.visitor().open(address)
    assert (again.json(), asked) == (told.json(), [])
    with site.resources.database.writing() as session:
        session.execute(update(RoundScore).where(RoundScore.team_id == 1).values(points=900))
        rows.rise(session)
    site.app.extensions["tags"] = Tags(Seconds())
    renewed = site.visitor().open(address, headers={"If-None-Match": tag})
    assert (renewed.status_code, "TEAM1<" in renewed.json()["html"]) == (200, False)


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
