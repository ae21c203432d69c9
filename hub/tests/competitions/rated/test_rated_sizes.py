"""Rated competitions of any size: as many statements for a thousand bots as for ten."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from sqlalchemy import select

from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.rated import bot_standings, pairing, standings
from cw_hub.competitions.rated import service as rated_service
from cw_hub.competitions.rated.standings import (
    MOST,
    SORTS,
    Counts,
    LeaderboardPage,
    Row,
    SortKey,
    StandingsFilter,
)
from cw_hub.matches import listings, lookup
from cw_hub.operation import scheduler
from cw_hub.pages.request import Remembered
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.site.processes import begin_site
from cw_hub.store.models import Bot, Match, MatchParticipant, Rating
from hub.bench import rated_history
from hub.tests.conftest import ON_SQLITE
from hub.tests.pages.test_polls import statements
from hub.tests.sites import Site

PATHS = ("/leaderboard", "/bot/bot-0", "/bot/bot-3", "/matches", "/api/v1/matches?limit=100")
MATCHES = 320

ORDERS: Mapping[SortKey, Callable[[Row], Any]] = {
    "rating": lambda row: (row.rank, row.bot_id),
    "name": lambda row: row.name.casefold(),
    "owner": lambda row: ((row.owner or "").casefold(), row.rank, row.bot_id),
    "games": lambda row: (-row.games, row.rank, row.bot_id),
    "rate": lambda row: (-row.wins / row.games, row.rank, row.bot_id),
    "active": lambda row: (-row.active_at.timestamp(), row.rank, row.bot_id),
}


def history(site: Site, bots: int, matches: int = MATCHES) -> None:
    begin_site(site.resources, rest=0)
    with site.resources.database.writing() as session:
        rated_history.write(session, bots, matches)


@pytest.mark.parametrize("bots", [10, pytest.param(1000, marks=pytest.mark.thorough)])
def test_pages_and_ticks_ask_as_much_for_a_thousand_bots_as_for_ten(site: Site, bots: int) -> None:
    history(site, bots)
    asked = {}
    for path in PATHS:
        with statements(site) as seen:
            assert site.visitor().open(path).status_code == 200
        asked[path] = len(seen)
    assert asked["/bot/bot-0"] == asked["/bot/bot-3"] == 8
    assert asked == dict(zip(PATHS, (7, 8, 8, 3, 3), strict=True))
    with statements(site) as seen, site.resources.database.writing() as session:
        scheduler.see_worker(session, "worker", "1", 1)
        assert pairing.plan(session) == 2
    assert len([one for one in seen if not one.startswith("BEGIN")]) == 38


@ON_SQLITE
def test_a_history_written_at_once_is_one_that_was_played(site: Site) -> None:
    history(site, 30, 100)
    with site.resources.database.reading() as session:
        (competition,) = rated_service.rated_competitions(session)
        findings = list(rated_service.verify(session, competition.id))
        # Its ratings are invented; what is counted is right.
        assert {one.what for one in findings} <= {
            "mu", "phi", "sigma", "crash_streak", "last_match_at", "pair_rank"
        }  # fmt: skip
        seats = session.execute(select(MatchParticipant.match_id, MatchParticipant.bot_id)).all()
        assert len(set(seats)) == len(seats) > 200


@ON_SQLITE
def test_each_page_of_the_leaderboard_has_the_ranks_of_the_whole(site: Site) -> None:
    history(site, 230)
    with site.resources.database.writing() as session:
        (competition,) = rated_service.rated_competitions(session)
        for row in session.query(Rating).where(Rating.last_match_at.is_not(None)):
            row.mu = 1500.0 + row.bot_id // 7 % 20
        retired = session.query(Bot).filter_by(name="bot-8").one()
        retired.status = "RETIRED"
        unsure = session.query(Bot.id).filter_by(name="bot-9").one()[0]
        now = site.clock()
    with site.resources.database.reading() as session:
        ranks = standings.ranked(competition.id).subquery()
        ordered = (
            select(Bot.name, ranks.c.rank)
            .join(ranks, ranks.c.bot_id == Bot.id)
            .order_by(ranks.c.rank, Bot.bot_id)
        )
        expected = [(name, rank) for name, rank in session.execute(ordered)]
        counts, facts = (
            Remembered[Counts](MOST),
            competitions_service.facts_of(rated_service.rated_competitions(session)[0]),
        )

        def read(wanted: StandingsFilter) -> LeaderboardPage:
            return standings.board(session, counts, facts, wanted, now)

        ranking = []
        for page in (1, 2, 3):
            board = read(StandingsFilter(page=page))
            assert (board.page, board.pages) == (page, 3)
            ranking += [(row.name, row.rank) for row in board.rows]
        assert read(StandingsFilter(page=9)).page == 3
        assert ranking == expected
        # Those who have played within the days that are chosen keep their ranks in each order.
        for sort in SORTS:
            chosen = [read(StandingsFilter(days=30, sort=sort, page=page)).rows for page in (1, 2)]
            rows = [row for part in chosen for row in part]
            assert {(row.name, row.rank) for row in rows} <= set(expected)
            assert len({row.name for row in rows}) == len(rows) > standings.PER_PAGE
            assert rows == sorted(rows, key=ORDERS[sort])
        standing = bot_standings.standing(session, competition.id, unsure)
        assert standing is not None
        assert (standing.rank, standing.of) == (dict(expected)["bot-9"], len(expected))
        gone = bot_standings.standing(session, competition.id, retired.id)
        assert gone is not None
        assert gone.rank is None


@ON_SQLITE
def test_opponents_are_read_part_by_part(site: Site) -> None:
    history(site, 150, 6000)
    with site.resources.database.reading() as session:
        (competition,) = rated_service.rated_competitions(session)
        bot = session.query(Bot.id).filter_by(name="bot-0").one()[0]
        met = bot_standings.opponents(session, competition.id, bot, most=1000)
        parts = [
            bot_standings.opponents(session, competition.id, bot, at, 60) for at in (0, 60, 120)
        ]
    assert met.number == len(met.rows) > 120
    assert [one for part in parts for one in part.rows] == list(met.rows)
    first, second = (site.visitor().open(f"/bot/bot-0?opponents={page}").text for page in (1, 2))
    assert "Page 1 of 2" in first
    assert met.rows[-1].name in second
    names, after = [], ""
    while after is not None:
        path = f"/api/v1/bots/b_00000000/opponents?limit=70&after={after}"
        payload = site.visitor().open(path).json()
        names += [one["name"] for one in payload["items"]]
        after = payload["next"]
    assert names == [one.name for one in met.rows]


@ON_SQLITE
def test_the_rating_before_a_match_is_that_after_the_last_one(site: Site) -> None:
    history(site, 12, 300)
    with site.resources.database.reading() as session:
        (competition,) = rated_service.rated_competitions(session)
        bot = session.query(Bot.id).filter_by(name="bot-2").one()[0]
        views = bot_standings.rated_matches_of(session, MATCH_TYPES, competition.id, bot)
        rows = session.execute(
            select(Match.match_id, MatchParticipant.mu - 2 * MatchParticipant.phi)
            .join(Match, Match.id == MatchParticipant.match_id)
            .where(MatchParticipant.bot_id == bot)
            .order_by(Match.seq.desc())
        ).all()
        assert len(rows) > len(views) == listings.PER_PAGE
        for at, view in enumerate(views):
            seat = next(seat for seat in view.seats if seat.bot == bot)
            assert seat.after is not None
            assert seat.before is not None
            ratings = (seat.after.shown_rating, seat.before.shown_rating)
            assert (view.match_id, *ratings) == (*rows[at], rows[at + 1][1])
        record = lookup.find(session, MATCH_TYPES, views[3].match_id)
        assert record is not None
        (whole,) = lookup.with_ratings(session, [record])
        befores = {seat.bot: seat.before and seat.before.shown_rating for seat in whole.seats}
        assert befores[bot] == rows[4][1]
        assert None not in befores.values()
