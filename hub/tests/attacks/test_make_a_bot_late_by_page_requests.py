"""Visitors want another player's bot to be late: they keep the pages busy while it plays.

The worst that pages can be kept busy is that their process does nothing at all: it is stopped while
a match is played, until the match is over. So nothing depends on the speed of the machine: a match
that waited for the pages would never end. Bots of a hub in one process were late then.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from secrets import token_hex
from threading import Event, Thread
from typing import Final

import pytest
from sqlalchemy import select

from cw import kits
from cw.arena.processes import PROC
from cw_hub.operation.settings import read_settings
from cw_hub.store.database import Database
from cw_hub.store.models import Match, MatchParticipant
from hub.tests.attacks.hubs import SHAPES, Hub, Shape, open_hub, zipped
from hub.tests.campaign import wait_until
from tests.arena.zoo import processes_with
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = [
    pytest.mark.thorough,
    NEEDS_BUBBLEWRAP,
    pytest.mark.skipif(not PROC.is_dir(), reason="needs /proc"),
]

GAME: Final = "code-battle"
KIT: Final = {name: file.read_bytes() for name, file in kits.files(GAME, "python").items()}
NAMES: Final = ("Ann", "Bob")
STARTS: Final = """
import os, sys
from pathlib import Path
program = str(Path(__file__).with_name("honest.py"))
os.execv(sys.executable, [sys.executable, program, {sign!r}])
"""
"""Runs the program with a sign by which its process is found."""

STOPS: Final = 2
EVIL: Final = b"at " + b"a." * 4096
"""Standard error that took a quadratic pattern most of a second."""


@pytest.mark.parametrize("shape", SHAPES)
def test_no_request_makes_a_bot_late(shape: Shape, tmp_path: Path) -> None:
    sign = f"honest-{token_hex(8)}"
    program = KIT | {"bot.py": STARTS.format(sign=sign).encode(), "honest.py": KIT["bot.py"]}
    with open_hub(shape, tmp_path) as hub:
        hub.operate("competition", "set", f"rated/{GAME}", "rest=0", 'options={"max_turns": 200}')
        hub.operate("competition", "resume", f"rated/{GAME}")
        for name in NAMES:
            player = hub.player(name.lower())
            assert player.send_program(name, program, GAME).status_code == 303
            player.checked(name, GAME)
            assert player.status(name, GAME) == "ACTIVE", player.page_of(name, GAME)
        wait_until(lambda: len(times_late(hub)) > 0, "a match without visitors")
        before = times_late(hub)
        with visited(hub):
            for _ in range(STOPS):
                play_without_pages(hub, sign)
            done = len(before) + STOPS * len(NAMES)
            wait_until(lambda: len(times_late(hub)) >= done, "results")
        assert max(times_late(hub)) <= max(before)
        assert hub.is_running()


def play_without_pages(hub: Hub, sign: str) -> None:
    """Stop the pages while programs with a sign play, until these have ended."""
    pages = hub.processes[0].process
    programs: set[int] = set()
    try:
        while not programs:
            pages.send_signal(signal.SIGCONT)
            wait_until(lambda: bool(processes_with(sign)), "a match")
            pages.send_signal(signal.SIGSTOP)
            # It may have ended just before.
            programs = {*processes_with(sign)}
        wait_until(lambda: programs.isdisjoint(processes_with(sign)), "an end without the pages")
    finally:
        pages.send_signal(signal.SIGCONT)


@contextmanager
def visited(hub: Hub) -> Iterator[None]:
    """Let visitors log in with wrong passwords, load pages, upload, and write evil text."""
    over = Event()

    def log_in() -> None:
        visitor = hub.visitor()
        while not over.is_set():
            assert visitor.log_in("ann", "wrong").status_code < 500

    def look() -> None:
        visitor = hub.visitor()
        while not over.is_set():
            for page in ("/", f"/ranking/{GAME}", "/matches", "/live", f"/games/{GAME}/"):
                assert visitor.open(page).status_code < 500

    def upload() -> None:
        player, number = hub.player("mallory"), 0
        shout = b"import sys\nsys.exit('" + EVIL + b"')\n"
        while not over.is_set():
            number += 1
            player.send_zip(f"Evil{number}", zipped({"bot.py": shout}))

    threads = [Thread(target=attack, daemon=True) for attack in (log_in, look, upload)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def times_late(hub: Hub) -> list[int]:
    """Return how often each honest program was late in each match that is over."""
    query = select(MatchParticipant.faults).join(Match, Match.id == MatchParticipant.match_id)
    query = query.where(Match.state == "done", MatchParticipant.name.in_(NAMES))
    database = Database(read_settings(hub.environment).database)
    with closing(database), database.reading() as session:
        return [str(faults).count("timeout") for faults in session.scalars(query)]
