"""Measures what the sandbox prevents on this host, with probes that try to break its limits.

Installed bubblewrap and mounted control groups do not prove that a limit works: a service may lack
the permission to use them, and a container may have only some of them.
"""

from __future__ import annotations

import json
import os
import platform
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from threading import Timer
from typing import IO, Final, TypeAlias

from cw.arena.sandbox import Sandbox, Source, bubblewrap
from cw.arena.sandbox.cgroups import controllers
from cw.arena.sandbox.set_limits import MIB, ResourceLimits, size
from cw.arena.sandbox.syscalls import ABSENT, ARCHITECTURES, DENIED

PROBE: Final = Path(__file__).with_name("probe.py")
PATIENCE: Final = 30.0
"""Seconds after which a probe is killed."""

LIMITS: Final = ResourceLimits(processes=48, whole_memory=96 * MIB)
"""The limits of the probes: what enforces small limits enforces large ones the same way."""

TAKEN: Final = 256 * MIB
"""Bytes that a probe tries to take."""

STARTED: Final = 200
"""Processes that a probe tries to start."""

SECONDS: Final = 0.5
"""Seconds for which two programs compute side by side."""

SPINNING: Final = 8
"""Processes per core of the busy program; in total at most as many as LIMITS allow."""

FAIR: Final = 3.0
"""Minimum CPU time of an honest program, relative to each process of the busy one.

Without a share of its own the ratio would be 1; with one it is SPINNING or more.
"""

TRIES: Final = 3
"""Attempts at comparing CPU shares until they are fair, as other work disturbs the measurement."""

MOST_FILES: Final = 20
"""Maximum number of our user's files that a probe tries to read."""

MEMORY, PROCESSOR = "memory", "processor"
AT_ONCE: Final = 2
"""Probes that run concurrently."""

TICK: Final = 0.01
"""The smallest processor time in seconds that the system reports."""

SHARED: Final = {MEMORY: "memory", PROCESSOR: "processor time"}
"""The resources that all programs share, as named in messages."""

GROUPS: Final = "control groups"
NOT_HELD: Final = "NOT LIMITED"

ADVICE: Final = (
    "let it use control groups: in a systemd unit, set Delegate=cpu memory pids; in a container,"
    " make /sys/fs/cgroup writable (docs/sandbox.md)"
)
"""How to get memory and processor time limited."""


