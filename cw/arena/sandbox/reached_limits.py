"""A program's limits, and detection of the one it reached, from its output or by the system."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cw.arena.sandbox.bubblewrap import SCRATCH
from cw.arena.sandbox.cgroups import NO_SHARE, Share
from cw.arena.sandbox.set_limits import ResourceLimits, size

CAUSE: Final = "limit"
"""Cause of the fault of a program that was ended by a limit."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit that a program can reach."""

    name: str
    words: re.Pattern[str]
    """Error names and system messages that report it, in the output of eight languages."""
    allowed: Callable[[ResourceLimits], str]
    advice: str
    signals: tuple[str, ...] = ()
    """The signals by which the system ends a process that exceeds it."""

    def sentence(self, limits: ResourceLimits) -> str:
        """Return a message: which limit was reached, what is allowed, and what to do."""
        return f"it reached the limit of {self.name} ({self.allowed(limits)}): {self.advice}"


LIMITS: Final = (
    # Before memory, as Java reports a lack of threads as a lack of memory.
    Limit(
        "processes and threads",
        re.compile(
            r"can't (?:start new|create) [Tt]hread|unable to create (?:new )?native thread"
            r"|failed to create new OS thread|[Rr]esource temporarily unavailable|\bEAGAIN\b"
            r"|[Ff]ork failed|Unable to fork|[Cc]annot fork"
        ),
        lambda limits: f"{limits.processes} at the same time",
        "start fewer, and wait for those that have ended",
    ),
    Limit(
        "open files",
        re.compile(r"[Tt]oo many open files|\bE[MN]FILE\b"),
        lambda limits: f"{limits.files} for each process",
        "close each file when you are done with it",
    ),
    Limit(
        "disk space",
        re.compile(r"[Nn]o space left on device|\bENOSPC\b"),
        lambda _: f"{size(SCRATCH)} next to its own files, and as much for temporary ones",
        "write less, and delete what you no longer need",
    ),
    Limit(
        "the size of a file",
        re.compile(r"[Ff]ile too large|\bEFBIG\b"),
        lambda limits: size(limits.file_size),
        "write smaller files",
        ("SIGXFSZ",),
    ),
    Limit(
        "memory",
        re.compile(
            r"\bMemoryError\b|\bOutOfMemoryError\b|\bNoMemoryError\b|\bbad_alloc\b|\bENOMEM\b"
            r"|[Oo]ut of memory|[Cc]annot allocate memory|[Aa]llowed memory size"
            r"|[Ii]nsufficient memory|failed to allocate memory|memory exhausted"
            r"|Array buffer allocation failed|Not enough space"
        ),
        lambda limits: (
            f"{size(limits.memory)} for each process, {size(limits.whole_memory)} for all of them"
            " together; its language may set a lower one"
        ),
        "keep less in memory at the same time",
    ),
    Limit(
        "processor time",
        re.compile(r"(?!)"),
        lambda limits: f"{limits.cpu_seconds} s for each process",
        "compute less in a match",
        ("SIGXCPU",),
    ),
)

COUNTED: Final[Mapping[str, str]] = {"memory": "memory", "pids": "processes and threads"}
"""The limits that control groups count, by controller name."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits that a program runs under, and the control groups that count its use."""

    limits: ResourceLimits
    share: Share = NO_SHARE

    def met(self, outputs: Sequence[str], code: int | None = None) -> str:
        """Return which limit a program reached, what is allowed and what to do; "" if none.

        `outputs` are the texts it wrote, the most informative first; `code` is its exit code. A bot
        that fakes such output misleads only its own author, the only reader of this message.
        """
        named = next(filter(None, map(by_words, outputs)), None)
        limit = by_signal(code) or named or self._counted()
        return limit.sentence(self.limits) if limit else ""

    def _counted(self) -> Limit | None:
        """Return the limit that the control groups enforced."""
        names = {COUNTED[name] for name in self.share.overrun(self.limits)}
        return next((limit for limit in LIMITS if limit.name in names), None)


UNBOUND: Final = Bounds(ResourceLimits())
"""The bounds of a program of which only the output is known."""


def by_words(words: str) -> Limit | None:
    """Return the limit named in an output."""
    return next((limit for limit in LIMITS if limit.words.search(words)), None)


def by_signal(code: int | None) -> Limit | None:
    """Return the limit that makes the system end a program with this exit code."""
    if code is None:
        return None
    names = {number.name for number in signal.Signals if number in (-code, code - 128)}
    return next((limit for limit in LIMITS if names & {*limit.signals}), None)
