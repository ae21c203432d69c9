"""A process that plays games of a championship: a job a line in, a result a line out."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import Queue
from random import Random
from threading import Thread
from typing import Any

from cw.arena.bots import BotSpec, read_bot
from cw.arena.launch import LaunchPolicy
from cw.arena.processes import end_as_interrupted
from cw.arena.referee import MatchRecord
from cw.arena.sandbox import Sandbox
from cw.errors import ArenaError
from cw.games.circuit_wars.protocol import status_code
from cw.games.rules import Fault, Json
from cw.matches.hosted import WINDOW, Hosting, host
from cw.matches.run import finish, strategy_for
from cw.replays import document as replay

STDERR_KEPT = 4000


def main() -> None:
    """Play every job; the end of standard input ends a game in flight too."""
    jobs: Queue[str | None] = Queue()
    Thread(target=read_jobs, args=(jobs,), daemon=True).start()
    end_as_interrupted()
    with suppress(KeyboardInterrupt, BrokenPipeError):
        while (line := jobs.get()) is not None:
            try:
                answer = play(json.loads(line))
            except (ArenaError, OSError) as error:
                answer = {"error": str(error)}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


def read_jobs(jobs: Queue[str | None]) -> None:
    """Take in jobs; when no more can come, because the runner is gone, stop what is going on."""
    for line in sys.stdin:
        jobs.put(line)
    jobs.put(None)
    interrupt()


def interrupt() -> None:
    """Stop as Ctrl-C does: a game in flight ends its clients and removes their folders."""
    os.kill(os.getpid(), signal.SIGINT)


def play(job: dict[str, Any]) -> dict[str, Json]:
    """Play one game, write its log and its replay, and sum it up."""
    bots = [read_bot(bot["name"], bot["spec"], {}) for bot in job["bots"]]
    seed = Random(job["seed"]).randrange(2**31)
    recorder = replay.Recorder()
    stem = Path(job["stem"])
    window = stem.with_suffix(WINDOW)
    try:
        played = hosted(job, bots, seed, recorder, window)
    finally:
        window.unlink(missing_ok=True)
    summary = summed_up(played)
    write(stem.with_suffix(".log"), log_of(played, summary).encode())
    document = finish(played, recorder).replay
    write(stem.with_suffix(".json.gz"), replay.encode(document, packed=True))
    return summary


def hosted(
    job: dict[str, Any], bots: list[BotSpec], seed: int, recorder: replay.Recorder, window: Path
) -> MatchRecord:
    """Play a game that can be watched; where, is written into a file."""
    return host(
        Hosting(
            bots,
            seed,
            job["options"],
            partial(strategy_for, "circuit-wars", seed=seed),
            recorder,
            LaunchPolicy(Sandbox("auto" if job["walled"] else "off")),
            isolated=job["walled"],
            show=lambda address: write(window, address.encode()),
        )
    )


def write(file: Path, data: bytes) -> None:
    """Write a file that appears whole or not at all."""
    partial_file = file.with_name(f"{file.name}.partial")
    partial_file.write_bytes(data)
    partial_file.replace(file)


def summed_up(played: MatchRecord) -> dict[str, Json]:
    """Return the line of the results."""
    state = played.state
    seconds: dict[Any, list[float]] = {1: [], 2: []}
    for turn in played.turns:
        for player, second in turn.seconds.items():
            seconds[player].append(second)
    return {
        "player_1": played.bots[1].name,
        "player_2": played.bots[2].name,
        "status_code": status_code(2, state),
        "score_1": state.scores[0],
        "score_2": state.scores[1],
        "size": state.size,
        "seed": played.seed,
        "turns": len(played.turns),
        "reasons": [noted.to_json() for noted in played.faults],
        "longest_ms": [round(max(seconds[p], default=0.0) * 1000) for p in (1, 2)],
        "median_ms": [
            round(sorted(seconds[p] or [0.0])[len(seconds[p]) // 2] * 1000) for p in (1, 2)
        ],
        "stderr": [played.stderr.get(p, "")[-STDERR_KEPT:] for p in (1, 2)],
    }


def log_of(played: MatchRecord, summary: dict[str, Json]) -> str:
    """Write a game down in the recorded form: its moves, then how it ended."""
    moves = [
        f"/move/{played.bots[player].name}/{action}"
        for turn in played.turns
        for player, action in turn.actions.items()
        if not isinstance(action, Fault)
    ]
    end = [
        "----",
        str(summary["status_code"]),
        f"{summary['player_1']} {summary['player_2']}",
        f"{summary['score_1']} {summary['score_2']}",
    ]
    return "\n".join([*moves, *end, ""])


if __name__ == "__main__":
    main()
