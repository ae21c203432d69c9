"""Linux control groups that limit all processes of a bot together, and their cleanup."""

from __future__ import annotations

import logging
import os
import re
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from secrets import token_hex
from tempfile import gettempdir, mkdtemp
from typing import Final, NamedTuple, TypeAlias

from cw.arena.processes import KILL as SIGKILL
from cw.arena.sandbox.folders import remove_later, remove_tree
from cw.arena.sandbox.set_limits import ResourceLimits, size
from cw.errors import Failure

PROC: Final = Path("/proc")
NAMED: Final = re.compile(r"cw-[a-z]+-([0-9a-f]{1,16})-([0-9a-f]{1,16})-([0-9a-f]{1,16})-[\w.]+")
ENDED: Final = ("Z", "X")
"""States of processes that no longer run, though they are still listed."""


class Owner(NamedTuple):
    """A process, distinguished from later ones with the same process id."""

    namespace: int
    """The pid namespace of its process id."""
    process: int
    started: int
    """Its start time, in ticks since boot."""


def prefix(kind: str) -> str:
    """Return the prefix for names of folders and groups created by this process.

    Without /proc, as on macOS, it names no owner: what a killed process leaves behind is not
    removed.
    """
    owner = owner_of(os.getpid())
    return "-".join(["cw", kind, *(f"{part:x}" for part in owner or ()), ""])


def owner_of(process: int) -> Owner | None:
    """Return the identity of a process in our namespace; None if it has ended or is unreadable."""
    with suppress(OSError):
        fields = (PROC / str(process) / "stat").read_text().rpartition(")")[2].split()
        if fields[0] not in ENDED:
            return Owner((PROC / "self/ns/pid").stat().st_ino, process, int(fields[19]))
    return None


def is_left(name: str) -> bool:
    """Return whether a name's owner has ended; for other pid namespaces unknown, and so False."""
    match = NAMED.fullmatch(name)
    here = owner_of(os.getpid())
    if match is None or here is None:
        return False
    owner = Owner(*(int(part, 16) for part in match.groups()))
    # The process id alone is not sufficient: ids are reused, and each container counts from 1.
    return owner.namespace == here.namespace and owner_of(owner.process) != owner


def left_in(folder: Path) -> Iterator[Path]:
    """Yield our folders within a folder whose owner has ended."""
    with suppress(OSError), os.scandir(folder) as scanned:
        for item in scanned:
            if is_left(item.name) and is_ours(item):
                yield Path(item.path)


def is_ours(item: os.DirEntry[str]) -> bool:
    """Return whether an entry is a folder that belongs to our user."""
    with suppress(OSError):
        user = item.stat(follow_symlinks=False).st_uid
        mine = sys.platform == "win32" or user == os.geteuid()
        return mine and item.is_dir(follow_symlinks=False)
    return False


def temporary_folder() -> Path:
    """Return the folder for temporary files; raise Failure if none is writable."""
    try:
        return Path(gettempdir())
    except OSError as error:
        raise Failure(f"temporary files cannot be written: {error}; is the disk full?") from None


def make_temporary(kind: str) -> Path:
    """Create a temporary folder named after this process; raise Failure if impossible."""
    place = temporary_folder()
    try:
        return Path(mkdtemp(prefix=prefix(kind), dir=place))
    except OSError as error:
        raise Failure(f"a folder cannot be created in {place}: {error.strerror}") from None


CONTROLLERS: Final = ("cpu", "memory", "pids")
WEIGHT: Final = 100
"""CPU share relative to sibling groups: the default."""

OWN_GROUP: Final = "cw-arena"
"""A subgroup for the processes of a delegated group, which then has none of its own."""

OWN_WEIGHT: Final = 10_000
"""Its CPU share, the maximum: however busy the bots are, the arena and its pages keep running."""

MOVES: Final = 20
"""Passes for moving processes, as new ones may have been started while others were moved."""

OURS: Final = 16
"""Processes and threads around a bot: bubblewrap, a shell, the forwarder."""

EMPTY: Final = 60.0
"""Seconds to wait for the killed processes of a group to leave it.

They leave when the system has freed their files in memory; 2 GiB can hold two million.
"""

