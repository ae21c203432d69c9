"""The filter of system calls, run here as the kernel would, for both kinds of processors."""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Iterator
from ctypes.util import find_library

import pytest

from cw.arena.sandbox.syscalls import (
    ABSENT,
    ALLOW,
    ARCHITECTURES,
    DENIED,
    NEW_NAMESPACES,
    UNKNOWN,
    Architecture,
    seccomp_filter,
)
from tests.tools import LIBSECCOMP

MACHINES = pytest.mark.parametrize("machine", ARCHITECTURES)
FORK, THREAD = 0x01200011, 0x003D0F00
"""Flags of clone by which libraries make processes and threads."""


def result(machine: str, number: int, *arguments: int, audit: int = 0) -> str:
    """Return what the filter answers to a system call: the name of an error, "" for none."""
    code = seccomp_filter(machine)
    assert code is not None
    padded = (*arguments, *(0,) * 6)[:6]
    data = struct.pack("<IIQ6Q", number, audit or ARCHITECTURES[machine].audit, 0, *padded)
    answer = answered([*struct.iter_unpack("=HBBI", code)], data)
    return "" if answer == ALLOW else errno.errorcode[answer & 0xFFFF]


def answered(steps: list[tuple[int, ...]], data: bytes) -> int:
    """Run a program of classic BPF, of the few instructions that the filter has."""
    loaded = at = 0
    while True:
        code, true, false, value = steps[at]
        at += 1
        if code == 0x20:
            (loaded,) = struct.unpack_from("<I", data, value)
        elif code == 0x06:
            return value
        else:
            test = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[code]
            at += true if test else false


def listed(on: Architecture) -> Iterator[tuple[int, str]]:
    """Give each number that is refused, with the error."""
    yield from ((number, "EPERM") for number in on.numbers(DENIED))
    yield from ((number, "ENOSYS") for number in on.numbers(ABSENT))


@MACHINES
def test_each_number_has_its_answer(machine: str) -> None:
    on = ARCHITECTURES[machine]
    refused = dict(listed(on))
    special = {on.clone, on.socket, on.ioctl, on.fcntl, on.fadvise, on.preadv2}
    for number in {*range(UNKNOWN + 200)} - special:
        expected = "ENOSYS" if number >= UNKNOWN else refused.get(number, "")
        assert result(machine, number) == expected, number
    assert not special & {*refused}


@MACHINES
def test_processes_and_threads_are_made_and_namespaces_are_not(machine: str) -> None:
    clone = ARCHITECTURES[machine].clone
    assert [result(machine, clone, flags) for flags in (FORK, THREAD, 17)] == ["", "", ""]
    bits = [1 << bit for bit in range(32) if NEW_NAMESPACES >> bit & 1]
    assert len(bits) == 7
    assert {result(machine, clone, bit | FORK) for bit in bits} == {"EPERM"}
    # What is above 32 bits is ignored by the kernel, too.
    assert result(machine, clone, 0x1_0000_0000 | 0x10000000) == "EPERM"


@MACHINES
def test_sockets_are_of_families_that_the_network_isolates(machine: str) -> None:
    opened = [
        family for family in range(50) if not result(machine, ARCHITECTURES[machine].socket, family)
    ]
    assert opened == [1, 2, 10, 16]


@MACHINES
def test_nothing_is_typed_and_no_lock_of_another_box_is_asked_for(machine: str) -> None:
    on = ARCHITECTURES[machine]
    assert result(machine, on.ioctl, 0, 0x5412) == "EPERM"
    assert result(machine, on.ioctl, 0, 0x5413) == ""
    for command in (5, 36, 1024, 1026, 1031):
        assert result(machine, on.fcntl, 0, command) == "EPERM"
    for command in range(5):
        assert result(machine, on.fcntl, 0, command) == ""


@MACHINES
def test_nobody_evicts_pages_of_files_nor_sees_which_are_in_memory(machine: str) -> None:
    on = ARCHITECTURES[machine]
    advice = [result(machine, on.fadvise, 3, 0, 0, one) for one in range(6)]
    assert advice == ["", "", "", "", "EPERM", ""]
    assert result(machine, on.preadv2, 3, 0, 1, 0, 0, 0) == ""
    assert result(machine, on.preadv2, 3, 0, 1, 0, 0, 0x8 | 0x1) == "ENOTSUP"


@MACHINES
def test_other_ways_to_call_the_kernel_are_closed(machine: str) -> None:
    i386, arm = 0x40000003, 0x40000028
    for audit in (i386, arm):
        assert result(machine, 1, audit=audit) == "ENOSYS"
    assert result(machine, 0x40000000 + 1) == "ENOSYS"


def test_no_other_processor_has_a_filter() -> None:
    assert seccomp_filter("riscv64") is None


@LIBSECCOMP.unless(find_library("seccomp"))
@MACHINES
def test_numbers_are_those_of_the_kernel(machine: str) -> None:
    library = ctypes.CDLL(find_library("seccomp"))
    on = ARCHITECTURES[machine]
    own = {name: getattr(on, name) for name in ("clone", "socket", "ioctl", "fcntl", "preadv2")}
    own["fadvise64"] = on.fadvise
    listed = {name: numbers[on.column] for name, numbers in {**DENIED, **ABSENT}.items()}
    for name, number in (listed | own).items():
        found = library.seccomp_syscall_resolve_name_arch(ctypes.c_uint32(on.audit), name.encode())
        assert (found if found >= 0 else None) == number, name
