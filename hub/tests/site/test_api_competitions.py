"""What the API tells of daily games and tournaments: as much as their pages, part by part."""

from __future__ import annotations

import pytest

from cw_hub.competitions import service as competitions_service
from hub.tests.competitions.daily.test_daily_pages import play_game
from hub.tests.competitions.tournament.ladder_pages import first_round
from hub.tests.conftest import ON_BOTH, ON_SQLITE
from hub.tests.ladder_rows import duel
from hub.tests.program import Program
from hub.tests.sites import Site

pytestmark = ON_SQLITE

DAILY = {"game": "end-of-codes"}


@ON_BOTH
def test_daily_games_are_listed_the_latest_first(site: Site) -> None:
    program, games = Program(site), list[str]()
    for name in ("ann", "bob", "cid"):
        games.insert(0, play_game(site, 2, name))
        site.clock.advance(86_400)
    listed = program.read("/daily-games", **DAILY)
    assert [one["match_id"] for one in listed["items"]] == games
    assert listed["items"][-1]["players"] == 2
    assert program.everything("/daily-games", limit=1, **DAILY) == listed["items"]


def test_a_ranking_is_read_part_by_part_and_by_country(site: Site) -> None:
    program, game = Program(site), play_game(site, 6)
    rows = program.read("/ranking", **DAILY)["items"]
    assert [row["position"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert [row["rank"] for row in rows] == sorted(row["rank"] for row in rows)
    assert {row["username"] for row in rows} == {f"player{number}" for number in range(6)}
    assert program.everything("/ranking", limit=2, match=game, **DAILY) == rows
    greeks = program.read("/ranking", country="GR", **DAILY)["items"]
    assert [row["name"] for row in greeks] == [row["name"] for row in rows if row["country"]]


@pytest.mark.parametrize(
    ("path", "query", "message"),
    [
        ("/ranking", {}, "There is no daily competition of this game."),
        ("/daily-games", {"game": "chess"}, "There is no daily competition of this game."),
        ("/tournaments/t2", {}, "There is no such tournament."),
        ("/tournaments/t1/groups/nowhere", {}, "There is no such sandbox."),
    ],
)
def test_what_is_not_there_is_404(
    site: Site, path: str, query: dict[str, str], message: str
) -> None:
    duel(site.resources.database, site.clock)
    answer = Program(site).ask(path, params=query)
    assert (answer.status_code, answer.json()["message"]) == (404, message)


def test_a_tournament_is_told_with_its_groups_and_the_ladder_of_each(site: Site) -> None:
    rows, program = duel(site.resources.database, site.clock), Program(site)
    first_round(rows, closed=True)
    [listed] = program.read("/tournaments")["items"]
    assert (listed["slug"], listed["game"], listed["title"]) == ("t1", "hexagon", "Duel <1>")
    groups = program.read("/tournaments/t1")["groups"]
    assert listed["groups"] == [group["name"] for group in groups]
    ladder = program.read(f"/tournaments/t1/groups/{groups[0]['slug']}")
    page = site.visitor().open(f"/t/t1/{groups[0]['slug']}/ladder.json").json()
    assert ladder["entries"] == page["entries"]
    assert ladder["round"] == page["round"]
    assert ladder["phase"] == page["phase"]
    matches = f"/tournaments/t1/groups/{groups[0]['slug']}/matches"
    played = program.read(matches)["items"]
    assert program.everything(matches, limit=1) == program.read(matches, round=1)["items"] == played
    assert len(played) == page["round"]["matches"]
    assert {one["state"] for one in played} == {"done"}
    alpha = site.visitor().open(f"/t/t1/{groups[0]['slug']}/alpha.json").json()
    by_name = {one["match_id"]: one for one in played}
    assert len(alpha["results"]) == 2
    for result in alpha["results"]:
        one = by_name[result["match"]]
        assert dict(zip(one["teams"], one["points"], strict=True)) == result["points"]
        assert one["result"].count(":") == 1
    history = f"/tournaments/t1/groups/{groups[0]['slug']}/teams/alpha"
    rounds = program.read(history)["items"]
    keys = {"number": "round", "points": "points", "total": "total", "place": "place"}
    assert [{name: one[key] for key, name in keys.items()} for one in rounds] == alpha["history"]
    assert program.everything(history, limit=1) == rounds != []
    assert program.ask(f"{history}s").status_code == 404
    assert program.ask(matches, params={"round": "9"}).status_code == 404
    assert program.ask(matches, params={"round": "x"}).status_code == 400


def test_competitions_are_listed_but_for_drafts(site: Site) -> None:
    program, hub = Program(site), site.resources
    with hub.database.writing() as session:
        rows = {
            state: competitions_service.new(session, "rated", "paint", slug=state).id
            for state in ("draft", "running", "over")
        }
        competitions_service.set_state(session, rows["running"], "running")
        competitions_service.set_state(session, rows["over"], "over")
    listed = program.everything("/competitions", limit=1)
    assert [one["slug"] for one in listed] == ["over", "running"]
    assert program.read("/competitions", state="over")["items"] == listed[:1]
    assert program.read("/competitions", format="cup")["items"] == []
    assert program.read("/status")["competitions"] == listed
