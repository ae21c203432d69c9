"""Tries from inside what the sandbox keeps from a program: this file is sent as a part of a bot.

It imports nothing of this package, since programs are not given it. Each try ends with the name of
its error, or with DONE.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import re
import signal
import socket
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from pathlib import Path
from statistics import fmean
from typing import Final, TypeAlias
from zlib import crc32

Attempt: TypeAlias = Callable[[], object]
"""Raises OSError, or returns -1 and leaves its error in errno, where it is refused."""
Try: TypeAlias = tuple[str, Attempt]

SOURCE: Final = Path(__file__).read_bytes()
DONE: Final = "done"
X86: Final = platform.machine() == "x86_64"
libc = ctypes.CDLL(None, use_errno=True)


def answer(attempt: Attempt) -> str:
    """Return how an attempt ends."""
    number = error_of(attempt)
    return errno.errorcode.get(number, str(number)) if number else DONE


def error_of(attempt: Attempt) -> int:
    """Return the error of an attempt, 0 for none."""
    ctypes.set_errno(0)
    try:
        return ctypes.get_errno() if attempt() == -1 else 0
    except OSError as error:
        return error.errno or errno.EIO


def report(tries: Iterator[Try]) -> None:
    """Write how each try ends to standard error."""
    for name, attempt in tries:
        sys.stderr.write(f"{name}: {answer(attempt)}\n")
        sys.stderr.flush()


def every_try(mark: str) -> Iterator[Try]:
    """Give all tries; `mark` names what programs that know of each other leave for each other."""
    return chain(namespaces(), keyring(), kernel(), memory(), marks(mark))


def call(x86: int, other: int, *arguments: object) -> int:
    """Make a system call by its number on x86-64, or on aarch64; return its result."""
    result: int = libc.syscall(ctypes.c_long(x86 if X86 else other), *arguments)
    return result


def in_child(attempt: Attempt) -> Attempt:
    """Return the attempt in a process of its own."""

    def forked() -> None:
        child = os.fork()
        if not child:
            os._exit(error_of(attempt))
        if number := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            raise OSError(number if number > 0 else errno.EINTR, "")

    return forked


NEW: Final = {
    "cgroup": 0x02000000,
    "uts": 0x04000000,
    "ipc": 0x08000000,
    "user": 0x10000000,
    "pid": 0x20000000,
    "net": 0x40000000,
    "mount": 0x00020000,
    "time": 0x80,
}


def namespaces() -> Iterator[Try]:
    """Make namespaces, in which the program would be root, and enter some."""
    for name, flag in NEW.items():
        # Together with a user namespace, which allows an ordinary user all others.
        both = flag | NEW["user"]
        yield f"unshare {name}", in_child(partial(libc.unshare, both))
        if name != "time":
            flags = ctypes.c_long(both | signal.SIGCHLD)
            yield f"clone {name}", in_child(partial(call, 56, 220, flags, 0, 0, 0, 0))
        arguments = struct.pack("8Q", both, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
        yield f"clone3 {name}", in_child(partial(call, 435, 435, arguments, len(arguments)))
    for place in ("/proc/1/ns/user", "/proc/self/ns/net"):
        yield f"setns {place}", partial(enter, place)


def enter(place: str) -> int:
    """Enter a namespace."""
    result: int = libc.setns(os.open(place, os.O_RDONLY), 0)
    return result


def keyring() -> Iterator[Try]:
    """Leave a message in the kernel's keyring, which no namespace separates, and look for one."""
    message = b"meet me at the corner"
    rings = {"thread": -1, "process": -2, "session": -3, "user": -4}
    for name, ring in rings.items():
        key = (b"user", b"message", message, len(message), ctypes.c_int(ring))
        yield f"key of the {name}", partial(call, 248, 217, *key)
    yield "request of a key", partial(call, 249, 218, b"user", b"message", None, 0)
    yield "new session of keys", partial(call, 250, 219, 1, None)


