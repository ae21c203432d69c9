"""Matches that are watched while a worker plays them."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Sequence

import pytest
from sqlalchemy import select, update

from cw.arena.bots import BotSpec
from cw.games.wire import Credit, Credits
from cw.matches import live_file
from cw.matches.live_file import MatchSoFar
from cw.matches.progress import MatchProgress
from cw.matches.run import run_match
from cw.matches.spec import MatchSpec
from cw_hub.bots.addresses import ClaimedSeat
from cw_hub.matches import live, planning
from cw_hub.matches.live import Broadcast, so_far
from cw_hub.matches.planning import Plan, Seat
from cw_hub.operation.resources import Resources
from cw_hub.operation.shared import LinesAway, OwnLines, PassingLines, RedisLines
from cw_hub.players.messages import Live, Match, Message, ReplayKeys
from cw_hub.players.playing import Spectating
from cw_hub.store.models import Match as MatchRow
from hub.tests.conftest import ON_SQLITE
from hub.tests.sites import Site
from tests.ports import free_port

SEATS = (ClaimedSeat("ann", "builtin:greedy"), ClaimedSeat("bob", "builtin:random"))


PAIR = (BotSpec("ann", "builtin", "greedy"), BotSpec("bob", "builtin", "random"))


def played() -> MatchProgress:
    """Return a match of eight turns at its end."""
    states: list[MatchProgress] = []
    spec = MatchSpec("m", "paint", PAIR, 3, {"turns": 8})
    asyncio.run(run_match(spec, on_turn=states.append))
    return states[-1]


def lines_of(progress: MatchProgress) -> list[Live]:
    """Return the lines that a player reports of a match."""
    named = Credits("m_1", [Credit(seat.public, seat.owner) for seat in SEATS])
    keys = ReplayKeys("own", "viewed", "archive")
    match = Match(MatchSpec("m", "paint", PAIR, 3), keys, named, run="1.1")
    messages: list[Message] = []
    spectating = Spectating(match, messages.append)
    spectating.watch(progress)
    asyncio.run(spectating.report_once())
    return [message for message in messages if isinstance(message, Live)]


def tell(lines: PassingLines, match_id: str) -> Broadcast:
    teller = Broadcast(lines, match_id)
    for line in lines_of(played()):
        teller.take(line)
    return teller


def running(resources: Resources, game: str = "paint", kind: str = "daily") -> str:
    """Return a match that a worker plays."""
    seats = tuple(Seat(seat.name, spec=seat.spec) for seat in SEATS)
    with resources.database.writing() as session:
        match = planning.plan(session, Plan(kind, "k", game, seats))
        row = update(MatchRow).where(MatchRow.id == match)
        session.execute(row.values(state="in_progress", attempt=1, level=1500))
        return session.scalars(select(MatchRow.match_id).where(MatchRow.id == match)).one()


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
    tell(resources.lines, match)
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
    tell(resources.lines, match)
    assert site.visitor().open(f"/match/{match}/live").status_code == 404
    assert match not in site.visitor().open("/live").text


def test_a_list_that_was_lost_is_told_anew() -> None:
    lines = OwnLines()
    teller = tell(lines, "m_1")
    lines.replace("m_1", b"of somebody else")
    lines.add("m_1", b"and more")
    lines.add("m_1", b"and more")
    teller.take(lines_of(played())[1])
    match = so_far(lines, "m_1")
    assert match is not None
    assert len(match.match.turns) == 16


def test_away_redis_is_said_and_nothing_else_fails() -> None:
    lines = RedisLines(f"redis://127.0.0.1:{free_port()}/0")
    with pytest.raises(LinesAway):
        lines.read("m_1")


@ON_SQLITE
def test_a_match_is_unpacked_once_a_second_whatever_is_asked_of_it(
    site: Site, resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    match, read = running(resources), live_file.match_of
    numbers: list[int] = []

    def counted(lines: Sequence[bytes]) -> MatchSoFar | None:
        numbers.append(len(lines))
        return read(lines)

    monkeypatch.setattr(live, "match_of", counted)
    monkeypatch.setattr(live, "FRESH", 600.0)
    site.app.extensions["live_answers"] = live.Answers()
    tell(resources.lines, match)
    visitor = site.visitor()
    for number in range(8):
        path = f"/match/{match}/live?after={number}"
        assert len(visitor.open(f"{path}&run=0.{number}").json()["turns"]) == 8
        assert len(visitor.open(f"{path}&run=1.1").json()["turns"]) == 8 - number
    assert numbers == [2]


@ON_SQLITE
@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"[]",
        b"{}",
        b'{"result": null}',
        b'{"result": null, "run": 1}',
        b'{"run": ' + b"[" * 10**6,
    ],
)
def test_a_head_that_no_player_writes_shows_nothing(
    site: Site, resources: Resources, head: bytes
) -> None:
    match = running(resources)
    resources.lines.replace(match, zlib.compress(head))
    assert site.visitor().open(f"/match/{match}/live").status_code == 202


HEAD = b'{"run": "1.1", "result": null, "turns": [], "faults": []}'
SPACES = zlib.compress(b" " * 12 * 1024 * 1024)
TURNS = b'{"after": 0, "faults": [], "result": null, "turns": [' + b"0," * 4_000_000 + b"0]}"


@ON_SQLITE
@pytest.mark.parametrize("lines", [[b"no zlib"], [SPACES] * 3, [zlib.compress(TURNS)]])
def test_lines_that_no_player_writes_show_nothing_and_are_not_decoded(
    site: Site, resources: Resources, monkeypatch: pytest.MonkeyPatch, lines: list[bytes]
) -> None:
    """Who controls Redis can write them."""
    match = running(resources)
    monkeypatch.setattr(live, "match_of", lambda _: pytest.fail("it is decoded"))
    for line in (zlib.compress(HEAD), *lines):
        resources.lines.add(match, line)
    assert site.visitor().open(f"/match/{match}/live").status_code == 202
