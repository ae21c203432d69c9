"""The monitor while real programs play: what a student sees first."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Host, Watcher

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def program(server: str, *command: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run one of the students' files without pauses; it has ended well when the block ends."""
    environment = os.environ | {"CW_SERVER": server, "CW_PAUSE": "0"}
    with subprocess.Popen(
        [sys.executable, *command], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL
    ) as process:
        try:
            yield process
            assert process.wait(300) == 0
        finally:
            process.kill()


def test_the_fixed_moves_are_shown_and_then_player_1_runs_out_of_time(
    host: Host, watcher: Watcher
) -> None:
    game = host()
    page = watcher.open(game.address)
    with program(game.address, "test.py"):
        expect(page.locator("#moves li")).to_have_count(18)
    expect(page.get_by_role("heading", level=1)).to_have_text("team1 to move")
    expect(page.locator("#card-1 [data-score]")).to_have_text("3")
    expect(page.locator("#card-2 [data-score]")).to_have_text("4")
    game.clock.advance(3.1)
    expect(page.get_by_role("heading", level=1)).to_have_text("team2 won")
    expect(page.locator("#match")).to_contain_text("time-out by Player 1")


def test_two_clients_play_to_the_end_in_a_room(host: Host, watcher: Watcher) -> None:
    game = host()
    room = f"{game.address}/rooms/table-4"
    page = watcher.open(f"{room}/")
    with ExitStack() as players:
        for team in ("alice", "bob"):
            players.enter_context(program(room, "game_ai.py", team))
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(r"^(alice|bob) won"))
    scores = [page.locator(f"#card-{player} [data-score]").inner_text() for player in (1, 2)]
    assert sum(map(int, scores)) == 49
