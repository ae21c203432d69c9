"""Control groups: where they are found, what is written into them, and that they go."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from cw.arena.sandbox import cgroups
from cw.arena.sandbox.cgroups import NO_SHARE, ControlGroup, open_share, places, places_of
from cw.arena.sandbox.set_limits import GIB, MIB, ResourceLimits

ALL = frozenset({"cpu", "memory", "pids"})
NONE: frozenset[str] = frozenset()
ROOT = Path("/sys/fs/cgroup")
FAIR = pytest.mark.skipif(not places(), reason="needs control groups that may be written")


def mount(point: str, kind: str, options: str = "rw", root: str = "/") -> str:
    return f"30 23 0:26 {root} {point} rw,nosuid shared:9 - {kind} {kind} {options}"


def machine(monkeypatch: pytest.MonkeyPatch, passed_on: dict[str, frozenset[str]]) -> None:
    """Stand in for the kernel: groups may be made where it passes on what they need."""
    groups = {ROOT / name: controllers for name, controllers in passed_on.items()}
    monkeypatch.setattr(cgroups, "_passed_on", lambda place: groups.get(place, NONE))
    monkeypatch.setattr(cgroups, "_allows", lambda _: True)


def test_version_2_is_taken_in_the_nearest_group_that_passes_on_what_is_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As on a desktop: the terminal's group has processes and passes on nothing."""
    machine(monkeypatch, {"": ALL, "user": ALL - {"cpu"}, "user/terminal": NONE})
    result = places_of(mount(str(ROOT), "cgroup2"), "0::/user/terminal\n")
    assert result == (ControlGroup(ROOT / "user", ALL - {"cpu"}, unified=True),)


def test_in_a_container_the_groups_above_are_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, {"": NONE})
    assert places_of(mount(str(ROOT), "cgroup2", root="/docker/1"), "0::/docker/1\n") == ()
    assert places_of("", "0::/\n") == ()


def test_version_1_has_a_place_for_each_controller(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, {"unified": NONE})
    mounted = [mount(f"{ROOT}/unified", "cgroup2"), mount(f"{ROOT}/pids", "cgroup", "rw,pids")]
    mounted += [mount(f"{ROOT}/cpu,cpuacct", "cgroup", "rw,cpu,cpuacct"), mount("/", "ext4")]
    own = "3:pids:/here\n2:cpu,cpuacct:/\n0::/\n"
    assert places_of("\n".join(mounted), own) == (
        ControlGroup(ROOT / "pids/here", frozenset({"pids"}), unified=False),
        ControlGroup(ROOT / "cpu,cpuacct", frozenset({"cpu"}), unified=False),
    )


def test_memory_is_asked_for_first_as_only_it_is_refused_where_there_are_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A group that passes on the processor but no memory could never pass on both."""
    asked = []

    def write(_: Path, text: str, **more: str) -> int:
        asked.append(text)
        raise OSError(errno.EBUSY, "Device or resource busy")

    monkeypatch.setattr(Path, "write_text", write)
    assert cgroups._passed_on(tmp_path) == NONE
    assert asked == ["+memory"]


def test_our_processes_leave_a_group_that_was_delegated_to_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As systemd starts a service: in the group itself, which then passes nothing on."""
    (tmp_path / "service").mkdir()
    procs = tmp_path / "service" / "cgroup.procs"
    procs.write_text("12\n34\n")
    own = tmp_path / "service" / cgroups.OWN_GROUP
    monkeypatch.setattr(cgroups, "_passed_on", lambda _: ALL if own.exists() else NONE)

    def write(path: Path, text: str, **more: str) -> int:
        if path == own / "cgroup.procs":
            left = procs.read_text().split()
            left.remove(text)
            procs.write_bytes("\n".join(left).encode())
        return len(text)

    monkeypatch.setattr(Path, "write_text", write)
    monkeypatch.setattr(cgroups, "_allows", lambda place: place == tmp_path / "service")
    result = places_of(mount(str(tmp_path), "cgroup2"), "0::/service\n")
    assert result == (ControlGroup(tmp_path / "service", ALL, unified=True),)
    assert procs.read_text() == ""


def test_what_is_written_into_a_group() -> None:
    limits = ResourceLimits(processes=100, whole_memory=GIB)
    assert ControlGroup(ROOT, ALL, unified=True).values(limits) == {
        "cpu.weight": 100,
        "memory.max": GIB,
        "memory.swap.max": 0,
        "memory.oom.group": 1,
        "pids.max": 116,
    }
    assert ControlGroup(ROOT, ALL, unified=False).values(limits) == {
        "cpu.shares": 1024,
        "memory.limit_in_bytes": GIB,
        "pids.max": 116,
    }


def test_what_is_bounded_is_said() -> None:
    sentence = "all its processes together: NO BOUND on their use of the CPU and their memory"
    assert NO_SHARE.describe(ResourceLimits()) == sentence


@FAIR
def test_a_share_is_joined_and_removed_with_what_is_left_in_it() -> None:
    share = open_share(ResourceLimits(whole_memory=256 * MIB))
    assert share.groups
    code = "import time; print('in', flush=True); time.sleep(600)"
    command = [*share.joining(), sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"in\n"
        for group in share.groups:
            assert str(running.pid) in (group / "cgroup.procs").read_text().split()
        share.remove()
        assert running.wait() < 0
    assert not any(group.exists() for group in share.groups)
