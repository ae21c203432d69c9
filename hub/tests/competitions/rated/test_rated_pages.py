"""The pages of rated competitions: leaderboard, bots, matches, what admins see."""

from __future__ import annotations

import re
from html import unescape
from random import Random

import pytest
from sqlalchemy import select, update

from cw_hub.matches import listings, lookup
from cw_hub.matches.jobs import Worker
from cw_hub.operation.resources import Resources
from cw_hub.pages.polls import Tags
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.store.models import Bot, Match, MatchParticipant, User
from hub.tests.bots.test_player_bots import NOBODY, register
from hub.tests.competitions.rated.test_rated import Arena
from hub.tests.conftest import StillClock
from hub.tests.pages.test_polls import Seconds, statements
from hub.tests.sites import Site, Visitor, words_of


@pytest.fixture
def arena(resources: Resources, hub_clock: StillClock) -> Arena:
    return Arena(resources, hub_clock, options={"max_turns": 5})


def test_the_leaderboard_shows_who_has_played(arena: Arena, site: Site) -> None:
    visitor = site.visitor()
    assert "No rated matches yet." in visitor.open("/leaderboard").text
    arena.play(12, Random(1))
    page = visitor.open("/leaderboard")
    assert "RandomBot" in page.text
    assert "Page 1" not in page.text
    assert "few games yet" in page.text
    words = words_of(page)
    assert "Rank Bot Rating Trend Last results Owner Games Win rate Last active 1 " in words
    assert "house bot" in words
    assert 'class="result-mark won"' in page.text
    assert "No bots found." in visitor.open("/leaderboard?q=nobody").text
    assert "RandomBot" in visitor.open("/leaderboard?q=HOUSE&players=2&range=1").text
    site.clock.advance(3 * 86400)
    assert "No bots found." in visitor.open("/leaderboard?range=1").text
    assert "RandomBot" in visitor.open("/leaderboard?range=7&sort=rate&page=99").text
    for odd in ("players=x", "range=5", "page=-1", "page=" + "9" * 40, "sort=%00", "q=%25"):
        assert visitor.open(f"/leaderboard?{odd}").status_code in (200, 400), odd
    assert visitor.open("/leaderboard?game=chess").status_code == 404
    refused = visitor.open("/leaderboard?players=5")
    assert (refused.status_code, "players, not 5." in words_of(refused)) == (400, True)


def test_the_list_renews_itself_when_something_has_changed(arena: Arena, site: Site) -> None:
    seconds = Seconds()
    site.app.extensions["tags"] = Tags(seconds)
    arena.play(2, Random(1))
    visitor, ann = site.visitor(), site.player("Ann")
    first = visitor.open("/leaderboard?format=json")
    assert "<tr" in first.json()["rows"]
    tag = {"If-None-Match": first.headers["ETag"]}
    with statements(site) as asked:
        for browser in (visitor, ann):
            assert browser.open("/leaderboard?format=json", headers=tag).status_code == 304
    assert asked == []
    arena.play(1, Random(2))
    seconds.now += 1
    assert visitor.open("/leaderboard?format=json", headers=tag).status_code == 200


def test_the_list_is_kept_but_what_changes_is_seen_at_once(arena: Arena, site: Site) -> None:
    seconds = Seconds()
    site.app.extensions["tags"] = Tags(seconds)
    arena.add_people(1)
    arena.play(12, Random(1))
    visitor, owner, root = site.visitor(), site.player("Ann"), site.player("Root")
    with arena.resources.database.writing() as session:
        ann = session.scalars(select(User.id).where(User.username == "Ann")).one()
        session.execute(update(User).where(User.username == "Root").values(role="admin"))
        session.execute(update(Bot).where(Bot.name == "bot-0").values(user_id=ann))
        bot_id = session.scalars(select(Bot.bot_id).where(Bot.name == "bot-0")).one()
    own = f'<tr data-owner="{ann}" class="own">'
    pages = [one.open("/leaderboard").text for one in (visitor, owner, visitor)]
    assert [own in page for page in pages] == [False, True, False]
    assert all("bot-0" in page for page in pages)
    poll = visitor.open("/leaderboard?format=json")
    root.fill(f"/bot/{bot_id}/suspend", "/admin/bots", reason="floods us", sure="yes")
    assert "bot-0" not in visitor.open("/leaderboard").text
    seconds.now += 1
    tag = {"If-None-Match": poll.headers["ETag"]}
    again = visitor.open("/leaderboard?format=json", headers=tag)
    assert again.status_code == 200
    assert "bot-0" not in again.json()["rows"]


def statements_of(site: Site, *paths: str) -> list[int]:
    """Return how many statements each of some pages takes."""
    counts = []
    for path in paths:
        with statements(site) as asked:
            assert site.visitor().open(path).status_code == 200
        counts.append(len(asked))
    return counts


