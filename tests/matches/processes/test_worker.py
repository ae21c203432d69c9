"""The process that plays matches: what it is asked for in lines, and what it answers."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cw.arena.bots import BotSpec
from cw.matches.spec import MatchResult, MatchSpec
from cw.matches.worker import Job
from cw.matches.workers import Workers
from tests.interpreter import PYTHON
from tests.matches.bots_of_games import PAINT, write
from tests.patience import PROGRAM
from tests.processes import NEEDS_PROC, descendants, is_running

WORKER = [sys.executable, "-m", "cw.matches.worker"]
PATIENCE = 300.0


def spec(number: int, *bots: BotSpec, **options: Any) -> dict[str, Any]:
    match_spec = MatchSpec(f"m{number}", "paint", bots, 1, {"turns": 4, **options})
    return {"spec": match_spec.to_json()}


def builtins() -> tuple[BotSpec, BotSpec]:
    return BotSpec("a", "builtin", "greedy"), BotSpec("b", "builtin", "walker")


def answers(*lines: object) -> list[dict[str, Any]]:
    """Return what a worker says to lines, without the progress of the matches."""
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    done = subprocess.run(
        PROGRAM, input=text, capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    read = [json.loads(line) for line in done.stdout.splitlines()]
    assert any("turn" in line for line in read) or all("error" in line for line in read)
    return [line for line in read if "turn" not in line]


def test_it_plays_match_after_match_to_the_last() -> None:
    first, second = answers(spec(1, *builtins()), spec(2, *builtins()))
    results = [MatchResult.from_json(line["result"]) for line in (first, second)]
    assert [(result.id, result.turns) for result in results] == [("m1", 4), ("m2", 4)]
    assert results[0].scores == results[1].scores


def test_a_match_in_which_a_bot_is_judged_ends_with_its_first_fault(tmp_path: Path) -> None:
    running = write(tmp_path, PAINT, ('"type": "walk"', '"type": "run"'))
    strategy, other = builtins()
    wrong = spec(1, strategy, BotSpec("runner", "exec", f"{PYTHON} {running}"))
    fine = spec(2, strategy, other)
    absent = spec(3, BotSpec("a", "builtin", "nobody"), other)
    lines = answers(
        {**wrong, "judged": 1}, {**fine, "judged": 0}, {**absent, "judged": 0}, spec(4, *builtins())
    )
    found, nothing, error, whole = (line for line in lines if "launched" not in line)
    assert "result" in whole
    fault = found["judgement"]["fault"]
    assert (fault["bot"], fault["turn"], fault["kind"]) == (1, 0, "illegal")
    assert nothing == {"judgement": {"fault": None}}
    assert "no strategy 'nobody'" in error["error"]["message"]


def test_the_processes_end_with_those_who_use_them() -> None:
    async def play() -> int:
        workers = Workers()
        job = Job(MatchSpec("m", "paint", builtins(), 1, {"turns": 2}))
        assert isinstance(await workers.play(job), MatchResult)
        (process,) = workers._idle
        await workers.close()
        return process.pid

    assert not is_running(asyncio.run(play()))


def test_what_it_cannot_play_is_told_and_the_next_match_is_played() -> None:
    unknown, odd, broken, refused, fine = answers(
        {"spec": {"id": "x", "game": "chess", "bots": [], "seed": 1}},
        {"spam": 1},
        "{",
        spec(3, *builtins(), hat=1),
        spec(4, *builtins()),
    )
    assert unknown["error"]["kind"] == "usage"
    assert "no game 'chess'" in unknown["error"]["message"]
    assert "this is not a job" in odd["error"]["message"]
    assert "this is not a job" in broken["error"]["message"]
    assert "unknown option 'hat'" in refused["error"]["message"]
    assert fine["result"]["turns"] == 4


def test_secrets_reach_the_bot_and_nothing_else(tmp_path: Path) -> None:
    tells = ("import json, sys", "import json, os, sys; sys.stderr.write(os.environ['BOT_SECRET'])")
    bot = BotSpec("mine", "exec", f"{PYTHON} {write(tmp_path, PAINT, tells)}")
    job = {**spec(5, builtins()[0], bot), "secrets": {"mine": {"secret": "hush"}}}
    started, line = answers(job)
    assert started["launched"]["bot"] == "mine"
    assert started["launched"]["protection"]
    result = line["result"]
    assert result["stderr"][1] == "hush"
    assert "hush" not in json.dumps(result["replay"])


@NEEDS_PROC
@pytest.mark.parametrize("way", ["sigterm", "reader gone"])
def test_nothing_is_left_of_a_match_whose_worker_is_told_to_end(tmp_path: Path, way: str) -> None:
    slow = ("turn = state", "import time; time.sleep(0.3); turn = state")
    bot = BotSpec("slow", "exec", f"{PYTHON} {write(tmp_path, PAINT, slow)}")
    job = json.dumps(spec(6, builtins()[0], bot, turns=2000)) + "\n"
    with subprocess.Popen(WORKER, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(job.encode())
        worker.stdin.flush()
        while json.loads(worker.stdout.readline()).get("turn", 0) < 1:
            pass
        started = descendants(worker.pid)
        assert started
        if way == "sigterm":
            os.kill(worker.pid, signal.SIGTERM)
        else:
            worker.stdout.close()
        worker.wait(PATIENCE)
    until = time.monotonic() + PATIENCE
    while any(map(is_running, started)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(is_running, started))
