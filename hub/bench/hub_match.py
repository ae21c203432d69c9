"""Benchmark of a match played by a hub's worker, compared to the same match by `cw play`."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Final

from bench.rows import Effort, Goal, Row
from cw.arena.bots import BotSpec
from cw.matches.run import run_match
from cw.matches.spec import MatchSpec
from cw.replays.document import encode
from cw_hub.matches import planning
from cw_hub.matches.jobs import Worker
from cw_hub.matches.planning import Plan, Seat
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import opened
from cw_hub.operation.settings import HubSettings
from cw_hub.site.formats import MATCH_TYPES

GAME: Final = "code-battle"
STRATEGIES: Final = ("swarm", "rusher")
OPTIONS: Final = {"max_turns": 200}
SEED: Final = 1
WORKER: Final = Worker("bench", 1, MATCH_TYPES)


def share_of_match(effort: Effort) -> Row:
    """Compare the time of a processor for a match on a hub, plan to result, with `cw play`'s."""
    with TemporaryDirectory() as folder:
        theirs = median(by_play(Path(folder)) for _ in range(effort.matches)) * 1000
    # What it takes to start the process that plays is in both.
    whole = (on_hub(effort.matches + 1) - on_hub(1)) / effort.matches * 1000
    what = "its share of a match of 200 turns"
    return Row("hub", what, whole - theirs, "ms", "`cw play`, ms", theirs, Goal("<=", 150, "ours"))


def on_hub(matches: int) -> float:
    """Plan matches and let a worker play them; return the seconds of a processor.

    Those of the process that plays are counted when it has ended.
    """
    start = seconds()
    with TemporaryDirectory() as folder:
        settings = HubSettings(data=Path(folder) / "data")
        with opened(settings, CeleryQueue(settings)) as resources:
            for number in range(matches):
                seats = tuple(Seat(name, spec=f"builtin:{name}") for name in STRATEGIES)
                wanted = Plan("practice", str(number), GAME, seats, OPTIONS, seed=SEED)
                with resources.database.writing() as session:
                    match = planning.plan(session, wanted)
                WORKER.play(resources, match)
    return seconds() - start


def seconds() -> float:
    """Return the processor time of this process, and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def by_play(folder: Path) -> float:
    """Play the same match as `cw play --out` does; return the seconds of a processor."""
    start = process_time()
    bots = tuple(BotSpec(name, "builtin", name) for name in STRATEGIES)
    spec = MatchSpec("play", GAME, bots, SEED, OPTIONS)
    result = asyncio.run(run_match(spec))
    (folder / "match.json.gz").write_bytes(encode(result.replay, packed=True))
    return process_time() - start
