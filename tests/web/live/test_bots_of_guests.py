"""Matches of people against the bots of guests: what they are told, and how many there may be."""

from __future__ import annotations

import asyncio
import json
from contextlib import ExitStack, closing
from threading import Event
from typing import Any

import pytest

from cw.arena.bots import BotSpec
from cw.errors import Abandoned, CapacityError
from cw.games.registry import load_game
from cw.matches.spec import Isolation, MatchResult, MatchSpec
from cw.replays import document as replays_document
from cw.replays.verify import verify
from cw.web.live_match import Guest
from cw.web.live_matches import MOST_WITH_GUESTS, UNWATCHED, LiveMatches
from tests.fixtures import FakeClock
from tests.web.live.live_pages import PATIENCE, wait

YOU = BotSpec("you", "human", "")
NOBODY_THERE = BotSpec("alpha", "http", "http://127.0.0.1:9", {"bot_id": "b_1"})
ANYWHERE, PUBLIC = Isolation("require"), Isolation("require", "public")


def against(guest: BotSpec, isolation: Isolation = ANYWHERE) -> MatchSpec:
    """Return a match of a person against the bot of a guest, who begins."""
    return MatchSpec("page", "hexagon", (guest, YOU), 1, {"size": 3}, isolation=isolation)


def guest_of(owner: str) -> Guest:
    return Guest(owner, "alpha", "Team <Alpha>")


@pytest.mark.parametrize("isolation", [ANYWHERE, PUBLIC], ids=["any", "public"])
def test_nothing_tells_where_the_bot_of_a_guest_is(isolation: Isolation, clock: FakeClock) -> None:
    record: list[replays_document.Document] = []

    def keep(document: replays_document.Document) -> str:
        record.append(document)
        return "kept"

    left: list[str] = []
    room = ExitStack()
    room.callback(left.append, "left")
    with closing(LiveMatches(1, clock, keep)) as matches:
        secrets = {"alpha": {"secret": "very-secret"}}
        match = matches.begin(
            against(NOBODY_THERE, isolation), bot_secrets=secrets, guest=guest_of("1"), room=room
        )
        result = match.result.result(PATIENCE)
        assert match.progress is not None
        assert "127.0.0.1" in json.dumps(result.replay)
        private = "private address" in result.faults[0].detail
        assert private is (isolation is PUBLIC)
        wait(lambda: match.replay)
        assert left == ["left"]
        for view in (match.document(), match.news(0), *record):
            for secret in ("127.0.0.1", "very-secret", "b_1", "http:"):
                assert secret not in json.dumps(view)
            assert view["faults"][0]["kind"] == "disconnected"
        assert [player["name"] for player in record[0]["players"]] == ["Team <Alpha>", "you"]
        assert (
            verify(load_game("hexagon"), replays_document.decode(json.dumps(record[0]).encode()))
            is None
        )
        assert matches.of("hexagon") == []


def test_why_the_bot_of_a_guest_cannot_be_asked_does_not_name_it(clock: FakeClock) -> None:
    with closing(LiveMatches(1, clock)) as matches:
        nowhere = BotSpec("alpha", "http", "nowhere://10.0.0.1")
        match = matches.begin(against(nowhere), guest=guest_of("1"))
        assert "10.0.0.1" in str(match.result.exception(PATIENCE))
        assert match.trouble == (
            "The match ended without a result: its bot cannot be reached with its current settings."
        )


def test_a_slow_program_holds_up_no_page_of_another_match(clock: FakeClock) -> None:
    stopped = Event()

    async def slow(*_: Any, **__: Any) -> MatchResult:
        try:
            await asyncio.sleep(PATIENCE)
        finally:
            await asyncio.to_thread(stopped.wait, 30)
        raise AssertionError

    bots = against(BotSpec("alpha", "builtin", "random"))
    with closing(LiveMatches(1, clock)) as matches:
        first, second, third = (matches.begin(bots, play=slow) for _ in range(3))
        clock.advance(UNWATCHED)
        # The second match takes the place of the first, whose program does not stop yet.
        assert matches.find(second.name) is second
        assert matches.find(third.name) is third
        assert (second.is_played, third.place) == (True, 1)
        assert not first.over
        stopped.set()
        assert isinstance(first.result.exception(PATIENCE), Abandoned)
        assert not second.over


def test_a_guest_plays_one_match_at_a_time_and_all_of_them_a_bounded_number(
    clock: FakeClock,
) -> None:
    waits = against(BotSpec("alpha", "builtin", "random"))
    with closing(LiveMatches(1, clock)) as matches:
        first = matches.begin(waits, guest=guest_of("1"))
        with pytest.raises(CapacityError, match="Team <Alpha> is already playing online"):
            matches.begin(waits, guest=guest_of("1"))
        clock.advance(UNWATCHED + 1)
        second = matches.begin(waits, guest=guest_of("1"))
        assert isinstance(first.result.exception(PATIENCE), Abandoned)
        for number in range(2, MOST_WITH_GUESTS + 1):
            matches.begin(waits, guest=guest_of(str(number)))
        another = matches.begin(waits, guest=guest_of("another"))
        assert (another.is_played, another.place) == (False, 1)
        # Others play beside them.
        assert not matches.begin(waits).over
        assert not second.over
