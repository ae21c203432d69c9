"""Which limit a program met: by its words in eight languages, its exit, and control groups."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from pathlib import Path

import pytest

from cw.arena.bots import BotSpec
from cw.arena.sandbox.cgroups import Share
from cw.arena.sandbox.reached_limits import CAUSE, LIMITS, UNBOUND, Bounds
from cw.arena.sandbox.set_limits import ResourceLimits
from cw.games.rules import Fault
from tests.arena.attacking import started, written
from tests.arena.zoo import PATIENCE
from tests.tools import NEEDS_BUBBLEWRAP

WORDS = [
    ("MemoryError", "memory"),
    ("RangeError: Array buffer allocation failed (bot.js, line 15)", "memory"),
    ("FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", "memory"),
    ("Fatal error: Allowed memory size of 134217728 bytes exhausted", "memory"),
    ("/bot/bot.rb: failed to allocate memory (NoMemoryError)", "memory"),
    ("fatal error: runtime: out of memory", "memory"),
    ("OutOfMemoryError: Java heap space (Bot.java, line 18)", "memory"),
    ("warning: os::commit_memory(0x0, 4, 0) failed; error='Not enough space'", "memory"),
    ("std::bad_alloc: std::bad_alloc", "memory"),
    ("malloc: Cannot allocate memory", "memory"),
    ("OutOfMemoryError: unable to create native thread: possibly out of memory", "processes"),
    ("RuntimeError: can't start new thread", "processes"),
    ("ThreadError: can't create Thread: Resource temporarily unavailable", "processes"),
    ("panic: fork/exec /bin/ls: resource temporarily unavailable", "processes"),
    ("OSError: [Errno 24] Too many open files: '/dev/null'", "open files"),
    ("Error: EMFILE: too many open files, open '/dev/null'", "open files"),
    ("Errno::ENOSPC: No space left on device @ io_write - 9", "disk space"),
    ("OSError: [Errno 27] File too large", "the size of a file"),
]
EXITS = [(-25, "the size of a file"), (153, "the size of a file"), (152, "processor time")]
SMALL = ResourceLimits(processes=8)


@pytest.mark.parametrize(("words", "name"), WORDS)
def test_a_limit_is_known_by_what_languages_say_of_it(words: str, name: str) -> None:
    assert UNBOUND.met([words]).startswith(f"it reached the limit of {name}")


def test_the_most_telling_output_is_asked_first() -> None:
    assert "open files" in UNBOUND.met(["EMFILE", "MemoryError"])
    assert "memory" in UNBOUND.met(["KeyError: 3", "MemoryError"])
    assert not UNBOUND.met(["KeyError: 3", "its memory of openings is empty"], 1)


@pytest.mark.parametrize(("code", "name"), EXITS)
def test_a_limit_is_known_by_the_signal_that_ends_a_program(code: int, name: str) -> None:
    assert UNBOUND.met([""], code).startswith(f"it reached the limit of {name}")


@pytest.mark.parametrize(
    ("file", "text", "name"),
    [
        ("memory.events", "oom 1\noom_kill 1\n", "memory"),
        ("memory.oom_control", "under_oom 0\noom_kill 2\n", "memory"),
        ("pids.events", "max 5\n", "processes"),
        ("pids.current", "8\n", "processes"),
    ],
)
def test_a_limit_is_known_by_what_control_groups_count(
    file: str, text: str, name: str, tmp_path: Path
) -> None:
    bounds = Bounds(SMALL, Share((tmp_path,), frozenset()))
    for quiet in ("memory.events", "memory.oom_control", "pids.events", "pids.current"):
        (tmp_path / quiet).write_text("7\n" if quiet == "pids.current" else "oom_kill 0\nmax 0\n")
    assert not bounds.met([""])
    (tmp_path / file).write_text(text)
    assert bounds.met([""]).startswith(f"it reached the limit of {name}")


def test_each_sentence_says_what_is_allowed_and_what_to_do() -> None:
    for limit in LIMITS:
        _, allowed, advice = limit.sentence(SMALL).replace("): ", " (").split(" (")
        assert any(char.isdecimal() for char in allowed)
        assert advice


async def ended(bot: BotSpec) -> object:
    """Start a program; return what comes in place of its first line."""
    with ExitStack() as stack:
        program = await started(bot, stack)
        try:
            return await program.receive(PATIENCE)
        finally:
            await program.close()


@NEEDS_BUBBLEWRAP
def test_a_program_that_ends_by_a_limit_says_which(tmp_path: Path) -> None:
    source = "files = [open('/dev/null') for _ in range(1000)]"
    fault = asyncio.run(ended(written(tmp_path / "bot", "bot", source)))
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.cause) == ("crashed", CAUSE)
    assert "; it reached the limit of open files (256 for each process): close each" in fault.detail
