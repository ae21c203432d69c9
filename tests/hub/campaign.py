"""Processes of a hub under fire: matches are planned, workers are killed, and all is counted."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError

from cw.games.registry import load_game
from cw.hub.resources import Resources
from cw.hub.services import matches
from cw.hub.services.matches import Plan, Seat
from cw.hub.services.replays import viewed_key
from cw.hub.store.tables import Battle, Match, MatchParticipant
from cw.replays.document import decode
from cw.replays.verify import verify

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 600.0
"""Seconds in which a campaign must have come to its end; it is over long before that."""

GAME = "code-battle"
BOTS = ("rusher", "random")
SHORT = {"max_turns": 5}
HASTY = {"CW_TICK": "0.5", "CW_LEASE": "4"}


def plan_matches(resources: Resources, number: int) -> None:
    """Plan short matches of Code Battle between built-in strategies."""
    seats = tuple(Seat(name, spec=f"builtin:{name}") for name in BOTS)
    for one in range(number):
        with resources.database.writing() as session:
            plan = Plan("practice", f"campaign {one}", GAME, seats, SHORT)
            matches.plan(session, resources.clock, plan)


def on_services(folder: Path, database: str, broker: str) -> dict[str, str]:
    """Return the settings of a hub of several processes, as its environment."""
    return {
        "CW_DATABASE_URL": database,
        "CW_BROKER_URL": broker,
        "CW_DATA": str(folder),
        "CW_MASTER_KEYS": "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        "CW_SECRET_KEY": "0" * 64,
        **HASTY,
    }


@dataclass
class Role:
    """A process of a hub, started anew whenever it has ended."""

    arguments: Sequence[str]
    environment: Mapping[str, str]
    log: Path
    process: subprocess.Popen[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "cw", "hub", *self.arguments],
                cwd=ROOT,
                env={**os.environ, **self.environment},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self) -> None:
        """End it and all that it has started, as a power cut would."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> float:
        """Ask it to end; return how many seconds that took."""
        asked = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        return time.monotonic() - asked


@contextmanager
def roles(*started: Role) -> Iterator[Sequence[Role]]:
    """End the processes at the end of the block, however it ends."""
    try:
        yield started
    finally:
        for role in started:
            if role.process.poll() is None:
                role.kill()


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Type a command of the hub."""
    command = [sys.executable, "-m", "cw", "hub", *arguments]
    environment = {**os.environ, **environment}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def wait_until(true: Callable[[], bool], what: str) -> None:
    """Wait for something; fail after a long time."""
    given_up = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < given_up, f"{what} has not come"
        time.sleep(0.1)


def is_done(resources: Resources, number: float) -> bool:
    """Return whether so many matches are done; while the database is away nobody knows."""
    try:
        with resources.database.reading() as session:
            return matches.counts(session).get("done", 0) >= number
    except DBAPIError:
        return False


def one_after_the_other(
    resources: Resources, number: int, strokes: int, strike: Callable[[int], None]
) -> None:
    """Strike again and again while the matches are played, evenly over them; wait for their end."""
    for stroke in range(strokes):
        # A part of a step more, so that no stroke always meets the same moment of a match.
        least = number * (stroke + random.random()) / (strokes + 1)
        wait_until(partial(is_done, resources, least), "the next stroke")
        strike(stroke)
    wait_until(partial(is_done, resources, number), "the end")


def check_everything(resources: Resources, number: int) -> None:
    """Hold rows and objects against each other: each match once, none lost, none doubled."""
    with resources.database.reading() as session:
        assert matches.counts(session) == {"done": number}
        played = session.scalars(select(Battle)).all()
        assert len(played) == number
        unranked = select(func.count()).select_from(MatchParticipant)
        assert session.scalar(unranked.where(MatchParticipant.rank.is_(None))) == 0
        busy = select(func.count()).select_from(Match).where(Match.worker.is_not(None))
        assert session.scalar(busy) == 0
    there = set(resources.objects.keys("replays"))
    for battle in played:
        assert battle.replay_key is not None
        assert {battle.replay_key, viewed_key(GAME, battle.replay_key)} <= there
        data = resources.objects.get(viewed_key(GAME, battle.replay_key))
        assert data is not None
        assert verify(load_game(GAME), decode(data)) is None
