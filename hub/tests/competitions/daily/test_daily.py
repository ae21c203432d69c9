"""Daily games: planned once, admitted by the checks, reported, ranked; outages and the operator."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from cw.errors import UsageError
from cw.games.end_of_codes.protocol import PASSED, TEXTS
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.daily import bots as daily_bots
from cw_hub.competitions.daily import service as daily_service
from cw_hub.competitions.daily import standings as rankings
from cw_hub.competitions.daily.bots import probe_bot
from cw_hub.competitions.daily.history import FINE
from cw_hub.competitions.daily.service import GAME
from cw_hub.operation.resources import Resources
from hub.tests.conftest import StillClock
from hub.tests.daily_hub import Hub
from hub.tests.served_bots import Answer, Asked, Bots, say, serving_bots


@pytest.fixture
def hub(resources: Resources, hub_clock: StillClock) -> Hub:
    hub_clock.advance(-3600)
    return Hub(resources)


@pytest.fixture
def bots() -> Iterator[Bots]:
    with serving_bots() as bots:
        yield bots


def test_five_ticks_at_once_plan_one_game_at_its_due_time(hub: Hub, hub_clock: StillClock) -> None:
    hub.tick()
    assert hub.games() == []
    hub_clock.advance(3600)
    with ThreadPoolExecutor(5) as threads:
        list(threads.map(lambda _: hub.tick(), range(5)))
    (game,) = hub.games()
    assert (game.state, game.key, game.at) == (
        "queued",
        f"{GAME} 2026-11-20T18:00:00Z",
        hub.clock(),
    )


@pytest.mark.parametrize(
    ("hours", "outcomes"),
    [
        (1, [("queued", None)]),
        (13, [("void", "server_was_down")]),
        (72, [("queued", None)]),
    ],
)
def test_an_outage_costs_no_game_that_is_not_too_late(
    hub: Hub, hub_clock: StillClock, hours: int, outcomes: list[tuple[str, str | None]]
) -> None:
    hub_clock.advance(3600 * (1 + hours))
    hub.tick()
    hub.tick()
    assert hub.outcomes() == outcomes


def test_a_game_that_is_due_while_one_is_open_is_called_off(
    hub: Hub, hub_clock: StillClock
) -> None:
    name = hub.begin()
    with pytest.raises(daily_service.GameIsOpen, match=f"a game is open: {name}"):
        hub.begin()
    hub_clock.advance(3600)
    hub.tick()
    assert hub.outcomes() == [("queued", None), ("void", "previous_game_running")]


def test_a_skipped_due_time_and_a_pause_have_no_game(hub: Hub, hub_clock: StillClock) -> None:
    with hub.resources.database.writing() as session:
        competition = competitions_service.named(session, GAME)
        first, second = daily_service.upcoming(session, competition, 2)
        assert daily_service.skip(session, hub.id) == first
        assert daily_service.upcoming(session, competition, 1) == [second]
        assert rankings.upcoming(session, competition).next == second
    hub_clock.advance(3600)
    hub.tick()
    assert hub.outcomes() == [("void", "skipped")]
    with hub.resources.database.writing() as session:
        competitions_service.set_state(session, hub.id, "paused")
    hub_clock.advance(86_400 + 60)
    hub.tick()
    with hub.resources.database.writing() as session:
        competitions_service.set_state(session, hub.id, "running")
    hub.tick()
    assert len(hub.games()) == 1


def test_what_does_not_run_is_not_paused_and_what_is_not_paused_does_not_go_on(hub: Hub) -> None:
    def changed(*, paused: bool) -> bool:
        with hub.resources.database.writing() as session:
            return competitions_service.set_paused(session, hub.id, paused=paused)

    assert [changed(paused=paused) for paused in (False, True, True, False, False)] == [
        False, True, False, True, False,
    ]  # fmt: skip
    with hub.resources.database.writing() as session:
        competitions_service.set_state(session, hub.id, "over")
    assert not changed(paused=False)
    assert not changed(paused=True)
    with hub.resources.database.reading() as session:
        assert competitions_service.named(session, GAME).state == "over"


def intents(asked: Asked, *own: int, **wrong: Any) -> Answer:
    """Give an intent for some creatures, by default an own one, with what is `wrong` in each."""
    ids = own or (asked.mine()[0]["creatureid"],)
    right = {"action": "move", "direction": "north"}
    return say({"intent": [{"creatureid": one, **right, **wrong} for one in ids]})


@pytest.mark.parametrize(
    "values", [{"time": "25:00"}, {"time": 5}, {"zone": "../etc"}, {"options": []}, {"x": "1"}]
)
def test_settings_that_cannot_be_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        daily_service.read_settings(values)


def test_a_game_of_four_is_ranked_and_who_breaks_is_told_why(hub: Hub, bots: Bots) -> None:
    def flies_in_round_3(asked: Asked) -> Answer | None:
        return intents(asked, action="fly") if asked.round == 3 else None

    bots.behave["bob"] = flies_in_round_3
    for name in ("ann", "bob", "cid"):
        hub.player(name, bots.at(name))
    absent, _ = hub.player("dan", "http://127.0.0.1:1")
    game = hub.play()
    assert (game.state, game.players) == ("done", 3)
    seats = hub.seats()
    assert [(seat.name, seat.rank) for seat in seats] == [
        ("ann", 1), ("bob", 3), ("cid", 1), ("dan", None),
    ]  # fmt: skip
    assert seats[1].faults[0]["gameid"] == game.id
    with hub.resources.database.reading() as session:
        top = rankings.place_rows(session, rankings.List(game.id), [(1, 10)], None)
    assert [place.name for place in top] == ["ann", "cid", "bob"]
    assert [hub.sentence_for(number) for number in (1, 2, 4)] == [
        FINE,
        "Your bot sent an incorrect action: fly in round 3"
        " and your creatures were killed by the grader",
        TEXTS[2],
    ]
    assert hub.bot_of(absent).failure == TEXTS[2]


def test_nobody_who_is_ready_makes_no_game_to_be_shown(hub: Hub) -> None:
    hub.player("dan", "http://127.0.0.1:1")
    hub.play()
    assert hub.outcomes() == [("done", "no_players")]
    with hub.resources.database.reading() as session:
        assert rankings.find(session, hub.id) is None


BROKEN: dict[int, Answer] = {
    3: Answer(b"", 404),
    4: Answer(b"hello"),
    5: say({}),
    6: say({"botname": "b", "version": "1", "username": "eve"}),
}
"""What a bot says to fail a check, by the number of those before it."""


@pytest.mark.parametrize("failed", range(7))
def test_each_check_has_its_text_and_those_before_it_are_passed(
    hub: Hub, bots: Bots, failed: int
) -> None:
    address = {0: "http://nowhere.invalid", 2: "http://127.0.0.1:1"}.get(failed, bots.at("ann"))
    # Beyond this machine bots are at public addresses only.
    network = ("public",) if failed == 1 else ("any",)
    settings = replace(hub.resources.settings, bot_network=network)
    user_id, bot = hub.player("ann", address)
    if failed in BROKEN:
        bots.behave["ann"] = lambda _: BROKEN[failed]
    probe_bot(replace(hub.resources, settings=settings), bot)
    view = hub.bot_of(user_id)
    assert (view.standing, view.failure) == ("failed", TEXTS[failed])
    assert [(check["step"], check["ok"]) for check in view.checks] == [
        *((passed, True) for passed in PASSED[:failed]),
        (TEXTS[failed], False),
    ]


def test_who_passes_all_checks_is_asked_anew_after_a_change(hub: Hub, bots: Bots) -> None:
    user_id, bot = hub.player("ann", bots.at("ann"))
    probe_bot(hub.resources, bot)
    assert hub.bot_of(user_id).standing == "passed"
    with hub.resources.database.writing() as session:
        daily_bots.save(session, user_id, f"{bots.at('ann')}/moved", "urlencoded")
    assert hub.bot_of(user_id).standing == "not_probed"


def test_a_probe_of_an_old_key_is_not_kept(hub: Hub) -> None:
    user_id, bot = hub.player("ann", "http://127.0.0.1:1")
    with hub.resources.database.reading() as session:
        target = daily_bots.entrant_to_probe(session, bot)
    assert target is not None
    probe_bot(hub.resources, bot)
    with hub.resources.database.writing() as session:
        daily_bots.renew_key(session, hub.resources.sealer, user_id)
    assert hub.bot_of(user_id).standing == "not_probed"


def test_windows_hold_the_top_and_eleven_around_each_place() -> None:
    for number, own in ((n, own) for n in range(61) for own in (None, *range(1, n + 1))):
        windows = [
            position
            for first, last in rankings.windows(number, own)
            for position in range(first, last + 1)
        ]
        wanted = set(range(1, min(10, number) + 1))
        if own is not None:
            first = max(1, min(own - 5, number - 10))
            wanted |= set(range(first, min(number, first + 10) + 1))
            assert own in windows
        assert windows == sorted(wanted)
