"""Processes of a hub under fire: matches are planned, workers are killed, and all is counted."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, cycle
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError

from cw.games.registry import load_game
from cw.replays.document import decode
from cw.replays.verify import verify
from cw_hub.context import utc_now
from cw_hub.matches import planning, results
from cw_hub.matches.planning import Plan, Seat
from cw_hub.matches.stored_replays import objects_of, viewed_key
from cw_hub.operation.resources import Resources
from cw_hub.site.processes import keep_in_order
from cw_hub.store.models import Battle, Match, MatchParticipant
from cw_hub.store.objects import file_at
from hub.tests.sites import by_clock
from tests.effort import amount

ROOT = Path(__file__).resolve().parents[2]
KILLS = amount(1, 4, "CW_KILLS")
PATIENCE = 600.0
"""Seconds in which a campaign must have come to its end; it is over long before that."""

GAME = "code-battle"
BOTS = ("rusher", "random")
SHORT = {"max_turns": 5}
BETWEEN = int(os.environ.get("CW_BETWEEN", "0"))
"""Matches between two strokes of a kind, at least: on a slow machine, which would do nothing but
start processes otherwise."""

HASTY = {"CW_TICK": "0.5", "CW_LEASE": "8"}


def plan_matches(resources: Resources, number: int) -> None:
    """Plan short matches of Code Battle between built-in strategies."""
    seats = tuple(Seat(name, spec=f"builtin:{name}") for name in BOTS)
    for one in range(number):
        with resources.database.writing() as session:
            plan = Plan("practice", f"campaign {one}", GAME, seats, SHORT)
            planning.plan(session, plan)


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
    folder: Path = ROOT
    """Where it is started."""
    within: Sequence[str] = ()
    """What its command begins with, where it runs on a host of its own."""
    program: Sequence[str] = ("-m", "cw")
    """What Python is to run."""
    process: subprocess.Popen[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*self.within, sys.executable, *self.program, "hub", *self.arguments],
                cwd=self.folder,
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
        start = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)
        return time.monotonic() - start


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
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, f"{what} has not come"
        time.sleep(0.1)


def is_done(resources: Resources, number: float) -> bool:
    """Return whether so many matches are done; while the database is away nobody knows."""
    try:
        with resources.database.reading() as session:
            return results.counts(session).get("done", 0) >= number
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


@dataclass
class Stroke:
    """Something that befalls a hub again and again."""

    strike: Callable[[], object]
    every: float = 0
    """Seconds between two of them, at least."""
    apart: float = BETWEEN
    """Matches between two of them, at least."""
    due: tuple[float, float] = (0, 0)
    """The seconds and the matches after which the next one comes."""
    times: int = 0

    def strike_if_due(self, seconds: float, done: int) -> None:
        """Strike if it is time, so many seconds and matches after the beginning."""
        after, matches = self.due
        if seconds >= after and done >= matches:
            self.strike()
            # Where seconds count, it may be late; where matches do, each comes.
            self.due = seconds + self.every, (done if self.every else matches) + self.apart
            self.times += 1


def each_in_turn(stroke: Callable[[Role], object], several: Sequence[Role]) -> Callable[[], object]:
    """Return what strikes one after the other."""
    turns = cycle(several)
    return lambda: stroke(next(turns))


def in_turn(stroke: Callable[[Role], object], several: Sequence[Role]) -> Callable[[], object]:
    """Return what strikes one after the other, and starts it again."""

    def strike(struck: Role) -> None:
        stroke(struck)
        struck.start()

    return each_in_turn(strike, several)


def under_fire(
    resources: Resources, number: int, watched_roles: Sequence[Role], strokes: Sequence[Stroke]
) -> float:
    """Strike, each at its own pace, until all matches are over; return how many seconds that took.

    A process that has ended by itself is started again, as the machines of a hub do.
    """
    began, done = time.monotonic(), 0
    moved = began
    while done < number:
        for role in watched_roles:
            if role.process.poll() is not None:
                role.start()
        before, done = done, count_over(resources, done)
        now = time.monotonic()
        moved = now if done > before else moved
        assert now < moved + PATIENCE, f"after {done} matches no other one has ended"
        for stroke in strokes:
            stroke.strike_if_due(now - began, done)
        time.sleep(0.1)
    return time.monotonic() - began


def count_over(resources: Resources, before: int) -> int:
    """Return how many matches are over; as many as were known while the database is away."""
    try:
        with resources.database.reading() as session:
            counts = results.counts(session)
    except DBAPIError:
        return before
    return counts.get("done", 0) + counts.get("failed", 0)


def attempts(resources: Resources) -> Counter[int]:
    """Return how many matches needed how many attempts."""
    with resources.database.reading() as session:
        return Counter(session.scalars(select(Match.attempt)))


def next_week() -> datetime:
    """Return a moment by which nothing that a match has left behind is spared."""
    return utc_now() + timedelta(days=7)


def check_everything(resources: Resources, number: int) -> None:
    """Hold rows and objects against each other: each match once, none lost, none doubled.

    What a killed attempt has stored is gone after the upkeep, and nothing else.
    """
    with resources.database.reading() as session:
        assert results.counts(session) == {"done": number}
        played = session.scalars(select(Battle)).all()
        assert len(played) == number
        unranked = select(func.count()).select_from(MatchParticipant)
        assert session.scalar(unranked.where(MatchParticipant.rank.is_(None))) == 0
        busy = select(func.count()).select_from(Match).where(Match.worker.is_not(None))
        assert session.scalar(busy) == 0
    keep_in_order(by_clock(resources, next_week))
    keys = [battle.replay_key for battle in played if battle.replay_key is not None]
    assert len(set(keys)) == number
    assert sorted(resources.objects.keys("replays")) == sorted(chain(*map(objects_of, keys)))
    for battle in played:
        assert battle.replay_key is not None
        data = file_at(resources.objects, viewed_key(GAME, battle.replay_key))
        assert data is not None
        assert verify(load_game(GAME), decode(data)) is None