LOOK: Final = 0.01
"""Seconds between two checks of whether they have left."""

JOIN: Final = """
while [ "$1" != -- ]; do echo 0 >"$1" || exit 71; shift; done
shift
exec "$@"
"""
"""Joins control groups, then becomes the command."""

LOUD: Final = {"cpu": "their use of the CPU", "memory": "their memory"}
"""The resources that nothing else limits."""

KILL: Final = "cgroup.kill"
PROCESSES: Final = "cgroup.procs"
PASSED_ON: Final = "cgroup.subtree_control"

COUNTS: Final = (
    ("memory", "memory.events", "oom_kill"),
    ("memory", "memory.oom_control", "oom_kill"),
    ("pids", "pids.events", "max"),
)
"""The file and key, by controller, in which groups count what they refused or killed."""

RUNNING: Final = "pids.current"

Values: TypeAlias = Mapping[str, int]
"""Values to write, by file name in a group."""


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """A control group in which we can create others, and the controllers available in them."""

    folder: Path
    controllers: frozenset[str]
    unified: bool
    """Whether it is a version 2 group."""

    def values(self, limits: ResourceLimits) -> Values:
        """Return the values for the files of a bot's group."""
        values: dict[str, Values] = {
            "cpu": {"cpu.weight": WEIGHT} if self.unified else {"cpu.shares": WEIGHT * 1024 // 100},
            "memory": self._memory(limits.whole_memory),
            "pids": {"pids.max": limits.processes + OURS},
        }
        return {file: value for name in self.controllers for file, value in values[name].items()}

    def _memory(self, most: int) -> Values:
        if not self.unified:
            return {"memory.limit_in_bytes": most}
        # `memory.oom.group` kills the whole bot: half of one would behave unpredictably.
        return {"memory.max": most, "memory.swap.max": 0, "memory.oom.group": 1}


@dataclass(frozen=True, slots=True)
class Share:
    """The control groups of one bot; to be removed when its processes have ended."""

    groups: tuple[Path, ...]
    controllers: frozenset[str]

    def joining(self) -> list[str]:
        """Return the command prefix that joins the groups; if there are none, `nice`."""
        if self.groups:
            files = (str(group / PROCESSES) for group in self.groups)
            return ["/bin/sh", "-c", JOIN, "sh", *files, "--"]
        nice = shutil.which("nice") if os.name == "posix" else None
        return [nice, "-n", "5"] if nice else []

    def describe(self, limits: ResourceLimits) -> str:
        """Return a description of what is limited for all processes of a bot together."""
        bounds = {
            "cpu": "the same share of the CPU for each bot",
            "memory": f"at most {size(limits.whole_memory)} of memory",
            "pids": f"{limits.processes + OURS} processes",
        }
        limits_in_words = [text for name, text in bounds.items() if name in self.controllers]
        free = [text for name, text in LOUD.items() if name not in self.controllers]
        loud = [f"NO BOUND on {' and '.join(free)}"] if free else []
        return f"all its processes together: {', '.join([*limits_in_words, *loud])}"

    def overrun(self, limits: ResourceLimits) -> frozenset[str]:
        """Return the controllers whose limit the bot has reached, or tried to exceed."""
        names = {name for name, file, word in COUNTS if self._count(file, word)}
        # Below the group's limit: the system enforces the user's own limit first.
        full = self._count(RUNNING) >= limits.processes
        return frozenset({*names, *(("pids",) if full else ())})

    def _count(self, file: str, word: str = "") -> int:
        """Return the highest number in a file of the groups, after a key if one is given."""
        return max((_number(group / file, word) for group in self.groups), default=0)

    def remove(self) -> None:
        """Kill what is left in the groups and remove them; raise OSError if that fails."""
        until = time.monotonic() + EMPTY
        for group in self.groups:
            while not _removed(group):
                if time.monotonic() > until:
                    raise TimeoutError(f"{group} is not empty within {EMPTY:g} s")
                _kill(group)
                time.sleep(LOOK)


NO_SHARE: Final = Share((), frozenset())


def open_share(limits: ResourceLimits) -> Share:
    """Create the groups of a bot; NO_SHARE if this host does not let us create any.

    Raises Failure if creation fails where it worked before, so that no program is started without
    limits that others have.
    """
    name = f"{prefix('bot')}{secrets.token_hex(8)}"
    try:
        groups = tuple(_new_group(place, name, limits) for place in places())
    except OSError as error:
        Share(tuple(place.folder / name for place in places()), frozenset()).remove()
        raise Failure(f"a control group cannot be created: {error}") from None
    return Share(groups, controllers())


def controllers() -> frozenset[str]:
    """Return the controllers that limit all processes of a bot together on this host."""
    return frozenset().union(*(place.controllers for place in places()))


def free_of_bounds() -> str:
    """Return the shared resources that are not limited; "" for none."""
    words = {"memory": "memory", "cpu": "processor time"}
    return " and ".join(text for name, text in words.items() if name not in controllers())


@cache
def places() -> tuple[ControlGroup, ...]:
    """Return the places where groups can be created: one per controller, or one for all.

    Places are found by creating a group. Version 2 is used if it has processes and memory,
    otherwise version 1. Systems other than Linux have neither.
    """
    try:
        mounted = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
        memberships = Path("/proc/self/cgroup").read_text(encoding="utf-8")
    except OSError:
        return ()
    return places_of(mounted, memberships)


def places_of(mounted: str, memberships: str) -> tuple[ControlGroup, ...]:
    """Return a host's places, from its mounts and our own group memberships."""
    unified: list[ControlGroup] = []
    single: list[ControlGroup] = []
    for mount in map(_Mount.read, mounted.splitlines()):
        if mount.kind == "cgroup2":
            unified += _unified(mount, _own(memberships, ""))
        elif mount.kind == "cgroup":
            single += _single(mount, memberships)
    # Hybrid systems mount both, with the controllers in version 1: then version 2 has no usable
    # place.
    return tuple(unified or single)


@dataclass(frozen=True, slots=True)
class _Mount:
    """A line of /proc/self/mountinfo."""

    root: str
    point: Path
    kind: str
    options: tuple[str, ...]

    @staticmethod
    def read(line: str) -> _Mount:
        """Parse a line (see `man 5 proc`)."""
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        fields = before.split()
        return _Mount(fields[3], Path(fields[4]), kind, tuple(options.split(",")))

    def folder(self, group: str) -> Path:
        """Return the folder of a group; the root if the group is outside the mount."""
        # Containers mount only a part of the tree, but /proc names groups from the root of the
        # whole tree.
        inside = os.path.relpath(group, self.root)
        return self.point if inside.startswith("..") else self.point / inside


def _own(memberships: str, controller: str) -> str:
    """Return our own group for a controller, from /proc/self/cgroup; "" means v2."""
    for line in memberships.splitlines():
        _, controllers, group = line.split(":", 2)
        if controller in controllers.split(","):
            return group
    return "/"


def _unified(mount: _Mount, group: str) -> Iterator[ControlGroup]:
    """Yield the nearest group above our own in which bots can be limited.

    If there is none, our own group is turned into one: a service with a systemd-delegated group, or
    a container, starts in that group itself.
    """
    folder = mount.folder(group)
    for place in (folder, *folder.parents):
        if not place.is_relative_to(mount.point):
            break
        if usable := _unified_at(place):
            yield usable
            return
    if _allows(folder) and _vacate(folder) and (usable := _unified_at(folder)):
        with suppress(OSError):
            (folder / OWN_GROUP / "cpu.weight").write_text(str(OWN_WEIGHT), encoding="ascii")
        yield usable


def _unified_at(place: Path) -> ControlGroup | None:
    controllers = _passed_on(place)
    usable = {"memory", "pids"} <= controllers and _allows(place)
    return ControlGroup(place, controllers, unified=True) if usable else None


def _vacate(group: Path) -> bool:
    """Move all processes of a group into a subgroup; return whether that leaves it empty.

    Version 2 passes controllers on only from groups without processes.
    """
    own = group / OWN_GROUP
    with suppress(OSError):
        own.mkdir(exist_ok=True)
        for _ in range(MOVES):
            processes = (group / PROCESSES).read_text(encoding="ascii").split()
            if not processes:
                return True
            for process in processes:
                # The process may have ended in the meantime.
                with suppress(ProcessLookupError):
                    (own / PROCESSES).write_text(process, encoding="ascii")
    return False


def _passed_on(place: Path) -> frozenset[str]:
    """Return the controllers available in subgroups, after enabling those we need.

    Version 2 refuses memory for a group that has processes of its own, and would never allow it if
    the others had been enabled first.
    """
    with suppress(OSError):
        for name in ("memory", "pids", "cpu"):
            (place / PASSED_ON).write_text(f"+{name}", encoding="ascii")
    try:
        controllers = (place / PASSED_ON).read_text(encoding="ascii").split()
    except OSError:
        return frozenset()
    return frozenset(CONTROLLERS) & frozenset(controllers)


def _single(mount: _Mount, memberships: str) -> Iterator[ControlGroup]:
    for name in CONTROLLERS:
        folder = mount.folder(_own(memberships, name))
        if name in mount.options and _allows(folder):
            yield ControlGroup(folder, frozenset({name}), unified=False)


def _allows(place: Path) -> bool:
    """Return whether we may create a group here and move processes into it."""
    probe = place / f"{prefix('bot')}{secrets.token_hex(8)}"
    try:
        probe.mkdir()
    except OSError:
        return False
    # Delegation is tested by trying: moving a process needs write access to both groups.
    writable = os.access(probe / PROCESSES, os.W_OK) and os.access(place / PROCESSES, os.W_OK)
    with suppress(OSError):
        probe.rmdir()
    return writable


def _new_group(place: ControlGroup, name: str, limits: ResourceLimits) -> Path:
    group = place.folder / name
    group.mkdir()
    for file, value in place.values(limits).items():
        if (group / file).exists():
            (group / file).write_text(str(value), encoding="ascii")
    return group


def _number(file: Path, word: str) -> int:
    """Return the number on the line that starts with a key; 0 if there is no such line."""
    try:
        lines = file.read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    rows = (line.rpartition(" ") for line in lines)
    return next((int(number) for name, _, number in rows if name == word), 0)


def _removed(group: Path) -> bool:
    try:
        group.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _kill(group: Path) -> None:
    """Kill the processes of a group, in a single operation if the system supports it."""
    with suppress(OSError):
        if (group / KILL).exists():
            (group / KILL).write_text("1", encoding="ascii")
            return
        for process in (group / PROCESSES).read_text(encoding="ascii").split():
            os.kill(int(process), SIGKILL)


MOST: Final = 1000
"""Maximum number of folders, and of groups per place, removed in one sweep."""

LOG: Final = logging.getLogger(__name__)


class Swept(NamedTuple):
    """The number of items that a sweep removed, by kind."""

    folders: int = 0
    groups: int = 0

    def describe(self) -> str:
        """Return a description."""
        return f"removed {self.folders} folders and {self.groups} control groups of killed runs"


@cache
def sweep_once() -> None:
    """Sweep in a thread, before the first program that this process starts."""
    remove_later(sweep)


def sweep() -> Swept:
    """Remove what ended processes left behind, except what others still use."""
    groups = [group for place in places() for group in islice(left_in(place.folder), MOST)]
    folders = list(islice(left_in(temporary_folder()), MOST))
    return Swept(removed(remove_folder, folders), removed(remove_group, groups))


def removed(remove: Callable[[Path], None], left: Iterable[Path]) -> int:
    """Remove what can be removed; return the number removed."""
    return sum(is_removed(remove, place) for place in left)


def is_removed(remove: Callable[[Path], None], place: Path) -> bool:
    """Remove one item; return whether we did, as another process may have been first."""
    try:
        remove(place)
    except FileNotFoundError:
        return False
    except OSError as error:
        LOG.warning("files could not be removed: %s", error)
        return False
    return True


def remove_folder(place: Path) -> None:
    """Take over a folder, which only one process can do, and remove it."""
    remove_tree(place.rename(place.with_name(f"{prefix('swept')}{token_hex(4)}")))


def remove_group(place: Path) -> None:
    """Kill the remaining processes of a control group, and remove it."""
    Share((place,), frozenset()).remove()