Result: TypeAlias = tuple[str, str]
"""What enforces a limit ("" for nothing), and what was measured."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """A limit, what enforces it, and what was measured."""

    name: str
    by: str
    """What enforces the limit; "" if nothing does."""
    found: str

    @property
    def sentence(self) -> str:
        """Return what enforces it, and what was measured."""
        return f"{f'limited by {self.by}' if self.by else NOT_HELD}: {self.found}"

    @property
    def advice(self) -> str:
        """Return what to do if nothing enforces it."""
        return ADVICE if self.name in SHARED else "see docs/sandbox.md for what limits it elsewhere"


@cache
def measured(private: tuple[Path, ...] = ()) -> tuple[Measurement, ...]:
    """Return what is limited for programs in bubblewrap, which must work on this host.

    `private` are additional folders that no program may read. Takes some seconds; the result is
    cached per process.
    """
    trials: dict[str, Callable[[], Result]] = {
        "subprocesses": _processes,
        "namespaces": _namespaces,
        "system calls": _calls,
        "network": _network,
        "files": partial(_files, private),
        "/proc": _proc,
    }
    with ThreadPoolExecutor(AT_ONCE) as threads:
        others = [*threads.map(_tried, trials, trials.values())]
    return (*bounds(), *others)


@cache
def bounds() -> tuple[Measurement, ...]:
    """Measure the limits on memory and CPU for all processes of a program together."""
    return (_tried(MEMORY, _memory), _tried(PROCESSOR, _processor))


def unbounded() -> str:
    """Return the resources that a program could take from all others on this host; "" for none."""
    return " and ".join(SHARED[one.name] for one in bounds() if not one.by)


class NoAnswer(Exception):
    """Raised if a probe printed nothing in time."""


def _tried(name: str, trial: Callable[[], Result]) -> Measurement:
    try:
        return Measurement(name, *trial())
    except NoAnswer:
        return Measurement(name, "", f"not measured: a probe did not answer within {PATIENCE:g} s")


def _memory() -> Result:
    ways = ("memfd", "shm", "namespace")
    with ThreadPoolExecutor(AT_ONCE) as threads:
        last = [*threads.map(lambda way: _printed("memory", way, str(TAKEN))[-1], ways)]
    most = max(int(line.split()[0]) for line in last)
    text = f"took {size(most)}, with a limit of {size(LIMITS.whole_memory)}"
    return GROUPS if most <= LIMITS.whole_memory else "", text


def _processes() -> Result:
    number = int(_printed("processes", str(STARTED))[0])
    by = f"the limit of its user{f' and {GROUPS}' if 'pids' in controllers() else ''}"
    text = f"started {number}, with a limit of {LIMITS.processes}"
    return by if number <= LIMITS.processes else "", text


def _processor() -> Result:
    number = min(SPINNING * (os.cpu_count() or 1), LIMITS.processes - 8)
    for _ in range(TRIES):
        times = _beside(number)
        if times >= FAIR:
            break
    text = f"{times:.1f} times the share of each of {number} processes of another program"
    return GROUPS if times >= FAIR else "", text


def _beside(number: int) -> float:
    """Return the processor time of one process, relative to each process of a busy program."""
    with (
        _probe("time", "1", str(SECONDS)) as honest,
        _probe("time", str(number), str(SECONDS)) as greedy,
    ):
        both = (greedy, honest)
        for probe in both:
            _output(probe).readline()
        for probe in both:
            if probe.stdin:
                probe.stdin.write("go\n")
                probe.stdin.flush()
        greedy_time, own = (_output(probe).readline() for probe in both)
        if not (greedy_time and own):
            raise NoAnswer
    return float(own) * number / max(float(greedy_time), TICK)


def _namespaces() -> Result:
    on = ARCHITECTURES.get(platform.machine())
    return _refusals("seccomp", "namespaces", str(on.clone if on else -1))


def _calls() -> Result:
    on = ARCHITECTURES.get(platform.machine())
    if on is None:
        return "", f"there is no filter for {platform.machine()}"
    numbers = {name: both[on.column] for name, both in {**DENIED, **ABSENT}.items()}
    known = {name: number for name, number in numbers.items() if number is not None}
    errors: dict[str, str] = json.loads(_printed("calls", json.dumps(known))[0])
    left = [name for name, error in errors.items() if error not in ("EPERM", "ENOSYS")]
    text = f"{len(known) - len(left)} of {len(known)} are refused{_but(left)}"
    return "" if left else "seccomp", text


def _network() -> Result:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        return _refusals("a network of its own and seccomp", "network", port)


def _files(private: Sequence[Path]) -> Result:
    paths = [*map(str, private), *_foreign_files()]
    seen = json.loads(_printed("files", *paths)[0])
    text = f"{len(paths) - len(seen)} of {len(paths)} cannot be read{_but(seen)}"
    return "" if seen else "mounts of its own", text


def _foreign_files() -> Iterator[str]:
    """Yield files and folders of this host and of our user that no program needs."""
    yield from ("/etc/shadow", "/etc/group", "/var")
    home = Path.home()
    if home != Path("/") and os.access(home, os.R_OK | os.X_OK):
        needed = (Path(sys.prefix), Path(sys.base_prefix))
        others = (path for path in home.iterdir() if not _contains(path, needed))
        yield from map(str, sorted(others)[:MOST_FILES])


def _contains(folder: Path, paths: Sequence[Path]) -> bool:
    return any(path.is_relative_to(folder) for path in paths)


def _proc() -> Result:
    seen = sorted(json.loads(_printed("proc")[0]))
    is_masked = {*seen} <= {*bubblewrap.CONSTANT, *bubblewrap.FROZEN}
    return "mounts of its own" if is_masked else "", f"shows {', '.join(seen)}"


def _refusals(by: str, *arguments: str) -> Result:
    """Return the result of a probe that prints an error for each of its attempts."""
    errors: dict[str, str] = json.loads(_printed(*arguments)[0])
    text = ", ".join(f"{what}: {error or 'SUCCEEDED'}" for what, error in errors.items())
    return by if all(errors.values()) else "", text


def _but(names: Sequence[str]) -> str:
    return f", but not {', '.join(names)}" if names else ""


def _printed(*arguments: str) -> list[str]:
    """Return the lines printed by a probe; raise NoAnswer if there are none."""
    with _probe(*arguments) as probe:
        lines = _output(probe).read().splitlines()
    if not lines:
        raise NoAnswer
    return lines


def _output(probe: subprocess.Popen[str]) -> IO[str]:
    assert probe.stdout is not None  # noqa: S101 - it was started with a pipe
    return probe.stdout


@contextmanager
def _probe(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run a probe like a bot's program, until the end of the block.

    Raises NoAnswer if it takes too long.
    """
    command = [sys.executable, "-I", "-S", str(PROBE), *arguments]
    source = Source(PROBE.parent, only=(PROBE,))
    with (
        Sandbox("require", LIMITS).prepare(command, source) as launch,
        subprocess.Popen(
            launch.argv,
            env=dict(launch.env),
            cwd=launch.cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as probe,
    ):
        late = Timer(PATIENCE, probe.kill)
        began = time.monotonic()
        late.start()
        try:
            yield probe
        finally:
            late.cancel()
            probe.kill()
    # Discard what it printed earlier: no limit ended it.
    if time.monotonic() - began >= PATIENCE:
        raise NoAnswer