def test_a_span_of_days_is_summed_up_once_for_each_result(arena: Arena, site: Site) -> None:
    def sums(path: str) -> int:
        with statements(site) as asked:
            pages.append(words_of(visitor.open(path)).partition("Updated")[0])
        return sum("rating_totals" in one for one in asked)

    visitor, pages = site.visitor(), list[str]()
    arena.play(6, Random(1))
    week = "/leaderboard?range=7"
    assert [sums(week), sums(week), sums(f"{week}&sort=games&q=bot")] == [1, 0, 0]
    assert pages[0] == pages[1]
    assert "RandomBot" in pages[0]
    assert [sums("/leaderboard?range=30"), sums(f"{week}&players=2"), sums(week)] == [1, 1, 0]
    arena.play(1, Random(2))
    assert [sums(week), sums(week)] == [1, 0]
    assert pages[-1] == pages[-2] != pages[0]
    site.clock.advance(86400)
    assert [sums(week), sums(week)] == [1, 0]


def test_more_bots_take_no_more_statements(arena: Arena, site: Site) -> None:
    arena.play(4, Random(1))
    paths = ("/leaderboard", "/leaderboard?range=7&players=2", "/user/house")
    before = statements_of(site, *paths)
    arena.add_people(12)
    arena.play(20, Random(2))
    assert statements_of(site, *paths) == before


def test_the_page_of_a_bot_shows_its_rating_matches_and_opponents(arena: Arena, site: Site) -> None:
    arena.play(12, Random(1))
    visitor = site.visitor()
    words = words_of(visitor.open("/bot/swarmbot"))
    for word in ("Rank", "of 7", "Win rate", "Rating history", "Recent matches", "Opponents"):
        assert word in words
    points = visitor.open("/bot/SwarmBot/ratings").json()
    assert len(points["times"]) == len(points["ratings"]) > 1
    assert points["times"] == sorted(points["times"])
    assert visitor.open("/bot/nobody/ratings").status_code == 404


def test_a_rated_match_is_shown_with_what_it_has_changed(arena: Arena, site: Site) -> None:
    arena.plan()
    match = arena.queued()[0]
    Worker("me", 1, MATCH_TYPES).play(arena.resources, match)
    with arena.resources.database.reading() as session:
        match_id, map_id = session.execute(
            select(Match.match_id, Match.map_id).where(Match.id == match)
        ).one()
    page = words_of(site.visitor().open(f"/match/{match_id}"))
    assert "800 -> " in page
    assert f"Map {map_id}" in page
    visitor = site.visitor()
    download = visitor.open(visitor.open(f"/match/{match_id}/download").headers["Location"])
    assert download.json()["version"] == 1
    assert download.json()["result"]["turns"] == 5
    assert download.json()["match_id"] == match_id
    players = download.json()["players"]
    assert [(one["bot_id"][:2], one["owner"]) for one in players] == [("b_", "house")] * 2
    embedded = site.visitor().open(f"/replay/{match_id}?embed=1")
    assert "frame-ancestors *" in embedded.headers["Content-Security-Policy"]
    listed = site.visitor().open("/matches?game=code-battle&players=2&state=done").text
    assert match_id in listed
    month = f"{site.clock():%Y-%m}"
    assert match_id in site.visitor().open(f"/matches?best={month}").text
    assert "No matches found." in site.visitor().open("/matches?best=2001-01").text
    assert "No matches found." in site.visitor().open("/matches?bot=nobody").text


def test_a_profile_and_the_list_of_bots_show_what_they_have_come_to(
    arena: Arena, site: Site
) -> None:
    ann = site.player("Ann")
    register(ann, game="code-battle")
    row = "Code Battle Swarm pending"
    words = words_of(ann.open("/bots"))
    assert f"Game Bot Status Rating Faults Last match {row} none yet - none yet" in words
    visitor = site.visitor()
    page = words_of(visitor.open("/user/Ann"))
    assert f"Bots Game Bot Status Rating Games {row} - 0" in page
    assert "All bots" not in page
    arena.play(12, Random(1))
    page = words_of(visitor.open("/user/house"))
    assert "All bots Games" in page
    for figure in ("Won", "Drawn", "Lost", "Win rate", "Best rating"):
        assert figure in page
    assert ann.fill("/settings", display_name="Ann of Cleves").status_code == 303
    assert "Ann of Cleves" in visitor.open("/user/Ann").text
    refused = ann.fill("/settings", display_name="x" * 65)
    assert refused.status_code == 422
    assert "Your display name must be at most 64 characters long" in refused.text