def kernel() -> Iterator[Try]:
    """Use the parts of the kernel that exploits begin with, and what tells of other programs."""
    buffer = ctypes.create_string_buffer(4096)
    yield "io_uring", partial(call, 425, 425, 4, buffer)
    # BPF_MAP_CREATE: an array of one number.
    array = struct.pack("IIIIQQQQ", 2, 4, 4, 1, 0, 0, 0, 0)
    yield "bpf", partial(call, 321, 280, 0, array, len(array))
    # PTRACE_SEIZE: of a child, which needs no right at all.
    yield "ptrace", with_child(lambda child: call(101, 117, 0x4206, child, None, None))
    vector = struct.pack("PN", ctypes.addressof(buffer), 16)
    one, none = ctypes.c_long(1), ctypes.c_long(0)
    yield (
        "process_vm_readv",
        with_child(lambda child: call(310, 270, child, vector, one, vector, one, none)),
    )
    yield "perf", partial(call, 298, 241, buffer, 0, -1, -1, 0)
    yield "userfaultfd", partial(call, 323, 282, 1)
    yield "memfd_secret", partial(call, 447, 447, 0)
    yield "mount", partial(call, 428, 428, -100, b"/", 1)
    yield "vsock", partial(socket.socket, 40)
    yield "inotify", watch
    yield "lease", partial(on_a_file, lambda file: call(72, 25, file, 1024, 0))
    yield "typing into a terminal", partial(call, 16, 29, 0, 0x5412, b"x")
    yield "lookup", partial(call, 303, 264, -100, b"/", buffer, buffer, 0)
    advice = os.POSIX_FADV_DONTNEED
    yield "pages of others", partial(on_a_file, lambda file: os.posix_fadvise(file, 0, 0, advice))
    yield "what is in memory", partial(on_a_file, is_in_memory)
    yield "a terminal", os.openpty
    yield "a call that is newer than the filter", partial(call, 999, 999)
    if X86:
        yield "x32", partial(call, 0x40000000 + 39, 0)


def with_child(attempt: Callable[[int], object]) -> Attempt:
    """Return the attempt on a child that waits."""

    def forked() -> object:
        child = os.fork()
        if not child:
            signal.pause()
        try:
            return attempt(child)
        finally:
            number = ctypes.get_errno()
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            ctypes.set_errno(number)

    return forked


def watch() -> int:
    """Watch a folder."""
    inotify = call(294, 26, 0)
    return inotify if inotify == -1 else call(254, 27, inotify, b"/usr", 2)


def on_a_file(attempt: Callable[[int], object]) -> object:
    """Do something to a file that all programs read."""
    return attempt(os.open("/usr/bin/env", os.O_RDONLY))


def is_in_memory(file: int) -> int:
    """Read a byte if it is in memory."""
    return os.preadv(file, [bytearray(1)], 0, os.RWF_NOWAIT)


MOST: Final = 64 * 2**20
"""Bytes that a program may put into a file system."""


def memory() -> Iterator[Try]:
    """Take memory that belongs to no process: more in files than may be."""
    for place in (".", "/tmp", "/dev/shm"):
        yield f"memory in {place}", partial(fill, place)
    yield "memory in a file system of its own", in_child(fill_own)


def fill(place: str) -> None:
    """Write more than may be into files in a folder, which are removed."""
    written = 0
    with tempfile.TemporaryDirectory(dir=place) as folder:
        while written <= MOST:
            with Path(folder, str(written)).open("wb", buffering=0) as file:
                written += file.write(bytes(8 * 2**20))


def fill_own() -> int:
    """Fill a file system in a namespace of its own."""
    user, group = os.getuid(), os.getgid()
    if libc.unshare(NEW["user"] | NEW["mount"]) == -1:
        return -1
    # Files of a group that is not mapped cannot be made.
    maps = {"setgroups": "deny", "uid_map": f"0 {user} 1", "gid_map": f"0 {group} 1"}
    for name, text in maps.items():
        Path("/proc/self", name).write_text(text, encoding="ascii")
    if libc.mount(b"mine", b"/tmp", b"tmpfs", 0, b"size=4g") == -1:
        return -1
    fill("/tmp")
    return 0


KEPT: Final[list[socket.socket]] = []
PLACES: Final = ("/tmp", "/dev/shm", "/var/tmp")
CREATE: Final = 0o3666
"""IPC_CREAT | IPC_EXCL, for everybody."""


def marks(mark: str) -> Iterator[Try]:
    """Find names that a program in another box has taken: each program takes them all."""
    key = crc32(mark.encode()) % 2**31
    for place in PLACES:
        yield f"file in {place}", taken(Path(place, mark).touch, exist_ok=False)
    yield "abstract socket", taken(listen, socket.AF_UNIX, f"\0{mark}")
    yield "port", taken(listen, socket.AF_INET, ("127.0.0.1", 20_000 + key % 10_000))
    yield "shared memory", taken(libc.shmget, key, ctypes.c_size_t(4096), CREATE)
    yield "message queue", taken(libc.msgget, key, CREATE)


def taken(take: Callable[..., object], *arguments: object, **more: object) -> Attempt:
    """Return the attempt to find that a name is taken; ENOENT where it was free."""

    def look() -> None:
        number = error_of(partial(take, *arguments, **more))
        if number not in {errno.EEXIST, errno.EADDRINUSE}:
            raise OSError(number or errno.ENOENT, "")

    return look


