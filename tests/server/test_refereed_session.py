"""The clients of a refereed match: who is out of turn, and who has only been quick."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from cw.errors import GameStarted
from cw.games.circuit_wars.rules import CircuitWars
from cw.games.rules import Fault
from cw.games.wire import QueryLimits
from cw.server.app import create_server
from cw.server.refereed_session import ClientSeat, RefereedSession
from cw.server.session import GITHUB, NOT_STARTED
from cw.server.settings import ServerSettings

Session = RefereedSession[Any, Any]
OUT_OF_TURN = Fault("illegal", "it is not the turn of player 1")


def play(scenario: Callable[[Session], Awaitable[None]], openings: int = 0) -> None:
    """Run a scenario with the session of a match in which so many segments are drawn."""
    rules = CircuitWars()

    async def run() -> None:
        start = rules.new(2, 1, openings=openings)
        await scenario(RefereedSession(rules, start, None, lambda: 0.0))

    asyncio.run(run())


async def register(session: Session, player: int, team: str) -> None:
    """Let a client register for the seat that the referee fills."""
    with session.open_seat(player, GITHUB) as registered:
        await asyncio.to_thread(session.register, team)
        await registered.wait()


@contextmanager
def moving(session: Session, team: str) -> Iterator[None]:
    """Let a client move, and wait for what the referee says of it as long as the block runs."""
    loop = asyncio.get_running_loop()
    move = loop.run_in_executor(None, session.move, team, "0,0,top")
    try:
        yield
    finally:
        session.end()
        move.add_done_callback(lambda _: None)


def test_a_client_may_register_before_its_start_has_been_noticed() -> None:
    async def scenario(session: Session) -> None:
        async def start() -> Fault:
            assert (await asyncio.to_thread(session.register, "ann")).player == 1
            return Fault("crashed", "it has registered and gone")

        seat = ClientSeat(session, 1, GITHUB, "http://127.0.0.1:5000", start)
        fault = await seat._register(QueryLimits(60, 1))
        assert fault == Fault("crashed", "it has registered and gone")
        with pytest.raises(GameStarted):
            session.register("bob")

    play(scenario)


def test_who_moves_before_the_other_has_registered_is_too_early() -> None:
    async def scenario(session: Session) -> None:
        await register(session, 1, "ann")
        with moving(session, "ann"):
            assert await session.out_of_turn(1) == NOT_STARTED

    play(scenario)


def test_who_moves_as_soon_as_both_have_registered_is_not_out_of_turn() -> None:
    async def scenario(session: Session) -> None:
        await register(session, 1, "ann")
        waiting = asyncio.create_task(session.out_of_turn(1))
        await asyncio.sleep(0)
        await register(session, 2, "bob")
        with moving(session, "ann"):
            # The referee has heard of the registration, but not yet asked for the first move.
            text = await session._inboxes[1].look()
            await asyncio.sleep(0)
            assert not waiting.done()
            waiting.cancel()
            assert await session.sent_by(1) == text

    play(scenario)


def test_who_moves_while_the_other_is_asked_is_out_of_turn() -> None:
    async def scenario(session: Session) -> None:
        await register(session, 1, "ann")
        await register(session, 2, "bob")
        with moving(session, "ann"):
            assert await session.out_of_turn(1) == OUT_OF_TURN

    play(scenario, openings=1)


def test_nobody_restarts_it_and_who_waits_sees_the_tag_of_the_own_registration() -> None:
    async def scenario(session: Session) -> None:
        app = create_server(ServerSettings(rooms=False), session=session)
        client = app.test_client()
        with session.open_seat(1, GITHUB) as registered:
            answer = await asyncio.to_thread(client.get, "/reg/ann")
            await registered.wait()
        tag = answer.headers["ETag"]
        assert client.get("/status").headers["ETag"] == tag
        for path in ("/restart", f"/restart?seen={tag}", "/restart?seen=nothing"):
            assert client.get(path).status_code == 400
        assert session.look().snapshot.teams == ("ann",)

    play(scenario)
