"""The seccomp filter of a program: the system calls it may not make, as a BPF program.

A bot computes, reads and writes files, starts processes and threads, and listens on its own
network. The filter denies the rest of the kernel: namespaces and mounts, keyrings, tracing,
io_uring, bpf, modules, clocks; and whatever reveals to one box what another one does.
"""

from __future__ import annotations

import platform
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Final

UNKNOWN: Final = 457
"""The first system call number newer than this list, on both architectures.

Programs cannot use newer calls, nor those of x32, whose numbers are above 2^30.
"""

DENIED: Final[Mapping[str, tuple[int | None, int | None]]] = {
    # Namespaces and mounts: each exposes a part of the kernel that ordinary users never reach.
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    # The keyrings of a user, which namespaces do not separate.
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # Tracing, and the calls it relies on.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "bpf": (321, 280),
    "lookup_dcookie": (212, 18),
    # Memory that no other process can read, and pages moved between nodes or processes.
    "memfd_secret": (447, 447),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    # Control of the host itself.
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "uselib": (134, None),
    "ustat": (136, None),
    "sysfs": (139, None),
    # Opening files by handle instead of path, and observing what others do with shared files.
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "inotify_add_watch": (254, 27),
}
"""The numbers of calls that fail with EPERM, on x86-64 and aarch64; None if there is none."""

ABSENT: Final = {
    # Its flags are in memory, which a filter cannot read. Libraries then call clone.
    "clone3": (435, 435),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
}
"""Calls that fail with ENOSYS, as on a kernel without them: runtimes have a fallback."""

NEW_NAMESPACES: Final = 0x7E020000
"""All flags of clone that create a namespace."""

FAMILIES: Final = (1, 2, 10, 16)
"""Allowed socket families: Unix, IPv4, IPv6, and netlink, which lists interfaces.

The network namespace isolates these; others (AF_VSOCK) lead out of it.
"""

TERMINAL_INPUT: Final = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX, which inject input into a terminal."""

SHARED_FILES: Final = (5, 36, 1024, 1026, 1031)
"""F_GETLK, F_OFD_GETLK, F_SETLEASE and F_NOTIFY, which reveal who else uses a file that boxes
share; and F_SETPIPE_SZ, since all pipes of a user share one limit.
"""

WITHOUT_WAITING: Final = 0x8
"""RWF_NOWAIT, by which preadv2 reveals whether a page is in memory without loading it."""

DROP_PAGES: Final = 4
"""POSIX_FADV_DONTNEED, which evicts pages of a file from memory for all readers."""

LOAD, EQUALS, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, FIRST, SECOND, FOURTH, SIXTH = 0, 4, 16, 24, 40, 56
"""Offsets in the kernel's data on a call: number, architecture, low halves of arguments."""

ALLOW: Final = 0x7FFF0000
NOT_PERMITTED, NO_SUCH_CALL, NOT_SUPPORTED, NO_SUCH_FAMILY = (
    0x00050000 + error for error in (1, 38, 95, 97)
)
"""Results of a filter: EPERM, ENOSYS, EOPNOTSUPP and EAFNOSUPPORT.

Linux's numbers are used on every system.
"""


@dataclass(frozen=True, slots=True)
class Architecture:
    """A processor architecture, and its system call numbers."""

    audit: int
    """Its identifier in the kernel's audit interface."""
    column: int
    """The index of its numbers in DENIED and ABSENT."""
    clone: int
    socket: int
    ioctl: int
    fcntl: int
    fadvise: int
    preadv2: int

    def numbers(self, calls: Mapping[str, tuple[int | None, int | None]]) -> list[int]:
        """Return the numbers of the calls that exist on it."""
        columns = (numbers[self.column] for numbers in calls.values())
        return [number for number in columns if number is not None]


ARCHITECTURES: Final = {
    "x86_64": Architecture(
        0xC000003E, 0, clone=56, socket=41, ioctl=16, fcntl=72, fadvise=221, preadv2=327
    ),
    "aarch64": Architecture(
        0xC00000B7, 1, clone=220, socket=198, ioctl=29, fcntl=25, fadvise=223, preadv2=286
    ),
}


def seccomp_filter(machine: str = platform.machine()) -> bytes | None:
    """Return the filter as `bwrap --seccomp` reads it; None on other architectures."""
    architecture = ARCHITECTURES.get(machine)
    return b"".join(_instructions(architecture)) if architecture else None


def _instructions(on: Architecture) -> Iterator[bytes]:
    # 32-bit programs use different numbers for all calls, and no bot needs them.
    yield _step(LOAD, ARCHITECTURE)
    yield from (_step(EQUALS, on.audit, true=1), _step(RETURN, NO_SUCH_CALL))
    yield _step(LOAD, NUMBER)
    yield from (_step(AT_LEAST, UNKNOWN, false=1), _step(RETURN, NO_SUCH_CALL))
    for calls, result in ((DENIED, NOT_PERMITTED), (ABSENT, NO_SUCH_CALL)):
        for number in on.numbers(calls):
            yield from (_step(EQUALS, number, false=1), _step(RETURN, result))
    yield from _by_argument(on.clone, FIRST, {NEW_NAMESPACES: NOT_PERMITTED}, test=ANY_BIT)
    yield from _by_argument(on.ioctl, SECOND, dict.fromkeys(TERMINAL_INPUT, NOT_PERMITTED))
    yield from _by_argument(on.fcntl, SECOND, dict.fromkeys(SHARED_FILES, NOT_PERMITTED))
    yield from _by_argument(on.fadvise, FOURTH, {DROP_PAGES: NOT_PERMITTED})
    yield from _by_argument(on.preadv2, SIXTH, {WITHOUT_WAITING: NOT_SUPPORTED}, test=ANY_BIT)
    families = dict.fromkeys(FAMILIES, ALLOW)
    yield from _by_argument(on.socket, FIRST, families, otherwise=NO_SUCH_FAMILY)
    yield _step(RETURN, ALLOW)


def _by_argument(
    call: int,
    argument: int,
    results: Mapping[int, int],
    *,
    test: int = EQUALS,
    otherwise: int = ALLOW,
) -> Iterator[bytes]:
    """Yield the instructions for a call whose result depends on an argument."""
    tests = [(_step(test, value, false=1), _step(RETURN, one)) for value, one in results.items()]
    body = [_step(LOAD, argument), *chain.from_iterable(tests), _step(RETURN, otherwise)]
    yield _step(EQUALS, call, false=len(body))
    yield from body


def _step(code: int, value: int, true: int = 0, false: int = 0) -> bytes:
    """Return an instruction of classic BPF (`struct sock_filter`), with its jump offsets."""
    return struct.pack("=HBBI", code, true, false, value)