def test_an_owner_edits_and_rotates_and_an_admin_suspends(arena: Arena, site: Site) -> None:
    ann, root = site.player("Ann"), site.player("Root")
    register(ann, game="code-battle")
    with arena.resources.database.writing() as session:
        session.execute(update(User).where(User.username == "Root").values(role="admin"))
        bot_id = session.scalars(select(Bot.bot_id).where(Bot.name == "Swarm")).one()
    at = "/bot/Swarm"
    wrong = ann.fill(f"{at}/edit", "/bots/new", endpoint="ftp://x", description="")
    assert wrong.status_code == 303
    assert "Please enter a valid URL" in ann.open(at).text
    ann.fill(f"{at}/edit", "/bots/new", endpoint=f"{NOBODY}/new", description="swarms")
    assert "swarms" in site.visitor().open(at).text
    rotated = ann.fill(f"{at}/rotate", "/bots/new")
    assert rotated.headers["Cache-Control"] == "no-store"
    assert "has a new secret" in rotated.text
    assert ann.open("/admin").status_code == 403
    assert "This page is for admins." in ann.open("/admin").text
    admin = root.open(f"/admin/bots?q={NOBODY}").text
    assert f"{NOBODY}/new" in admin
    root.fill(f"/bot/{bot_id}/suspend", "/admin/bots", reason="floods us", sure="yes")
    assert "Suspended by the site: floods us" in ann.open(at).text
    assert "floods us" not in site.visitor().open(at).text
    again = ann.fill(f"{at}/rotate", "/bots/new")
    assert again.status_code == 409
    assert "The bot is SUSPENDED: it cannot do that." in again.text
    assert root.fill(f"/bot/{bot_id}/restore", "/admin/bots", sure="yes").status_code == 303
    assert "The bot is being checked." in ann.open(at).text
    led = "/admin/competitions"
    root.fill("/admin/rated/code-battle/pause", led, sure="yes")
    assert arena.plan() == 0
    root.fill("/admin/rated/code-battle/resume", led, sure="yes")
    assert arena.plan() > 0
    log = words_of(root.open("/admin/log"))
    assert "running competition:rated/code-battle" in log
    assert "status SUSPENDED to PENDING" in log


def give_bot(arena: Arena, username: str, bot: str = "bot-0") -> int:
    """Let a player own a bot; return its row."""
    with arena.resources.database.writing() as session:
        owner = session.scalars(select(User.id).where(User.username == username)).one()
        change = update(Bot).where(Bot.name == bot).values(user_id=owner).returning(Bot.id)
        return session.scalars(change).one()


def test_lists_of_matches_say_who_was_how_strong_and_what_went_wrong(
    arena: Arena, site: Site
) -> None:
    arena.play(30, Random(1))
    with arena.resources.database.reading() as session:
        row = session.scalars(select(Match).where(Match.seq.is_not(None)).order_by(Match.id.desc()))
        (view,) = lookup.with_ratings(session, lookup.views_of(session, MATCH_TYPES, row.all()[:1]))
    first = view.by_place[0]
    assert first.before is not None
    assert first.after is not None
    before, after = round(first.before.shown_rating), round(first.after.shown_rating)
    faults = sum(len(seat.faults) for seat in view.seats)
    words = words_of(site.visitor().open("/matches"))
    assert f"{view.title} 1. {first.name} {before} {after - before:+d}" in words
    assert (f"{faults} fault" if faults else "none") in words
    opponents = [seat for seat in view.seats if seat.slot != first.slot]
    names = ", ".join(
        f"{seat.name} {round(seat.before.shown_rating)}" for seat in opponents if seat.before
    )
    page = words_of(site.visitor().open(f"/bot/{first.name}"))
    assert "Opponents Result Rating Faults Ended by When" in page
    assert names.replace(" ,", ",") in page.replace(" ,", ",")


def test_what_was_lost_since_yesterday_is_one_choice_away(arena: Arena, site: Site) -> None:
    arena.add_people(1)
    ann, visitor = site.player("Ann"), site.visitor()
    bot = give_bot(arena, "Ann")
    arena.play(120, Random(3))
    midnight = listings.yesterday(site.clock())
    seat = MatchParticipant
    with arena.resources.database.reading() as session:
        its = select(Match.match_id).join(seat, seat.match_id == Match.id).where(seat.bot_id == bot)
        done = set(session.scalars(its.where(Match.state == "done")))
        lost = set(session.scalars(its.where(seat.rank > 1, Match.finished_at >= midnight)))
    assert 0 < len(lost) < len(done)

    def listed(browser: Visitor, path: str) -> list[str]:
        return re.findall(
            r'<th scope="row"><a href="/(?:match|replay)/(m_\w+)"', browser.open(path).text
        )

    def everything(path: str) -> set[str]:
        names: set[str] = set()
        while path:
            names |= set(listed(ann, path))
            following = re.search('<a href="([^"]+)" rel="next"', ann.open(path).text)
            path = unescape(following[1]) if following else ""
            assert not path or "of=" in path, "the choice stays on the next page"
        return names

    assert everything("/matches?of=mine&game=code-battle&state=done") == done
    assert everything("/matches?of=lost") == lost
    assert set(listed(ann, "/bots?of=lost")) <= lost
    assert set(listed(visitor, "/bot/bot-0?matches=lost")) == lost
    assert set(listed(visitor, "/matches?of=lost")) - lost, "a visitor has no bots"
    assert 'value="lost" selected' in ann.open("/matches?of=lost").text
    assert 'name="of"' not in visitor.open("/matches").text
    site.clock.advance(3 * 86_400)
    assert "No match lost since yesterday." in words_of(ann.open("/matches?of=lost"))
    assert "No match lost since yesterday." in words_of(ann.open("/bots?of=lost"))
    words = words_of(visitor.open("/bot/bot-0?matches=lost"))
    assert "No rated match lost since yesterday." in words
    assert "Rating history" in words
