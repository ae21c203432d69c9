"""The home page: what is on now and next, who leads, and where to begin."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

from sqlalchemy import select, update

from cw_hub.bots.service import add_builtin
from cw_hub.competitions.rated import service as rated_service
from cw_hub.matches import planning
from cw_hub.matches.planning import Plan, Seat
from cw_hub.operation.resources import Resources
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, Competition, Match, MatchParticipant, Rating, User
from hub.tests.conftest import ON_SQLITE, StillClock
from hub.tests.sites import Site, site_on, words_of

SEATS = tuple(Seat(name, spec=f"builtin:{name}") for name in ("greedy", "random"))


def competition(session: Session, game: str, kind: str, state: str) -> int:
    """Make a competition; return its id."""
    row = Competition(
        slug=game,
        game=game,
        format=kind,
        title=f"{kind} {game}",
        seed=1,
        state=state,
        created_at=session.now(),
    )
    session.add(row)
    session.flush()
    return row.id


def play(session: Session, clock: StillClock, competition: int, key: str, first: str) -> None:
    """Let somebody be first in a daily game of a competition, two others second."""
    clock.advance(60)
    row = Match(
        match_id=f"m_{key:0>8}",
        competition_id=competition,
        kind="daily",
        key=key,
        game="paint",
        players=4,
        seed=1,
        state="done",
        at=session.now(),
        finished_at=session.now(),
    )
    session.add(row)
    session.flush()
    for slot, (name, rank) in enumerate((("x", 2), (first, 1), ("y", 2), ("z", 4))):
        session.add(
            MatchParticipant(match_id=row.id, slot=slot, name=name, rank=rank, score=4 - rank)
        )


def between(page: str, begin: str, end: str) -> str:
    """Return what stands between two headings."""
    return page.partition(begin)[2].partition(end)[0].strip()


def test_an_empty_site_says_that_nothing_is_played_and_nobody_leads(site: Site) -> None:
    page = words_of(site.visitor().open("/"))
    assert between(page, "Now and next", "Leaders") == "Nothing is being played right now."
    assert between(page, "Leaders", "Get started") == "No results yet."
    assert "Play a game A match of Paint" in page
    headings = ["Now and next", "Leaders", "Get started"]
    assert [page.index(words) for words in headings] == sorted(map(page.index, headings))
    for game in ("Circuit Wars", "Code Battle", "End of Codes", "Hexagon", "Paint"):
        assert f"Rules of {game} Watch {game}" in page


def test_the_page_of_a_game_has_what_the_site_knows_of_it(site: Site) -> None:
    with site.resources.database.writing() as session:
        daily = competition(session, "paint", "daily", "running")
        competition(session, "hexagon", "daily", "running")
        play(session, site.clock, daily, "1", "first")
        plan = Plan("daily", "now", "paint", SEATS, competition_id=daily)
        row = planning.plan(session, plan)
        values = {"state": "in_progress", "started_at": site.clock()}
        session.execute(update(Match).where(Match.id == row).values(values))
    page = site.visitor().open("/games/paint/")
    words = words_of(page)
    assert between(words, "Competitions", "Starter bots").startswith("daily paint 1 match on now")
    assert "hexagon" not in between(words, "Competitions", "Matches")
    assert "Place 1 first outlived 3" in between(words, "Leaders", "On now")
    assert "No matches are being played" not in words
    assert "/games/paint/kit/python.zip" in page.text


def test_each_competition_has_a_row_with_what_is_on_and_next(site: Site) -> None:
    clock = site.clock
    with site.resources.database.writing() as session:
        for game, state in (("paint", "running"), ("hexagon", "paused"), ("chess", "draft")):
            competition(session, game, "daily", state)
        rated = competition(session, "code-battle", "rated", "running")
        soon = competition(session, "end-of-codes", "daily", "running")
        for of, at, state in ((soon, timedelta(hours=3), "queued"), (rated, None, "in_progress")):
            plan = Plan("daily", str(of), "hexagon", SEATS, competition_id=of)
            row = planning.plan(session, plan)
            values = {"at": clock() + (at or timedelta()), "state": state, "started_at": clock()}
            session.execute(update(Match).where(Match.id == row).values(values))
        competition(session, "duel", "tournament", "running")
    home = site.visitor().open("/")
    assert '<a href="/t/duel/">tournament duel</a>' in home.text
    page = words_of(home)
    assert between(page, "Now and next", "Leaders") == (
        "daily paint next in 1 day daily hexagon paused"
        " rated code-battle 1 match on now daily end-of-codes next in 3 hours"
        " tournament duel teams on a ladder Watch live matches All tournaments"
    )


def test_the_first_three_of_the_last_daily_game_are_at_the_top(site: Site) -> None:
    with site.resources.database.writing() as session:
        daily = competition(session, "paint", "daily", "running")
        play(session, site.clock, daily, "1", "old")
        play(session, site.clock, daily, "2", "new")
    page = words_of(site.visitor().open("/"))
    assert between(page, "Leaders", "Get started") == (
        "daily paint Place 1 new outlived 3 Place 2 x outlived 2 Place 2 y outlived 2"
    )


def test_the_three_highest_ratings_are_at_the_top(site: Site) -> None:
    site.player("Ada")
    with site.resources.database.writing() as session:
        rated = competition(session, "code-battle", "rated", "running")
        ada = session.scalars(select(User.id)).one()
        for number in range(5):
            bot = add_builtin(session, ada, "code-battle", f"Bot-{number}", "hunter")
            rated_service.enter(session, bot)
            session.flush()
            row = session.get_one(Rating, (rated, bot))
            # The best has not played, the next is gone.
            row.mu, row.phi = 1700.0 + 10 * number, 50.0
            row.last_match_at = None if number == 4 else site.clock()
            session.flush()
        session.execute(update(Bot).where(Bot.name == "Bot-3").values(status="RETIRED"))
    page = words_of(site.visitor().open("/"))
    assert between(page, "Leaders", "Get started") == (
        "rated code-battle Place 1 Bot-2 Ada 1620 Place 2 Bot-1 Ada 1610 Place 3 Bot-0 Ada 1600"
    )


@ON_SQLITE
def test_an_operator_lets_the_logo_lead_to_the_ranking(
    resources: Resources, hub_clock: StillClock
) -> None:
    chosen = replace(resources.settings, home="/ranking")
    with site_on(replace(resources, settings=chosen), hub_clock) as site:
        ann = site.player("Ann")
        for visitor in (ann, site.visitor(), ann):
            logo = re.search('class="brand" href="([^"]+)"', visitor.open("/live").text)
            assert logo
            answer = visitor.open(logo[1])
            assert (answer.status_code, answer.headers["Location"]) == (303, "/ranking")
            page = visitor.open("/home")
            assert page.status_code == 200
            assert re.search('href="/home"\\s+aria-current="page">Home', page.text)
            assert visitor.open("/ranking").status_code == 200


@ON_SQLITE
def test_the_home_page_has_one_address(site: Site) -> None:
    answer = site.visitor().open("/home")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert site.visitor().open("/").status_code == 200
