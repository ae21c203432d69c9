"""Many clients at the same moment, over real sockets."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from cw.web import create_app
from cw.web.settings import SiteSettings
from tests.effort import amount
from tests.fixtures import Serve


@pytest.fixture
def base(serve: Serve) -> str:
    return serve(create_app(SiteSettings(timeout=-1)))


def ask(base: str, path: str) -> Any:
    return requests.get(f"{base}/{path}", timeout=30).json()


def ask_at_once(base: str, paths: Sequence[str]) -> list[Any]:
    """Ask for all paths at the same moment, each in a thread of its own."""
    start = threading.Barrier(len(paths))

    def wait_and_ask(path: str) -> Any:
        start.wait()
        return ask(base, path)

    with ThreadPoolExecutor(len(paths)) as threads:
        return list(threads.map(wait_and_ask, paths))


def test_three_teams_that_register_at_once_get_two_seats_and_error_3(base: str) -> None:
    for game in range(10):
        room = f"{base}/rooms/g{game}"
        answers = ask_at_once(room, [f"reg/{team}" for team in "abc"])
        outcomes = sorted((a.get("player", 0), a.get("error_code", 0)) for a in answers)
        assert outcomes == [(0, 3), (1, 0), (2, 0)]


def test_one_name_registered_three_times_at_once_gets_one_seat(base: str) -> None:
    for game in range(10):
        room = f"{base}/rooms/g{game}"
        answers = ask_at_once(room, ["reg/a"] * 3)
        assert sorted(a.get("error_code", 0) for a in answers) == [0, 2, 2]


def test_twenty_equal_moves_at_once_are_one_move_and_one_loss(base: str) -> None:
    for game in range(10):
        room = f"{base}/rooms/g{game}"
        ask(room, "reg/a")
        ask(room, "reg/b")
        answers = ask_at_once(room, ["move/a/1,2,top"] * 20)
        assert sorted(status["status_code"] for status in answers) == [202] + [401] * 19
        assert ask(room, "status")["last_move"] == "1,2,top"


def test_random_interleavings_leave_a_game_that_could_have_been(base: str) -> None:
    rng = random.Random(1)
    for game in range(amount(15, 100)):
        room = f"{base}/rooms/i{game}"
        paths = ["reg/a", "reg/b", "status", "history", "move/a/0,0,top", "move/b/0,0,left"]
        paths += rng.choices(["move/a/1,1,top", "move/b/1,1,top", "reg/c", "status"], k=4)
        rng.shuffle(paths)
        answers = ask_at_once(room, paths)
        assert len(answers) == len(paths)
        check_possible(ask(room, "status"), ask(room, "history"))


def check_possible(status: Any, history: Any) -> None:
    """Assert that status and history tell one and the same legal story."""
    assert [player for player, _, _ in history["moves"]] == [
        1 + turn % 2 for turn in range(len(history["moves"]))
    ]
    segments = {name for _, name, _ in history["moves"]}
    assert len(segments) == len(history["moves"])
    assert status["last_move"] == (history["moves"][-1][1] if history["moves"] else "")
    assert (status["status_code"] // 100 == 4) == (history["fault"] is not None)
    bits = sum(bin(square & 15).count("1") for row in status["board"] for square in row)
    boundary = {"0,0,top", "0,0,left"}
    assert bits == 2 * len(segments) - len(segments & boundary)
