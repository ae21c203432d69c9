"""A tournament from its cards to its prizes, over real HTTP: its host, three teams, their bots."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from typing import Any

import pytest
from sqlalchemy import select

from cw_hub.competitions.tournament.service import TournamentConfig
from cw_hub.competitions.tournament.teams import NewGroup, NewTeam
from cw_hub.matches import results as matches_results
from cw_hub.matches.planning import LOST_AFTER, send_own
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.store.models import Match
from hub.tests.bots.test_player_bots import served
from hub.tests.conftest import ON_SQLITE
from hub.tests.evening import HOST, LADDER, MY_TEAM, Evening
from hub.tests.sites import Site, words_of


@pytest.fixture(scope="module")
def bots() -> Iterator[dict[str, str]]:
    """The addresses of bots by their strategies."""
    with ExitStack() as stack:
        strategies = ("greedy", "constant", "random")
        yield {name: stack.enter_context(served("hexagon", name)) for name in strategies}


@pytest.fixture
def evening(site: Site) -> Evening:
    settings = {"round_every": 60, "boards": [{"options": {"size": 3}}]}
    groups = [NewGroup("GRODNO"), NewGroup("FINAL")]
    teams = [NewTeam(name, "GRODNO") for name in ("Alpha", "Beta", "Gamma")]
    return Evening(site, TournamentConfig("t1", "hexagon", "Duel", 1, settings, groups, teams))


@pytest.mark.thorough
def test_a_tournament_from_its_cards_to_its_prizes(evening: Evening, bots: dict[str, str]) -> None:
    assert "The tournament has not started yet." in evening.words(LADDER)
    assert "No event planned" in evening.words(LADDER)
    at = datetime.fromtimestamp(evening.site.clock().timestamp() + 7200).astimezone()
    evening.does("add-event", kind="note", at=at.isoformat(), title="Pizza", announced="1")
    assert "Pizza in 02:00:00" in evening.words(LADDER)
    evening.saves("Alpha", bots["greedy"])
    evening.saves("Beta", bots["constant"])
    assert "Your bot answers correctly" in words_of(evening.teams["Alpha"].open(MY_TEAM))

    evening.does("start")
    assert evening.do_jobs(most=2) == 2
    assert evening.points() == {"Alpha": 0, "Beta": 0, "Gamma": 0}
    assert evening.do_jobs() == 1
    assert evening.points() == {"Alpha": 4, "Beta": 2, "Gamma": 0}
    look_at_the_first_round(evening)

    evening.does("pause", text="Lunch")
    assert "Paused. Lunch" in evening.words(LADDER)
    evening.saves("Alpha", bots["constant"])
    evening.saves("Beta", bots["greedy"])
    now = evening.site.clock().isoformat()
    larger = {"kind": "boards", "title": "Larger", "boards": "size=5", "mode": "replace"}
    evening.does("add-event", at=now, **larger)
    evening.later()
    assert evening.do_jobs() == 0
    evening.does("resume")
    assert evening.do_jobs() == 3
    look_at_the_second_round(evening)

    evening.saves("Gamma", bots["random"])
    evening.later()
    assert evening.do_jobs() == 3
    look_at_the_third_round(evening)

    before = evening.points()
    evening.later()
    assert evening.do_jobs(most=2) == 2
    gamma = {"team": str(evening.ids["Gamma"]), "reason": "It <b>slept</b>"}
    evening.does("disqualify", **gamma)
    evening.do_jobs()
    assert {team: points - before[team] for team, points in evening.points().items()} == {
        "Alpha": 0,
        "Beta": 6,
        "Gamma": 0,
    }
    assert "Disqualified: Gamma : It <b>slept</b>" in evening.words(LADDER)
    finish(evening)
    text = json.dumps([evening.text(path) for path in (LADDER, "/t/t1/grodno/beta", "/t/t1/")])
    assert not any(address in text for address in bots.values())


def look_at_the_first_round(evening: Evening) -> None:
    """Beta has a green row and an orange one, and each leads to its replays."""
    page = evening.text("/t/t1/grodno/beta")
    rows = dict(re.findall(r'<tr[^>]*class="[^"]*\b(won|lost)\b[^"]*"[^>]*>(.*?)</tr>', page, re.S))
    assert "2 to Beta" in rows["won"]
    assert rows["won"].count("Beta: no start by Gamma") == 2
    assert rows["lost"].count("Alpha: illegal move by Beta") == 2
    for row in rows.values():
        match = re.search(r'href="(/match/m_[0-9a-f]{8})"', row)
        assert match
        for battle in ("", "?battle=2"):
            assert replay_of(evening, match[1], battle)["game"] == "hexagon"
    match = re.search(r'href="(/match/m_[0-9a-f]{8})"', rows["lost"])
    assert match
    answer = '">{&#34;status&#34;:&#34;ok&#34;,&#34;move_from&#34;:[0,2]'
    visitors = {**evening.teams, "host": evening.host, "": evening.site.visitor()}
    names = {name for name, one in visitors.items() if answer in one.open(match[1]).text}
    assert names == {"Beta", "host"}


def replay_of(evening: Evening, match: str, battle: str = "") -> Any:
    """Return the replay that the page of a match shows."""
    visitor = evening.site.visitor()
    assert visitor.open(f"{match}{battle}").status_code == 200
    leads_to = visitor.open(f"{match}/replay{battle}").headers["Location"]
    return visitor.get(f"{evening.site.address}{leads_to}").json()


def look_at_the_second_round(evening: Evening) -> None:
    assert evening.points() == {"Beta": 20, "Alpha": 10, "Gamma": 0}
    words = evening.words(LADDER)
    assert "1 up 1 Beta 20 +18" in words
    assert "2 down 1 Alpha 10 +6" in words
    page = evening.text("/t/t1/grodno/beta")
    assert 'title="4 x 3">12 to Beta' in page
    assert 'title="2 x 3">6 to Beta' in page
    assert "18 points in this round, given to all teams when it ended." in words_of(
        evening.site.visitor().open("/t/t1/grodno/beta")
    )


def look_at_the_third_round(evening: Evening) -> None:
    """The games of Gamma with Beta are told as their replays end."""
    results = evening.payload("/t/t1/grodno/gamma.json")["results"]
    (met,) = [one for one in results if "beta" in (one["first"], one["second"])]
    for number, result in enumerate(met["games"], 1):
        replay = replay_of(evening, f"/match/{met['match']}", f"?battle={number}")
        outcome = replay["result"]["outcome"]
        order = ("1", "2") if number == 1 else ("2", "1")
        scores = " - ".join(f"{outcome['scores'][seat]:g}" for seat in order)
        names = dict(zip(order, (met["first"].title(), met["second"].title()), strict=True))
        winner = names[str(outcome["winner"])] if outcome["winner"] else "draw"
        assert result == f"{winner} ({scores})"


def finish(evening: Evening) -> None:
    """Beta and Alpha go to the final with nothing, and the ladder of GRODNO is final."""
    evening.does("carry-over", confirm="1")
    assert "The ladder of GRODNO is final." in evening.words(LADDER)
    words = evening.words(LADDER)
    assert re.search(r"Beta prize \d+ .* Alpha prize \d+", words)
    assert "Gamma prize" not in words
    assert evening.points("final") == {"Alpha": 0, "Beta": 0}
    assert evening.do_jobs() == 1
    evening.does("end", sure="Duel")
    assert "Beta super prize" in evening.words("/t/t1/final/")
    assert "The tournament is over" in evening.words(LADDER)


@pytest.mark.thorough
@ON_SQLITE
def test_a_match_that_is_lost_five_times_is_played_again_by_the_host(
    evening: Evening, bots: dict[str, str]
) -> None:
    site = evening.site
    evening.saves("Alpha", bots["greedy"])
    evening.does("start")
    send_own(site.resources, MATCH_TYPES.sendings)
    with site.resources.database.reading() as session:
        row = session.scalars(select(Match).order_by(Match.id)).first()
    assert row is not None
    for _ in range(matches_results.MOST_TROUBLES):
        # As of a worker that is killed each time.
        with site.resources.database.writing() as session:
            assert MATCH_TYPES.claim(session, row.id, "gone", LOST_AFTER)
        site.clock.advance(2 * LOST_AFTER.total_seconds())
        with site.resources.database.writing() as session:
            assert matches_results.reap(session) == 1
            matches_results.requeue(session)
        send_own(site.resources, MATCH_TYPES.sendings)
    evening.do_jobs()
    assert "1 match could not be played" in words_of(evening.host.open(HOST))
    page = words_of(evening.host.open(f"{HOST}/rounds"))
    assert "Play again" in page
    assert "could not be played: no points" in evening.words(f"/match/{row.match_id}")
    assert evening.points() == {"Alpha": 0, "Beta": 0, "Gamma": 0}
    evening.does("play-again", match=row.match_id)
    evening.do_jobs()
    first = [
        evening.payload(f"/t/t1/grodno/{team}.json")["history"][0] for team in ("alpha", "beta")
    ]
    assert [(one["round"], one["points"]) for one in first] == [(1, 4), (1, 0)]
