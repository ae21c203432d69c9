"""Runs in the sandbox and tries to break its limits: `python probe.py WHAT ...`.

Prints what it obtained. Imports nothing from this package, which is not visible in the sandbox.
"""

# The sandbox exists on Linux alone; other systems lack some of these calls.
# mypy: disable-error-code="attr-defined"

from __future__ import annotations

import ctypes
import errno
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial

STEP = 8 * 2**20
"""Bytes taken per step."""

NEW_USER, NEW_FILES = 0x10000000, 0x00020000
"""Flags for namespaces of users and of mounts."""

VSOCK, CRYPTO = 40, 38
"""Socket families that no network namespace separates: virtual machines, kernel crypto."""


def take_memory(way: str, most: str) -> Iterator[object]:
    """Fill files in memory, which belong to no process; yield the bytes after each step."""
    place = {"memfd": "", "shm": "/dev/shm", "namespace": "/tmp"}[way]  # noqa: S108
    if way == "namespace" and (refused := new_mount()):
        yield f"0 {refused}"
        return
    for total in range(STEP, int(most) + 1, STEP):
        name = f"{place}/{total}"
        file = os.open(name, os.O_CREAT | os.O_WRONLY) if place else os.memfd_create(name)
        if error := failed(lambda: os.write(file, bytes(STEP))):  # noqa: B023 - called at once
            yield f"{total - STEP} {error}"
            return
        yield total


def new_mount() -> str:
    """Mount a memory file system in a new namespace; return the error, "" for none."""
    return failed(lambda: libc.unshare(NEW_USER | NEW_FILES)) or failed(
        lambda: libc.mount(b"new", b"/tmp", b"tmpfs", 0, None)
    )


def take_processes(most: str) -> Iterator[object]:
    """Start processes that wait; yield their number."""
    children: list[int] = []
    with suppress(OSError):
        while len(children) < int(most):
            child = os.fork()
            if not child:
                signal.pause()
            children.append(child)
    yield len(children)
    for child in children:
        os.kill(child, signal.SIGKILL)


def take_time(number: str, seconds: str) -> Iterator[object]:
    """On the next line of input, compute in this many processes; yield their processor time."""
    reading, writing = os.pipe()
    for _ in range(int(number)):
        if not os.fork():
            os.close(writing)
            # Many kernels divide CPU time by session where nothing else does.
            os.setsid()
            os.read(reading, 1)
            until = time.monotonic() + float(seconds)
            while time.monotonic() < until:
                pass
            os._exit(0)
    yield "ready"
    sys.stdin.readline()
    os.close(writing)
    with suppress(ChildProcessError):
        while True:
            os.wait()
    spent = os.times()
    yield spent.children_user + spent.children_system


def make_calls(numbers: str) -> Iterator[object]:
    """Make system calls with invalid arguments; yield the errors by name."""
    calls = json.loads(numbers).items()
    yield json.dumps({name: failed(partial(called, number, *(-1,) * 6)) for name, number in calls})


def called(number: int, *arguments: int) -> int:
    """Make a system call; return its result."""
    result: int = libc.syscall(*map(ctypes.c_long, (number, *arguments)))
    return result


def make_namespaces(clone: str) -> Iterator[object]:
    """Try both ways of creating a user namespace; yield the errors."""
    yield json.dumps(
        {
            "clone": failed(lambda: new_process(int(clone))),
            "unshare": failed(lambda: libc.unshare(NEW_USER)),
        }
    )


def new_process(clone: int) -> int:
    """Fork into a new user namespace, by the system call with this number."""
    child = called(clone, NEW_USER | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    return child


def connect(port: str) -> Iterator[object]:
    """Try to reach this host and the internet; yield the errors."""
    ways: dict[str, Callable[[], object]] = {
        "this machine": lambda: connected("127.0.0.1", int(port)),
        # No packet is sent: a datagram socket only looks up a route.
        "the internet": lambda: connected("192.0.2.1", 9, socket.SOCK_DGRAM),
        "virtual machines": lambda: socket.socket(VSOCK),
        "the kernel's ciphers": lambda: socket.socket(CRYPTO),
    }
    yield json.dumps({name: failed(way) for name, way in ways.items()})


def connected(host: str, port: int, kind: int = socket.SOCK_STREAM) -> None:
    """Connect and close; raise OSError on failure."""
    with socket.socket(type=kind) as client:
        client.settimeout(2)
        client.connect((host, port))


def read(*paths: str) -> Iterator[object]:
    """Yield which of these files and folders can be read."""
    yield json.dumps([path for path in paths if is_readable(path)])


def is_readable(path: str) -> bool:
    """Return whether a folder can be listed, or one byte of a file read."""
    try:
        if os.path.isdir(path):  # noqa: PTH112
            os.listdir(path)  # noqa: PTH208
        else:
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def look_at_proc() -> Iterator[object]:
    """Yield the names in /proc that reveal data of the host rather than of a process."""
    names = [name for name in os.listdir("/proc") if not name.isdecimal()]  # noqa: PTH208
    yield json.dumps([name for name in names if shows_something(f"/proc/{name}")])


def shows_something(path: str) -> bool:
    """Return whether a file or folder has contents; links to processes do not count."""
    if os.path.islink(path):  # noqa: PTH114
        return False
    try:
        if os.path.isdir(path):  # noqa: PTH112
            return bool(os.listdir(path))  # noqa: PTH208
        with open(path, "rb") as file:  # noqa: PTH123
            return bool(file.read(1))
    except OSError:
        return False


def failed(attempt: Callable[[], object]) -> str:
    """Return the name of an attempt's error, "" if it succeeded."""
    ctypes.set_errno(0)
    try:
        number = ctypes.get_errno() if attempt() == -1 else 0
    except OSError as error:
        number = error.errno or errno.EIO
    return errno.errorcode.get(number, str(number)) if number else ""


libc = ctypes.CDLL(None, use_errno=True)

WAYS: dict[str, Callable[..., Iterator[object]]] = {
    "memory": take_memory,
    "processes": take_processes,
    "time": take_time,
    "calls": make_calls,
    "namespaces": make_namespaces,
    "network": connect,
    "files": read,
    "proc": look_at_proc,
}


def main(arguments: Sequence[str]) -> None:
    """Run the probe named by the first argument with the rest; print results as they arrive."""
    for line in WAYS[arguments[0]](*arguments[1:]):
        print(line, flush=True)  # noqa: T201 - read by whoever measures


if __name__ == "__main__":
    main(sys.argv[1:])
