"""Matches that are watched while a worker plays them."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import select, update

from cw.arena.bots import BotSpec
from cw.hub.bots.seats import ClaimedSeat
from cw.hub.matches import planning
from cw.hub.matches.claims import Claim
from cw.hub.matches.live.broadcast import Broadcast, so_far
from cw.hub.matches.planning import Plan, Seat
from cw.hub.operation.passing_lines import LinesAway, OwnLines, PassingLines, RedisLines
from cw.hub.operation.resources import Resources
from cw.hub.store.tables import Match
from cw.matches.progress import MatchProgress
from cw.matches.run import run_match
from cw.matches.spec import MatchSpec
from tests.hub.conftest import ON_SQLITE
from tests.hub.sites import Site
from tests.ports import free_port

SEATS = (ClaimedSeat("ann", "builtin:greedy"), ClaimedSeat("bob", "builtin:random"))


def claimed(match_id: str, resources: Resources) -> Claim:
    return Claim(1, match_id, 1, "daily", "paint", {}, 3, resources.clock(), SEATS)


def played() -> MatchProgress:
    """Return a match of eight turns at its end."""
    states: list[MatchProgress] = []
    bots = (BotSpec("ann", "builtin", "greedy"), BotSpec("bob", "builtin", "random"))
    spec = MatchSpec("m", "paint", bots, 3, {"turns": 8})
    asyncio.run(run_match(spec, on_turn=states.append))
    return states[-1]


def tell(lines: PassingLines, claim: Claim) -> Broadcast:
    broadcast = Broadcast(lines, claim)
    broadcast.watch(played())
    asyncio.run(broadcast.tell_once())
    return broadcast


def running(resources: Resources, game: str = "paint", kind: str = "daily") -> str:
    """Return a match that a worker plays."""
    seats = tuple(Seat(seat.name, spec=seat.spec) for seat in SEATS)
    with resources.database.writing() as session:
        match = planning.plan(session, resources.clock, Plan(kind, "k", game, seats))
        row = update(Match).where(Match.id == match)
        session.execute(row.values(state="in_progress", attempt=1, level=1500))
        return session.scalars(select(Match.match_id).where(Match.id == match)).one()


@ON_SQLITE
def test_a_running_match_is_watched_and_its_seed_stays_hidden(
    site: Site, resources: Resources
) -> None:
    match = running(resources)
    visitor = site.visitor()
    assert visitor.open(f"/match/{match}/live?after=3").status_code == 202
    assert "data-live=" in visitor.open(f"/match/{match}").text
    assert match in visitor.open("/live").text
    assert f"/replay/{match}" in visitor.open("/").text
    broadcast = tell(resources.lines, claimed(match, resources))
    whole = visitor.open(f"/match/{match}/live")
    document = whole.json()
    assert (document["seed"], document["start"], len(document["turns"])) == (0, None, 8)
    assert [player["bot"] for player in document["players"]] == [seat.public for seat in SEATS]
    assert all(turn["ms"] == {} for turn in document["turns"])
    run = document["live"]["run"]
    news = visitor.open(f"/match/{match}/live?after=6&run={run}")
    assert (len(news.json()["turns"]), news.headers["ETag"]) == (2, whole.headers["ETag"])
    same = {"If-None-Match": whole.headers["ETag"]}
    answer = visitor.open(f"/match/{match}/live?after=6&run={run}", headers=same)
    assert answer.status_code == 304
    # A page that knows another attempt gets the whole of this one.
    assert len(visitor.open(f"/match/{match}/live?after=6&run=0.1").json()["turns"]) == 8
    assert broadcast.turns == 8


@ON_SQLITE
def test_what_players_must_not_see_is_not_told_before_the_end(
    site: Site, resources: Resources
) -> None:
    match = running(resources, "code-battle", "rated")
    assert "data-live=" not in site.visitor().open(f"/match/{match}").text
    assert site.visitor().open(f"/match/{match}/live").json()["over"] is True


@ON_SQLITE
def test_practice_is_watched_by_those_who_play_alone(site: Site, resources: Resources) -> None:
    match = running(resources, kind="practice")
    tell(resources.lines, claimed(match, resources))
    assert site.visitor().open(f"/match/{match}/live").status_code == 404
    assert match not in site.visitor().open("/live").text


@ON_SQLITE
def test_a_list_that_was_lost_is_told_anew(resources: Resources) -> None:
    lines = OwnLines()
    broadcast = tell(lines, claimed("m_1", resources))
    lines.replace("m_1", b"of somebody else")
    broadcast.watch(played())
    broadcast.turns = 7
    asyncio.run(broadcast.tell_once())
    asyncio.run(broadcast.tell_once())
    document = so_far(lines, "m_1")
    assert document is not None
    assert [len(document.since(None)["turns"]), broadcast.turns] == [8, 8]


def test_away_redis_is_said_and_nothing_else_fails() -> None:
    lines = RedisLines(f"redis://127.0.0.1:{free_port()}/0")
    with pytest.raises(LinesAway):
        lines.read("m_1")
