"""A program takes memory that belongs to none of its processes: by files in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from cw.arena.sandbox import cgroups, measured
from cw.arena.sandbox.set_limits import MIB
from hub.tests.attacks.boxed import answers
from tests.tools import CONTROL_GROUPS, NEEDS_BUBBLEWRAP


@NEEDS_BUBBLEWRAP
def test_no_file_system_of_its_own_gives_a_program_memory(tmp_path: Path) -> None:
    """As on a machine without control groups: nothing else counts these files."""
    places = (".", "/tmp", "/dev/shm")
    refused = {f"memory in {place}": "ENOSPC" for place in places}
    refused["memory in a file system of its own"] = "EPERM"
    assert answers("memory", tmp_path) == refused


@NEEDS_BUBBLEWRAP
@CONTROL_GROUPS.unless("memory" in cgroups.controllers())
def test_files_without_a_name_are_counted_for_all_processes_together() -> None:
    limit, _ = measured.bounds()
    assert limit.by == "control groups"
    assert limit.found.startswith("took ")


@NEEDS_BUBBLEWRAP
def test_where_nothing_counts_them_that_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "places", tuple)
    limit, processor = measured.bounds.__wrapped__()
    assert (limit.by, processor.by) == ("", "")
    assert limit.found == f"took {measured.TAKEN // MIB} MiB, with a limit of 96 MiB"
