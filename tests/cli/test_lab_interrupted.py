"""Experiments that are ended in the middle, and output whose reader goes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cw.interruption import INTERRUPTED
from cw.replays.document import encode
from tests.arena.zoo import wait_until
from tests.lab.bots import PATIENCE, painter
from tests.lab.journals import matches, wait_for
from tests.matches.bots_of_games import PAINT
from tests.matches.playing import play_match
from tests.patience import PROGRAM
from tests.processes import NEEDS_PROC, descendants, is_running

SHORT = ("--option", "turns=6", "--jobs", "2")
COMPARE = ("compare", "paint", "a=builtin:random", "b=builtin:random", "--resume", "even.jsonl")
LEAGUE = ("league", "bots", "--game", "paint", "--include", "builtin")
TUNE = ("tune", "paint", "mine=python:painter.py", "numbers.toml", "--resume", "--seed", "1")
FOR_HOURS = {
    "compare": ((*COMPARE, "--elo1", "1"), Path("even.jsonl"), "--resume even.jsonl"),
    "league": (LEAGUE, Path("bots", ".league", "matches.jsonl"), "continue with the same command"),
    "tune": (
        (*TUNE, "--steps", "9999"),
        Path("tuning", "steps.jsonl"),
        "--out tuning --resume",
    ),
}
"""Experiments by their commands, with their journals and what they say when interrupted."""

ENDING = (signal.SIGINT, signal.SIGTERM)

WAITS = """
import time


def agent(view):
    if view["turns_left"] < 6:
        time.sleep(3600)
    return {"type": "walk", "direction": [1, 0]}
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder that has what the commands name."""
    monkeypatch.chdir(tmp_path)
    painter(Path())
    Path("numbers.toml").write_text(PATIENCE, encoding="utf-8")
    Path("bots").mkdir()
    Path("bots", "down.py").write_text(PAINT, encoding="utf-8")


@pytest.fixture
def replay() -> Path:
    """Give the replay of a match that walker has lost."""
    played = play_match("paint", ["builtin:greedy", "builtin:walker"], 7, {"turns": 6})
    file = Path("match.json.gz")
    file.write_bytes(encode(played.replay, packed=True))
    return file


@contextmanager
def running(*command: str) -> Iterator[subprocess.Popen[str]]:
    """Give a command that has begun; afterwards it does not run."""
    with subprocess.Popen(
        [*PROGRAM, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def end(process: subprocess.Popen[str], number: signal.Signals) -> tuple[str, str]:
    """Send a signal to a command that plays; return what it has written when nothing of it runs."""
    below = descendants(process.pid)
    assert below
    process.send_signal(number)
    outputs = process.communicate()
    assert process.returncode == INTERRUPTED
    assert "Traceback" not in outputs[1]
    wait_until(lambda: not any(map(is_running, below)))
    return outputs


@NEEDS_PROC
@pytest.mark.thorough
@pytest.mark.parametrize("number", ENDING)
@pytest.mark.parametrize("name", FOR_HOURS)
def test_an_experiment_that_is_ended_goes_on_later(name: str, number: signal.Signals) -> None:
    command, journal, words = FOR_HOURS[name]
    with running(*command, *SHORT) as process:
        wait_for(process, journal, 4)
        _, errors = end(process, number)
    assert "interrupted; all finished matches are kept" in errors
    assert words in errors
    before = matches(journal)
    with running(*command, *SHORT) as process:
        wait_for(process, journal, len(before) + 2)
        end(process, number)
    after = matches(journal)
    assert after[: len(before)] == before
    assert len({match["id"] for match in after}) == len(after)


@NEEDS_PROC
@pytest.mark.thorough
@pytest.mark.parametrize("number", ENDING)
def test_a_bot_that_is_asked_again_ends_with_the_command(
    replay: Path, number: signal.Signals
) -> None:
    Path("waits.py").write_text(WAITS, encoding="utf-8")
    ask = ("replay", "ask", str(replay), "python:waits.py:agent", "--player", "walker")
    with running(*ask, "--every", "--wait", "--json") as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["turn"] == 1
        rest, _ = end(process, number)
    assert rest == ""


def run_unread(*command: str, both: bool = False) -> subprocess.CompletedProcess[str]:
    """Run a command whose standard output, or `both` outputs, nobody reads."""
    read, write = os.pipe()
    os.close(read)
    errors = write if both else subprocess.PIPE
    done = subprocess.run([*PROGRAM, *command], stdout=write, stderr=errors, text=True, check=False)
    os.close(write)
    assert "Traceback" not in (done.stderr or "")
    assert "BrokenPipe" not in (done.stderr or "")
    return done


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="other systems have no such pipes")
def test_the_exit_code_is_the_verdict_although_nobody_reads_on(replay: Path) -> None:
    stronger = ("compare", "paint", "v2=builtin:walker", "v1=builtin:random", *SHORT, "--seed", "1")
    assert run_unread(*stronger).returncode == 0
    assert run_unread(*stronger, "--json").returncode == 0
    # Nobody is told how it goes: that it was given up is not a verdict.
    assert run_unread(*stronger, both=True).returncode == 4
    assert run_unread(*LEAGUE, *SHORT, "--matches", "4").returncode == 0
    assert len(matches(FOR_HOURS["league"][1])) == 4
    code = run_unread(*TUNE, *SHORT, "--steps", "2", "--games", "2", "--json").returncode
    assert code == run_unread(*TUNE, *SHORT, "--steps", "2", "--games", "2").returncode
    assert code in {1, 3}
    every = ("replay", "ask", str(replay), "builtin:random", "--player", "walker", "--every")
    assert run_unread(*every).returncode == 1
