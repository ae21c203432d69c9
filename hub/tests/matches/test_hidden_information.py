"""What a site keeps to itself while a match waits or is played: its seed and map, and who plays."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from sqlalchemy import select, update

from cw_hub.competitions import maps
from cw_hub.competitions.rated import pairing
from cw_hub.competitions.rated import service as rated_service
from cw_hub.matches import results
from cw_hub.matches.jobs import Worker
from cw_hub.operation.resources import Resources
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.store.models import Bot, Match, MatchParticipant, MatchState, Rating
from hub.tests.bots.test_player_bots import register
from hub.tests.competitions.rated.test_rated import LEASE, Arena
from hub.tests.conftest import StillClock
from hub.tests.program import make_admin, program_of
from hub.tests.sites import Site, Visitor, words_of

ME = Worker("me", 1, MATCH_TYPES)
STATES: tuple[MatchState, ...] = ("queued", "in_progress", "interrupted")
NOTICE = "Players, map and seed are shown when the match is over."


@dataclass(frozen=True)
class Secrets:
    """What nobody may know of a match before its end."""

    id: int
    match_id: str
    seed: str
    map_id: str
    names: tuple[str, ...]
    bots: tuple[str, ...]

    def leaks(self, text: str) -> list[str]:
        """Return what of it a text tells: at least who plays, seed or map."""
        return [word for word in (self.seed, self.map_id, *self.names) if word and word in text]


def planned(arena: Arena, state: MatchState = "queued") -> Secrets:
    """Plan rated matches; return what must not be known of the first one, which is as told."""
    arena.plan()
    first = arena.queued()[0]
    with arena.resources.database.writing() as session:
        session.execute(update(Match).where(Match.id == first).values(state=state, turn=3))
        match = session.get_one(Match, first)
        its = MatchParticipant.match_id == first
        rows = session.execute(
            select(MatchParticipant.name, Bot.bot_id)
            .join(Bot, Bot.id == MatchParticipant.bot_id)
            .where(its)
            .order_by(MatchParticipant.slot)
        ).all()
        names, ids = zip(*((name, bot) for name, bot in rows), strict=True)
        return Secrets(first, match.match_id, str(match.seed), match.map_id or "", names, ids)


@pytest.fixture
def arena(resources: Resources, hub_clock: StillClock) -> Arena:
    return Arena(resources, hub_clock, options={"max_turns": 12})


def texts_for(site: Site, browser: Visitor, match: Secrets) -> dict[str, str]:
    """Return what tells of one match alone, or of matches and of no bot."""
    name = match.match_id
    paths = (
        f"/match/{name}",
        f"/match/{name}/state",
        f"/replay/{name}",
        f"/api/v1/matches/{name}",
        "/matches",
        "/matches?state=queued",
        "/matches?state=in_progress&game=code-battle",
        "/api/v1/matches",
        "/api/v1/matches?state=queued",
        "/api/v1/status",
        "/metrics",
    )
    return {path: browser.open(path).text for path in paths}


@pytest.mark.parametrize("state", STATES)
def test_nobody_reads_what_is_hidden_before_the_end(
    arena: Arena, site: Site, state: MatchState
) -> None:
    match = planned(arena, state)
    # The site's own account has the bots: who owns them, and admins, see no more.
    visitor, root = site.visitor(), site.player("Root")
    make_admin(site, "Root")
    admin = site.visitor()
    admin.headers.update(program_of(site, "Root", "read", "admin").http.headers)
    owner = site.visitor()
    owner.headers.update(program_of(site, "house", "read").http.headers)
    for browser in (visitor, root, admin, owner):
        for path, text in texts_for(site, browser, match).items():
            assert match.leaks(text) == [], path
    assert NOTICE in visitor.open(f"/match/{match.match_id}").text
    document = visitor.open(f"/api/v1/matches/{match.match_id}").json()
    hidden = ("seed", "map_id", "level")
    assert [document[name] for name in hidden] == [None] * 3
    assert document["seats"] == []


def test_all_is_shown_after_the_end(arena: Arena, site: Site) -> None:
    match = planned(arena)
    ME.play(arena.resources, match.id)
    browser = site.visitor()
    page = words_of(browser.open(f"/match/{match.match_id}"))
    for word in (f"Seed {match.seed}", f"Map {match.map_id}", *match.names):
        assert word in page
    assert NOTICE not in page
    document = browser.open(f"/api/v1/matches/{match.match_id}").json()
    assert (str(document["seed"]), document["map_id"]) == (match.seed, match.map_id)
    assert document["level"] == 800
    assert [seat["slot"] for seat in document["seats"]] == [0, 1]
    assert [seat["name"] for seat in document["seats"]] == list(match.names)


def test_no_choice_of_a_list_tells_who_plays(arena: Arena, site: Site) -> None:
    match, browser = planned(arena), site.visitor()
    here = match.match_id
    assert here in browser.open("/matches").text
    assert here in browser.open("/api/v1/matches").text
    for path in (
        "/matches?players=2",
        f"/matches?bot={match.names[0]}",
        "/api/v1/matches?players=2",
        f"/api/v1/bots/{match.bots[0]}/matches",
        f"/bot/{match.names[0]}",
    ):
        text = browser.open(path).text
        assert here not in text, path
        assert "playing now" not in text, path
    owner = program_of(site, "house", "read")
    (item,) = owner.read(f"/bots/{match.bots[0]}/matches")["items"]
    assert (item["match_id"], item["seats"], item["seed"]) == (here, [], None)


def test_a_bot_learns_nothing_with_the_id_of_its_match(arena: Arena, site: Site) -> None:
    match = planned(arena)
    with arena.resources.database.writing() as session:
        claim = results.claim(session, match.id, "worker", LEASE)
    assert claim is not None
    document = site.visitor().open(f"/api/v1/matches/{claim.wire_id}").json()
    assert {name for name, value in document.items() if value is not None and value != []} == {
        *("match_id", "kind", "game", "state", "attempt", "turn"),
        *("planned_at", "started_at", "has_replay"),
    }


def test_a_match_that_may_be_played_after_all_keeps_its_seed(arena: Arena, site: Site) -> None:
    match = planned(arena, "failed")
    page = site.visitor().open(f"/match/{match.match_id}").text
    assert match.seed not in page
    assert match.map_id not in page


def test_owners_see_no_seed_of_a_practice_match_that_waits(arena: Arena, site: Site) -> None:
    ann = site.player("Ann")
    register(ann, game="code-battle")
    path = ann.fill("/bot/Swarm/test-match", "/bots", opponent="random").headers["Location"]
    with arena.resources.database.reading() as session:
        match = session.scalars(select(Match).where(Match.kind == "practice")).one()
    page = words_of(ann.open(path))
    assert str(match.seed) not in page
    # An owner has chosen the opponent.
    assert "Swarm" in page
    assert "Map and seed are shown when the match is over." in page
    ME.play(arena.resources, match.id)
    assert f"Seed {match.seed}" in words_of(ann.open(path))


def test_a_game_without_hidden_information_names_its_players(arena: Arena, site: Site) -> None:
    with arena.resources.database.writing() as session:
        rated_service.begin(session, "hexagon", "Hexagon", house_plays=True)
        pairing.plan(session)
        match = session.scalars(select(Match).where(Match.game == "hexagon")).first()
        assert match is not None
        seed, name = str(match.seed), match.match_id
    document = site.visitor().open(f"/api/v1/matches/{name}").json()
    assert document["seed"] is None
    assert [seat["slot"] for seat in document["seats"]] == [0, 1]
    page = site.visitor().open(f"/match/{name}").text
    assert seed not in page
    assert all(seat["name"] in page for seat in document["seats"])


def test_the_map_of_a_match_does_not_follow_from_those_before_it(arena: Arena) -> None:
    with arena.resources.database.reading() as session:
        (competition,) = rated_service.rated_competitions(session)
        table = pairing.Eligible.of(session, competition)
        for players, uses in table.maps.items():
            assert len(maps.longest_unused(uses or ())) == 25, players
    draws = [table.drawn_maps()[2] for _ in range(200)]
    names = {name for one in draws for name, _ in one or ()}
    assert 10 < len(names) <= 25
    assert all(len(one or ()) == 1 for one in draws)


def test_maps_come_in_turn(arena: Arena) -> None:
    used = [(f"m{number}", float(number)) for number in range(5)]
    fresh = [("m8", None), ("m7", None)]
    longest = maps.longest_unused([*used, *fresh])
    assert [name for name, _ in longest] == ["m7", "m8", "m0", "m1"]
    assert list(maps.longest_unused([])) == []


def test_who_is_playing_is_told_to_owners_alone(arena: Arena, site: Site) -> None:
    ann = site.player("Ann")
    register(ann, game="code-battle")
    with arena.resources.database.writing() as session:
        bot = session.scalars(select(Bot).where(Bot.name == "Swarm")).one()
        bot.status, bot.healthy_at, bot.protocol_ok = "ACTIVE", arena.clock(), True
    arena.plan()
    with arena.resources.database.reading() as session:
        holder = session.scalars(select(Rating).where(Rating.bot_id == bot.id)).one()
        assert holder.playing_id is not None
    assert "It is playing now." in ann.open("/bot/Swarm").text
    assert "It is playing now." not in site.visitor().open("/bot/Swarm").text