def listen(family: int, address: str | tuple[str, int]) -> None:
    """Listen at an address while this program runs."""
    KEPT.append(socket.socket(family))
    KEPT[-1].bind(address)


def unmark(mark: str) -> None:
    """Remove what programs have left outside of a sandbox."""
    key = crc32(mark.encode()) % 2**31
    for place in PLACES:
        with suppress(OSError):
            Path(place, mark).unlink()
    libc.shmctl(libc.shmget(key, ctypes.c_size_t(4096), 0), 0, None)
    libc.msgctl(libc.msgget(key, 0), 0, None)


BITS: Final = 40
"""As many as no counter shows by chance."""
MESSAGE: Final = tuple(digit == "1" for digit in f"{0x9E3779B97F >> 1:0{BITS}b}")
ARRIVED: Final = 36
"""Bits that have to arrive by a file: other programs use the machine as well."""
LEFT: Final = {"sysinfo", *(f"/proc/self/net/{name}" for name in ("protocols", "sockstat"))}
"""What hub/docs/threat-model.md names: a call that Java needs, and files of each process."""

HOLDERS: Final[list[int]] = []


def send(bit: bool, processes: int = 40) -> None:
    """Use much of everything while a 1 is sent."""
    if bit and not HOLDERS:
        reading, writing = os.pipe()
        for _ in range(processes):
            child = os.fork()
            if not child:
                hold(writing)
            HOLDERS.append(child)
        for _ in HOLDERS:
            os.read(reading, 1)
        os.close(reading)
        os.close(writing)
    while HOLDERS and not bit:
        child = HOLDERS.pop()
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def hold(ready: int) -> None:
    """Hold files, sockets and memory until this process is ended."""
    held = [os.open("/dev/null", os.O_RDONLY) for _ in range(100)]
    listening = [socket.create_server(("127.0.0.1", 0)) for _ in range(100)]
    os.write(os.memfd_create(""), bytes(2**21))
    os.write(ready, b"+")
    signal.pause()
    os._exit(len(held) + len(listening))


def numbers() -> Mapping[str, Sequence[int]]:
    """Return every number that can be found, by where it is."""
    info = (ctypes.c_ulong * 14)()
    libc.sysinfo(info)
    processes = (ctypes.c_ushort * 56).from_buffer(info)[40:41]
    seen = {"sysinfo": [*info[:9], *processes], "statvfs": [*os.statvfs("/usr")][:10]}
    for path in PATHS:
        seen[path] = [int(number) for number in re.findall(r"[0-9]+", read(path))][:400]
    return seen


PATHS: Final[list[str]] = []
SEEN: Final = 2000
"""Files that are read at most: a box has 54, and a machine many thousands."""


def look_around() -> None:
    """Find the files with something to read."""
    found = (path for path in files() if read(path) and not path.endswith("random"))
    PATHS[:] = islice(found, SEEN)


def files() -> Iterator[str]:
    """Give the files of the machine, and those of this process that might tell of others."""
    yield from (f"/proc/self/net/{path.name}" for path in Path("/proc/self/net").iterdir())
    yield from (f"/proc/self/{name}" for name in ("mountinfo", "cgroup", "limits"))
    for place in ("/proc", "/sys", "/dev"):
        for folder, folders, names in os.walk(place):
            if folder == "/proc":
                own = ("self", "thread-self")
                folders[:] = [name for name in folders if not name.isdecimal() and name not in own]
            yield from (f"{folder}/{name}" for name in names)


def read(path: str) -> str:
    """Return the beginning of a file, "" for one that cannot be read."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return ""
    try:
        return os.read(file, 65536).decode(errors="replace")
    except OSError:
        return ""
    finally:
        os.close(file)


def carriers(looks: Sequence[Mapping[str, Sequence[int]]]) -> set[str]:
    """Return where the message arrived: in some number that is larger for a 1, or smaller."""
    return {
        place
        for place in looks[0]
        if any(
            arrived(values) >= ARRIVED
            for values in zip(*(look.get(place, ()) for look in looks), strict=False)
        )
    }


def arrived(values: Sequence[int]) -> int:
    """Return how many bits a number shows, when it is compared with the middle of its means."""
    ones = [value for value, bit in zip(values, MESSAGE, strict=True) if bit]
    zeros = [value for value, bit in zip(values, MESSAGE, strict=True) if not bit]
    middle = (fmean(ones) + fmean(zeros)) / 2
    right = sum((value > middle) == bit for value, bit in zip(values, MESSAGE, strict=True))
    return max(right, BITS - right)
